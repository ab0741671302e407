"""A page's first heading, by a light scan: most pages have it on top, and no parser is needed.

A page's bytes to its facts: title, kind, tags, aliases, references, and what is wrong.
"""

import re
from collections.abc import Sequence

from ubp.core.model import PageFacts, Problem
from ubp.markdown.front_matter import NO_FRONT_MATTER, FrontMatter, read_front_matter
from ubp.markdown.references import find_references, one_line, shown
from ubp.markdown.source_text import BOM
from ubp.markdown.yaml_nodes import Node

_BLOCK = re.compile(
    rb"^ {0,3}(?:#[ \t](?P<heading>[^\n]*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    rb"|(?P<comment><!--)|(?P<underline>=+)[ \t]*$)",
    re.MULTILINE,
)
_CLOSING_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
# A line that ends the paragraph above it, and one that makes it part of a list or a quotation.
_EMPTY_OR_HEADING = re.compile(r"[ \t]*$| {0,3}#{1,6}(?:[ \t]|$)")
_CONTAINER = re.compile(r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|<)| {4}|\t")


def first_heading(body: bytes) -> str | None:
    """Return the text of the first H1, `# …` or underlined, outside fenced code and comments."""
    body = body.removeprefix(BOM)
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    place = 0
    while block := _BLOCK.search(body, place):
        text = ""
        if block["fence"]:
            end = _end_of_code(body, block)
        elif block["comment"]:
            end = body.find(b"-->", block.end())
        else:
            end = block.end()
            text = _heading(block) if block["underline"] is None else _paragraph(body, place, block)
        if text or end < 0:
            return text or None
        place = end
    return None


def _end_of_code(body: bytes, block: re.Match[bytes]) -> int:
    for fence in _CLOSING_FENCE.finditer(body, block.end()):
        if fence[1].startswith(block["fence"]):
            return fence.end()
    return -1


def _heading(block: re.Match[bytes]) -> str:
    text = block["heading"].decode("utf-8", "replace").strip()
    without = text.rstrip("#")  # "# Title ##" is closed, "# C#" is not
    return without.rstrip() if not without or without[-1] in " \t" else text


def _paragraph(body: bytes, start: int, block: re.Match[bytes]) -> str:
    above = body[start : block.start()].decode("utf-8", "replace").split("\n")[:-1]
    lines: list[str] = []
    for line in reversed(above):
        if _EMPTY_OR_HEADING.match(line):
            break
        if _CONTAINER.match(line):
            return ""
        lines.insert(0, line.strip())
    return " ".join(lines)


DEFAULT_DOC_TYPE = "spec"

# A title is a line; what is longer was meant to fill somebody's terminal.
MAX_TITLE_CHARACTERS = 500
MAX_NAMES = 200  # tags, and aliases
# Past these the rest says nothing new, and a hostile page has thousands.
MAX_PROBLEMS = 50

_OWN_NAMES = ("title", "doc_type", "tags", "aliases")
_LINE_END = re.compile(rb"\r\n|\r|\n")


def parse_page(data: bytes, keys: Sequence[str]) -> PageFacts:
    """Read a page's facts; whatever the bytes are, this answers and never raises.

    `keys` are the front matter's keys that name sources: "source_refs", "code_references[].ref".
    """
    found = read_head(data, keys)
    named, problems = find_references(found, keys)
    fields = _Fields(found)
    title = fields.text("title") or one_line(first_heading(data[found.body :]) or "")
    doc_type = fields.string("doc_type")
    tags, aliases = fields.names("tags", separator=","), fields.names("aliases")
    everything = [*_undecodable(data), *found.problems, *fields.problems, *problems]
    return PageFacts(
        title=title[:MAX_TITLE_CHARACTERS] or None,
        doc_type=doc_type or DEFAULT_DOC_TYPE,
        tags=tags,
        aliases=aliases,
        references=tuple(one.reference for one in named),
        problems=tuple(sorted(everything, key=lambda problem: problem.line))[:MAX_PROBLEMS],
    )


def read_head(data: bytes, keys: Sequence[str]) -> FrontMatter:
    """Read the front matter that holds a page's own fields and these keys."""
    if not data.startswith((b"---", b"\xef\xbb\xbf---")):
        return NO_FRONT_MATTER
    return read_front_matter(data, {*_OWN_NAMES, *(re.split(r"[.\[]", key)[0] for key in keys)})


def _undecodable(data: bytes) -> list[Problem]:
    if data.isascii():
        return []
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data, 0, error.start)) + 1
        return [Problem(line, "These bytes are not UTF-8.")]
    return []


class _Fields:
    """The front matter's own fields; what cannot be used becomes a problem and counts as absent."""

    def __init__(self, found: FrontMatter) -> None:
        self._found = found
        self._root = found.root or Node("mapping", 0, 0)
        self.problems = [
            self._problem(key, f"{shown(key.value)} stands twice; the last one counts.")
            for key in self._root.repeated_keys()
        ]

    def text(self, name: str) -> str:
        """Return a scalar as it is written: `title: 1.10` is a title."""
        value = self._value(name)
        if value is not None and value.kind != "scalar":
            self._refuse(name, value, "a text")
        return one_line(value.text or "") if value else ""

    def string(self, name: str) -> str:
        """Return a scalar that YAML too takes for a text."""
        value = self._value(name)
        if value is None or value.type == "null":
            return ""
        if value.type != "str":
            self._refuse(name, value, "a text")
            return ""
        return one_line(value.value)

    def names(self, name: str, separator: str | None = None) -> tuple[str, ...]:
        """Return a list of texts, or a single one, which `separator` may divide."""
        value = self._value(name)
        if value is None:
            return ()
        if value.kind == "mapping" or any(item.kind != "scalar" for item in value.items):
            self._refuse(name, value, "a list of texts")
            return ()
        if value.kind == "scalar":
            texts = (value.text or "").split(separator) if separator else [value.text or ""]
        else:
            texts = [item.text or "" for item in value.items]
        unique = dict.fromkeys(filter(None, map(one_line, texts)))
        return tuple(unique)[:MAX_NAMES]

    def _value(self, name: str) -> Node | None:
        pair = self._root.get(name)
        return pair[1] if pair else None

    def _refuse(self, name: str, value: Node, expected: str) -> None:
        self.problems.append(self._problem(value, f"{name} is not {expected}, and is ignored."))

    def _problem(self, node: Node, message: str) -> Problem:
        return Problem(self._found.line(node.start), message)

"""Parse a page's bytes into its facts: title, type, tags, aliases, references, and their faults.

A title that the front matter lacks is the first H1, found by a light scan: most pages have it at
the top, so that no Markdown parser is needed.
"""

import re
from collections.abc import Iterator, Sequence

from ubp.core.model import KeyPin, PageFacts, PageFields, Problem
from ubp.markdown.front_matter import NO_FRONT_MATTER, FrontMatter, read_front_matter
from ubp.markdown.references import PIN, find_references, find_value, one_line, shown
from ubp.markdown.source_text import BOM
from ubp.markdown.title import plain_title
from ubp.markdown.yaml_nodes import Node

DEFAULT_DOC_TYPE = "spec"

MAX_TITLE_CHARACTERS = 500  # a longer one would only fill a terminal
MAX_NAMES = 200  # tags, and aliases
MAX_FIELDS, MAX_FIELD_CHARACTERS = 50, 200
LABELS = frozenset({"tags", "tag", "keywords", "categories", "category", "authors", "author"})
MAX_PROBLEMS = 50  # a hostile page has thousands

_ADDRESS_NAMES = ("slug", "id", "url", "permalink", "aliases", "redirect_from")
_FIELD_NAMES = ("title", "doc_type", "tags", "aliases")
_MAY_BE_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:---|\+\+\+|<!--|\{/\*)")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BLOCK = re.compile(
    rb"^ {0,3}(?:#[ \t](?P<heading>[^\n]*)|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    rb"|(?P<comment><!--)|(?P<underline>=+)[ \t]*$)",
    re.MULTILINE,
)
_CLOSING_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
# A line that ends the paragraph above it, and one of a list, a quotation, HTML or code.
_EMPTY_OR_HEADING = re.compile(r"[ \t]*$| {0,3}#{1,6}(?:[ \t]|$)")
_NOT_PARAGRAPH = re.compile(r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|<)| {4}|\t")


def parse_page(
    data: bytes,
    keys: Sequence[str],
    pin_key: str | None = None,
    translation_pins: Sequence[str] = (),
) -> PageFacts:
    """Return the facts of a page; any bytes are accepted, and nothing is raised.

    `keys` are the front matter keys that name sources: "source_refs", "code_references[].ref".
    `pin_key` is the key that pins those without a pin of their own, `translation_pins` are those
    that pin translations.
    """
    pin_keys = tuple(dict.fromkeys(filter(None, (pin_key, *translation_pins))))
    head = read_head(data, (*keys, *pin_keys))
    references, reference_problems = find_references(head, keys)
    pins, pin_problems = _find_pins(head, pin_keys)
    shared = next((pin.pin for pin in pins if pin.key == pin_key), None)
    fields = _Fields(head)
    title = _title(fields, data)
    doc_type = fields.string("doc_type")
    tags, aliases = fields.names("tags", separator=","), fields.names("aliases")
    problems = [
        *_encoding_problems(data),
        *(() if _is_template(head, keys) else head.problems),
        *_near_misses(head, keys),
        *fields.problems,
        *reference_problems,
        *pin_problems,
    ]
    return PageFacts(
        title=title,
        doc_type=doc_type or DEFAULT_DOC_TYPE,
        tags=tags,
        aliases=aliases,
        references=tuple(
            parsed.reference._replace(pin=shared, pin_key=pin_key)
            if pin_key and parsed.reference.pin is None
            else parsed.reference
            for parsed in references
        ),
        problems=tuple(sorted(problems, key=lambda problem: problem.line))[:MAX_PROBLEMS],
        pins=tuple(pin for pin in pins if pin.key in translation_pins),
    )


def _is_template(head: FrontMatter, keys: Sequence[str]) -> bool:
    """Return whether front matter without sources is a template, which may become valid YAML."""
    if head.root is not None or not _TEMPLATE.search(head.text):
        return False
    return not any(re.split(r"[.\[]", key)[0] in head.text for key in keys)


def read_names(
    head: FrontMatter, data: bytes
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Return title, aliases and tags of a page with this front matter, as `parse_page` does."""
    fields = _Fields(head)
    return _title(fields, data), fields.names("aliases"), fields.names("tags", separator=",")


def _find_pins(head: FrontMatter, keys: Sequence[str]) -> tuple[list[KeyPin], list[Problem]]:
    """Return the commits or object ids at these keys, and the values that are none."""
    pins, problems = [], []
    for key in keys if head.root else ():
        node = find_value(head.root, key) if head.root else None
        text = (node.text or "").strip() if node else ""
        if node and PIN.fullmatch(text):
            pins.append(KeyPin(key, text.lower(), head.line(node.start)))
        elif node and node.type != "null":
            message = f"{key} is not a commit or object id (7 to 40 hexadecimal digits)"
            problems.append(Problem(head.line(node.start), f"{message}; it is ignored."))
    return pins, problems


def read_head(data: bytes, keys: Sequence[str]) -> FrontMatter:
    """Return the front matter of a page, recognized by UBP's own fields and these keys."""
    if not _MAY_BE_HEAD.match(data):
        return NO_FRONT_MATTER
    return read_front_matter(data, {*_FIELD_NAMES, *(re.split(r"[.\[]", key)[0] for key in keys)})


def written_addresses(head: FrontMatter) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the addresses that a page's front matter sets for a site, by their keys."""
    root = head.root
    found: list[tuple[str, tuple[str, ...]]] = []
    for name in _ADDRESS_NAMES if root else ():
        pair = root.get(name) if root else None
        if pair:
            nodes = pair[1].items if pair[1].kind == "sequence" else (pair[1],)
            texts = (one_line(node.text or "") for node in nodes if node.kind == "scalar")
            found.append((name, tuple(filter(None, texts))[:MAX_NAMES]))
    return tuple(found)


def read_fields(head: FrontMatter) -> dict[str, str | tuple[str, ...]]:
    """Return the front matter's first 50 fields with a scalar or a list of scalars, as texts.

    Names and values are on one line and cut to 200 characters; nulls and empty texts are left out.
    """
    fields: dict[str, str | tuple[str, ...]] = {}
    for key, node in head.root.pairs if head.root else ():
        name = one_line(key.value)[:MAX_FIELD_CHARACTERS] if key.kind == "scalar" else ""
        if not name or (name not in fields and len(fields) >= MAX_FIELDS):
            continue
        if node.kind == "scalar":
            if value := one_line(node.text or "")[:MAX_FIELD_CHARACTERS]:
                fields[name] = value
        elif node.kind == "sequence" and all(item.kind == "scalar" for item in node.items):
            values = (one_line(item.text or "")[:MAX_FIELD_CHARACTERS] for item in node.items)
            fields[name] = tuple(filter(None, values))[:MAX_NAMES]
    return fields


def labels_of(fields: PageFields) -> Iterator[str]:
    """Yield the tags, categories and authors among a page's fields, which are searched as words."""
    for name, values in fields.items():
        if name.lower() in LABELS:
            yield from (values,) if isinstance(values, str) else values


def first_heading(body: bytes) -> str | None:
    """Return the text of the first H1, `# …` or underlined, outside fenced code and comments."""
    body = body.removeprefix(BOM)
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    offset = 0
    while block := _BLOCK.search(body, offset):
        text = ""
        if block["fence"]:
            end = _fenced_code_end(body, block)
        elif block["comment"]:
            end = body.find(b"-->", block.end())
        else:
            end = block.end()
            if block["underline"] is None:
                text = _heading_text(block)
            else:
                text = _paragraph_before(body, offset, block)
        if text or end < 0:
            return text or None
        offset = end
    return None


def _title(fields: "_Fields", data: bytes) -> str | None:
    title = fields.text("title")
    if not title and (heading := first_heading(data[fields.head.body :])):
        title = one_line(plain_title(heading))
    return title[:MAX_TITLE_CHARACTERS] or None


def _is_in_languages(value: Node) -> bool:
    """Return whether a value is a mapping of languages to texts."""
    if not value.pairs:
        return False
    from ubp.core.languages import LANGUAGE_CODE  # few pages have such a value

    return all(
        key.kind == "scalar" and re.fullmatch(LANGUAGE_CODE, key.value) and text.kind == "scalar"
        for key, text in value.pairs
    )


class _Fields:
    """UBP's own fields in front matter; a value of the wrong type is a problem and is ignored."""

    def __init__(self, head: FrontMatter) -> None:
        self.head = head
        self._root = head.root or Node("mapping", 0, 0)
        self.problems = [
            self._problem(key, f"Duplicate key {shown(key.value)}; the last value is used.")
            for key in self._root.repeated_keys()
        ]

    def text(self, name: str) -> str:
        """Return a scalar as it is written: `title: 1.10` is a title."""
        value = self._value(name)
        if value is not None and _is_in_languages(value):
            return ""  # another tool's: a title in each language
        if value is not None and value.kind != "scalar":
            self._ignore(name, value, "a string")
        return one_line(value.text or "") if value else ""

    def string(self, name: str) -> str:
        """Return a scalar that is a string in YAML too."""
        value = self._value(name)
        if value is None or value.type == "null":
            return ""
        if value.type != "str":
            self._ignore(name, value, "a string")
            return ""
        return one_line(value.value)

    def names(self, name: str, separator: str | None = None) -> tuple[str, ...]:
        """Return a list of texts, or a single text, split at `separator` if given."""
        value = self._value(name)
        if value is None:
            return ()
        if value.items and all(item.kind == "mapping" for item in value.items):
            return ()  # another tool's: `- type: beta`
        if value.kind == "mapping" or any(item.kind != "scalar" for item in value.items):
            self._ignore(name, value, "a list of strings")
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

    def _ignore(self, name: str, value: Node, expected: str) -> None:
        self.problems.append(
            self._problem(value, f"{name} must be {expected}; the value is ignored.")
        )

    def _problem(self, node: Node, message: str) -> Problem:
        return Problem(self.head.line(node.start), message)


def _near_misses(head: FrontMatter, keys: Sequence[str]) -> list[Problem]:
    """Return the problems of keys that resemble one that lists sources: `source_ref`."""
    names = {re.split(r"[.\[]", key)[0] for key in keys}
    by_letters = {_letters(name): name for name in names}
    return [
        Problem(
            head.line(key.start),
            f"Unknown key {shown(key.value)}; did you mean {by_letters[_letters(key.value)]}?",
        )
        for key, _ in (head.root.pairs if head.root and names else ())
        if key.value not in names and _letters(key.value) in by_letters
    ]


def _letters(key: str) -> str:
    """Return a key without differences of case, separators and number."""
    return re.sub(r"s(?=_)|s$|[\W_]", "", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())


def _encoding_problems(data: bytes) -> list[Problem]:
    if data.isascii():
        return []
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data, 0, error.start)) + 1
        return [Problem(line, "Not valid UTF-8.")]
    return []


def _fenced_code_end(body: bytes, opening: re.Match[bytes]) -> int:
    for closing in _CLOSING_FENCE.finditer(body, opening.end()):
        if closing[1].startswith(opening["fence"]):
            return closing.end()
    return -1


def _heading_text(block: re.Match[bytes]) -> str:
    text = block["heading"].decode("utf-8", "replace").strip()
    unclosed = text.rstrip("#")  # "# Title ##" has a closing sequence, "# C#" has none
    return unclosed.rstrip() if not unclosed or unclosed[-1] in " \t" else text


def _paragraph_before(body: bytes, start: int, underline: re.Match[bytes]) -> str:
    """Return the paragraph that ends above an underline, "" if there is only something else."""
    lines_above = body[start : underline.start()].decode("utf-8", "replace").split("\n")[:-1]
    paragraph: list[str] = []
    for line in reversed(lines_above):
        if _EMPTY_OR_HEADING.match(line):
            break
        if _NOT_PARAGRAPH.match(line):
            return ""
        paragraph.insert(0, line.strip())
    return " ".join(paragraph)

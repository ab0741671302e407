"""Front matter: where it stands in a page, what it says, and whether it is any.

python-frontmatter (1.3) cannot serve here: it keeps no places, drops what is no mapping together
with its text, and sees no front matter behind a byte order mark. The tests hold well-formed pages
against it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection
from typing import NamedTuple

from ubp.core.model import Problem
from ubp.markdown.yaml_nodes import BadYamlError, Node, read_yaml

# A thousand references with pins and reasons take 150 KB. The slowest YAML found takes 0.1 s for
# this many bytes.
MAX_BYTES = 256 * 1024

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(?=[\r\n])")
_CLOSING = re.compile(rb"(?:\r\n|\r|\n)(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_EMPTY_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*[\r\n]")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_KEY_OR_ITEM = re.compile(r"""["']?[A-Za-z_][\w.-]*["']?[ \t]*:(?:[ \t\r\n]|\Z)|-[ \t]""")


class FrontMatter(NamedTuple):
    """A page's head: its text up to the body, the mapping in it, and what is wrong with it.

    Bytes that are not UTF-8 stand as surrogates in `text`, so that it can be written back.
    `body` is the first byte after it.
    """

    text: str
    root: Node | None
    body: int
    problems: tuple[Problem, ...] = ()
    line_starts: tuple[int, ...] = (0,)

    def line(self, place: int) -> int:
        """Count lines, from 1, to a place in the text."""
        return bisect_right(self.line_starts, place)


NO_FRONT_MATTER = FrontMatter("", None, 0)


def read_front_matter(data: bytes, names: Collection[str]) -> FrontMatter:
    """Read what stands between `---` on the first line and the next `---` or `...`.

    A page may just as well begin with a horizontal rule. What is no mapping is reported as front
    matter gone wrong where it has one of `names` as a key or is written like YAML; else it is
    text, and belongs to the body.
    """
    opening = _OPENING.match(data)
    if opening is None:
        return NO_FRONT_MATTER
    closing = _CLOSING.search(data, opening.end())
    if closing is None or closing.start() - opening.end() > MAX_BYTES:
        return _without_end(data[opening.end() : opening.end() + MAX_BYTES], closing, names)
    head, inner = data[: opening.end()].decode(), data[opening.end() : closing.start()]
    yaml_text = inner.decode("utf-8", "surrogateescape")
    fence = data[closing.start() : closing.end()].decode()
    text = head + yaml_text + fence
    line_starts = (0, *(match.end() for match in _LINE_END.finditer(text)))
    found = FrontMatter(text, None, closing.end(), (), line_starts)
    return _with_yaml(found, _UNDECODABLE.sub("\ufffd", yaml_text), len(head), names)


def _without_end(
    start: bytes, closing: re.Match[bytes] | None, names: Collection[str]
) -> FrontMatter:
    text = start.decode("utf-8", "replace")
    if closing is not None:
        if not _is_meant(text, names):
            return NO_FRONT_MATTER
        told = f"The front matter is larger than {MAX_BYTES // 1024} KiB and is not read."
        return NO_FRONT_MATTER._replace(body=closing.end(), problems=(Problem(1, told),))
    if not _has_name(_EMPTY_LINE.split(text, maxsplit=1)[0], names):
        return NO_FRONT_MATTER
    told = "The front matter has no end: a line --- is missing."
    return NO_FRONT_MATTER._replace(problems=(Problem(1, told),))


def _with_yaml(
    found: FrontMatter, yaml_text: str, offset: int, names: Collection[str]
) -> FrontMatter:
    try:
        root = read_yaml(yaml_text, offset)
    except BadYamlError as error:
        line, told = found.line(error.place), f"The front matter is no valid YAML: {error}."
    else:
        if root is None or root.kind == "mapping":
            is_used = not _begins_empty(yaml_text) or any(root and root.get(n) for n in names)
            return found._replace(root=root) if is_used else NO_FRONT_MATTER
        line, told = 2, f"The front matter is no mapping but a {root.kind}."
    if not _is_meant(yaml_text, names):
        return NO_FRONT_MATTER
    return found._replace(problems=(*found.problems, Problem(line, told)))


def _is_meant(yaml_text: str, names: Collection[str]) -> bool:
    if _has_name(yaml_text, names):
        return True
    if _begins_empty(yaml_text):  # as a paragraph after a horizontal rule does
        return False
    lines = [line for line in _LINE_END.split(yaml_text) if line.strip() and line[:1] != "#"]
    return len(lines) == 1 or bool(lines and _KEY_OR_ITEM.match(lines[0]))


def _begins_empty(yaml_text: str) -> bool:
    return bool(_EMPTY_LINE.match(yaml_text)) and bool(yaml_text.strip())


def _has_name(yaml_text: str, names: Collection[str]) -> bool:
    alternatives = "|".join(map(re.escape, sorted(names)))
    return bool(re.search(rf"[\r\n]([\"']?)(?:{alternatives})\1[ \t]*:", yaml_text))

"""What a page's text mentions: paths and file names, identifiers, the words of its headings."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ubp.markdown.front_matter import read_front_matter

# So many of a page count; a changelog has more, and describes nothing.
MAX_MENTIONS = 5_000

# `pages/[id].ts` and `(group)/page.tsx` are paths, `[label](path)` is a link.
_PATH = re.compile(r"(?:[\w.@+~$/-]|\[[\w.]{1,40}\](?=[./])|\([\w-]{1,40}\)(?=/))+")
_WITH_FOLDER = re.compile(r"(?<![\w.@+~$-])[\w.@+~$-]*+(?:/[\w.@+~$-]*+)+")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_CODE = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_HEADING = re.compile(r"#{1,3}[ \t]+(.+)")
_HAS_SHAPE = re.compile(r"[a-z0-9][A-Z]|\w_\w|\d")


class Mention(NamedTuple):
    """A path or identifier as the page writes it: its first line (from 1), how often it stands."""

    text: str
    line: int
    times: int


class PageMentions(NamedTuple):
    """What a page's body mentions; what stands in front matter is none of it.

    `identifiers` are code by their place (`code`, fenced code) or by their shape (snake_case,
    camelCase); `fenced` those that stand in fenced code alone.
    """

    headings: str
    paths: tuple[Mention, ...]
    identifiers: tuple[Mention, ...]
    fenced: frozenset[str]


def read_mentions(data: bytes) -> PageMentions:
    """What a page's bytes mention."""
    start = read_front_matter(data, ()).body
    first_line = data.count(b"\n", 0, start) + 1
    lines = data[start:].decode("utf-8", "replace").split("\n")
    paths: dict[str, list[int]] = {}
    words: dict[str, list[int]] = {}
    is_code: set[str] = set()
    headings: list[str] = []
    for number, line, is_fenced in _numbered(lines, first_line):
        if not is_fenced and (heading := _HEADING.match(line)):
            headings.append(heading[1])
        for path in _PATH.findall(line):
            if "/" in path or "." in path:
                _count(paths, path, number)
        line = _WITH_FOLDER.sub(" ", line)  # noqa: PLW2901  # a folder's name is no identifier
        shown = " ".join(_CODE.findall(line)) if "`" in line and not is_fenced else ""
        is_code.update(_WORD.findall(shown))
        for word in _WORD.findall(line):
            if is_fenced or word in is_code or _HAS_SHAPE.search(word):
                _count(words, word, number)
    fenced = {word for word in words if word not in is_code and not _HAS_SHAPE.search(word)}
    return PageMentions(
        " ".join(headings),
        _mentions(paths),
        _mentions(words),
        frozenset(fenced),
    )


def _numbered(lines: list[str], first: int) -> Iterator[tuple[int, str, bool]]:
    is_fenced = False
    for number, line in enumerate(lines, first):
        if _FENCE.match(line):
            is_fenced = not is_fenced
            continue
        yield number, line, is_fenced


def _count(found: dict[str, list[int]], text: str, line: int) -> None:
    known = found.get(text)
    if known:
        known[1] += 1
    elif len(found) < MAX_MENTIONS:
        found[text] = [line, 1]


def _mentions(found: dict[str, list[int]]) -> tuple[Mention, ...]:
    return tuple([Mention(text, line, count) for text, (line, count) in found.items()])

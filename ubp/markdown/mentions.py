"""Find the paths, identifiers and headings in a page's text that may name its sources."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ubp.markdown.front_matter import read_front_matter
from ubp.markdown.includes import SPHINX_REFERENCES, find_includes

# Per page, of paths and of identifiers; a changelog has more, and describes nothing.
MAX_MENTIONS = 5_000

# `pages/[id].ts` and `(group)/page.tsx` are paths, `[label](path)` is a link.
_PATH = re.compile(r"(?:[\w.@+~$/-]|\[[\w.]{1,40}\](?=[./])|\([\w-]{1,40}\)(?=/))+")
# Inline code that may be the path of a file whose name has a space: `docs/my file.py`.
_SPACED_PATH = re.compile(r"(?:[\w.@+~$&',()\[\]-]+[ /]+)+[\w.@+~$&',()\[\]-]*\.\w{1,10}")
_WITH_FOLDER = re.compile(r"(?<![\w.@+~$-])[\w.@+~$-]*+(?:/[\w.@+~$-]*+)+")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
# With limits, so that many beginnings without an end are read in linear time.
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,500}\]\([ \t]*<?([^\s()<>]+)|<img\b[^<>]{0,500}?\ssrc=[\"']([^\"'\n]+)"
)
# The text of such a link names a file where its address has it, which may be another repository.
_FORGE_LINK = re.compile(
    r"\[[^\[\]\n]{0,500}\]\([ \t]*<?(https?://[^\s()<>/]{1,100}(?:/[^\s()<>/]{1,100}){2,20}?"
    r"/(?:blob|blame|edit|raw|tree|src)/[^\s()<>]{1,500})"
)
# The address of a page at a site, which may be that of a module, too: `[Redis](/drivers/redis)`.
_SITE_LINK = re.compile(r"\]\([ \t]*/[^\s().]{0,500}\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)")
_HEADING = re.compile(r"#{1,3}[ \t]+(.+)")
_IDENTIFIER_SHAPE = re.compile(r"[a-z0-9][A-Z]|\w_\w|\d")


class Mention(NamedTuple):
    """A path or identifier as written, its first line (from 1) and its number of occurrences."""

    text: str
    line: int
    times: int


class PageMentions(NamedTuple):
    """The mentions in a page's body, without its front matter.

    `identifiers` are words in code spans and fenced code, and those that look like code
    (snake_case, camelCase); `fenced` are those that occur only in fenced code. `embedded` are the
    paths of images and of included files, as written: they are parts of the page. `languages` are
    those of fenced code, as written.
    """

    headings: str
    paths: tuple[Mention, ...]
    identifiers: tuple[Mention, ...]
    fenced: frozenset[str]
    embedded: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()


def read_mentions(data: bytes) -> PageMentions:
    """Return the mentions in a page."""
    start = read_front_matter(data, ()).body
    first_line = data.count(b"\n", 0, start) + 1
    body = data[start:].decode("utf-8", "replace")
    includes = find_includes(body)
    embedded = {item.path for item in includes if item.generator not in SPHINX_REFERENCES}
    embedded.update(path for paths in _IMAGE.findall(body) for path in paths if path)
    lines = body.split("\n")
    paths: dict[str, list[int]] = {}
    words: dict[str, list[int]] = {}
    code_words: set[str] = set()  # in code spans
    headings: list[str] = []
    languages: set[str] = set()
    for number, line, is_fenced in _numbered(lines, first_line, languages):
        if not is_fenced and (heading := _HEADING.match(line)):
            headings.append(heading[1])
        for path in _paths(line, is_fenced=is_fenced):
            if path not in embedded:
                _count(paths, path, number)
        line = _WITH_FOLDER.sub(" ", line)  # noqa: PLW2901 - a folder's name is not an identifier
        if "`" in line and not is_fenced:
            code_words.update(_WORD.findall(" ".join(_CODE.findall(line))))
        for word in _WORD.findall(line):
            if is_fenced or word in code_words or _IDENTIFIER_SHAPE.search(word):
                _count(words, word, number)
    fenced = {
        word for word in words if word not in code_words and not _IDENTIFIER_SHAPE.search(word)
    }
    return PageMentions(
        " ".join(headings),
        _mentions(paths),
        _mentions(words),
        frozenset(fenced),
        frozenset(embedded),
        frozenset(languages),
    )


def _numbered(lines: list[str], first: int, languages: set[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its number, and whether it is fenced code; add the languages of code."""
    is_fenced = False
    for number, line in enumerate(lines, first):
        if fence := _FENCE.match(line):
            is_fenced = not is_fenced
            if is_fenced and fence[1]:
                languages.add(fence[1])
            continue
        yield number, line, is_fenced


def _paths(line: str, *, is_fenced: bool) -> Iterator[str]:
    """Yield what may be a path in a line; an address of another page of the site is none."""
    addressed = line
    if "](" in line:
        addressed = _FORGE_LINK.sub(r" \1 ", _SITE_LINK.sub("]", line))
    yield from (path for path in _PATH.findall(addressed) if "/" in path or "." in path)
    if "`" in line and not is_fenced:
        spans = _CODE.findall(line)
        yield from (span for span in spans if " " in span and _SPACED_PATH.fullmatch(span))


def _count(counts: dict[str, list[int]], text: str, line: int) -> None:
    """Count an occurrence; the values are the first line and the number of occurrences."""
    entry = counts.get(text)
    if entry:
        entry[1] += 1
    elif len(counts) < MAX_MENTIONS:
        counts[text] = [line, 1]


def _mentions(counts: dict[str, list[int]]) -> tuple[Mention, ...]:
    return tuple([Mention(text, line, count) for text, (line, count) in counts.items()])

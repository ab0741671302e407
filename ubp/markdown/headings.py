"""A page's anchors: GitHub's for its headings, those that its HTML names, Obsidian's block ids.

A page's sections: whole, from one H2 or H3 to the next.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ubp.core.model import Section
from ubp.core.text import fold, slug
from ubp.markdown.blocks import Block
from ubp.markdown.source_text import SourceText

# Markup in a longer heading stays as it is written: 200 kB of brackets take markdown-it 3 s.
MAX_HEADING_CHARACTERS = 2000
MAX_CHARACTERS = 500  # of a heading's text: it is repeated for every section below


class Heading(NamedTuple):
    """A heading: its text without markup, its anchor; `is_outer`: it stands in no quote or list."""

    level: int
    text: str
    anchor: str
    line: int
    is_outer: bool


class Outline(NamedTuple):
    """A page's headings in order, and all that `page.md#…` may name, folded."""

    headings: tuple[Heading, ...]
    anchors: tuple[str, ...]


def find_outline(text: str, blocks: list[Block], definitions: Mapping[str, Any]) -> Outline:
    """Find headings and anchors; `text` is the whole page, `blocks` those found in it."""
    given = _Anchors()
    headings = []
    opened: Block | None = None
    for block in blocks:
        if opened is not None:
            content, custom = _without_custom_id(block.content)
            name = plain_text(content, definitions)
            shown = " ".join(name.split())[:MAX_CHARACTERS]
            anchor = given.add_heading(f"{name} {custom}" if custom else name)
            given.add(custom[2:-1].strip())
            line = opened.map[0] if opened.map else 0
            is_outer = opened.level == 0
            headings.append(Heading(int(opened.tag[1]), shown, anchor, line, is_outer))
        opened = block if block.type == "heading_open" else None
        if "<" in block.content and block.type in {"inline", "html_block"}:
            _add_html(given, block)
    if "^" in text:
        for block_id in _BLOCK_ID.findall(text):
            given.add(f"^{block_id}")
    return Outline(tuple(headings), tuple(given.names))


class _Anchors:
    """The anchors given so far, in order; a second heading of the same name gets "-1"."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self._times: dict[str, int] = {}

    def add_heading(self, text: str) -> str:
        base = name = slug(text)
        while name in self._times:  # as github-slugger counts: "a", "a-1", "a" ends in "a-2"
            self._times[base] += 1
            name = f"{base}-{self._times[base]}"
        self._times[name] = 0
        self.add(name)
        self.add(name.strip("-"))  # what an image or emoji beside the text leaves
        return name

    def add(self, name: str) -> None:
        if name:
            self.names[fold(name)] = None


def plain_text(content: str, definitions: Mapping[str, Any]) -> str:
    """Return a heading's text without its markup, as a reader sees it."""
    if len(content) > MAX_HEADING_CHARACTERS or not _MARKUP.search(content):
        return content
    tokens: list[Token] = []
    markdown = _inline_parser()
    markdown.inline.parse(content, markdown, {"references": definitions}, tokens)
    return "".join(map(_token_text, tokens))


def _token_text(token: Token) -> str:
    if token.type in {"text", "text_special", "code_inline"}:
        return token.content
    return " " if token.type in {"softbreak", "hardbreak"} else ""


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def _without_custom_id(content: str) -> tuple[str, str]:
    """Cut off a site generator's own id: `Title {#id}`."""
    match = _CUSTOM_ID.search(content) if content.endswith("}") else None
    return (content[: match.start()].rstrip(), match[0]) if match else (content, "")


def _add_html(given: _Anchors, block: Block) -> None:
    html = _HTML_COMMENT.sub("", block.content)
    if block.type == "html_block":
        for name in _html_headings(html):
            given.add_heading(name)
    for names in _HTML_ID.findall(html):
        given.add(unescape("".join(names)))


def _html_headings(html: str) -> Iterator[str]:
    if "<h" in html or "<H" in html:
        for inner in _HTML_HEADING.findall(html):
            yield " ".join(unescape(_HTML_TAG.sub("", inner)).split())


_MARKUP = re.compile(r"[\\`*_\[\]<>&~!\n]")
_CUSTOM_ID = re.compile(r"\{#[^\s{}]+\s*\}$")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_HTML_ID = re.compile(
    r"<[a-zA-Z](?:[^<>]{0,2000}?\s)(?:id|name)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))",
    re.IGNORECASE,
)
_HTML_HEADING = re.compile(
    r"<h[1-6](?:\s[^<>]*)?>([^<]*(?:<(?!/?h[1-6])[^<]*)*)</h[1-6]", re.IGNORECASE
)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML_TAG = re.compile(r"<[^<>]*>")


DEEPEST_LEVEL = 3  # H4 and deeper stay inside of their section


def find_sections(
    source: SourceText, headings: Sequence[Heading], first_line: int
) -> tuple[Section, ...]:
    """Cut the page into sections, from a line (counted from 0) on.

    The page's H1 is its title and begins no section; another H1 after that does.
    """
    begun = [_Begun(first_line, None, ())]
    for heading in headings:
        if not heading.is_outer or heading.level > DEEPEST_LEVEL:
            continue
        path = begun[-1].path
        if heading.level == 1 and not path:
            begun[-1] = begun[-1]._replace(path=(heading,))
        else:
            above = (other for other in path if other.level < heading.level)
            begun.append(_Begun(heading.line, heading, (*above, heading)))
    ends = [*(later.line for later in begun[1:]), len(source.lines)]
    cut = (_cut(source, start, end) for start, end in zip(begun, ends, strict=True))
    return tuple(section for section in cut if section)


class _Begun(NamedTuple):
    line: int
    heading: Heading | None
    path: tuple[Heading, ...]


def _cut(source: SourceText, begun: _Begun, end: int) -> Section | None:
    lines, start, heading = source.lines, begun.line, begun.heading
    while end > start and not lines[end - 1].strip():
        end -= 1
    while start < end and not lines[start].strip():
        start += 1
    if start >= end:
        return None
    return Section(
        heading=heading.text if heading else None,
        level=heading.level if heading else 0,
        heading_path=tuple(above.text for above in begun.path),
        anchor=heading.anchor if heading else None,
        line_start=start + 1,
        line_end=end,
        byte_start=source.byte_at(start, 0),
        byte_end=source.byte_at(end - 1, len(lines[end - 1])),
    )

"""Find a page's headings, anchors and sections.

Anchors are GitHub's for headings, the ids and names in HTML, and Obsidian's block ids. A section
reaches from an H2 or H3 to the next.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ubp.core.model import Section
from ubp.core.text import fold, slug
from ubp.markdown.blocks import Block
from ubp.markdown.source_text import SourceText

# Markup is kept in longer headings: 200 kB of brackets take markdown-it 3 s.
MAX_HEADING_CHARACTERS = 2000
MAX_TEXT_CHARACTERS = 500  # of a heading: its text is repeated for every section below it
MAX_SECTION_LEVEL = 3  # H4 and deeper headings are part of their section

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


class Heading(NamedTuple):
    """A heading, with its text without markup; `is_outer`: it is not in a quotation or a list."""

    level: int
    text: str
    anchor: str
    line: int
    is_outer: bool


class Outline(NamedTuple):
    """A page's headings in order, and all its anchors, folded."""

    headings: tuple[Heading, ...]
    anchors: tuple[str, ...]


def find_outline(text: str, blocks: list[Block], definitions: Mapping[str, Any]) -> Outline:
    """Return the headings and anchors of a page with this text and these blocks."""
    anchors = _Anchors()
    headings = []
    opening: Block | None = None
    for block in blocks:
        if opening is not None:
            content, custom_id = _split_custom_id(block.content)
            text_content = plain_text(content, definitions)
            shown = " ".join(text_content.split())[:MAX_TEXT_CHARACTERS]
            anchor = anchors.add_heading(
                f"{text_content} {custom_id}" if custom_id else text_content
            )
            anchors.add(custom_id[2:-1].strip())
            line = opening.map[0] if opening.map else 0
            is_outer = opening.level == 0
            headings.append(Heading(int(opening.tag[1]), shown, anchor, line, is_outer))
        opening = block if block.type == "heading_open" else None
        if "<" in block.content and block.type in {"inline", "html_block"}:
            _add_html_anchors(anchors, block)
    if "^" in text:
        for block_id in _BLOCK_ID.findall(text):
            anchors.add(f"^{block_id}")
    return Outline(tuple(headings), tuple(anchors.names))


def find_sections(
    source: SourceText, headings: Sequence[Heading], first_line: int
) -> tuple[Section, ...]:
    """Return the sections of a page from a line (counted from 0) on.

    The page's first H1 is its title and begins no section; another H1 does.
    """
    starts = [_SectionStart(first_line, None, ())]
    for heading in headings:
        if not heading.is_outer or heading.level > MAX_SECTION_LEVEL:
            continue
        path = starts[-1].path
        if heading.level == 1 and not path:
            starts[-1] = starts[-1]._replace(path=(heading,))
        else:
            above = (other for other in path if other.level < heading.level)
            starts.append(_SectionStart(heading.line, heading, (*above, heading)))
    ends = [*(later.line for later in starts[1:]), len(source.lines)]
    sections = (_section(source, start, end) for start, end in zip(starts, ends, strict=True))
    return tuple(section for section in sections if section)


class _Anchors:
    """The anchors so far, in order; the second heading with the same text gets "-1"."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self._counts: dict[str, int] = {}

    def add_heading(self, text: str) -> str:
        base = name = slug(text)
        while name in self._counts:  # as github-slugger counts: "a", "a-1", "a" ends in "a-2"
            self._counts[base] += 1
            name = f"{base}-{self._counts[base]}"
        self._counts[name] = 0
        self.add(name)
        self.add(name.strip("-"))  # an image or emoji beside the text leaves a hyphen
        return name

    def add(self, name: str) -> None:
        if name:
            self.names[fold(name)] = None


def plain_text(content: str, definitions: Mapping[str, Any]) -> str:
    """Return the text of a heading without its markup, as rendered."""
    if len(content) > MAX_HEADING_CHARACTERS or not _MARKUP.search(content):
        return content
    tokens: list[Token] = []
    markdown = _inline_parser()
    markdown.inline.parse(content, markdown, {"references": definitions}, tokens)
    texts = (
        token.content
        if token.type in {"text", "text_special", "code_inline"}
        else " " * (token.type in {"softbreak", "hardbreak"})
        for token in tokens
    )
    return "".join(texts)


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def _split_custom_id(content: str) -> tuple[str, str]:
    """Split `Title {#id}`, as site generators write it, into the title and the id."""
    match = _CUSTOM_ID.search(content) if content.endswith("}") else None
    return (content[: match.start()].rstrip(), match[0]) if match else (content, "")


def _add_html_anchors(anchors: _Anchors, block: Block) -> None:
    html = _HTML_COMMENT.sub("", block.content)
    if block.type == "html_block":
        for inner in _HTML_HEADING.findall(html) if "<h" in html or "<H" in html else ():
            anchors.add_heading(" ".join(unescape(_HTML_TAG.sub("", inner)).split()))
    for quoted_or_plain in _HTML_ID.findall(html):
        anchors.add(unescape("".join(quoted_or_plain)))


class _SectionStart(NamedTuple):
    line: int
    heading: Heading | None
    path: tuple[Heading, ...]


def _section(source: SourceText, section_start: _SectionStart, end: int) -> Section | None:
    lines, start, heading = source.lines, section_start.line, section_start.heading
    while end > start and not lines[end - 1].strip():
        end -= 1
    while start < end and not lines[start].strip():
        start += 1
    if start >= end:
        return None
    return Section(
        heading=heading.text if heading else None,
        level=heading.level if heading else 0,
        heading_path=tuple(above.text for above in section_start.path),
        anchor=heading.anchor if heading else None,
        line_start=start + 1,
        line_end=end,
        byte_start=source.byte_at(start, 0),
        byte_end=source.byte_at(end - 1, len(lines[end - 1])),
    )

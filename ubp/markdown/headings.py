"""Find a page's headings, anchors and sections.

What a generator makes of headings is left to `ubp.markdown.sites`; sections have GitHub's anchors.
Ids are those of HTML, of attribute lists (`{#id}`), MyST's targets and Obsidian's blocks. A section
reaches from an H2 or H3 to the next.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ubp.core.model import Section
from ubp.markdown.blocks import Block
from ubp.markdown.includes import imported_pages, shows_module
from ubp.markdown.sites.anchors import (
    TERM,
    HeadingName,
    PageAnchors,
    github_slugs,
    github_text,
)
from ubp.markdown.source_text import SourceText
from ubp.markdown.title import ATTRIBUTES, LINE_BREAK, split_own_id, with_labels

# Markup is kept in longer headings: 200 kB of brackets take markdown-it 3 s.
MAX_HEADING_CHARACTERS = 2000
MAX_TEXT_CHARACTERS = 500  # of a heading: its text is repeated for every section below it
MAX_SECTION_LEVEL = 3  # H4 and deeper headings are part of their section

_MARKUP = re.compile(r"[\\`*_\[\]<>&~!\n]")
_ATTRIBUTES_ALONE = re.compile(rf"{ATTRIBUTES}[ \t]*(?:\n|\Z)")
_ATTRIBUTE_ID = re.compile(ATTRIBUTES)
_MYST_TARGET = re.compile(
    r"^[ \t]*(?:\(([^()\n]{1,200})\)=|:name:[ \t]+[\"']?([^\s\"']{1,200})[\"']?"
    r"|\$\$[ \t]*\((\S{1,200})\))[ \t]*$",
    re.MULTILINE,
)
# Liquid, Vue and macros put a value into a heading.
_COMPUTED = re.compile(r"\{\{[^{}#]+\}\}")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_RAW_HTML = re.compile(r"\{raw\}[ \t]*html\b")
# In a directive: code that is not a directive itself, as an item of a list too.
_NESTED_CODE = re.compile(
    r"^[ \t*-]*(?P<fence>`{3,}|~{3,})(?!\{)[^\n]*\n(?:[^\n]*\n){0,99}?[ \t]*(?P=fence)`*~*[ \t]*$",
    re.MULTILINE,
)
# A definition below its term, as Goldmark and others write it.
_TERM = re.compile(r"(?:^|\n)([^\n:][^\n]*)\n[ ]{0,3}:[ \t]+\S")
_MAY_DEFINE = re.compile(r"(?:\A|\n[ ]{0,3}):[ \t]")
# A component of Vue or React: what it shows is not in the page.
_COMPONENT = re.compile(r"<([A-Z]\w*)[\s/>]|^<script\b", re.MULTILINE)
# mkdocstrings and Sphinx make headings and ids of the source code that these name.
_GENERATED = re.compile(
    r"^[ \t]*(?::::[ \t]*[A-Za-z_]\w*\.[\w.]+"
    r"|(?:`{3,}|:{3,})\{(?:auto\w+|eval-rst|click|py:\w+)\})",
    re.MULTILINE,
)
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
    """A page's headings in order, and what anchors are made of.

    `lines` are those of the headings in `anchors`, which are more.
    """

    headings: tuple[Heading, ...]
    anchors: PageAnchors
    lines: tuple[int, ...]


def find_outline(text: str, blocks: list[Block], definitions: Mapping[str, Any]) -> Outline:
    """Return the headings and anchors of a page with this text and these blocks."""
    names: list[HeadingName] = []
    openings: list[tuple[Block, str] | None] = []  # None for a heading in HTML, and for a term
    ids: list[str] = []
    opening: Block | None = None
    targets: list[str] = []
    lines: list[int] = []
    above, is_heading, is_computed = "", False, False
    for block in blocks:
        if block.type == "inline" and opening is None and _MAY_DEFINE.search(block.content):
            terms = [HeadingName(TERM, text) for text in _terms(block.content, above, definitions)]
            names += terms
            openings += [None] * len(terms)
        above = block.content
        if opening is not None:
            content, own_id = split_own_id(block.content)
            markup = content if "](" in content or "![" in content else ""
            described = plain_text(content, definitions, images=True) if markup else ""
            text_of = plain_text(content, definitions)
            if "{{" in content and not own_id:
                is_computed = is_computed or bool(_COMPUTED.search(_CODE.sub("", content)))
            names.append(HeadingName(int(opening.tag[1]), text_of, described, markup, own_id))
            openings.append((opening, _shown_text(content, text_of, definitions)))
        targets += find_targets(block)
        below = _ATTRIBUTES_ALONE.match(block.content) if is_heading else None
        if below and names:
            names[-1] = names[-1]._replace(id_below=below["id"])
        is_heading = opening is not None
        opening = block if block.type == "heading_open" else None
        is_raw = block.type == "fence" and _RAW_HTML.match(block.info) is not None
        if block.type in {"inline", "html_block"} or is_raw:
            if "<" in block.content:
                html = _HTML_COMMENT.sub("", block.content)
                html_headings = list(_html_headings(html)) if block.type == "html_block" else []
                names += html_headings
                openings += [None] * len(html_headings)
                ids += (unescape("".join(groups)) for groups in _HTML_ID.findall(html))
            if "{" in block.content and not is_heading:
                ids += (match["id"] for match in _ATTRIBUTE_ID.finditer(block.content))
        lines += [block.map[0] if block.map else 0] * (len(names) - len(lines))
    if "^" in text:
        ids += (f"^{block_id}" for block_id in _BLOCK_ID.findall(text))
    headings = [
        Heading(
            int(opened[0].tag[1]),
            opened[1],
            anchor,
            opened[0].map[0] if opened[0].map else 0,
            opened[0].level == 0,
        )
        for opened, anchor in zip(openings, _section_anchors(names), strict=True)
        if opened is not None
    ]
    may_generate = ":::" in text or "```{" in text
    is_generated = _GENERATED.search(text) if may_generate else None
    pages = imported_pages(text) if not names else ()
    is_component = not names and any(match[1] not in pages for match in _COMPONENT.finditer(text))
    anchors = PageAnchors(
        tuple(names),
        tuple(dict.fromkeys(filter(None, ids))),
        tuple(dict.fromkeys(targets)),
        bool(is_generated) or is_component or is_computed or shows_module(text),
    )
    return Outline(tuple(headings), anchors, tuple(lines))


def _terms(content: str, above: str, definitions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the terms of the definitions in a paragraph; the first may be in the one above it."""
    if content.startswith((": ", ":\t")):
        yield plain_text(above.rpartition("\n")[2], definitions)
    for term in _TERM.findall(content):
        yield plain_text(term, definitions)


def find_targets(block: Block) -> Iterator[str]:
    """Yield the MyST targets in a paragraph or directive."""
    text = block.content
    if ")=" not in text and ":name:" not in text and "$$" not in text:
        return
    if block.type == "fence" and block.info.startswith("{"):
        text = _NESTED_CODE.sub("", text)
    elif block.type != "inline":
        return
    yield from targets_in(text)


def targets_in(text: str) -> Iterator[str]:
    """Yield the names of MyST targets in the lines of a text."""
    yield from ("".join(groups) for groups in _MYST_TARGET.findall(text))


def _shown_text(content: str, text: str, definitions: Mapping[str, Any]) -> str:
    """Return a heading's text as it is shown: on one line, with blanks for line breaks."""
    shown = LINE_BREAK.sub(" ", with_labels(content))
    if shown != content:
        text = plain_text(shown, definitions)
    return " ".join(text.split())[:MAX_TEXT_CHARACTERS]


def _section_anchors(names: Sequence[HeadingName]) -> Iterator[str]:
    """Yield GitHub's anchor of each heading, and "" for each term."""
    slugs = github_slugs(github_text(name) for name in names if name.level != TERM)
    return (next(slugs) if name.level != TERM else "" for name in names)


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


def plain_text(content: str, definitions: Mapping[str, Any], *, images: bool = False) -> str:
    """Return the text of a heading without its markup, as rendered; `images`: with descriptions."""
    if len(content) > MAX_HEADING_CHARACTERS or not _MARKUP.search(content):
        return content
    tokens: list[Token] = []
    markdown = _inline_parser()
    markdown.inline.parse(content, markdown, {"references": definitions}, tokens)
    texts = (
        token.content
        if token.type in {"text", "text_special", "code_inline"}
        or (images and token.type == "image")
        else " " * (token.type in {"softbreak", "hardbreak"})
        for token in tokens
    )
    return "".join(texts)


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def _html_headings(html: str) -> Iterator[HeadingName]:
    for inner in _HTML_HEADING.findall(html) if "<h" in html or "<H" in html else ():
        yield HeadingName(0, " ".join(unescape(_HTML_TAG.sub("", inner)).split()))


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

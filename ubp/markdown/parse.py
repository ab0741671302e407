"""Parse a page's Markdown into sections, chunks, links and anchors."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ubp.core.model import Chunk, Link, Section
from ubp.markdown.blocks import Block, find_blocks
from ubp.markdown.chunks import find_chunks
from ubp.markdown.headings import find_outline, find_sections
from ubp.markdown.links import collect_links, page_includes
from ubp.markdown.sites.anchors import IncludedPage, PageAnchors
from ubp.markdown.source_text import SourceText


class MarkdownFacts(NamedTuple):
    """The parts of a page's body, in order; `embedded` are its images and included files."""

    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...]
    embedded: tuple[Link, ...]
    anchors: PageAnchors


def parse_markdown(data: bytes, body: int = 0) -> MarkdownFacts:
    """Return the facts in GitHub's Markdown with wikilinks; any bytes are accepted.

    `body` is the first byte after the front matter; lines and bytes count from the file's start.
    """
    source = SourceText(data)
    first_line = source.line_of_byte(body)
    blocks = find_blocks(source, first_line)
    outline = find_outline(source.text, blocks.blocks, blocks.definitions)
    sections = find_sections(source, outline.headings, first_line)
    start = source.starts[sections[0].line_start - 1] if sections else len(source.text)
    includes = list(page_includes(source, start, blocks.blocks))
    links, embedded = collect_links(source, blocks, sections, includes)
    lines = outline.lines
    pages = (
        IncludedPage(i.generator, i.target, bisect_left(lines, source.line_of(i.place)))
        for i in sorted(includes, key=lambda include: include.place)
        if i.is_page
    )
    anchors = outline.anchors._replace(includes=tuple(pages))
    return MarkdownFacts(
        sections=sections,
        chunks=find_chunks(source, sections, _chunk_lines(blocks.blocks)),
        links=links,
        embedded=embedded,
        anchors=anchors,
    )


def _chunk_lines(blocks: Sequence[Block]) -> list[int]:
    """Return the first lines of the outer blocks, except those that follow a heading."""
    lines: list[int] = []
    after_heading = False
    for block in blocks:
        if block.level == 0 and block.map and (not lines or block.map[0] > lines[-1]):
            if not after_heading:
                lines.append(block.map[0])
            after_heading = block.type == "heading_open"
    return lines

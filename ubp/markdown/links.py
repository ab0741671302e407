"""Collect the links of a page, with their positions in its bytes."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from markdown_it.common.utils import MD_TRIM_CHARS

from ubp.core.model import Link, LinkKind, Section
from ubp.markdown.blocks import Block, Blocks, find_blocks
from ubp.markdown.includes import SPHINX_REFERENCES, Include, find_includes
from ubp.markdown.inline import (
    InlineLink,
    Target,
    closest_link_type,
    find_html_images,
    find_links_and_images,
    link_type,
    read_target,
    read_wikilink_target,
)
from ubp.markdown.source_text import SourceText

CONTEXT_CHARACTERS = 50  # on both sides of a link
MAX_CHARACTERS = 500  # of a label, and of a link with its context

_DEFINITION = re.compile(
    r"\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]:"
    r"[ \t]*(?:\n[ \t>]*)?(?:<(?P<angled>[^\n]*?)>|(?P<plain>\S+))",
    re.DOTALL,
)
# What Liquid does not evaluate.
_LIQUID_RAW = re.compile(r"\{%-?\s*(?P<tag>raw|comment)\s*-?%\}.*?\{%-?\s*end(?P=tag)", re.DOTALL)
_EMBEDDED = frozenset({"image", "include"})
# These include no file in a block of code: what is there is an example.
_NOT_IN_FENCES = frozenset({"vitepress", "sphinx", "docusaurus"})
# What directives of Sphinx contain text, in which roles are links; that of others may be code.
_TEXT_DIRECTIVE = (
    r"\{(?:toctree|admonition|attention|card|caution|container|danger|deprecated|details|div|dropdown"
    r"|epigraph|error|figure|glossary|grid|grid-item|grid-item-card|hint|important|list-table|margin"
    r"|note|only|seealso|sidebar|tab|tab-item|tab-set|table|tip|todo|topic|version(?:added|changed)"
    r"|warning)\}"
)
_CONTAINS_TEXT = re.compile(_TEXT_DIRECTIVE)
# A block of MyST's `colon_fence`, which is a paragraph to the parser.
_COLON_CODE = re.compile(
    rf"^[ \t]*(?P<fence>:{{3,}})(?!{_TEXT_DIRECTIVE})\{{[^\n]*\n"
    r"(?:(?![ \t]*(?P=fence):*[ \t]*$)[^\n]*\n)*",
    re.MULTILINE,
)
MAX_DIRECTIVE_DEPTH = 8
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BAR = re.compile(r"(?<!\\)\|")
_ESCAPED_BAR = re.compile(r"\\\|")


def collect_links(
    source: SourceText, blocks: Blocks, sections: Sequence[Section], includes: Iterable[Include]
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Return the links to files, and the images and included files, each in the page's order."""
    collector = _LinkCollector(source, blocks.definitions, sections)
    text_blocks = (block for block in blocks.blocks if block.type == "inline")
    links = [link for block in text_blocks for link in collector.links(block)]
    links += collector.definitions()
    links += collector.html_images(block for block in blocks.blocks if block.type == "html_block")
    if sections:
        links += map(collector.include, includes)
    links.sort(key=lambda link: link.byte_start)
    embedded = tuple(link for link in links if link.kind in _EMBEDDED)
    return tuple(link for link in links if link.kind not in _EMBEDDED), embedded


def page_includes(source: SourceText, start: int, blocks: Sequence[Block]) -> Iterator[Include]:
    """Yield the files that generators put into a page from an offset on, without examples."""
    found = list(find_includes(source.text, start))
    if not found:
        return
    references = [include for include in found if include.generator in SPHINX_REFERENCES]
    if references:
        yield from _in_text(source, references, blocks)
        found = [include for include in found if include.generator not in SPHINX_REFERENCES]
    fences = [block.map for block in blocks if block.type == "fence" and block.map]
    starts = [span[0] for span in fences]
    raw = [match.span() for match in _LIQUID_RAW.finditer(source.text)]
    for include in found:
        line = source.line_of(include.path_start)
        index = bisect_right(starts, line) - 1
        fence = fences[index] if index >= 0 and line < fences[index][1] else None
        is_first = fence is not None and line == fence[0]  # a directive is written as a fence
        if (
            fence
            and include.generator in _NOT_IN_FENCES
            and not (is_first and include.generator == "sphinx")
        ):
            continue  # an example
        if any(start <= include.start < end for start, end in raw):
            continue
        yield include._replace(is_code=include.is_code or (fence is not None and not is_first))


def _in_text(
    source: SourceText, references: Iterable[Include], blocks: Iterable[Block]
) -> Iterator[Include]:
    """Yield those of Sphinx's references that are in the text of a page, or of a directive."""
    lines = {*_text_lines(blocks)}
    for code in _COLON_CODE.finditer(source.text):
        first = source.line_of(code.start())
        lines.difference_update(range(first, first + code[0].count("\n")))
    for include in references:
        line = source.line_of(include.path_start)
        if line in lines and not source.lines[line].lstrip().startswith("%"):  # a comment
            yield include


def _text_lines(blocks: Iterable[Block], first: int = 0, depth: int = 0) -> Iterator[int]:
    """Yield the lines of text, also those in directives that contain text."""
    for block in blocks:
        if not block.map:
            continue
        start, end = first + block.map[0], first + block.map[1]
        is_directive = block.type == "fence" and _CONTAINS_TEXT.match(block.info)
        if block.type == "inline" or (is_directive and block.info.startswith("{toctree}")):
            yield from range(start, end)
        elif is_directive and depth < MAX_DIRECTIVE_DEPTH:
            inside = find_blocks(SourceText(block.content.encode("utf-8", "surrogateescape")))
            yield from _text_lines(inside.blocks, start + 1, depth + 1)


class _Use(NamedTuple):
    """The first use of a definition."""

    context: str
    section: int


class _LinkCollector:
    """Collects the links of a page; definitions come last, with the context of their first use."""

    def __init__(
        self,
        source: SourceText,
        definitions: Mapping[str, Mapping[str, Any]],
        sections: Sequence[Section],
    ) -> None:
        self._source = source
        self._positions = _PositionMap(source)
        self._definitions = definitions
        self._targets: dict[str, str] = {
            name: definition["href"] for name, definition in definitions.items()
        }
        self._first_lines = [section.line_start for section in sections]
        self._uses: dict[str, _Use] = {}
        self._image_definitions: set[str] = set()

    def links(self, block: Block) -> Iterator[Link]:
        """Yield the links of a block, and note which definitions it uses; blocks come in order."""
        self._positions.count_cell(block)
        text = block.content
        is_linked = "[[" in text or "](" in text or (self._targets and "[" in text)
        if not is_linked and "<img" not in text:
            return
        inline_links, images = find_links_and_images(text, self._targets)
        if inline_links or images:
            self._positions.enter(block)
        for inline_link in sorted([*inline_links, *images], key=lambda link: link.target):
            name = inline_link.definition
            if inline_link.kind == "image reference":
                self._image_definitions.add(name)
            elif inline_link.kind == "reference":
                if name not in self._uses:
                    line = self._positions.at(inline_link.start)[0]
                    self._uses[name] = _Use(self._context(block, inline_link), self._section(line))
            elif link := self._link(block, inline_link):
                yield link

    def definitions(self) -> Iterator[Link]:
        """Yield the definitions of links and images."""
        for name, definition in self._definitions.items():
            if link := self._definition(name, definition["map"]):
                is_image = name in self._image_definitions and name not in self._uses
                yield link._replace(kind="image") if is_image else link

    def html_images(self, blocks: Iterable[Block]) -> Iterator[Link]:
        """Yield the images in blocks of HTML."""
        source = self._source
        for block in blocks:
            if "<img" not in block.content or not block.map:
                continue
            start, end = source.starts[block.map[0]], source.starts[block.map[1]]
            html = _COMMENT.sub(lambda comment: " " * len(comment[0]), source.text[start:end])
            for image in find_html_images(html, start):
                if target := read_target(source.text[slice(*image.target)]):
                    yield self._at_offsets("image", target, image.start, image.target[0])

    def include(self, include: Include) -> Link:
        """Return the file that a generator puts into the page."""
        target = Target(include.target, None, 0, len(include.path))
        link = self._at_offsets("include", target, include.start, include.path_start)
        return link._replace(label=include.generator)

    def _at_offsets(self, kind: LinkKind, target: Target, start: int, target_start: int) -> Link:
        """Return a link at offsets in the page's text."""
        source = self._source
        line = source.line_of(start)
        return Link(
            kind=kind,
            target=target.path,
            anchor=None,
            link_type="references",
            label=None,
            line=line + 1,
            column=start - source.starts[line] + 1,
            byte_start=source.byte_of(target_start + target.start),
            byte_end=source.byte_of(target_start + target.end),
            context=_one_line(source.lines[line]),
            section=self._section(line),
            meant_type=None,
        )

    def _link(self, block: Block, inline_link: InlineLink) -> Link | None:
        text = block.content
        written = text[slice(*inline_link.target)]
        label = _one_line(text[slice(*inline_link.label)]) if inline_link.label[0] >= 0 else None
        kind: LinkKind = "markdown"
        target, typed = None, None
        if inline_link.kind == "wikilink" or inline_link.kind == "embed":  # noqa: PLR1714 - narrows the type
            kind, target = inline_link.kind, read_wikilink_target(written)
            typed = link_type(label) if label else None
        else:
            target = read_target(written)
            if inline_link.kind == "image":
                kind = "image"
        if target is None or (kind == "image" and not target.path):
            return None
        line, column = self._positions.at(inline_link.start)
        target_line, start = self._positions.at(inline_link.target[0] + target.start)
        end = self._positions.at(inline_link.target[0] + target.end)[1]
        return Link(
            kind=kind,
            target=target.path,
            anchor=target.anchor,
            link_type=typed or "references",
            label=None if typed else label,
            line=line + 1,
            column=column + 1,
            byte_start=self._source.byte_at(target_line, start),
            byte_end=self._source.byte_at(target_line, end),
            context=self._context(block, inline_link),
            section=self._section(line),
            meant_type=closest_link_type(label)
            if label and kind == "wikilink" and not typed
            else None,
        )

    def _definition(self, name: str, lines: Sequence[int]) -> Link | None:
        source = self._source
        start, end = source.starts[lines[0]], source.starts[lines[1]]
        match = _DEFINITION.search(source.text, start, end)
        group = "angled" if match and match["angled"] is not None else "plain"
        target = read_target(match[group]) if match else None
        if match is None or target is None:
            return None
        line = source.line_of(match.start())
        use = self._uses.get(name) or _Use(_one_line(match[0]), self._section(line))
        return Link(
            kind="definition",
            target=target.path,
            anchor=target.anchor,
            link_type="references",
            label=_one_line(match["label"]),
            line=line + 1,
            column=match.start() - source.starts[line] + 1,
            byte_start=source.byte_of(match.start(group)),
            byte_end=source.byte_of(match.start(group) + target.end),
            context=use.context,
            section=use.section,
            meant_type=None,
        )

    def _context(self, block: Block, inline_link: InlineLink) -> str:
        """Return the link with the text around it; in a table, from the whole row."""
        text, start, end = block.content, inline_link.start, inline_link.end
        if block.row_start >= 0:
            line, start = self._positions.at(start)
            text, end = self._source.lines[line], self._positions.at(end)[1]
        start = max(0, start - CONTEXT_CHARACTERS)
        return _one_line(text[start : end + CONTEXT_CHARACTERS])

    def _section(self, line: int) -> int:
        return max(0, bisect_right(self._first_lines, line + 1) - 1)


class _Row(NamedTuple):
    """A table row: its text without margins, its first column, and the spans of its cells."""

    text: str
    column: int
    cells: list[tuple[int, int]]


class _PositionMap:
    """Maps positions in the text of the entered block to lines and columns (from 0) of the page.

    The parser strips indents, quote marks and cell bars from a block's text.
    """

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._line = 0
        self._starts: list[int] = [0]  # of the lines of the block's text
        self._shifts: list[int | None] = [0]  # the columns where they begin; None: not yet known
        self._text_lines: list[str] = []
        self._bars: list[int] = []  # escaped bars in a cell, whose backslash the text lacks
        self._row_start = -1
        self._row: _Row | None = None
        self._cell = 0

    def count_cell(self, block: Block) -> None:
        """Count the cells of a table row; must be called for every block with text, in order."""
        if block.row_start < 0:
            return
        if block.row_start == self._row_start:
            self._cell += 1
        else:
            self._row_start, self._row, self._cell = block.row_start, None, 0

    def enter(self, block: Block) -> None:
        """Make positions refer to this block, the last one counted."""
        self._line = block.map[0] if block.map else 0
        self._bars = []
        if block.row_start >= 0:
            self._enter_cell()
            return
        self._text_lines = block.content.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._text_lines), initial=0))
        self._shifts = [None] * len(self._text_lines)

    def at(self, position: int) -> tuple[int, int]:
        """Return the line and the column of a position in the entered block's text."""
        part = bisect_right(self._starts, position, hi=len(self._shifts)) - 1
        shift = self._shifts[part]
        if shift is None:
            shift = self._shifts[part] = self._find_shift(part)
        column = shift + position - self._starts[part] + bisect_left(self._bars, position)
        return self._line + part, column

    def _find_shift(self, part: int) -> int:
        """Return the column where a line of the text begins.

        The parser also expands tabs, and strips the closing sequence of a heading.
        """
        text = self._text_lines[part].rstrip(MD_TRIM_CHARS)
        line = self._source.lines[self._line + part]
        column = line.rfind(text)
        return column if column >= 0 else len(line.rstrip(MD_TRIM_CHARS)) - len(text)

    def _enter_cell(self) -> None:
        if self._row is None:
            self._row = _read_row(self._source, self._line, self._row_start)
        row = self._row
        start, end = row.cells[self._cell] if self._cell < len(row.cells) else (0, 0)
        raw = row.text[start:end]
        text = raw.strip(MD_TRIM_CHARS)
        margin = len(raw) - len(raw.lstrip(MD_TRIM_CHARS))
        self._bars = [
            bar.start() - before for before, bar in enumerate(_ESCAPED_BAR.finditer(text))
        ]
        self._starts = [0]
        self._shifts = [row.column + start + margin]


def _read_row(source: SourceText, line: int, row_start: int) -> _Row:
    column = row_start - source.starts[line]
    raw = source.lines[line][column:]
    text = raw.strip(MD_TRIM_CHARS)
    bars = [bar.start() for bar in _BAR.finditer(text)]
    cells = list(zip([0, *(bar + 1 for bar in bars)], [*bars, len(text)], strict=True))
    if cells[0] == (0, 0):
        cells = cells[1:]
    return _Row(text, column + len(raw) - len(raw.lstrip(MD_TRIM_CHARS)), cells)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_CHARACTERS]

"""Where a block's text stands in the page: the parser strips indents, quote marks and cell bars.

A page's links: found in its blocks, read, and placed in its bytes.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from markdown_it.common.utils import MD_TRIM_CHARS

from ubp.core.model import Link, LinkKind, Section
from ubp.markdown.blocks import Block, Blocks
from ubp.markdown.inline import (
    InlineLink,
    closest_link_type,
    find_links,
    link_type,
    read_target,
    read_wikilink_target,
)
from ubp.markdown.source_text import SourceText


class _Row(NamedTuple):
    """A table's row: its text without margins, the column at which it begins, its cells' spans."""

    text: str
    column: int
    cells: list[tuple[int, int]]


class PositionMap:
    """Maps positions in one block's text after the other to lines and columns (from 0)."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._line = 0
        self._starts: list[int] = [0]  # of the text's lines
        self._shifts: list[int | None] = [0]  # what a line has before its part of the text
        self._text_lines: list[str] = []
        self._bars: list[int] = []  # escaped ones in a cell: the text lacks their backslash
        self._row_start = -1
        self._row: _Row | None = None
        self._cell = 0

    def pass_by(self, block: Block) -> None:
        """Count cells; to be called for every block with text, in order."""
        if block.row_start < 0:
            return
        if block.row_start == self._row_start:
            self._cell += 1
        else:
            self._row_start, self._row, self._cell = block.row_start, None, 0

    def enter(self, block: Block) -> None:
        """Make ready for positions of this block, the last one passed."""
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
        """Tell by how much a text's line is shifted: what the parser stripped stands before it.

        Tabs it may have written as blanks, and a heading's closing signs it took off.
        """
        text = self._text_lines[part].rstrip(MD_TRIM_CHARS)
        line = self._source.lines[self._line + part]
        found = line.rfind(text)
        return found if found >= 0 else len(line.rstrip(MD_TRIM_CHARS)) - len(text)

    def _enter_cell(self) -> None:
        if self._row is None:
            self._row = _read_row(self._source, self._line, self._row_start)
        row = self._row
        start, end = row.cells[self._cell] if self._cell < len(row.cells) else (0, 0)
        raw = row.text[start:end]
        text = raw.strip(MD_TRIM_CHARS)
        margin = len(raw) - len(raw.lstrip(MD_TRIM_CHARS))
        self._bars = [bar.start() - before for before, bar in enumerate(_ESCAPED.finditer(text))]
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


_BAR = re.compile(r"(?<!\\)\|")
_ESCAPED = re.compile(r"\\\|")


CONTEXT_CHARACTERS = 50  # on both sides of a link
MAX_CHARACTERS = 500  # of a label, and of a link with its context


def collect_links(
    source: SourceText, found: Blocks, sections: Sequence[Section]
) -> tuple[Link, ...]:
    """Collect the links to files, in the order of their targets in the page."""
    page = _Page(source, found.definitions, sections)
    links = [link for block in found.blocks if block.type == "inline" for link in page.links(block)]
    links += page.definitions()
    links.sort(key=lambda link: link.byte_start)
    return tuple(links)


class _Use(NamedTuple):
    """Where a definition is used first."""

    context: str
    section: int


class _Page:
    """What the links of one page share."""

    def __init__(
        self,
        source: SourceText,
        definitions: Mapping[str, Mapping[str, Any]],
        sections: Sequence[Section],
    ) -> None:
        self._source = source
        self._places = PositionMap(source)
        self._definitions = definitions
        self._targets: dict[str, str] = {name: d["href"] for name, d in definitions.items()}
        self._first_lines = [section.line_start for section in sections]
        self._uses: dict[str, _Use] = {}
        self._images: set[str] = set()

    def links(self, block: Block) -> Iterator[Link]:
        """Yield a block's links, and remember which definitions it uses."""
        self._places.pass_by(block)
        text = block.content
        if "[[" not in text and "](" not in text and not (self._targets and "[" in text):
            return
        entered = False
        for found in find_links(text, self._targets):
            if not entered:
                self._places.enter(block)
                entered = True
            if found.kind == "image reference":
                self._images.add(found.definition)
            elif found.kind == "reference":
                if found.definition not in self._uses:
                    self._uses[found.definition] = self._use(block, found)
            elif link := self._link(block, found):
                yield link

    def definitions(self) -> Iterator[Link]:
        """Yield the definitions that lead to files, but for those that only show images."""
        for name, definition in self._definitions.items():
            if name in self._images and name not in self._uses:
                continue
            yield from self._definition(name, definition["map"])

    def _link(self, block: Block, found: InlineLink) -> Link | None:
        text = block.content
        written = text[slice(*found.target)]
        label = _one_line(text[slice(*found.label)]) if found.label[0] >= 0 else None
        kind: LinkKind = "markdown"
        target, typed = None, None
        if found.kind == "wikilink" or found.kind == "embed":  # noqa: PLR1714 - narrows the type
            kind, target = found.kind, read_wikilink_target(written)
            typed = link_type(label) if label else None
        else:
            target = read_target(written)
        if target is None:
            return None
        line, column = self._places.at(found.start)
        target_line, start = self._places.at(found.target[0] + target.start)
        end = self._places.at(found.target[0] + target.end)[1]
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
            context=self._context(block, found),
            section=self._section(line),
            meant_type=closest_link_type(label)
            if label and kind == "wikilink" and not typed
            else None,
        )

    def _definition(self, name: str, lines: Sequence[int]) -> Iterator[Link]:
        source = self._source
        start, end = source.starts[lines[0]], source.starts[lines[1]]
        match = _DEFINITION.search(source.text, start, end)
        group = "angled" if match and match["angled"] is not None else "plain"
        target = read_target(match[group]) if match else None
        if match is None or target is None:
            return
        line = source.line_of(match.start())
        use = self._uses.get(name) or _Use(_one_line(match[0]), self._section(line))
        yield Link(
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

    def _use(self, block: Block, found: InlineLink) -> _Use:
        return _Use(self._context(block, found), self._section(self._places.at(found.start)[0]))

    def _context(self, block: Block, found: InlineLink) -> str:
        """Cut out the link with what stands around it; a table's cell is too little, so its row."""
        text, start, end = block.content, found.start, found.end
        if block.row_start >= 0:
            line, start = self._places.at(start)
            text, end = self._source.lines[line], self._places.at(end)[1]
        start = max(0, start - CONTEXT_CHARACTERS)
        return _one_line(text[start : end + CONTEXT_CHARACTERS])

    def _section(self, line: int) -> int:
        return max(0, bisect_right(self._first_lines, line + 1) - 1)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MAX_CHARACTERS]


_DEFINITION = re.compile(
    r"\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]:"
    r"[ \t]*(?:\n[ \t>]*)?(?:<(?P<angled>[^\n]*?)>|(?P<plain>\S+))",
    re.DOTALL,
)

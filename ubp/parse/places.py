"""Where a block's text stands in the page: the parser strips indents, quote marks and cell bars."""

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from markdown_it.common.utils import MD_TRIM_CHARS

from ubp.parse.blocks import Block
from ubp.parse.source import Source


class _Row(NamedTuple):
    """A table's row: its text without margins, the column at which it begins, its cells' spans."""

    text: str
    column: int
    cells: list[tuple[int, int]]


class Places:
    """Maps positions in one block's text after the other to lines and columns (from 0)."""

    def __init__(self, source: Source) -> None:
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


def _read_row(source: Source, line: int, row_start: int) -> _Row:
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

"""Split a page into chunks for search: its sections, with long ones split and short ones joined."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ubp.core.model import Chunk, Section
from ubp.core.text import CJK_RANGES, token_tenths
from ubp.markdown.source_text import SourceText

MAX_TOKENS = 256
MIN_TOKENS = 32

_MAX_TENTHS, _MIN_TENTHS = MAX_TOKENS * 10, MIN_TOKENS * 10
# Texts, because compiling them takes longer than a search, which only needs MIN_TOKENS.
_LINE = r"\n"
_SENTENCE = (  # in Japanese, no blank follows
    r"[。．！？]+[」』）】)\]]*\s*"  # noqa: RUF001 - Japanese punctuation
    r"|[.!?]+[)\]\"'*_]*\s+"
)
# A sentence that is too long is split after every 48 words or CJK characters: at most 62 tokens.
_WORDS = rf"(?:[{CJK_RANGES}]\s*|[^\s{CJK_RANGES}]+\s*){{1,48}}"
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")


def find_chunks(
    source: SourceText, sections: Sequence[Section], block_lines: Sequence[int]
) -> tuple[Chunk, ...]:
    """Return the chunks of a page: sections split at blocks, then lines, sentences and words.

    `block_lines` are the lines (from 0) of the blocks that may begin a chunk.
    """
    pieces: list[_Piece] = []
    for index, section in enumerate(sections):
        start = source.starts[section.line_start - 1]
        end = source.starts[section.line_end] - 1
        tenths = token_tenths(source.text[start:end])
        if tenths <= _MAX_TENTHS:
            pieces.append(_Piece(index, start, end, tenths))
        else:
            pieces += _split(source, index, start, end, block_lines)
    return tuple(_chunk(source, piece) for piece in _join(pieces))


class _Piece(NamedTuple):
    section: int
    start: int
    end: int
    tenths: int


class _Unit(NamedTuple):
    start: int
    end: int
    tenths: int


Splitter = Callable[[str, int, int], Iterable[int]]
"""A function from a text and a span in it to the starts of the span's parts, its own first."""


def _split(
    source: SourceText, index: int, start: int, end: int, block_lines: Sequence[int]
) -> Iterator[_Piece]:
    """Yield the pieces of a section, each of as many units as fit."""
    blocks = [source.starts[line] for line in block_lines]
    splitters = (
        _split_at(blocks),
        _split_after(_LINE),
        _split_after(_SENTENCE),
        _split_after(_WORDS),
    )
    first, filled = start, 0
    for unit in _units(source.text, start, end, splitters):
        if filled and filled + unit.tenths > _MAX_TENTHS:
            yield _trim(source.text, index, first, unit.start, filled)
            first, filled = unit.start, 0
        filled += unit.tenths
    yield _trim(source.text, index, first, end, filled)


def _units(text: str, start: int, end: int, splitters: Sequence[Splitter]) -> Iterator[_Unit]:
    """Yield the units of a text: split by the first splitter, long parts by the next ones."""
    starts = [*splitters[0](text, start, end), end]
    for first, last in pairwise(starts):
        tenths = token_tenths(text[first:last])
        if tenths <= _MAX_TENTHS or len(splitters) == 1:
            yield _Unit(first, last, tenths)
        else:
            yield from _units(text, first, last, splitters[1:])


def _split_at(offsets: Sequence[int]) -> Splitter:
    def split(_: str, start: int, end: int) -> Iterable[int]:
        return (start, *offsets[bisect_right(offsets, start) : bisect_left(offsets, end)])

    return split


def _split_after(pattern: str) -> Splitter:
    def split(text: str, start: int, end: int) -> Iterable[int]:
        yield start
        for match in re.compile(pattern).finditer(text, start, end):
            if match.end() < end:
                yield match.end()

    return split


def _trim(text: str, index: int, start: int, end: int, tenths: int) -> _Piece:
    blank = _BLANK_LINES.match(text, start, end)
    start = blank.end() if blank else start
    return _Piece(index, start, start + len(text[start:end].rstrip()), tenths)


def _join(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Join a short piece with the one before it, a short first piece with the next one."""
    joined: list[_Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else piece
        tenths = last.tenths + piece.tenths
        is_short = piece.tenths < _MIN_TENTHS or (len(joined) == 1 and last.tenths < _MIN_TENTHS)
        if not joined or not is_short or tenths > _MAX_TENTHS + _MIN_TENTHS:
            joined.append(piece)
            continue
        section = last.section if last.tenths >= piece.tenths else piece.section
        joined[-1] = _Piece(section, last.start, piece.end, tenths)
    return joined


def _chunk(source: SourceText, piece: _Piece) -> Chunk:
    first, last = source.line_of(piece.start), source.line_of(piece.end)
    return Chunk(
        section=piece.section,
        line_start=first + 1,
        line_end=last + 1,
        byte_start=source.byte_at(first, piece.start - source.starts[first]),
        byte_end=source.byte_at(last, piece.end - source.starts[last]),
        token_count=-(-piece.tenths // 10),
    )

"""A page's chunks, for search: its sections, long ones split, short ones joined."""

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


def find_chunks(
    source: SourceText, sections: Sequence[Section], block_lines: Sequence[int]
) -> tuple[Chunk, ...]:
    """Split sections at blocks, then lines, sentences, words, and join what is short.

    `block_lines` are the lines (from 0) at which a block begins that may begin a chunk.
    """
    pieces: list[_Piece] = []
    for index, section in enumerate(sections):
        start = source.starts[section.line_start - 1]
        end = source.starts[section.line_end] - 1
        weight = token_tenths(source.text[start:end])
        if weight <= _MAX:
            pieces.append(_Piece(index, start, end, weight))
        else:
            pieces += _split(source, index, start, end, block_lines)
    return tuple(_chunk(source, piece) for piece in _join(pieces))


class _Piece(NamedTuple):
    section: int
    start: int
    end: int
    weight: int


_MAX, _MIN = MAX_TOKENS * 10, MIN_TOKENS * 10


def _split(
    source: SourceText, index: int, start: int, end: int, block_lines: Sequence[int]
) -> Iterator[_Piece]:
    """Fill pieces with as many units as they hold."""
    blocks = [source.starts[line] for line in block_lines]
    cuts = (_cut_at(blocks), _cut_behind(_LINE), _cut_behind(_SENTENCE), _cut_behind(_WORDS))
    first, filled = start, 0
    for unit in _units(source.text, start, end, cuts):
        if filled and filled + unit.weight > _MAX:
            yield _trim(source.text, index, first, unit.start, filled)
            first, filled = unit.start, 0
        filled += unit.weight
    yield _trim(source.text, index, first, end, filled)


class _Unit(NamedTuple):
    start: int
    end: int
    weight: int


Cut = Callable[[str, int, int], Iterable[int]]
"""Tells where a text's parts begin, from its start on."""


def _units(text: str, start: int, end: int, cuts: Sequence[Cut]) -> Iterator[_Unit]:
    """Cut a text with the first way; parts that are too long with the next."""
    starts = [*cuts[0](text, start, end), end]
    for first, last in pairwise(starts):
        weight = token_tenths(text[first:last])
        if weight <= _MAX or len(cuts) == 1:
            yield _Unit(first, last, weight)
        else:
            yield from _units(text, first, last, cuts[1:])


def _cut_at(offsets: Sequence[int]) -> Cut:
    def cut(_: str, start: int, end: int) -> Iterable[int]:
        return (start, *offsets[bisect_right(offsets, start) : bisect_left(offsets, end)])

    return cut


def _cut_behind(pattern: re.Pattern[str]) -> Cut:
    def cut(text: str, start: int, end: int) -> Iterable[int]:
        yield start
        for match in pattern.finditer(text, start, end):
            if match.end() < end:
                yield match.end()

    return cut


def _trim(text: str, index: int, start: int, end: int, weight: int) -> _Piece:
    blank = _BLANK_LINES.match(text, start, end)
    start = blank.end() if blank else start
    return _Piece(index, start, start + len(text[start:end].rstrip()), weight)


def _join(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Join a short piece to the one before, a short first one to the next."""
    joined: list[_Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else piece
        weight = last.weight + piece.weight
        is_short = piece.weight < _MIN or (len(joined) == 1 and last.weight < _MIN)
        if not joined or not is_short or weight > _MAX + _MIN:
            joined.append(piece)
            continue
        section = last.section if last.weight >= piece.weight else piece.section
        joined[-1] = _Piece(section, last.start, piece.end, weight)
    return joined


def _chunk(source: SourceText, piece: _Piece) -> Chunk:
    first, last = source.line_of(piece.start), source.line_of(piece.end)
    return Chunk(
        section=piece.section,
        line_start=first + 1,
        line_end=last + 1,
        byte_start=source.byte_at(first, piece.start - source.starts[first]),
        byte_end=source.byte_at(last, piece.end - source.starts[last]),
        token_count=-(-piece.weight // 10),
    )


_LINE = re.compile(r"\n")
_SENTENCE = re.compile(  # Japanese ends one without a blank
    r"[。．！？]+[」』）】)\]]*\s*"  # noqa: RUF001 - these are the signs
    r"|[.!?]+[)\]\"'*_]*\s+"
)
# A sentence too long for a chunk is cut after every 48 words or characters: 62 tokens at most.
_WORDS = re.compile(rf"(?:[{CJK_RANGES}]\s*|[^\s{CJK_RANGES}]+\s*){{1,48}}")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")

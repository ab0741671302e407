"""The part of a section that shows why it is a hit. Pure."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ubp.search.folding import Span, find_terms
from ubp.search.terms import Term

# A line of a terminal and a half, or 64 CJK characters, which take two columns each.
COLUMNS = 128
# So much of it stands before the first highlight.
LEAD_COLUMNS = 24


class Snippet(NamedTuple):
    """A text on one line; `highlights` are spans of it (start, end), in characters.

    `line` is that of the first highlight in the text that was cut, from 0.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]
    line: int


def cut_snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """Cut out the part with the most terms; the beginning where there is none."""
    spans = apart(find_terms(text, terms))
    start, end = _window(text, spans)
    inside = [span for span in spans if start <= span.start and span.end <= end]
    shown, highlights = _on_one_line(text, start, end, inside)
    line = text.count("\n", 0, inside[0].start) if inside else 0
    return Snippet(shown, highlights, line)


def apart(spans: Sequence[Span]) -> list[Span]:
    """Spans that do not overlap: of several the first, of those the longest."""
    found: list[Span] = []
    for span in spans:
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def _window(text: str, spans: Sequence[Span]) -> tuple[int, int]:
    best = (0, _forwards(text, 0, COLUMNS))
    best_value = (0, 0)
    for index, span in enumerate(spans):
        start = _backwards(text, span.start, LEAD_COLUMNS)
        end = max(_forwards(text, start, COLUMNS), span.end)
        inside = [one.term for one in spans[index:] if one.end <= end]
        value = (len(set(inside)), len(inside))
        if value > best_value:
            best, best_value = (start, end), value
    return best


def _backwards(text: str, position: int, columns: int) -> int:
    """A start before a position: of a word, if one begins there, and not far beyond a heading."""
    start = position
    while start and (columns := columns - _width(text[start - 1])) >= 0:
        start -= 1
    if start == 0:
        return 0
    blanks = [at for at in range(start, position) if text[at].isspace()]
    return blanks[0] + 1 if blanks else start


def _forwards(text: str, position: int, columns: int) -> int:
    end = position
    while end < len(text) and (columns := columns - _width(text[end])) >= 0:
        end += 1
    if end == len(text):
        return end
    last_blank = max((at for at in range(end, position, -1) if text[at].isspace()), default=end)
    return last_blank if last_blank > (position + end) // 2 else end


def _width(character: str) -> int:
    return 1 if character.isascii() else 1 + (unicodedata.east_asian_width(character) in "WF")


def _on_one_line(
    text: str, start: int, end: int, spans: Sequence[Span]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part with its white space folded, and where the spans are in it."""
    characters = ["…"] if text[:start].strip() else []
    places: dict[int, int] = {}
    for at in range(start, end):
        places[at] = len(characters)
        if not text[at].isspace():
            characters.append(text[at])
        elif characters and characters[-1] not in " …":
            characters.append(" ")
    while characters and characters[-1] == " ":
        characters.pop()
    shown = "".join(characters)
    places[end] = len(shown)
    tail = "…" if text[end:].strip() else ""
    return shown + tail, tuple((places[span.start], places[span.end]) for span in spans)

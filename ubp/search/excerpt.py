"""The part of a section that shows why it is a hit. Pure.

The part of a section that is quoted: sentences around what was found. Pure.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ubp.search.match import Span, find_terms
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
    spans = split_terms(find_terms(text, terms))
    start, end = _window(text, spans)
    inside = [span for span in spans if start <= span.start and span.end <= end]
    shown, highlights = _on_one_line(text, start, end, inside)
    line = text.count("\n", 0, inside[0].start) if inside else 0
    return Snippet(shown, highlights, line)


def split_terms(spans: Sequence[Span]) -> list[Span]:
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


# So much an agent reads of each page before it decides which to open.
CHARACTERS = 240
# So much of it stands before the first highlight where its sentence is too long.
LEAD_CHARACTERS = 48
# Chunks end sooner, unless a line is no text.
MOST_LOOKED_AT, MOST_SPANS = 20_000, 200

ELLIPSIS = "…"


class Passage(NamedTuple):
    """A text on one line; `highlights` are spans of it (start, end), in characters.

    `held` are the indexes of the terms that the whole text holds; `line` is that of the first one
    in the text that was cut, from 0, or that of the first text.
    """

    content: str
    highlights: tuple[tuple[int, int], ...]
    held: tuple[int, ...]
    line: int


def cut_passage(text: str, terms: Sequence[Term]) -> Passage:
    """Cut out the part with the most terms; where there is none, the beginning.

    Headings at the beginning are left out: an answer tells them beside it.
    """
    text = text[:MOST_LOOKED_AT]
    head = _behind_headings(text)
    spans = split_terms(find_terms(text, terms))[:MOST_SPANS]
    held = tuple(sorted({span.term for span in spans}))
    line = _Line(text, head)
    body = line.text
    inside = [
        Span(line.place(span.start), line.place(span.end - 1) + 1, span.term)
        for span in spans
        if span.start >= head
    ]
    start, end = _passage_window(body, inside)
    shown = [span for span in inside if start <= span.start and span.end <= end]
    before = ELLIPSIS if start else ""
    after = "" if end == len(body) or _ENDED.search(body, max(start, end - 9), end) else ELLIPSIS
    shift = len(before) - start
    first = spans[0].start if spans else head
    return Passage(
        f"{before}{body[start:end]}{after}",
        tuple((span.start + shift, span.end + shift) for span in shown),
        held,
        text.count("\n", 0, first),
    )


def _behind_headings(text: str) -> int:
    """Where the text below the headings that it begins with stands; 0: there is none."""
    end = 0
    while match := _HEADING.match(text, end):
        end = match.end()
    return end if text[end:].strip() else 0


class _Line:
    """A text with its white space folded, and where what stood in it stands now."""

    def __init__(self, text: str, start: int) -> None:
        words = text[start:].split()
        self.text = " ".join(words)
        self._before = [match.start() for match in _WORD.finditer(text, start)]
        self._now = list(accumulate([len(word) + 1 for word in words], initial=0))

    def place(self, position: int) -> int:
        """Where a character that is not blank has gone."""
        word = bisect_right(self._before, position) - 1
        return self._now[word] + position - self._before[word]


def _passage_window(body: str, spans: Sequence[Span]) -> tuple[int, int]:
    """Where to begin and to end: room is left for both ellipses."""
    if len(body) <= CHARACTERS:
        return 0, len(body)
    sentences = [0, *(match.end() for match in _SENTENCE_END.finditer(body))]
    starts = [0, *(_start_before(body, span, sentences) for span in spans)]
    ends = [_end_behind(body, start, sentences, spans) for start in starts]
    windows = list(dict.fromkeys(zip(starts, ends, strict=True)))
    return max(windows, key=lambda window: (*_value(window, spans), -window[0]))


def _start_before(body: str, span: Span, sentences: Sequence[int]) -> int:
    """The beginning of the span's sentence, or of a word not too far before it."""
    sentence = sentences[max(0, bisect_left(sentences, span.start + 1) - 1)]
    if span.end - sentence <= CHARACTERS // 2:
        return sentence
    start = max(sentence, span.start - LEAD_CHARACTERS)
    blank = body.find(" ", start, span.start)
    return blank + 1 if blank >= 0 else start


def _end_behind(body: str, start: int, sentences: Sequence[int], spans: Sequence[Span]) -> int:
    room = CHARACTERS - (1 if start else 0)
    if len(body) - start <= room:
        return len(body)
    last = max((span.end for span in spans if span.end <= start + room - 1), default=start)
    whole = [end for end in sentences if start + room // 2 < end <= start + room and end >= last]
    if whole:
        return len(body[start : whole[-1]].rstrip()) + start
    end = start + room - 1
    blank = body.rfind(" ", max(last, start + room // 2), end + 1)
    return blank if blank > start else end


def _value(window: tuple[int, int], spans: Sequence[Span]) -> tuple[int, int]:
    inside = [s.term for s in spans if window[0] <= s.start and s.end <= window[1]]
    return len(set(inside)), len(inside)


_WORD = re.compile(r"\S+")
_HEADING = re.compile(
    r"\s{0,3}#{1,6}(?:[ \t][^\n]*)?(?:\n\s*|\Z)|[^\n]+\n[=-]{3,}[ \t]*(?:\n\s*|\Z)"
)
_SENTENCE_END = re.compile(
    r"[。！？．]+[」』）】]* ?|[.!?]+[\"')\]]* (?=[^a-z])"  # noqa: RUF001 - these are the signs
)
_ENDED = re.compile(r"[。！？．.!?][」』）】\"')\]]*\Z")  # noqa: RUF001 - the same

"""Excerpts that show why a section matches: snippets for terminals, passages for agents. Pure.

Both cut the window with the most terms out of a text and put it on one line. A snippet fits the
width of a terminal and may begin anywhere; a passage consists of sentences if it can.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from ubp.core.text import without_markup
from ubp.search.match import Span, find_terms
from ubp.search.terms import Term

# A line and a half of a terminal, or 64 CJK characters, which take two columns each.
SNIPPET_COLUMNS = 128
# The columns before a snippet's first highlight.
LEAD_COLUMNS = 24

# What an agent reads of each document before it decides which to open.
PASSAGE_CHARACTERS = 240
# The characters before a passage's first highlight if its sentence is too long.
LEAD_CHARACTERS = 48
# Chunks are shorter, unless a line is not text.
MAX_SCANNED_CHARACTERS, MAX_SPANS = 20_000, 200

ELLIPSIS = "…"


class Snippet(NamedTuple):
    """A text on one line; `highlights` are spans of it (start, end), in characters.

    `line`, from 0, is the line of the first highlight in the text that was cut.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]
    line: int


class Passage(NamedTuple):
    """A text on one line; `highlights` are spans of it (start, end), in characters.

    `matched` are the indexes of the terms in the whole text; `line`, from 0, is the line of the
    first term in the text that was cut, or the first line of text.
    """

    content: str
    highlights: tuple[tuple[int, int], ...]
    matched: tuple[int, ...]
    line: int


class _Window(NamedTuple):
    start: int
    end: int

    def inside(self, spans: Iterable[Span]) -> list[Span]:
        """Return the spans that lie in the window."""
        return [span for span in spans if self.start <= span.start and span.end <= self.end]


class _Candidate(NamedTuple):
    """A window, and the spans that count for it if they lie in it."""

    window: _Window
    spans: Sequence[Span]


def cut_snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """Cut out the part with the most terms; without any the beginning; markup is left out."""
    text = without_markup(text)
    spans = drop_overlaps(find_terms(text, terms))
    candidates = [_Candidate(_Window(0, _snippet_end(text, 0)), ())]
    for index, span in enumerate(spans):
        start = _snippet_start(text, span.start)
        window = _Window(start, max(_snippet_end(text, start), span.end))
        candidates.append(_Candidate(window, spans[index:]))
    window = _best_window(candidates)
    inside = window.inside(spans)
    shown, highlights = _on_one_line(text, window, inside)
    line = text.count("\n", 0, inside[0].start) if inside else 0
    return Snippet(shown, highlights, line)


def cut_passage(text: str, terms: Sequence[Term]) -> Passage:
    """Cut out the part with the most terms; without any the beginning.

    Markup is left out, and headings at the beginning: they are shown beside the passage.
    """
    written = text[:MAX_SCANNED_CHARACTERS]
    body_start = _skip_headings(written)
    spans = find_terms(written, terms)
    matched = {span.term for span in spans}
    text = written[:body_start] + without_markup(written[body_start:])
    spans = drop_overlaps(spans if text == written else find_terms(text, terms))[:MAX_SPANS]
    line = _FoldedLine(text, body_start)
    body = line.text
    body_spans = [
        Span(line.position(span.start), line.position(span.end - 1) + 1, span.term)
        for span in spans
        if span.start >= body_start
    ]
    window = _passage_window(body, body_spans)
    start, end = window
    is_ended = end == len(body) or _ENDED.search(body, max(start, end - 9), end)
    before, after = ELLIPSIS if start else "", "" if is_ended else ELLIPSIS
    shift = len(before) - start
    return Passage(
        f"{before}{body[start:end]}{after}",
        tuple((span.start + shift, span.end + shift) for span in window.inside(body_spans)),
        tuple(sorted(matched)),
        text.count("\n", 0, spans[0].start if spans else body_start),
    )


def drop_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the spans without those that overlap an earlier one; spans are sorted."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _best_window(candidates: Iterable[_Candidate]) -> _Window:
    """Return the window with the most different terms, then the most spans, then the first one."""

    def value(candidate: _Candidate) -> tuple[int, int, int]:
        window, spans = candidate
        terms = [span.term for span in window.inside(spans)]
        return len(set(terms)), len(terms), -window.start

    return max(candidates, key=value).window


def _snippet_start(text: str, position: int) -> int:
    """Return a start at most LEAD_COLUMNS before a position, at the beginning of a word if any."""
    start, columns = position, LEAD_COLUMNS
    while start and (columns := columns - _width(text[start - 1])) >= 0:
        start -= 1
    if start == 0:
        return 0
    blanks = (at for at in range(start, position) if text[at].isspace())
    return next((at + 1 for at in blanks), start)


def _snippet_end(text: str, start: int) -> int:
    """Return the end of a snippet, at the end of a word if that does not halve it."""
    end, columns = start, SNIPPET_COLUMNS
    if (beginning := text[start : start + columns]).isascii():
        end, columns = start + len(beginning), 0
    while end < len(text) and (columns := columns - _width(text[end])) >= 0:
        end += 1
    if end == len(text):
        return end
    last_blank = next((at for at in range(end, start, -1) if text[at].isspace()), end)
    return last_blank if last_blank > (start + end) // 2 else end


@lru_cache(maxsize=10_000)
def _width(character: str) -> int:
    return 1 if character.isascii() else 1 + (unicodedata.east_asian_width(character) in "WF")


def _on_one_line(
    text: str, window: _Window, spans: Sequence[Span]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text of a window with its white space folded, and the spans in it."""
    before = ELLIPSIS if text[: window.start].strip() else ""
    after = ELLIPSIS if text[window.end :].strip() else ""
    shown = " ".join(text[window.start : window.end].split())

    def position(at: int) -> int:
        part = text[window.start : at]
        folded = len(" ".join(part.split()))
        is_after_blank = 0 < folded < len(shown) and part[-1].isspace()
        return len(before) + folded + is_after_blank

    highlights = tuple((position(span.start), position(span.end)) for span in spans)
    return before + shown + after, highlights


def _skip_headings(text: str) -> int:
    """Return the start of the text below the headings at the beginning; 0 if there is none."""
    end = 0
    while match := _HEADING.match(text, end):
        end = match.end()
    return end if text[end:].strip() else 0


class _FoldedLine:
    """A text from `start` on with its white space folded."""

    def __init__(self, text: str, start: int) -> None:
        words = text[start:].split()
        self.text = " ".join(words)
        self._word_starts = [match.start() for match in _WORD.finditer(text, start)]
        self._folded_starts = list(accumulate([len(word) + 1 for word in words], initial=0))

    def position(self, original: int) -> int:
        """Return the position of a character of the original text that is not a blank."""
        word = bisect_right(self._word_starts, original) - 1
        return self._folded_starts[word] + original - self._word_starts[word]


def _passage_window(body: str, spans: Sequence[Span]) -> _Window:
    """Return the window to show; it leaves room for an ellipsis at both ends."""
    if len(body) <= PASSAGE_CHARACTERS:
        return _Window(0, len(body))
    sentences = [0, *(match.end() for match in _SENTENCE_END.finditer(body))]
    starts = [0, *(_passage_start(body, span, sentences) for span in spans)]
    windows = [
        _Window(start, _passage_end(body, start, sentences, spans))
        for start in dict.fromkeys(starts)
    ]
    return _best_window(_Candidate(window, spans) for window in windows)


def _passage_start(body: str, span: Span, sentences: Sequence[int]) -> int:
    """Return the start of the span's sentence, or of a word or clause shortly before the span."""
    sentence = sentences[max(0, bisect_left(sentences, span.start + 1) - 1)]
    if span.end - sentence <= PASSAGE_CHARACTERS // 2:
        return sentence
    start = max(sentence, span.start - LEAD_CHARACTERS)
    words_end = _WORDS_END.search(body, start, span.start)
    return words_end.end() if words_end else start


def _passage_end(body: str, start: int, sentences: Sequence[int], spans: Sequence[Span]) -> int:
    """Return the end of a sentence that does not halve the passage, or of a word or clause."""
    room = PASSAGE_CHARACTERS - (1 if start else 0)
    if len(body) - start <= room:
        return len(body)
    last = max((span.end for span in spans if span.end <= start + room - 1), default=start)
    whole = [end for end in sentences if start + room // 2 < end <= start + room and end >= last]
    if whole:
        return len(body[start : whole[-1]].rstrip()) + start
    end = start + room - 1
    words_ends = list(_WORDS_END.finditer(body, max(last, start + room // 2), end + 1))
    return words_ends[-1].start() if words_ends else end


_WORD = re.compile(r"\S+")
# A blank, or punctuation between clauses in Japanese and Chinese, which have no blanks.
_WORDS_END = re.compile("[ \u3001\uff0c\uff1a\uff1b]")
_HEADING = re.compile(
    r"\s{0,3}#{1,6}(?:[ \t][^\n]*)?(?:\n\s*|\Z)|[^\n]+\n[=-]{3,}[ \t]*(?:\n\s*|\Z)"
)
_SENTENCE_END = re.compile(
    r"[。！？．]+[」』）】]* ?|[.!?]+[\"')\]]* (?=[^a-z])"  # noqa: RUF001 - the characters themselves are meant
)
_ENDED = re.compile(r"[。！？．.!?][」』）】\"')\]]*\Z")  # noqa: RUF001 - the same

"""The parts of a section that answer: sentences with their code, list items, rows of tables. Pure.

A section that is too long is shown by its best parts, in order, with a mark where something is left
out. Code stays with the paragraph that introduces it, and a table's rows with its head.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.text import estimate_tokens
from ubp.search.match import find_terms
from ubp.search.terms import Term

GAP = "[…]"
# The answer is often in the part after the one with the question's words, and seldom before it.
AFTER_SHARE, BEFORE_SHARE = 0.5, 0.25
# A term that another chosen part has counts for so much of its weight.
KNOWN_SHARE = 0.3


class Part(NamedTuple):
    """A part of a text: the lines from `start` to `end` (from 0, `end` is not in it)."""

    start: int
    end: int


class Chosen(NamedTuple):
    """What was chosen of a text; `first` and `last` are lines of that text, from 0."""

    text: str
    first: int
    last: int


def choose_parts(text: str, weights: Mapping[Term, float], tokens: int) -> Chosen:
    """Return the parts of a text with most of the terms' weight, within about this many tokens.

    A text that is not longer, or that has none of the terms, is returned whole. The heading at its
    beginning and the best part are chosen whatever their size.
    """
    lines = text.split("\n")
    whole = Chosen(text, 0, len(lines) - 1)
    if estimate_tokens(text) <= tokens or not weights:
        return whole
    parts = list(find_parts(lines))
    texts = ["\n".join(lines[part.start : part.end]) for part in parts]
    terms, worths = tuple(weights), tuple(weights.values())
    # Numbers of terms: sets of them have one order, and so have sums over them.
    found = [{span.term for span in find_terms(some, terms)} for some in texts]
    if not any(found):
        return whole
    sizes = [max(1, estimate_tokens(some)) for some in texts]
    headings = set(_headings(lines, parts))
    chosen = set(headings)
    room = tokens - sum(sizes[number] for number in chosen)
    known: set[int] = set()
    while len(chosen) < len(parts):
        own = [
            sum(worths[term] * (KNOWN_SHARE if term in known else 1.0) for term in some)
            for some in found
        ]
        number = max(
            (number for number in range(len(parts)) if number not in chosen),
            key=lambda number: (_worth(own, number), -number),
        )
        if (room < sizes[number] and chosen != headings) or _worth(own, number) <= 0:
            break
        chosen.add(number)
        known |= found[number]
        room -= sizes[number]
    return _join(texts, parts, sorted(chosen))


def find_parts(lines: Sequence[str]) -> Iterator[Part]:
    """Yield the parts of a text in order; blank lines belong to the part before them.

    A part is a heading, a list item or a row of a table, or a paragraph; fenced code belongs to
    the part before it.
    """
    starts = [0]
    fence = ""
    is_after_blank = False
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
        elif match:
            fence = match[1]
        elif line.strip():
            previous = lines[number - 1] if number else ""
            is_own = _HEADING.match(line) or _ITEM.match(line) or _is_row(line, previous)
            is_paragraph = is_after_blank and not line[0].isspace()
            if number and (is_own or is_paragraph or _HEADING.match(previous)):
                starts.append(number)
        is_after_blank = not line.strip() and not fence
    ends = [*starts[1:], len(lines)]
    yield from (Part(start, end) for start, end in zip(starts, ends, strict=True) if start < end)


def _is_row(line: str, previous: str) -> bool:
    """Return whether a line is a row of a table below its head and delimiter."""
    is_row = line.lstrip().startswith("|") and not _DELIMITER.fullmatch(line)
    return is_row and previous.lstrip().startswith("|")


def _headings(lines: Sequence[str], parts: Sequence[Part]) -> Iterator[int]:
    if parts and _HEADING.match(lines[parts[0].start]):
        yield 0


def _worth(own: Sequence[float], number: int) -> float:
    before = own[number - 1] if number else 0.0
    after = own[number + 1] if number + 1 < len(own) else 0.0
    return own[number] + AFTER_SHARE * before + BEFORE_SHARE * after


def _join(texts: Sequence[str], parts: Sequence[Part], chosen: Sequence[int]) -> Chosen:
    """Return the chosen parts as written, with a gap where others are left out between them."""
    text = ""
    for number, following in zip(chosen, [*chosen[1:], None], strict=True):
        is_followed = following == number + 1
        text += texts[number] if is_followed else texts[number].rstrip()
        text += "" if following is None else "\n" if is_followed else f"\n{GAP}\n"
    last = parts[chosen[-1]]
    shown = texts[chosen[-1]].rstrip()
    return Chosen(text, parts[chosen[0]].start, last.start + shown.count("\n"))


_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_DELIMITER = re.compile(r"\s*\|[\s|:-]+\|?\s*")

"""Texts made to fit: cut at the ends of paragraphs and sentences, never inside a word. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ubp.tokens import CJK_RANGES, estimate_tokens

SUMMARY_CHARACTERS = 500
# A summary is looked for in so much of a page: its prose begins sooner, or there is none.
SUMMARY_WINDOW = 16_000
# What stands behind the limit decides whether a word and a sentence end there.
AHEAD = 8

Holds = Callable[[str], bool]
"""Whether there is room for a text; where there is, there is room for its beginnings too."""


class Budget(NamedTuple):
    """What may still be said, in characters and in estimated tokens; None: as much as there is."""

    characters: int | None = None
    tokens: int | None = None

    def holds(self, text: str) -> bool:
        """Whether there is room for a text."""
        return (self.characters is None or len(text) <= self.characters) and (
            self.tokens is None or estimate_tokens(text) <= self.tokens
        )

    def less(self, text: str) -> "Budget":
        """What is left once a text has been said."""
        return Budget(
            None if self.characters is None else self.characters - len(text),
            None if self.tokens is None else self.tokens - estimate_tokens(text),
        )


def cut_page(text: str, holds: Holds) -> str:
    """As much of a page's text from its beginning as there is room for.

    It ends with a paragraph (no fenced code is cut in two, no heading stands last), with a
    sentence where not even the first paragraph fits, and is empty where no sentence does.
    """
    if holds(text):
        return text
    return _longest(text, list(_paragraph_ends(text)), holds) or _longest(
        text, _ends(_SENTENCE, text), holds
    )


def summarise(text: str, limit: int = SUMMARY_CHARACTERS) -> str:
    """What a page's text begins with, on one line; no headings, pictures, tables, code.

    What is longer than `limit` ends with a sentence, or inside one with an ellipsis.
    """
    line = _first_prose(text[:SUMMARY_WINDOW], limit)
    if len(line) <= limit:
        return line
    whole = _longest(line, _ends(_SENTENCE, line), lambda part: len(part) <= limit)
    if whole:
        return whole
    part = _longest(line, _ends(_WORD, line), lambda part: len(part) < limit)
    return f"{part}\u2026" if part else ""


def _longest(text: str, ends: Sequence[int], holds: Holds) -> str:
    found = bisect_right(ends, 0, key=lambda end: 0 if holds(text[:end]) else 1)
    return text[: ends[found - 1]] if found else ""


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    return [match.end() for match in pattern.finditer(text)]


def _paragraph_ends(text: str) -> Iterator[int]:
    """Where a page may end: behind a paragraph that is no heading, outside fenced code."""
    fence, position, end, is_heading = "", 0, 0, False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if end and not (stripped or fence or is_heading):
            yield end
        fence = _fence_behind(line, fence)
        if stripped:
            end, is_heading = position + len(line.rstrip()), stripped.startswith("#") and not fence
        position += len(line)


def _fence_behind(line: str, fence: str) -> str:
    """The fence that is open behind a line, if any; `fence` is open before it."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark["fence"]
    return "" if mark["fence"].startswith(fence) and not mark["rest"].strip() else fence


def _first_prose(text: str, limit: int) -> str:
    """The prose up to the first paragraph or word beyond the limit."""
    line = ""
    for part in _prose(text):
        line = f"{line} {' '.join(part.split())}".strip()
        if len(line) > limit + AHEAD:
            break
    return line[: limit + AHEAD]


def _prose(text: str) -> Iterator[str]:
    fence = ""
    for line in _ASIDE.sub(" ", text).splitlines():
        before, fence = fence, _fence_behind(line, fence)
        if not (before or fence or _NO_PROSE.match(line)):
            yield _LINK.sub(r"\1", _PICTURE.sub("", _TAG.sub("", line)))


_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<rest>.*)")
# Behind an abbreviation, a list's number, or before a small letter there is no end of a sentence.
_SENTENCE = re.compile(
    r"[。．！？]++[」』）】)\]]*+"  # noqa: RUF001 - these are the signs
    r"|(?<![.!?])(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\b\d)(?<!\b\d\d)[.!?]++[)\]\"'*_`]*+"
    r"(?=\s++[^\sa-z]|\s*+\Z)"
)
# A word ends before a blank, a CJK character is one.
_WORD = re.compile(rf"\S(?=\s|\Z)|[{CJK_RANGES}]")
_ASIDE = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?%%", re.DOTALL)  # the second are Obsidian's
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|center|code|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|picture|small"
    r"|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)\b[^<>]{0,500}>",
    re.IGNORECASE,
)
_AIM = r"(?:\([^)]{0,500}\)|\[[^\]]{0,500}\])"
_PICTURE = re.compile(rf"\[!\[[^\]]{{0,500}}\]{_AIM}\]{_AIM}|!\[[^\]]{{0,500}}\]{_AIM}")
_LINK = re.compile(rf"\[([^\[\]]{{1,500}})\]{_AIM}")
_NO_PROSE = re.compile(
    r"\s{0,3}#{1,6}(?:\s|$)"  # a heading
    r"|\s*\|.*\|\s*$"  # a table's row
    r"|\s*(?:[-*_=]\s*){3,}$"  # a rule, or a heading's underline
    r"|\s*</?[A-Za-z][^>]*>\s*$"  # HTML alone on its line
    r"|\s*\[[^\]]+\]:\s"  # a link's definition
    rf"|\s*\[[^\[\]]{{1,500}}\]{_AIM}(?:[\s|/]*\[[^\[\]]{{1,500}}\]{_AIM})*\s*$"  # links alone
)

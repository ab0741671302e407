"""How many tokens a text is: one for each CJK character, 1.3 for any other word. Pure.

Texts made to fit: cut at the ends of paragraphs and sentences, never inside a word. Pure.

The anchor that GitHub gives to a heading, and the form in which names are compared.

Text as the full text index takes it: folded in width, a blank between CJK characters.

SQLite's tokenizers know no words in Japanese: with each character a word of its own, a phrase of
them is found exactly, be it of one character, two or more.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ubp.core.paths import nfc

# In tenths sums stay exact.
_TENTHS_A_WORD, _TENTHS_A_CHARACTER = 13, 10

CJK_RANGES = (
    "\u2e80-\u2fff\u3001-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model reads in a text."""
    return -(-token_tenths(text) // 10)


def token_tenths(text: str) -> int:
    """The same in tenths, unrounded, so that parts add up to the whole."""
    if text.isascii():
        return _TENTHS_A_WORD * len(text.split())
    others = _CJK.split(text)
    characters = len(text) - sum(map(len, others))
    words = sum(len(part.split()) for part in others)
    return _TENTHS_A_CHARACTER * characters + _TENTHS_A_WORD * words


_CJK = re.compile(f"[{CJK_RANGES}]+")


SUMMARY_CHARACTERS = 500
# A summary is looked for in so much of a page: its prose begins sooner, or there is none.
SUMMARY_WINDOW = 16_000
# What stands behind the limit decides whether a word and a sentence end there.
WINDOW_AHEAD = 8

Contains = Callable[[str], bool]
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


def cut_page(text: str, holds: Contains) -> str:
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


def _longest(text: str, ends: Sequence[int], holds: Contains) -> str:
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
        if len(line) > limit + WINDOW_AHEAD:
            break
    return line[: limit + WINDOW_AHEAD]


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


def slug(text: str) -> str:
    r"""Write a heading's text as GitHub's anchor: "認証 Flow: v1.2" is "認証-flow-v12".

    Kept are letters, marks, decimal digits, connecting punctuation and hyphens, in lower case;
    a space becomes a hyphen (html-pipeline's `[^\p{Word}\- ]`).
    """
    return text.lower().translate(_KEPT)


def fold(text: str) -> str:
    """Write a name so that case and Unicode form (macOS decomposes) no longer count."""
    if text.isascii():
        return text.lower()
    return nfc(nfc(text).casefold())


class _Kept(dict[int, int | None]):
    """What `str.translate` makes of each character, found when first met."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        kept = code if category[0] in "LM" or category in {"Nd", "Nl", "Pc"} else None
        self[code] = kept
        return kept


_KEPT = _Kept({ord(" "): ord("-"), ord("-"): ord("-")})


def segment_cjk(text: str) -> str:
    """Write a text so that `unicode61` finds its words; queries go through this as well."""
    if text.isascii():
        return text
    return _CJK_CHARACTER.sub(_apart, _UNSAFE.sub(_composed, text))


def without_cjk(text: str) -> str:
    """A segmented text without its CJK characters."""
    return text if text.isascii() else _CJK_CHARACTER.sub("", text)


def is_cjk(character: str) -> bool:
    """Tell whether a character is a word by itself."""
    return bool(_CJK_CHARACTER.match(unicodedata.normalize("NFKC", character)))


def _apart(match: re.Match[str]) -> str:
    return f" {' '.join(match[0])} "


def _composed(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


# What NFKC leaves alone; the letter before anything else goes with it, for a mark may follow.
# Normalising whole pages takes four times as long.
_SAFE = "\x00-\x7f\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff"
_UNSAFE = re.compile(f"[{_SAFE}]?[^{_SAFE}]+")
_CJK_CHARACTER = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)

"""Text that people write: token estimates, excerpts, anchors, name comparison, CJK segmentation.

Pure functions of strings. SQLite's tokenizers know no Japanese words, so full text search sees each
CJK character as a word of its own (`segment_cjk`); a phrase then matches text of any length.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ubp.core.paths import nfc

CJK_RANGES = (
    "\u2e80-\u2fff\u3001-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
)
SUMMARY_CHARACTERS = 500
# Only the beginning of a page is searched for a summary: its prose starts there, or not at all.
SUMMARY_WINDOW = 16_000
# The characters after the limit decide whether a word and a sentence end at it.
LOOKAHEAD = 8

# In tenths, so that sums stay exact.
_TENTHS_PER_WORD, _TENTHS_PER_CJK_CHARACTER = 13, 10
# Patterns with CJK characters are texts: to compile them takes 9 ms, which few commands need.
_CJK_RUN = f"[{CJK_RANGES}]+"

Fits = Callable[[str], bool]
"""Whether a text fits into what room there is; if it does, so do all its prefixes."""


def estimate_tokens(text: str) -> int:
    """Return the estimated number of a language model's tokens in a text, rounded up."""
    return -(-token_tenths(text) // 10)


def token_tenths(text: str) -> int:
    """Return the estimate in tenths of a token, so that parts add up to the whole.

    A CJK character counts as one token, any other word as 1.3.
    """
    if text.isascii():
        return _TENTHS_PER_WORD * len(text.split())
    others = re.split(_CJK_RUN, text)
    cjk_characters = len(text) - sum(map(len, others))
    words = sum(len(part.split()) for part in others)
    return _TENTHS_PER_CJK_CHARACTER * cjk_characters + _TENTHS_PER_WORD * words


class Budget(NamedTuple):
    """The room left in an answer, in characters and in estimated tokens; None is unlimited."""

    characters: int | None = None
    tokens: int | None = None

    def fits(self, text: str) -> bool:
        """Return whether a text fits into the budget."""
        return (self.characters is None or len(text) <= self.characters) and (
            self.tokens is None or estimate_tokens(text) <= self.tokens
        )

    def half(self) -> "Budget":
        """Return half of the budget."""
        return Budget(
            None if self.characters is None else self.characters // 2,
            None if self.tokens is None else self.tokens // 2,
        )

    def minus(self, text: str) -> "Budget":
        """Return the budget that is left after a text."""
        return Budget(
            None if self.characters is None else self.characters - len(text),
            None if self.tokens is None else self.tokens - estimate_tokens(text),
        )


def truncate_page(text: str, fits: Fits) -> str:
    """Return the longest beginning of a page's text that fits.

    It ends with a paragraph (never inside fenced code, never with a heading), with a sentence if
    not even the first paragraph fits, and is empty if no sentence does.
    """
    if fits(text):
        return text
    return _longest_prefix(text, list(_paragraph_ends(text)), fits) or _longest_prefix(
        text, _match_ends(_SENTENCE, text), fits
    )


def summarize(text: str, limit: int = SUMMARY_CHARACTERS) -> str:
    """Return the first prose of a page on one line, without headings, images, tables and code.

    Prose longer than `limit` is cut after a sentence, or else after a word, with an ellipsis.
    """
    line = _first_prose(text[:SUMMARY_WINDOW], limit)
    if len(line) <= limit:
        return line
    sentences = _longest_prefix(line, _match_ends(_SENTENCE, line), lambda part: len(part) <= limit)
    if sentences:
        return sentences
    words = _longest_prefix(line, _match_ends(_WORD, line), lambda part: len(part) < limit)
    return f"{words}\u2026" if words else ""


def shorten(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters: a longer one ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "\u2026"


def without_markup(text: str) -> str:
    """Return Markdown as prose, with the same line ends; code remains as it is written.

    Left out are comments, programs, images, HTML tags, the targets of links, and the marks of
    headings (with `{#id}`), of strong text, of fenced code and of containers (`:::tip`).
    """
    return re.sub(_CODE_OR_MARKUP, _as_prose, text)


def slug(text: str) -> str:
    r"""Return GitHub's anchor for a heading's text: "認証 Flow: v1.2" is "認証-flow-v12".

    Kept are letters, marks, decimal digits, connecting punctuation and hyphens, in lower case;
    a space becomes a hyphen (html-pipeline's `[^\p{Word}\- ]`).
    """
    return text.lower().translate(_SLUG_TABLE)


def fold(text: str) -> str:
    """Return a name without differences of case and Unicode form (macOS decomposes names)."""
    if text.isascii():
        return text.lower()
    return nfc(nfc(text).casefold())


def closest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name that was probably meant, for a "Did you mean"; None if all are too different.

    `cutoff` is the least similarity, from 0 to 1 (`difflib.SequenceMatcher.ratio`).
    """
    return next(iter(closest_names(name, names, 1, cutoff)), None)


def closest_names(name: str, names: Iterable[str], limit: int, cutoff: float) -> list[str]:
    """Return at most `limit` names like `name`, the most similar first."""
    from difflib import get_close_matches  # only errors and warnings need it

    return get_close_matches(name, list(names), limit, cutoff)


def segment_cjk(text: str) -> str:
    """Return a text, or a query, in which FTS5's `unicode61` tokenizer finds CJK characters.

    Compatibility forms are composed (NFKC), and blanks put around each CJK character.
    """
    if text.isascii():
        return text
    composed = re.sub(_NEEDS_NFKC, lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return re.sub(_CJK_CHARACTERS, lambda match: f" {' '.join(match[0])} ", composed)


def identifier_parts(text: str) -> list[str]:
    """Return the parts of each identifier in camel case, once: "get User By Id" of `getUserById`.

    A word of two capitalized parts is an identifier only beside punctuation of code: `TokenStore`,
    but not GitHub, whose parts nobody means.
    """
    mixed = [
        word
        for word in dict.fromkeys(_ASCII_WORD.findall(text))
        if not (word.islower() or word.isupper() or word.istitle())
    ]
    in_code = {*_WORD_IN_CODE.findall(text)} if any(map(_TWO_CAPITALIZED.fullmatch, mixed)) else {}
    return [
        " ".join(_CAMEL_PART.findall(word))
        for word in mixed
        if _CAMEL_CASE.fullmatch(word) or (word in in_code and _TWO_CAPITALIZED.fullmatch(word))
    ]


def without_cjk(text: str) -> str:
    """Return a segmented text without its CJK characters."""
    return text if text.isascii() else re.sub(_CJK_CHARACTERS, "", text)


def is_cjk(character: str) -> bool:
    """Return whether a character is a word by itself."""
    return bool(re.match(_CJK_CHARACTERS, unicodedata.normalize("NFKC", character)))


_FENCE = r"\s*(?P<fence>`{3,}|~{3,})(?P<rest>.*)"
# No sentence ends after an abbreviation or a list item's number, nor before a lower-case letter.
_SENTENCE = (
    r"[。．！？]++[」』）】)\]]*+"  # noqa: RUF001 - Japanese punctuation
    r"|(?<![.!?])(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\b\d)(?<!\b\d\d)[.!?]++[)\]\"'*_`]*+"
    r"(?=\s++[^\sa-z]|\s*+\Z)"
)
# A word ends before white space; a CJK character is one.
_WORD = rf"\S(?=\s|\Z)|[{CJK_RANGES}]"
# Obsidian's comments too, and the programs of Vue's pages.
_COMMENT = r"(?si)<!--.*?(?:-->|\Z)|%%.*?%%|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
BREAKING_TAG = (
    r"</?(?:blockquote|br|center|dd|details|div|dl|dt|h[1-6]|hr|li|ol|p|summary|table|tbody|td|tfoot"
    r"|th|thead|tr|ul)\b[^<>]{0,500}>"
)
"""Matches a tag of HTML between two words, unlike one inside of a word."""
_TAG = (
    r"</?(?:a|abbr|b|code|em|font|i|img|kbd|picture|small|source|span|strong|sub|sup|u)\b"
    r"[^<>]{0,500}>"
)
_DESTINATION = r"(?:\([^)]{0,500}\)|\[[^\]]{0,500}\])"
# Of an image, also one in a link; what follows is its address or a name, or its text is the name.
_ONE_IMAGE = rf"!\[[^\]]{{0,500}}\]{_DESTINATION}?"
_IMAGE = rf"\[{_ONE_IMAGE}\]{_DESTINATION}?|{_ONE_IMAGE}"
_SHOWN_IMAGE = rf"!\[[^\[\]\n]{{0,500}}\]{_DESTINATION}"
_LINK = rf"\[([^\[\]]{{1,500}})\]{_DESTINATION}"
_CODE_OR_MARKUP = (
    r"(?smi)(?P<fence>^[ \t>]*(?P<marks>`{3,}|~{3,})[^`\n]*\n"
    r"(?P<block>.*?)(?:^[ \t>]*(?P=marks)[`~]*[ \t]*$|\Z))"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<gone><!--.*?(?:-->|\Z)|<(?P<program>script|style)\b[^<>]*>.*?(?:</(?P=program)\s*>|\Z))"
    rf"|(?P<image>\[{_SHOWN_IMAGE}\]{_DESTINATION}|{_SHOWN_IMAGE})"
    rf"|\[(?P<link>[^\[\]\n]{{1,500}})\]{_DESTINATION}"
    rf"|(?P<break>{BREAKING_TAG})|(?P<tag>{_TAG})"
    r"|^(?P<heading>[ ]{0,3}#{1,6}[ \t]+)"
    r"|(?P<id>[ \t]+\{#[\w:.-]{1,200}\}[ \t]*$)"
    r"|^(?P<container>[ ]{0,3}:{3,}[ \t]*"
    r"(?:(?:caution|danger|details|important|info|note|tip|warning)\b)?(?=\s|\Z))"
    r"|(?P<strong>\*\*|~~)(?=\S)(?P<bold>[^*~\n]+?)(?<=\S)(?P=strong)"
)
_NOT_PROSE = (
    r"\s{0,3}#{1,6}(?:\s|$)"  # a heading
    r"|\s*\|.*\|\s*$"  # a table row
    r"|\s*(?:[-*_=]\s*){3,}$"  # a thematic break, or a heading's underline
    r"|\s*</?[A-Za-z][^>]*>\s*$"  # HTML alone on its line
    r"|\s*\[[^\]]+\]:\s"  # a link reference definition
    r"|\s*:{3,}"  # the first or last line of a container
    r"|\s*(?:(?:\{\{[^{}]*\}\}|\{%[^{}]*%\})\s*)+$"  # short codes of Hugo, tags of Liquid
    # nothing but links
    rf"|\s*\[[^\[\]]{{1,500}}\]{_DESTINATION}(?:[\s|/]*\[[^\[\]]{{1,500}}\]{_DESTINATION})*\s*$"
)


def _as_prose(match: re.Match[str]) -> str:
    if match["code"]:
        return match[0]
    if match["block"] is not None:
        return f"\n{match['block']}"
    if kept := match["link"] or match["bold"]:
        return without_markup(kept)
    return "\n" * match[0].count("\n") or (" " if match["break"] else "")


def _longest_prefix(text: str, ends: Sequence[int], fits: Fits) -> str:
    count = bisect_right(ends, 0, key=lambda end: 0 if fits(text[:end]) else 1)
    return text[: ends[count - 1]] if count else ""


def _match_ends(pattern: str, text: str) -> list[int]:
    return [match.end() for match in re.finditer(pattern, text)]


def _paragraph_ends(text: str) -> Iterator[int]:
    """Yield the offsets after paragraphs that are not headings, outside fenced code."""
    fence, line_start, end, is_heading = "", 0, 0, False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if end and not (stripped or fence or is_heading):
            yield end
        fence = _fence_after(line, fence)
        if stripped:
            end, is_heading = (
                line_start + len(line.rstrip()),
                stripped.startswith("#") and not fence,
            )
        line_start += len(line)


def _fence_after(line: str, fence: str) -> str:
    """Return the code fence that is open after a line ("" if none); `fence` is open before it."""
    match = re.match(_FENCE, line)
    if match is None:
        return fence
    if not fence:
        return match["fence"]
    return "" if match["fence"].startswith(fence) and not match["rest"].strip() else fence


def _first_prose(text: str, limit: int) -> str:
    """Return prose on one line, with at most LOOKAHEAD characters beyond the limit."""
    prose, fence = "", ""
    for line in re.sub(_COMMENT, " ", text).splitlines():
        fence_before, fence = fence, _fence_after(line, fence)
        if fence_before or fence or re.match(_NOT_PROSE, line):
            continue
        broken = re.sub(BREAKING_TAG, " ", line, flags=re.IGNORECASE)
        without_tags = re.sub(_TAG, "", broken, flags=re.IGNORECASE)
        words = re.sub(_LINK, r"\1", re.sub(_IMAGE, "", without_tags)).split()
        prose = f"{prose} {' '.join(words)}".strip()
        if len(prose) > limit + LOOKAHEAD:
            break
    return prose[: limit + LOOKAHEAD]


class _SlugTable(dict[int, int | None]):
    """A table for `str.translate` that classifies each character when it is first met."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        kept = code if category[0] in "LM" or category in {"Nd", "Nl", "Pc"} else None
        self[code] = kept
        return kept


_SLUG_TABLE = _SlugTable({ord(" "): ord("-"), ord("-"): ord("-")})

# NFKC leaves these alone. Any other run is composed together with the letter before it, for it may
# begin with a combining mark. Composing whole pages takes four times as long.
_NFKC_STABLE = "\x00-\x7f\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff"
_ASCII_WORD = re.compile(r"\w{3,}", re.ASCII)
_WORD_IN_CODE = re.compile(r"\b(?<=[`.:])\w+|\b\w+(?=[`(.:]\S)", re.ASCII)
_PART = r"(?:[A-Z]+[0-9]*(?![A-Za-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]+)"
_CAMEL_CASE = re.compile(rf"[a-z]{{2,}}[0-9]*{_PART}{{1,9}}|{_PART}{{3,9}}")
_TWO_CAPITALIZED = re.compile(rf"{_PART}{{2}}")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NEEDS_NFKC = f"[{_NFKC_STABLE}]?[^{_NFKC_STABLE}]+"
_CJK_CHARACTERS = (
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)


def common_length(one: bytes, other: bytes, *, at_end: bool = False) -> int:
    """Return the length of the longest beginning, or end, that two texts have in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        part = slice(-middle, None) if at_end else slice(middle)
        is_common = one[part] == other[part]
        low, high = (middle, high) if is_common else (low, middle - 1)
    return low

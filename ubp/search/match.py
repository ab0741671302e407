"""What forms of an English word have in common, as FTS5's `porter` tokenizer sees it. Pure.

M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980). SQLite keeps its own to
itself, and whoever shows a hit has to know which words in it were found.

Where terms stand in a text, as the index finds them: width, case, accents do not count. Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ubp.core.text import is_cjk, segment_cjk
from ubp.search.terms import Term

# FTS5 takes no others for words of English.
SHORTEST, LONGEST = 3, 64


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem of a word in lower case; of what is no English word: the word."""
    if not SHORTEST <= len(word) <= LONGEST or not _ENGLISH.fullmatch(word):
        return word
    word = _without_past(_without_plural(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _DOUBLE_ENDINGS, 0)
    word = _replace(word, _ENDINGS, 0)
    word = _replace(word, _LAST_ENDINGS, 1)
    return _tidy(word)


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")) and len(word) > SHORTEST:
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _without_past(word: str) -> str:
    if word.endswith("eed") and len(word) > SHORTEST:
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _has_vowel(rest):
            return _mend(rest)
    return word


def _mend(word: str) -> str:
    """Give back what an ending took: hop(p)ing, fil(e)ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replace(word: str, endings: Iterable[tuple[str, str]], least: int) -> str:
    """Replace the longest ending that fits, if more than `least` syllables are left."""
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word[: len(word) - len(ending)]
            is_noun = ending != "ion" or rest.endswith(("s", "t"))
            return rest + instead if _measure(rest) > least and is_noun else word
    return word


def _tidy(word: str) -> str:
    if word[-1] == "e":
        rest = word[:-1]
        syllables = _measure(rest)
        if syllables > 1 or (syllables == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """Vowels as v, consonants as c; a y behind a consonant is a vowel."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often consonants follow vowels in it: about its syllables."""
    return len(_SYLLABLE.findall(_shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _is_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


_ENGLISH = re.compile("[a-z]+")
_SYLLABLE = re.compile("v+c+")


def _longest_first(*endings: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(endings, key=lambda one: -len(one[0])))


_DOUBLE_ENDINGS = _longest_first(
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"),
    ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
    ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_ENDINGS = _longest_first(
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ful", ""), ("ness", ""),
)  # fmt: skip
_LAST_ENDINGS = _longest_first(
    *((one, "") for one in ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement")),
    *((one, "") for one in ("ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize")),
)


class Span(NamedTuple):
    """Where a term stands, in characters; `term` is its index."""

    start: int
    end: int
    term: int


def find_terms(text: str, terms: Sequence[Term]) -> list[Span]:
    """Every place of every term, in the order of their starts, the longest first."""
    folded, places = _fold_with_places(text)
    found = [
        Span(start, end, index)
        for index, term in enumerate(terms)
        for start, end in find_term(folded, term)
    ]
    if places is not None:
        found = [Span(places[start][0], places[end - 1][1], term) for start, end, term in found]
    return sorted(found, key=lambda span: (span.start, -span.end))


def find_term(folded: str, term: Term) -> Iterator[tuple[int, int]]:
    """Every place of a term in a folded text."""
    looked = _look_for(term.written)
    if looked is None:
        return
    if term.is_stemmed and _ENGLISH_WORD.fullmatch(looked.word):
        yield from _find_forms(looked.word, folded)
        return
    for start, end in _places(looked, folded):
        is_inside = (looked.is_open_before and _goes_on(folded, start)) or (
            looked.is_open_behind and not term.is_prefix and _goes_on(folded, end)
        )
        if not is_inside:
            yield start, end


def normalize_text(text: str) -> str:
    """A text in the form in which terms are found in it."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return _ACCENTED.sub(lambda match: _fold_cluster(match[0]), folded)


class _Looked(NamedTuple):
    """What is looked for: a word as it stands, or a pattern where there are several.

    `is_open_before`, `is_open_behind`: it may be a part of a longer word there; each CJK character
    is one by itself.
    """

    word: str
    pattern: re.Pattern[str] | None
    is_open_before: bool
    is_open_behind: bool


def _places(looked: _Looked, folded: str) -> Iterator[tuple[int, int]]:
    if looked.pattern:
        yield from (match.span() for match in looked.pattern.finditer(folded))
        return
    length = len(looked.word)
    start = folded.find(looked.word)
    while start >= 0:
        yield start, start + length
        start = folded.find(looked.word, start + length)


def _find_forms(word: str, folded: str) -> Iterator[tuple[int, int]]:
    """Every place of a word of the same stem; all begin with it but for its last letter."""
    wanted = stem(word)
    for match in re.finditer(f"{wanted[:-1]}[a-z]*", folded):
        is_inside = _goes_on(folded, match.start()) or _goes_on(folded, match.end())
        if not is_inside and stem(match[0]) == wanted:
            yield match.span()


def _goes_on(folded: str, position: int) -> bool:
    """Whether a word that is not CJK goes on there."""
    return (
        0 < position < len(folded)
        and _is_letter(folded[position - 1])
        and _is_letter(folded[position])
    )


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    return character.isalnum() and not is_cjk(character)


@lru_cache(maxsize=512)
def _look_for(written: str) -> _Looked | None:
    """The words with nothing but punctuation between them, as FTS5 finds a phrase."""
    words = _WORD.findall(segment_cjk(normalize_text(written)))
    if not words:
        return None
    pattern = None
    if len(words) > 1:
        expression = re.escape(words[0])
        for one, other in pairwise(words):
            is_apart = not (is_cjk(one[-1]) or is_cjk(other[0]))
            expression += rf"[\W_]{'+' if is_apart else '*'}{re.escape(other)}"
        pattern = re.compile(expression)
    return _Looked(words[0], pattern, _is_letter(words[0][0]), _is_letter(words[-1][-1]))


def _fold_with_places(text: str) -> tuple[str, Sequence[tuple[int, int]] | None]:
    """A folded text, and for each of its characters the span that it comes from.

    None: each comes from the character at the same place, as in most texts.
    """
    if text.isascii():
        return text.lower(), None
    if not _MARK.search(text):
        alone = text.translate(_EACH)
        if len(alone) == len(text):  # a character becomes one at least
            return alone, None
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _CLUSTER.finditer(text):
        characters = _fold_cluster(match[0])
        folded.append(characters)
        places += [match.span()] * len(characters)
    return "".join(folded), places


@lru_cache(maxsize=4096)
def _fold_cluster(cluster: str) -> str:
    """A character and the marks on it; accents are dropped from Latin letters only."""
    folded = unicodedata.normalize("NFKC", cluster).lower()
    if folded.isascii() or folded > _LAST_LATIN:
        return folded
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))


class _Each(dict[int, str]):
    """Each character folded, once it was asked for."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_cluster(chr(code))
        return folded


_EACH = _Each()
_LAST_LATIN = "\u0250"
_ACCENTED = re.compile("[\0-\u0250][\u0300-\u036f]+|[\u0080-\u0250]")
_WORD = re.compile(r"[^\W_]+")
_ENGLISH_WORD = re.compile(f"[a-z]{{{SHORTEST},}}")
# Marks that join with the character before them: accents, and kana's, of both widths.
_MARK = re.compile("[\u0300-\u036f\u3099\u309a\uff9e\uff9f]")
_CLUSTER = re.compile(f".{_MARK.pattern}*", re.DOTALL)

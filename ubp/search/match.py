"""Where terms occur in a text, as the index finds them: regardless of width, case, accents. Pure.

English words match by their stems, as with FTS5's `porter` tokenizer. SQLite does not expose it,
and to highlight a hit one must know which words of it match: hence the stemmer here, after M. F.
Porter, "An algorithm for suffix stripping", Program 14 (1980).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ubp.core.text import is_cjk, segment_cjk
from ubp.search.terms import Term

# FTS5 stems only words of these lengths.
MIN_STEMMED, MAX_STEMMED = 3, 64


class Span(NamedTuple):
    """A place of a term, in characters; `term` is the term's index."""

    start: int
    end: int
    term: int


def find_terms(text: str, terms: Sequence[Term]) -> list[Span]:
    """Return every place of every term, sorted by start, the longest first."""
    normalized, origins = _normalize_with_origins(text)
    spans = [
        Span(start, end, index)
        for index, term in enumerate(terms)
        for start, end in find_term(normalized, term)
    ]
    if origins is not None:
        spans = [Span(origins[start][0], origins[end - 1][1], term) for start, end, term in spans]
    return sorted(spans, key=lambda span: (span.start, -span.end))


def find_term(normalized: str, term: Term) -> Iterator[tuple[int, int]]:
    """Yield the start and end of every place of a term in a normalized text."""
    if term.words:
        for match in _parts_pattern(term.words).finditer(normalized):
            yield match.span()
        return
    needle = _make_needle(term.written)
    if needle is None:
        return
    if term.is_stemmed and any(map(_STEMMED_WORD.fullmatch, needle.words)):
        yield from _find_forms(needle.words, normalized)
        return
    for match in needle.pattern.finditer(normalized):
        start, end = match.span()
        is_inside_word = (needle.may_continue_before and _is_inside_word(normalized, start)) or (
            needle.may_continue_after and not term.is_prefix and _is_inside_word(normalized, end)
        )
        if not is_inside_word:
            yield start, end


def stemmed_word(term: Term) -> str | None:
    """Return the one word whose forms a term stands for; None: it is something else."""
    needle = None if term.words or not term.is_stemmed else _make_needle(term.written)
    if needle is None or len(needle.words) > 1:
        return None
    return needle.words[0] if _STEMMED_WORD.fullmatch(needle.words[0]) else None


def find_stems(normalized: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and stem of every word that may be a form of another."""
    for match in _STEMMABLE.finditer(normalized):
        start, end = match.span()
        if not (_is_inside_word(normalized, start) or _is_inside_word(normalized, end)):
            yield start, end, stem(match[0])


def normalize_text(text: str) -> str:
    """Return a text in the form in which terms are searched for."""
    normalized = unicodedata.normalize("NFKC", text).lower()
    return _ACCENTED.sub(lambda match: _normalize_cluster(match[0]), normalized)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; other words are returned unchanged."""
    if not MIN_STEMMED <= len(word) <= MAX_STEMMED or not _ENGLISH.fullmatch(word):
        return word
    word = _strip_past(_strip_plural(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, _DOUBLE_ENDINGS, 0)
    word = _replace_ending(word, _ENDINGS, 0)
    word = _replace_ending(word, _LAST_ENDINGS, 1)
    if word[-1] == "e":
        rest = word[:-1]
        syllables = _measure(rest)
        if syllables > 1 or (syllables == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def strip_plural(word: str) -> str:
    """Return a lower-case English word without the ending of the plural."""
    if word.endswith("ies") and len(word) > MIN_STEMMED + 1:
        return f"{word[:-3]}y"
    return _strip_plural(word) if len(word) >= MIN_STEMMED and word.isascii() else word


def words_of(normalized: str) -> list[str]:
    """Return the words of a normalized text, as FTS5's tokenizer finds them."""
    return _WORD.findall(normalized)


class _Needle(NamedTuple):
    """A pattern to search for, and its words.

    `may_continue_before` and `may_continue_after`: a longer word could begin or end there; each CJK
    character is a word of its own.
    """

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    may_continue_before: bool
    may_continue_after: bool


@lru_cache(maxsize=512)
def _make_needle(written: str) -> _Needle | None:
    """Return the words with nothing but punctuation between them, as FTS5 finds a phrase.

    Only a dot joins the numbers of a version: `7.2` is not in a list of 7 and 2, nor `v7.2`.
    """
    segmented = segment_cjk(normalize_text(written))
    words = _WORD.findall(segmented)
    if not words:
        return None
    expression = re.escape(words[0])
    if words[0].isascii():
        expression += f"(?<!{_LATIN}{expression})"
    separators = _WORD.split(segmented)[1:-1]
    for (word, next_word), separator in zip(pairwise(words), separators, strict=True):
        is_number = separator == "." and _NUMBER.fullmatch(word) and next_word.isdigit()
        between = r"\." if is_number else _between(word, next_word)
        expression += between + re.escape(next_word)
    return _Needle(
        tuple(words), re.compile(expression), _is_letter(words[0][0]), _is_letter(words[-1][-1])
    )


@lru_cache(maxsize=512)
def _parts_pattern(words: str) -> re.Pattern[str]:
    """Return the pattern of an identifier's parts, with nothing but punctuation between them."""
    return re.compile(r"[\W_]*".join(map(re.escape, normalize_text(words).split())))


def _find_forms(words: Sequence[str], normalized: str) -> Iterator[tuple[int, int]]:
    """Yield every place of words with these words' stems, nothing but punctuation between them."""
    stems = list(map(stem, words))
    for match in _forms_pattern(tuple(words)).finditer(normalized):
        start, end = match.span()
        is_inside_word = _is_inside_word(normalized, start) or _is_inside_word(normalized, end)
        if not is_inside_word and list(map(stem, match.groups())) == stems:
            yield start, end


@lru_cache(maxsize=512)
def _forms_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of words that begin as the stems of these do, except the last letter."""
    forms: list[str] = []
    for word in words:
        is_stemmed = _STEMMED_WORD.fullmatch(word)
        beginning = stem(word)[:-1] if is_stemmed else re.escape(word)
        not_inside = "" if forms or not word.isascii() else f"(?<!{_LATIN}{beginning})"
        forms.append(f"({beginning}{not_inside}{'[a-z]*' if is_stemmed else ''})")
    expression = forms[0]
    for (word, next_word), form in zip(pairwise(words), forms[1:], strict=True):
        expression += _between(word, next_word) + form
    return re.compile(f"{expression}(?!{_LATIN})")


def _between(word: str, next_word: str) -> str:
    """Return the pattern of what is between two words of a phrase; CJK needs no punctuation."""
    is_apart = not (is_cjk(word[-1]) or is_cjk(next_word[0]))
    return rf"[\W_]{'+' if is_apart else '*'}"


def _is_inside_word(normalized: str, position: int) -> bool:
    """Return whether a position is between two letters of one word that is not CJK."""
    return (
        0 < position < len(normalized)
        and _is_letter(normalized[position - 1])
        and _is_letter(normalized[position])
    )


@lru_cache(maxsize=4096)
def _is_letter(character: str) -> bool:
    return character.isalnum() and not is_cjk(character)


def _normalize_with_origins(text: str) -> tuple[str, Sequence[tuple[int, int]] | None]:
    """Return a normalized text, and for each of its characters the span that it comes from.

    None: each comes from the character at the same position, as in most texts.
    """
    if text.isascii():
        return text.lower(), None
    if not _MARK.search(text):
        translated = text.translate(_NORMALIZED)
        if len(translated) == len(text):  # no character becomes fewer than one
            return translated, None
    normalized: list[str] = []
    origins: list[tuple[int, int]] = []
    for match in _CLUSTER.finditer(text):
        characters = _normalize_cluster(match[0])
        normalized.append(characters)
        origins += [match.span()] * len(characters)
    return "".join(normalized), origins


@lru_cache(maxsize=4096)
def _normalize_cluster(cluster: str) -> str:
    """Return a character with its marks normalized; only Latin letters lose their accents."""
    normalized = unicodedata.normalize("NFKC", cluster).lower()
    if normalized.isascii() or normalized > _LAST_LATIN:
        return normalized
    decomposed = unicodedata.normalize("NFKD", normalized)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


class _NormalizedCharacters(dict[int, str]):
    """A table for `str.translate` that is filled as it is used."""

    def __missing__(self, code: int) -> str:
        self[code] = normalized = _normalize_cluster(chr(code))
        return normalized


def _strip_plural(word: str) -> str:
    if word.endswith(("sses", "ies")) and len(word) > MIN_STEMMED:
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _strip_past(word: str) -> str:
    if word.endswith("eed") and len(word) > MIN_STEMMED:
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _has_vowel(rest):
            return _restore_end(rest)
    return word


def _restore_end(word: str) -> str:
    """Undo the change that an ending caused: hop(p)ing, fil(e)ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replace_ending(word: str, endings: Iterable[tuple[str, str]], min_measure: int) -> str:
    """Replace the longest matching ending if the rest has more than `min_measure` syllables."""
    for ending, replacement in endings:
        if word.endswith(ending):
            rest = word[: len(word) - len(ending)]
            is_noun = ending != "ion" or rest.endswith(("s", "t"))
            return rest + replacement if _measure(rest) > min_measure and is_noun else word
    return word


def _shape(word: str) -> str:
    """Return vowels as v, consonants as c; a y after a consonant is a vowel."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often consonants follow vowels: about the number of syllables."""
    return len(_SYLLABLE.findall(_shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _is_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


_NORMALIZED = _NormalizedCharacters()
_LAST_LATIN = "\u0250"
_ACCENTED = re.compile("[\0-\u0250][\u0300-\u036f]+|[\u0080-\u0250]")
# What may stand before and after a word of ASCII letters in a longer one: where most places are.
_LATIN = "[a-z0-9]"
_WORD = re.compile(r"[^\W_]+")
_STEMMABLE = re.compile(f"(?<!{_LATIN})[a-z]+(?!{_LATIN})")
_NUMBER = re.compile(r"v?[0-9]+")
_STEMMED_WORD = re.compile(f"[a-z]{{{MIN_STEMMED},}}")
# Marks that combine with the previous character: accents, and those of kana in both widths.
_MARK = re.compile("[\u0300-\u036f\u3099\u309a\uff9e\uff9f]")
_CLUSTER = re.compile(f".{_MARK.pattern}*", re.DOTALL)

_ENGLISH = re.compile("[a-z]+")
_SYLLABLE = re.compile("v+c+")


def _longest_first(*endings: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(endings, key=lambda pair: -len(pair[0])))


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
    *(
        (ending, "")
        for ending in ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement")
    ),
    *(
        (ending, "")
        for ending in ("ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize")
    ),
)

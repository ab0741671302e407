"""What forms of an English word have in common, as FTS5's `porter` tokenizer sees it. Pure.

M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980). SQLite keeps its own to
itself, and whoever shows a hit has to know which words in it were found.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

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

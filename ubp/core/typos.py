"""Names that are surely misspelt: what was meant may be written without asking.

The most similar name is often about something else: of the 43 missing anchors on seven sites for
which `closest_name` found one, 6 were (`timers-string`, `runtime-string`). So only signs, slips of
the fingers and added words count here.
"""

import re
from collections.abc import Iterable

from ubp.core.text import fold, without_cjk

# So many letters for each slip: `form.md` and `from.md` may both be meant, `layot.md` may not.
LETTERS_PER_SLIP = 5
MAX_SLIPS = 2
# A shorter word is part of too many headings; two count for each character of Chinese or Japanese.
MIN_SHARED_LETTERS = 8
# Of a heading that was made shorter, so many words remain.
MIN_REMAINING_WORDS = 3

_SIGNS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


def meant_name(name: str, names: Iterable[str]) -> str | None:
    """Return the only one of `names` that `name` may mean.

    It differs in capital letters, else in signs, or else by a slip: a letter that is missing,
    added, wrong, or exchanged with its neighbour; two in a word only if that is long. The nearest
    of several is the only one if all others need two slips more.
    """
    others = [other for other in names if other != name]
    letters = _letters(name)
    same = [other for other in others if _letters(other) == letters]
    same = [other for other in same if other == name.lower()] or same
    if same or not letters:
        return same[0] if len(same) == 1 else None
    limit = min(MAX_SLIPS, len(letters) // LETTERS_PER_SLIP)
    if not limit:
        return None
    digits = _DIGITS.findall(name)
    distances = sorted(
        (distance, other)
        for other in others
        if (distance := _distance(letters, _letters(other), MAX_SLIPS + limit)) is not None
    )
    if not distances or distances[0][0] > limit or _DIGITS.findall(distances[0][1]) != digits:
        return None
    is_clear = len(distances) == 1 or distances[1][0] >= distances[0][0] + 2
    return distances[0][1] if is_clear and not _has_another_word(name, distances[0][1]) else None


def _has_another_word(name: str, other: str) -> bool:
    """Return whether a word differs by more slips than its letters allow: `github`, `gitlab`."""
    words, meant_words = _SIGNS.split(fold(name)), _SIGNS.split(fold(other))
    pairs = zip(words, meant_words, strict=True) if len(words) == len(meant_words) else ()
    return any(
        _distance(word, meant, max(1, len(word) // LETTERS_PER_SLIP)) is None
        for word, meant in pairs
    )


def has_other_numbers(name: str, other: str) -> bool:
    """Return whether two names have numbers, and not the same: those of two releases or steps."""
    numbers, others = _DIGITS.findall(name), _DIGITS.findall(other)
    return bool(numbers and others) and numbers != others


def meant_heading(anchor: str, anchors: Iterable[str]) -> str | None:
    """Return the anchor that was meant, also of a heading to which words were added or removed."""
    anchors = list(anchors)
    if meant := meant_name(anchor, anchors):
        return meant
    words = _words(anchor)
    longer = [other for other in anchors if words < _words(other)]
    letters = "".join(words)
    if len(longer) == 1 and 2 * len(letters) - len(without_cjk(letters)) >= MIN_SHARED_LETTERS:
        return longer[0]
    shorter = [
        other
        for other in anchors
        if len(_words(other)) >= max(MIN_REMAINING_WORDS, len(words) - 2) and _words(other) < words
    ]
    return shorter[0] if len(shorter) == 1 and not longer else None


def _letters(name: str) -> str:
    return _SIGNS.sub("", fold(name))


def _words(anchor: str) -> frozenset[str]:
    return frozenset(filter(None, _SIGNS.split(fold(anchor))))


def _distance(first: str, second: str, limit: int) -> int | None:
    """Return the slips between two names, None: more than `limit`."""
    if abs(len(first) - len(second)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first):
        before, previous, row = row, before, [i + 1]
        for j, other in enumerate(second):
            slips = min(before[j] + (letter != other), before[j + 1] + 1, row[j] + 1)
            if i and j and letter == second[j - 1] and first[i - 1] == other:
                slips = min(slips, previous[j - 1] + 1)
            row.append(slips)
        if min(*row, *before) > limit:
            return None
    return row[-1] if row[-1] <= limit else None

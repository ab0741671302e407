"""What is looked for in texts: words in a row, joined by AND, OR and NOT. Pure.

The tree is what callers build; each store writes it in the language of its own index.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Column = Literal["title", "headings", "body", "aliases"]


class Phrase(NamedTuple):
    """Words in a row, segmented as those of documents are (`ubp.core.text.segment_cjk`).

    `is_prefix`: the last word is the beginning of a word. In a `column`, only what stands there
    matches, with `is_first` only at its beginning.
    """

    words: str
    is_prefix: bool = False
    column: Column | None = None
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """Matches what matches each of the parts, in whatever order."""

    parts: tuple["Match", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches what matches one of the parts."""

    parts: tuple["Match", ...]


@dataclass(frozen=True, slots=True)
class Without:
    """Matches what `included` matches and `excluded` does not."""

    included: "Match"
    excluded: "Match"


Match = Phrase | AllOf | AnyOf | Without


def any_of(parts: Iterable[Match]) -> Match:
    """Return what matches one of the parts; those that are equal count once."""
    unique = tuple(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else AnyOf(unique)

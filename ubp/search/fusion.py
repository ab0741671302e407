"""One score a page, of what its words, its meaning and its links say. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.model import FilePath

# The share of the words where both legs answer; the meaning has the rest.
WORDS_SHARE = 0.5
# Cosines are stretched between the best page's and that of the page at this place.
SPREAD_PLACE = 100
# What links can fill of the gap between a page's score and 1.
LINKS_SHARE = 0.05


class LegScores(NamedTuple):
    """What each leg says about pages; it may leave out those of which it says nothing.

    `words` are positive, `meaning` cosines, `links` proximities to the best hits (0..1). The larger
    the better.
    """

    words: Mapping[FilePath, float] = {}
    meaning: Mapping[FilePath, float] = {}
    links: Mapping[FilePath, float] = {}


class Asked(NamedTuple):
    """What is known about a query: how many `terms` it was found to have."""

    terms: int = 0


class Fused(NamedTuple):
    """A page's score, 0 to 1, and what of it each leg gave; None: the leg did not find it."""

    path: FilePath
    score: float
    words: float | None
    meaning: float | None
    links: float | None


def fuse(legs: LegScores, asked: Asked) -> list[Fused]:
    """Pages by score, the best first; equal ones by path."""
    words, meaning = _over_best(legs.words), _stretch(legs.meaning)
    share = _words_share(legs, asked)
    found = [
        _fuse_page(path, words.get(path), meaning.get(path), legs.links.get(path), share)
        for path in {*words, *meaning, *legs.links}
    ]
    return sorted(found, key=lambda one: (-one.score, one.path))


def _words_share(legs: LegScores, _: Asked) -> float:
    if not legs.meaning:
        return 1.0
    return WORDS_SHARE if legs.words else 0.0


def _fuse_page(
    path: FilePath, words: float | None, meaning: float | None, links: float | None, share: float
) -> Fused:
    direct = share * (words or 0.0) + (1 - share) * (meaning or 0.0)
    score = direct + (1 - direct) * LINKS_SHARE * (links or 0.0)
    return Fused(path, score, words, meaning, links)


def _over_best(scores: Mapping[FilePath, float]) -> dict[FilePath, float]:
    best = max(scores.values(), default=0.0)
    return {path: score / best for path, score in scores.items()} if best > 0 else {}


def _stretch(scores: Mapping[FilePath, float]) -> dict[FilePath, float]:
    """The best page at 1, the one at SPREAD_PLACE (or the last one) at 0; no page beyond."""
    ordered = sorted(scores.values(), reverse=True)[:SPREAD_PLACE]
    if not ordered:
        return {}
    worst, spread = ordered[-1], ordered[0] - ordered[-1]
    return {
        path: (score - worst) / spread if spread > 0 else 1.0
        for path, score in scores.items()
        if score >= worst
    }

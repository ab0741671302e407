"""BM25 of candidates, as UBP computes it over SQLite's index (`ubp.index.store.fulltext`)."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from math import inf
from typing import NamedTuple

from ubp.core.model import ObjectId
from ubp.hub.tokens import LABELS
from ubp.index.match import Phrase
from ubp.index.store.fulltext import (
    COLUMNS,
    FIRST_SHARE,
    GROWTH,
    K1,
    SATURATED,
    B,
    Extent,
    RowMatch,
    Table,
)
from ubp.index.store.tokenizer import tokenizer


class Occurrences(NamedTuple):
    """Where a word occurs in a chunk: positions, and the label of the column of each."""

    positions: Sequence[int]
    labels: Sequence[str]


class Candidate(NamedTuple):
    """A chunk that contains a term; `words` are the words of the terms in it, `length` all."""

    repository: int
    blob: ObjectId
    number: int
    length: int
    words: Mapping[str, Occurrences]


def rank_candidates(
    candidates: Sequence[Candidate],
    match: RowMatch,
    weights: Mapping[Phrase, float],
    extent: Extent,
    limit: int,
) -> list[tuple[float, Candidate]]:
    """Return the best candidates with their ranks, the smaller the better.

    As in SQLite's index, `match.adding` adds to the ranks of the best of them alone.
    """
    scorer = _Scorer(match, weights, extent)
    scores = [scorer.score(candidate, match.terms) for candidate in candidates]
    found = sorted(
        (-score, candidate.blob, candidate.number, candidate.repository, place)
        for place, (score, candidate) in enumerate(zip(scores, candidates, strict=True))
        if score
    )
    if not match.adding:
        return [(rank, candidates[place]) for rank, *_, place in found[:limit]]
    least = _least(scores, limit)
    added = sorted(
        (rank - scorer.score(candidates[place], match.adding), blob, number, repository, place)
        for rank, blob, number, repository, place in found
        if -rank >= least
    )
    return [(rank, candidates[place]) for rank, *_, place in added[:limit]]


def _least(scores: Sequence[float], limit: int) -> float:
    """Return the score of the last of the best candidates, of which some are worse than `limit`."""
    size = int(limit * FIRST_SHARE) + 1
    while True:
        best = nlargest(size, scores)
        if len(best) < size:
            return -inf
        if best[limit - 1] > best[-1]:
            return best[-1]
        size *= GROWTH


class _Scorer:
    """BM25 over a number of chunks with so many words."""

    def __init__(self, match: RowMatch, weights: Mapping[Phrase, float], extent: Extent) -> None:
        self._table: Table = match.table
        self._weights = weights
        self._columns = {
            LABELS[column]: weight for column, weight in zip(COLUMNS, match.weights, strict=True)
        }
        self._short = K1 * (1 - B)
        self._longer = K1 * B * extent.chunks / max(extent.words, 1)

    def score(self, candidate: Candidate, terms: Sequence[Phrase]) -> float:
        score = 0.0
        for term in terms:
            if n := self._occurrences(candidate, term):
                long = self._short + self._longer * candidate.length
                score += SATURATED * self._weights[term] * n / (n + long)
        return score

    def _occurrences(self, candidate: Candidate, phrase: Phrase) -> int:
        """Return how often a phrase occurs, each time as often as the weight of its column."""
        words = tokenizer(self._table).words(phrase.words)
        if not words:
            return 0
        before = [candidate.words.get(word) for word in words[:-1]]
        if any(found is None for found in before):
            return 0
        places = [set(found.positions) for found in before if found is not None]
        total = 0
        for last in self._last(candidate, words[-1], is_prefix=phrase.is_prefix):
            for position, label in zip(last.positions, last.labels, strict=True):
                start = position - len(places)
                if all(start + offset in positions for offset, positions in enumerate(places)):
                    total += self._columns[label]
        return total

    def _last(self, candidate: Candidate, word: str, *, is_prefix: bool) -> Iterator[Occurrences]:
        if is_prefix:
            yield from (found for known, found in candidate.words.items() if known.startswith(word))
        elif word in candidate.words:
            yield candidate.words[word]

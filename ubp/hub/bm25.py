"""BM25 of candidates, as UBP computes it over SQLite's index (`ubp.index.store.fulltext`)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import ObjectId
from ubp.hub.tokens import LABELS
from ubp.index.match import Phrase
from ubp.index.store.fulltext import K1, SATURATED, B, Extent, RowMatch
from ubp.index.store.tokenizer import COLUMNS, Table, tokenizer


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
) -> list[tuple[float, Candidate]]:
    """Return the candidates with their ranks, the best first: the smaller the better.

    All terms count for each candidate, those of `match.adding` too. Equal ones are in the order of
    blob and number, and as they were given.
    """
    scorer = _Scorer(match, weights, extent)
    found = sorted(
        (-score, candidate.blob, candidate.number, place)
        for place, candidate in enumerate(candidates)
        if (score := scorer.score(candidate, match.terms))
        and (score := score + scorer.score(candidate, match.adding))
    )
    return [(rank, candidates[place]) for rank, *_, place in found]


class _Scorer:
    """BM25 over a number of chunks with so many words."""

    def __init__(self, match: RowMatch, weights: Mapping[Phrase, float], extent: Extent) -> None:
        self._table: Table = match.table
        self._weights = weights
        self._columns = {
            LABELS[column]: weight for column, weight in zip(COLUMNS, match.weights, strict=True)
        }
        self._average = max(extent.words, 1) / max(extent.chunks, 1)

    def score(self, candidate: Candidate, terms: Sequence[Phrase]) -> float:
        score = 0.0
        for term in terms:
            if n := self._occurrences(candidate, term):
                # Operation by operation as FTS5 does, so that ranks that are equal there are here.
                long = K1 * (1 - B + B * candidate.length / self._average)
                score += self._weights[term] * ((n * SATURATED) / (n + long))
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

"""BM25 of chunks, as UBP computes it over SQLite's index (`ubp.index.store.fulltext`)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ubp.hub.chunk_rows import Integers
from ubp.hub.tokens import LABELS, lexemes_of
from ubp.index.match import Phrase
from ubp.index.store.fulltext import K1, SATURATED, B
from ubp.index.store.tokenizer import COLUMNS, Table
from ubp.search.lexical import WEIGHTS

COLUMN_WEIGHTS = {
    LABELS[column]: weight for column, weight in zip(COLUMNS, WEIGHTS.columns, strict=True)
}

Floats = npt.NDArray[np.float64]


class Found(NamedTuple):
    """The rows of the chunks that contain a term, each once, and how often they do.

    Each occurrence counts as often as the weight of its column. If not `is_exact`, it is estimated.
    """

    rows: npt.NDArray[np.int32]
    occurrences: npt.NDArray[np.uint16] | Floats
    is_exact: bool = True


class Positions(NamedTuple):
    """Where a word occurs in a chunk: positions, and the label of the column of each."""

    positions: Sequence[int]
    labels: Sequence[str]


def term_scores(
    weight: float,
    occurrences: npt.NDArray[np.uint16] | Floats,
    lengths: npt.NDArray[np.int32],
    average: float,
) -> Floats:
    """Return what a term adds to the scores of chunks of these lengths; `average` is that of all.

    Operation by operation as FTS5 does, so that scores that are equal there are equal here.
    """
    occurrences = occurrences.astype(np.float64)
    long = K1 * (1 - B + B * lengths / average)
    return weight * ((occurrences * SATURATED) / (occurrences + long))


def sum_scores(
    terms: Sequence[tuple[float, Found]], lengths: npt.NDArray[np.int32], average: float
) -> Floats:
    """Return the sum over terms, each with its weight, for each row."""
    scores = np.zeros(len(lengths))
    for weight, found in terms:
        rows = found.rows
        scores[rows] += term_scores(weight, found.occurrences, lengths[rows], average)
    return scores


def add_scores(
    scores: Floats,
    terms: Sequence[tuple[float, Found]],
    lengths: npt.NDArray[np.int32],
    average: float,
) -> None:
    """Add the sum over terms, each with its weight, to the scores of rows that have any."""
    found = np.flatnonzero(scores > 0)
    added = np.zeros(len(found))
    for weight, term in terms:
        occurrences = occurrences_in(term, found, len(lengths))
        added += term_scores(weight, occurrences, lengths[found], average)
    scores[found] += added


def best_rows(scores: Floats, limit: int) -> Integers:
    """Return the rows with the best positive scores, in their order; more if some are equal."""
    rows: Integers = np.flatnonzero(scores > 0)
    values = scores[rows]
    is_best = values >= (np.partition(values, -limit)[-limit] if limit < len(rows) else 0)
    return np.compress(is_best, rows)


def occurrences_in(found: Found, rows: Integers, size: int) -> Floats:
    """Return how often each of some rows, of `size` in all, has a term."""
    occurrences = np.zeros(size)  # memory is taken where it is written
    occurrences[found.rows] = found.occurrences
    return occurrences[rows]


def count_occurrences(words: Mapping[str, Positions], phrase: Phrase, table: Table) -> int:
    """Return how often a phrase occurs among words, each time as often as its column's weight."""
    wanted = lexemes_of(phrase, table)
    if not wanted:
        return 0
    end = max(wanted)
    last = wanted.pop(end)
    before = {place: words.get(word) for place, word in wanted.items()}
    if None in before.values():
        return 0
    places = {end - place: set(found.positions) for place, found in before.items() if found}
    total = 0
    for found in _last(words, last, is_prefix=phrase.is_prefix):
        for position, label in zip(found.positions, found.labels, strict=True):
            if all(position - distance in known for distance, known in places.items()):
                total += COLUMN_WEIGHTS[label]
    return total


def _last(words: Mapping[str, Positions], word: str, *, is_prefix: bool) -> Iterator[Positions]:
    if is_prefix:
        yield from (found for known, found in words.items() if known.startswith(word))
    elif word in words:
        yield words[word]

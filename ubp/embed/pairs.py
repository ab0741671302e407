"""Chunks of different pages that mean nearly the same."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ubp.embed.collection import Collection, Found, Mask
from ubp.embed.matrix import ROWS_A_TILE, Floats, Matrix
from ubp.embed.vectors import Rows, Vectors

# Of more pairs the best ones are kept: each takes 20 bytes, and nobody reads on so far.
MOST_PAIRS = 1_000_000


def find_pairs(
    collection: Collection, vectors: Vectors, min_score: float, of: Mask | None = None
) -> Iterator[tuple[Found, Found]]:
    """Pairs of chunks with at least this cosine, best first; equal ones in the chunks' order.

    `of` tells the pages of which one is to be in every pair. Chunks with the same text share a
    vector, so that a thousand copies of a licence are one row here.
    """
    rows = collection.rows(vectors)
    chunks = np.flatnonzero(rows >= 0)
    if not len(chunks):
        return
    distinct, first_chunks, vector_of = np.unique(
        rows[chunks], return_index=True, return_inverse=True
    )
    in_order = np.argsort(first_chunks)
    ranks = np.empty_like(in_order)
    ranks[in_order] = np.arange(len(in_order))
    owners = _Owners(collection, chunks, ranks[vector_of])
    found = _near(vectors.take(distinct[in_order]), owners, min_score, of)
    for first, second, score in zip(*(part.tolist() for part in found), strict=True):
        yield from owners.pairs(first, second, min(score, 1.0), of)


class _Owners:
    """The chunks that have a vector, for each of the vectors."""

    def __init__(self, collection: Collection, chunks: Rows, vector_of: Rows) -> None:
        self._collection = collection
        order = np.argsort(vector_of, kind="stable")
        self._chunks = chunks[order]
        self._pages = collection.pages_of(self._chunks)
        self._starts = np.searchsorted(vector_of[order], np.arange(vector_of.max() + 2))
        first, last = self._pages[self._starts[:-1]], self._pages[self._starts[1:] - 1]
        # The page of a vector that no other page has, else -1: chunks are in the pages' order.
        self.page = np.where(first == last, first, -1)

    def rows_of(self, of: Mask) -> Rows:
        """The vectors that one of these pages has."""
        return np.flatnonzero(np.logical_or.reduceat(of[self._pages], self._starts[:-1]))

    def pairs(
        self, first: int, second: int, score: float, of: Mask | None
    ) -> Iterator[tuple[Found, Found]]:
        """The pairs of chunks of different pages with these two vectors."""
        for one, its_page in self._having(first):
            for other, other_page in self._having(second):
                is_told = first == second and other <= one
                is_asked = of is None or of[its_page] or of[other_page]
                if its_page != other_page and not is_told and is_asked:
                    found = self._collection.found([one, other], [score, score])
                    yield found[0], found[1]

    def _having(self, vector: int) -> list[tuple[int, int]]:
        chunks = slice(self._starts[vector], self._starts[vector + 1])
        return list(zip(self._chunks[chunks].tolist(), self._pages[chunks].tolist(), strict=True))


class _Pairs(NamedTuple):
    """Pairs of vectors (first <= second), and their cosines."""

    first: Rows
    second: Rows
    scores: Floats


def _near(matrix: Matrix, owners: _Owners, min_score: float, of: Mask | None) -> _Pairs:
    """The pairs of vectors that are near enough, best first."""
    left = np.arange(len(matrix)) if of is None else owners.rows_of(of)
    is_left = np.zeros(len(matrix), dtype=bool)
    is_left[left] = True
    found: list[_Pairs] = []
    for start in range(0, len(left), ROWS_A_TILE):
        tile = left[start : start + ROWS_A_TILE]
        for column in range(0 if of is not None else start, len(matrix), ROWS_A_TILE):
            cosines = matrix.rows[tile] @ matrix.rows[column : column + ROWS_A_TILE].T
            i, j = np.nonzero(cosines >= min_score)
            first, second = tile[i], j + column
            is_new = (first <= second) | ~is_left[second]
            is_apart = (owners.page[first] != owners.page[second]) | (owners.page[first] < 0)
            kept = is_new & is_apart
            first, second, scores = first[kept], second[kept], cosines[i, j][kept]
            found.append(_Pairs(np.minimum(first, second), np.maximum(first, second), scores))
        if sum(len(part.scores) for part in found) > MOST_PAIRS:
            found = [_best(found)]
    return _best(found)


def _best(parts: list[_Pairs]) -> _Pairs:
    if not parts:
        nothing = np.empty(0, dtype=np.intp)
        return _Pairs(nothing, nothing, np.empty(0, dtype=np.float32))
    whole = _Pairs(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    order = np.lexsort((whole.second, whole.first, -whole.scores))[:MOST_PAIRS]
    return _Pairs(whole.first[order], whole.second[order], whole.scores[order])

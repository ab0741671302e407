"""Vectors of texts, all of length 1 (of nothing known: 0), and what is near to what."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]

CLOSE = 1e-5

# Rows that are held against each other at a time: 1,024 x 1,024 cosines are 4 MB.
ROWS_A_TILE = 1024


class Matrix:
    """Vectors, a row each."""

    def __init__(self, vectors: npt.NDArray[np.floating | np.integer]) -> None:
        """Bring every row to length 1; zeros, and what is no number, become zeros."""
        self.rows: Floats = vectors.astype(np.float32)
        lengths = np.linalg.norm(self.rows, axis=1, keepdims=True)
        # What has length 1 already stays as it is, bit by bit.
        self.rows /= np.where((lengths > 0) & (abs(lengths - 1) > CLOSE), lengths, 1)
        self.rows[~np.isfinite(lengths[:, 0])] = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> "Matrix":
        return Matrix(self.rows[row : row + 1])

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.rows.shape[1])

    def cosines(self, query: "Matrix") -> Floats:
        """The cosine of each row with the query's first one."""
        cosines: Floats = self.rows @ query.rows[0]
        return cosines

    def nearest(self, query: "Matrix", limit: int) -> list[tuple[int, float]]:
        """The rows nearest to the query's first one, and their cosines: best first."""
        cosines = self.cosines(query)
        return [(int(row), float(cosines[row])) for row in best(cosines, limit)]

    def pairs(self, min_score: float) -> Iterator[tuple[int, int, float]]:
        """Rows (i < j) whose cosine is at least `min_score`, and it; in no order."""
        for first in range(0, len(self), ROWS_A_TILE):
            tile = self.rows[first : first + ROWS_A_TILE]
            for second in range(first, len(self), ROWS_A_TILE):
                cosines = tile @ self.rows[second : second + ROWS_A_TILE].T
                near = np.argwhere(cosines >= min_score)
                for i, j in near.tolist():
                    if first + i < second + j:
                        yield first + i, second + j, float(cosines[i, j])


def best(scores: Floats, limit: int) -> npt.NDArray[np.intp]:
    """The indices of the largest scores, largest first; of equal ones the first ones."""
    if limit <= 0:
        return np.empty(0, dtype=np.intp)
    if limit < len(scores):
        least = np.partition(scores, -limit)[-limit]
        found = np.flatnonzero(scores >= least)
    else:
        found = np.arange(len(scores))
    return found[np.argsort(-scores[found], kind="stable")][:limit]

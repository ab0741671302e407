"""Vectors of texts, all of length 1 (of nothing known: 0), and what is near to what.

Vectors by the keys of their texts, as the store's blocks have them.

The chunks of some pages and their vectors: which are best, which are alike.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ubp.core.model import ObjectId
from ubp.index.embed.text import KEY_BYTES

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


Rows: TypeAlias = npt.NDArray[np.intp]
Keys: TypeAlias = npt.NDArray[np.bytes_]

# A number of a vector has a byte, half of what 16-bit floats take. Measured against the model's own
# vectors: Spearman on JSTS 0.7508 for 0.7509 (16 bits: 0.7509); of the nearest paragraphs to 5,632
# questions (JSQuAD, XQuAD) 99.6 % are the same, of the ten nearest 99.3 % (16 bits: 99.99 %);
# Recall@5 0.8789 for 0.8796 and 0.9462 for 0.9471.
MAX_VECTORS = 127


class _Block(NamedTuple):
    keys: Keys
    matrix: Matrix
    is_blank: npt.NDArray[np.bool_]  # zeros: the model knows none of the text's words


class Vectors:
    """Many vectors, numbered through; `version` tells when they have got other numbers."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.version = 0
        self._blocks: dict[int, _Block] = {}
        self._order: Rows = np.empty(0, dtype=np.intp)
        self._sorted: Keys = as_keys(b"")

    def __len__(self) -> int:
        return len(self._order)

    def sizes(self) -> dict[int, int]:
        """How many vectors are known of each block."""
        return {number: len(block.keys) for number, block in self._blocks.items()}

    def update(self, blocks: Mapping[int, tuple[bytes, bytes]], gone: Collection[int]) -> None:
        """Take in the keys and the quantised vectors of blocks, and forget others.

        A block that is there already has the same vectors as before, and more behind them.
        """
        last = max(self._blocks, default=0)
        is_growth = all(number >= last for number in blocks) and not gone
        before = len(self)
        for number in gone:
            del self._blocks[number]
        for number, (keys, vectors) in sorted(blocks.items()):
            rows = np.frombuffer(vectors, dtype=np.int8).reshape(-1, self.dimensions)
            is_blank = np.logical_not(rows.any(axis=1))
            self._blocks[number] = _Block(as_keys(keys), Matrix(rows), is_blank)
        if not is_growth:
            self._blocks = dict(sorted(self._blocks.items()))
            self.version += 1
        self._sort(before if is_growth else 0)

    def _sort(self, before: int) -> None:
        """Have the keys in order, so many of which are."""
        keys = np.concatenate([as_keys(b""), *(block.keys for block in self._blocks.values())])
        order = np.argsort(keys[before:], kind="stable")
        added = keys[before:][order]
        places = np.searchsorted(self._sorted[:before], added)
        self._sorted = np.insert(self._sorted[:before], places, added)
        self._order = np.insert(self._order[:before], places, order + before)

    def find(self, keys: Keys) -> Rows:
        """The numbers of the vectors with these keys; -1: there is none."""
        if not len(self):
            return np.full(len(keys), -1, dtype=np.intp)
        places = np.searchsorted(self._sorted, keys)
        places[places == len(self)] = 0
        return np.where(self._sorted[places] == keys, self._order[places], -1)

    def cosines(self, query: Matrix) -> Floats:
        """The cosine of every vector with the query's first one; of nothing: minus infinity."""
        found = [np.zeros(0, dtype=np.float32)]
        for block in self._blocks.values():
            cosines = block.matrix.cosines(query)
            cosines[block.is_blank] = -np.inf
            found.append(cosines)
        return np.concatenate(found)

    def take(self, rows: Rows) -> Matrix:
        """These vectors, in this order."""
        taken = np.zeros((len(rows), self.dimensions), dtype=np.float32)
        start = 0
        for block in self._blocks.values():
            inside = (rows >= start) & (rows < start + len(block.keys))
            taken[inside] = block.matrix.rows[rows[inside] - start]
            start += len(block.keys)
        return Matrix(taken)


def as_keys(keys: bytes) -> Keys:
    """Keys one after the other as an array.

    numpy takes off zeros at the end of such a value, in comparisons too: as all are of the same
    length, none is taken for another.
    """
    return np.frombuffer(keys, dtype=f"S{KEY_BYTES}")


def quantise(matrix: Matrix) -> bytes:
    """Vectors as bytes: each is stretched so that its largest number is 127."""
    largest = np.abs(matrix.rows).max(axis=1, keepdims=True, initial=0)
    return (
        np.rint(matrix.rows * (MAX_VECTORS / np.where(largest > 0, largest, 1)))
        .astype(np.int8)
        .tobytes()
    )


Mask: TypeAlias = npt.NDArray[np.bool_]


class VectorHit(NamedTuple):
    """A chunk: its page's blob and its number there; `score` is a cosine."""

    page: ObjectId
    number: int
    score: float


class VectorCollection:
    """Chunks of pages."""

    def __init__(self, texts: Mapping[ObjectId, bytes]) -> None:
        """`texts` are the keys of the texts of each page's chunks, in order."""
        self.pages = list(texts)
        self._keys: Keys = as_keys(b"".join(texts.values()))
        counts = [len(keys) // KEY_BYTES for keys in texts.values()]
        self._ends = np.array(list(accumulate(counts)), dtype=np.intp)
        self._counts = np.array(counts, dtype=np.intp)
        self._rows: Rows = np.empty(0, dtype=np.intp)
        self._seen: tuple[Vectors | None, int, int] = (None, 0, 0)  # what `_rows` are of

    def __len__(self) -> int:
        return len(self._keys)

    def missing(self, vectors: Vectors) -> dict[ObjectId, int]:
        """The pages with chunks that have no vector, and how many of them."""
        chunks = np.flatnonzero(self.rows(vectors) < 0)
        pages, counts = np.unique(self.pages_of(chunks), return_counts=True)
        return {
            self.pages[page]: count
            for page, count in zip(pages.tolist(), counts.tolist(), strict=True)
        }

    def best(
        self, cosines: Floats, vectors: Vectors, limit: int, mask: Mask | None = None
    ) -> list[VectorHit]:
        """The chunks with the best of these cosines; `mask` tells which pages count."""
        rows = self.rows(vectors)
        scores = np.where(rows >= 0, cosines[rows] if len(cosines) else 0, -np.inf)
        if mask is not None:
            scores[np.repeat(~mask, self._counts)] = -np.inf
        chunks = best(scores.astype(np.float32, copy=False), limit)
        chunks = chunks[scores[chunks] > -np.inf]
        return self.found(chunks, scores[chunks].tolist())

    def found(self, chunks: Rows | list[int], scores: list[float]) -> list[VectorHit]:
        """These chunks, by their places in the whole."""
        pages = self.pages_of(chunks)
        numbers = np.asarray(chunks) - self._ends[pages] + self._counts[pages]
        return [
            VectorHit(self.pages[page], number, score)
            for page, number, score in zip(pages.tolist(), numbers.tolist(), scores, strict=True)
        ]

    def mask(self, pages: set[ObjectId]) -> Mask:
        """Which pages are among these."""
        return np.fromiter(
            (page in pages for page in self.pages), dtype=bool, count=len(self.pages)
        )

    def rows(self, vectors: Vectors) -> Rows:
        """The number of each chunk's vector; -1: it has none."""
        known, version, number = self._seen
        if known is not vectors or version != vectors.version:
            self._rows = np.full(len(self), -1, dtype=np.intp)
        elif number == len(vectors):
            return self._rows
        unknown = np.flatnonzero(self._rows < 0)
        self._rows[unknown] = vectors.find(self._keys[unknown])
        self._seen = vectors, vectors.version, len(vectors)
        return self._rows

    def pages_of(self, chunks: Rows | list[int]) -> Rows:
        """The page of each of these chunks."""
        return np.searchsorted(self._ends, chunks, side="right")

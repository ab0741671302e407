"""Vectors of texts in memory: matrices, the store's blocks by text key, the chunks of pages.

All vectors have length 1, so that a dot product is a cosine; a text without any word that the model
knows has a zero vector.
"""

from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ubp.core.interruption import checkpoint
from ubp.core.model import ObjectId
from ubp.index.embed.text import KEY_BYTES

Floats: TypeAlias = npt.NDArray[np.float32]
Rows: TypeAlias = npt.NDArray[np.intp]
Keys: TypeAlias = npt.NDArray[np.bytes_]
Mask: TypeAlias = npt.NDArray[np.bool_]

LENGTH_TOLERANCE = 1e-5

# A component is stored in a byte, half of what 16-bit floats take. Compared with the model's own
# vectors: Spearman on JSTS 0.7508 instead of 0.7509 (16 bits: 0.7509); of the nearest paragraphs to
# 5,632 questions (JSQuAD, XQuAD) 99.6 % are the same, of the ten nearest 99.3 % (16 bits: 99.99 %);
# Recall@5 0.8789 instead of 0.8796, and 0.9462 instead of 0.9471.
MAX_COMPONENT = 127


class Matrix:
    """Vectors as rows."""

    def __init__(self, vectors: npt.NDArray[np.floating | np.integer]) -> None:
        """Scale every row to length 1; rows of zeros, NaN or infinity become zeros."""
        self.rows: Floats = vectors.astype(np.float32)
        lengths = np.linalg.norm(self.rows, axis=1, keepdims=True)
        # A row of length 1 stays the same, bit by bit.
        self.rows /= np.where((lengths > 0) & (abs(lengths - 1) > LENGTH_TOLERANCE), lengths, 1)
        self.rows[~np.isfinite(lengths[:, 0])] = 0

    @classmethod
    def of_unit_rows(cls, rows: Floats) -> "Matrix":
        """Return a matrix of rows that have length 1 or are zeros; they are not copied."""
        matrix = cls.__new__(cls)
        matrix.rows = rows
        return matrix

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> "Matrix":
        return Matrix(self.rows[row : row + 1])

    @property
    def dimensions(self) -> int:
        """The number of components of a vector."""
        return int(self.rows.shape[1])

    def cosines(self, query: "Matrix") -> Floats:
        """Return the cosine of each row with the query's first one."""
        cosines: Floats = self.rows @ query.rows[0]
        return cosines

    def nearest(self, query: "Matrix", limit: int) -> list[tuple[int, float]]:
        """Return the rows nearest to the query's first one, and their cosines; best first."""
        cosines = self.cosines(query)
        return [(int(row), float(cosines[row])) for row in best(cosines, limit)]


def best(scores: Floats, limit: int) -> npt.NDArray[np.intp]:
    """Return the indices of the largest scores, largest first; equal ones in their order."""
    if limit <= 0:
        return np.empty(0, dtype=np.intp)
    if limit < len(scores):
        min_score = np.partition(scores, -limit)[-limit]
        indices = np.flatnonzero(scores >= min_score)
    else:
        indices = np.arange(len(scores))
    return indices[np.argsort(-scores[indices], kind="stable")][:limit]


class QuantizedRows(NamedTuple):
    """Vectors as they are stored, and the length of each (1 of zeros).

    They take a quarter of the memory of a matrix, and a search reads them in half the time.
    """

    rows: npt.NDArray[np.int8]
    lengths: Floats

    @classmethod
    def of(cls, rows: npt.NDArray[np.int8]) -> "QuantizedRows":
        """Return these rows with their lengths."""
        lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
        return cls(rows, np.where(lengths > 0, lengths, np.float32(1)))

    def __len__(self) -> int:
        return len(self.rows)

    def floats(self, rows: Rows | slice) -> Floats:
        """Return some of them with length 1."""
        floats = self.rows[rows].astype(np.float32)
        floats /= self.lengths[rows, None]
        return floats

    def cosines(self, query: Matrix) -> Floats:
        """Return the cosine of each with the query's first row; 0 of zeros."""
        cosines: Floats = (self.rows.astype(np.float32) @ query.rows[0]) / self.lengths
        return cosines


class _Block(NamedTuple):
    keys: Keys
    vectors: QuantizedRows
    is_blank: Mask  # zeros: the model knows none of the text's words


class Vectors:
    """Numbered vectors from blocks of the store, never changed: several threads may share them.

    Those with the same `version` begin with the same numbers, and the longer ones have more.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.version = object()
        self._blocks: dict[int, _Block] = {}
        self._order: Rows = np.empty(0, dtype=np.intp)
        self._sorted: Keys = as_keys(b"")

    def __len__(self) -> int:
        return len(self._order)

    def sizes(self) -> dict[int, int]:
        """Return the number of vectors in each block."""
        return {number: len(block.keys) for number, block in self._blocks.items()}

    def updated(
        self, blocks: Mapping[int, tuple[bytes, bytes]], removed: Collection[int]
    ) -> "Vectors":
        """Return these with the keys and the quantized vectors of blocks, without removed ones.

        An existing block has the same vectors as before, and more after them.
        """
        last = max(self._blocks, default=0)
        is_growth = all(number >= last for number in blocks) and not removed
        read: dict[int, _Block] = {}
        for number, (keys, vectors) in sorted(blocks.items()):
            checkpoint()
            rows = np.frombuffer(vectors, dtype=np.int8).reshape(-1, self.dimensions)
            is_blank = np.logical_not(rows.any(axis=1))
            read[number] = _Block(as_keys(keys), QuantizedRows.of(rows), is_blank)
        kept = {number: block for number, block in self._blocks.items() if number not in removed}
        changed = Vectors(self.dimensions)
        changed._blocks = kept | read  # its own class
        if is_growth:
            changed.version, changed._sorted, changed._order = (
                self.version,
                self._sorted,
                self._order,
            )
        else:
            changed._blocks = dict(sorted(changed._blocks.items()))
        changed._sort_keys(len(changed._order))
        return changed

    def _sort_keys(self, sorted_count: int) -> None:
        """Sort the keys, of which the first ones are sorted already."""
        keys = np.concatenate([as_keys(b""), *(block.keys for block in self._blocks.values())])
        order = np.argsort(keys[sorted_count:], kind="stable")
        added = keys[sorted_count:][order]
        places = np.searchsorted(self._sorted[:sorted_count], added)
        self._sorted = np.insert(self._sorted[:sorted_count], places, added)
        self._order = np.insert(self._order[:sorted_count], places, order + sorted_count)

    def find(self, keys: Keys) -> Rows:
        """Return the numbers of the vectors with these keys; -1: no such vector."""
        if not len(self):
            return np.full(len(keys), -1, dtype=np.intp)
        places = np.searchsorted(self._sorted, keys)
        places[places == len(self)] = 0
        return np.where(self._sorted[places] == keys, self._order[places], -1)

    def cosines(self, query: Matrix) -> Floats:
        """Return the cosine of every vector with the query's first one; of zeros: -infinity."""
        parts = [np.zeros(0, dtype=np.float32)]
        for block in self._blocks.values():
            cosines = block.vectors.cosines(query)
            cosines[block.is_blank] = -np.inf
            parts.append(cosines)
        return np.concatenate(parts)

    def take(self, rows: Rows) -> QuantizedRows:
        """Return these vectors, in this order."""
        taken = np.zeros((len(rows), self.dimensions), dtype=np.int8)
        lengths = np.ones(len(rows), dtype=np.float32)
        start = 0
        for block in self._blocks.values():
            checkpoint()
            inside = np.flatnonzero((rows >= start) & (rows < start + len(block.keys)))
            taken[inside] = block.vectors.rows[rows[inside] - start]
            lengths[inside] = block.vectors.lengths[rows[inside] - start]
            start += len(block.keys)
        return QuantizedRows(taken, lengths)


def as_keys(keys: bytes) -> Keys:
    """Return joined keys as an array.

    numpy strips zeros at the end of such values, in comparisons too. Since all keys have the same
    length, different keys remain different.
    """
    return np.frombuffer(keys, dtype=f"S{KEY_BYTES}")


def quantize(matrix: Matrix) -> bytes:
    """Return vectors as bytes, each scaled so that its largest component is 127."""
    largest = np.abs(matrix.rows).max(axis=1, keepdims=True, initial=0)
    return (
        np.rint(matrix.rows * (MAX_COMPONENT / np.where(largest > 0, largest, 1)))
        .astype(np.int8)
        .tobytes()
    )


class VectorHit(NamedTuple):
    """A chunk: its page's blob and its number in the page; `score` is a cosine."""

    page: ObjectId
    number: int
    score: float


class VectorCollection:
    """The chunks of some pages, with the numbers of their vectors."""

    def __init__(self, texts: Mapping[ObjectId, bytes]) -> None:
        """`texts`: by page, the joined keys of its chunks, in order."""
        self.pages = list(texts)
        self._keys: Keys = as_keys(b"".join(texts.values()))
        counts = [len(keys) // KEY_BYTES for keys in texts.values()]
        self._ends = np.array(list(accumulate(counts)), dtype=np.intp)
        self._counts = np.array(counts, dtype=np.intp)
        # The rows, and the version and the number of the vectors for which they were computed.
        self._found: tuple[object, int, Rows] = (None, 0, np.empty(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self._keys)

    def missing(self, vectors: Vectors) -> dict[ObjectId, int]:
        """Return the pages with chunks that have no vector, and how many these are."""
        chunks = np.flatnonzero(self.rows(vectors) < 0)
        pages, counts = np.unique(self.pages_of(chunks), return_counts=True)
        return {
            self.pages[page]: count
            for page, count in zip(pages.tolist(), counts.tolist(), strict=True)
        }

    def best(
        self, cosines: Floats, vectors: Vectors, limit: int, mask: Mask | None = None
    ) -> list[VectorHit]:
        """Return the chunks with the best of these cosines, in the pages of `mask` if given."""
        rows = self.rows(vectors)
        scores = np.where(rows >= 0, cosines[rows] if len(cosines) else 0, -np.inf)
        if mask is not None:
            scores[np.repeat(~mask, self._counts)] = -np.inf
        chunks = best(scores.astype(np.float32, copy=False), limit)
        chunks = chunks[scores[chunks] > -np.inf]
        return self.hits(chunks, scores[chunks].tolist())

    def hits(self, chunks: Rows | list[int], scores: list[float]) -> list[VectorHit]:
        """Return chunks of this collection, given by their indices, as hits."""
        pages = self.pages_of(chunks)
        numbers = np.asarray(chunks) - self._ends[pages] + self._counts[pages]
        return [
            VectorHit(self.pages[page], number, score)
            for page, number, score in zip(pages.tolist(), numbers.tolist(), scores, strict=True)
        ]

    def mask(self, pages: set[ObjectId]) -> Mask:
        """Return a mask of these pages."""
        return np.fromiter(
            (page in pages for page in self.pages), dtype=bool, count=len(self.pages)
        )

    def rows(self, vectors: Vectors) -> Rows:
        """Return the number of each chunk's vector; -1: it has none."""
        version, count, rows = self._found
        if version is vectors.version and count == len(vectors):
            return rows
        if version is vectors.version and count < len(vectors):
            rows = rows.copy()  # another thread may use them
        else:
            rows = np.full(len(self), -1, dtype=np.intp)
        missing = np.flatnonzero(rows < 0)
        rows[missing] = vectors.find(self._keys[missing])
        self._found = vectors.version, len(vectors), rows
        return rows

    def pages_of(self, chunks: Rows | list[int]) -> Rows:
        """Return the index of each chunk's page."""
        return np.searchsorted(self._ends, chunks, side="right")

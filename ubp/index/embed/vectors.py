"""Vectors of texts in memory: matrices, the store's blocks by text key, the chunks of pages.

All vectors have length 1, so that a dot product is a cosine; a text without any word that the model
knows has a zero vector.
"""

from collections.abc import Collection, Mapping, Sequence
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

# Of so many vectors a megabyte of floats is made at once.
ROWS_AT_ONCE = 1024


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


def cosines_of(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Return the cosines of the first of these vectors with the others."""
    matrix = Matrix(np.array(vectors, dtype=np.float32))
    return [round(float(cosine), 4) for cosine in matrix.cosines(matrix)[1:]]


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
        """Return the cosine of each with the query's first row; of zeros: -infinity.

        Equal rows have equal cosines, wherever they are.
        """
        cosines = np.empty(len(self), dtype=np.float32)
        for start in range(0, len(self), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            rows = self.rows[part]
            # Row by row: a product with a matrix rounds equal rows differently.
            products = np.vecdot(rows.astype(np.float32), query.rows[0])
            cosines[part] = products / self.lengths[part]
        zero = np.flatnonzero(cosines == 0)
        cosines[zero[~self.rows[zero].any(axis=1)]] = -np.inf
        return cosines


class SelectedRows(NamedTuple):
    """Some of the vectors, which are not copied: 200,000 of them take 51 MB."""

    vectors: QuantizedRows
    numbers: Rows

    def __len__(self) -> int:
        return len(self.numbers)

    def floats(self, rows: Rows | slice) -> Floats:
        """Return some of them with length 1."""
        return self.vectors.floats(self.numbers[rows])


class _Buffer:
    """Stored vectors, to which more are only added: the first ones never change."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self.size = 0
        self._rows = np.empty((capacity, dimensions), dtype=np.int8)
        self._lengths: Floats = np.empty(capacity, dtype=np.float32)

    def has_room(self, count: int) -> bool:
        """Return whether so many may be added."""
        return self.size + count <= len(self._rows)

    def add(self, added: QuantizedRows) -> None:
        """Add vectors, for which there must be room."""
        part = slice(self.size, self.size + len(added))
        self._rows[part], self._lengths[part] = added
        self.size += len(added)

    def first(self, count: int) -> QuantizedRows:
        """Return the first vectors, which are not copied."""
        return QuantizedRows(self._rows[:count], self._lengths[:count])


class Vectors:
    """Numbered vectors from blocks of the store, never changed: several threads may share them.

    Those with the same `version` begin with the same numbers, and the longer ones have more.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.version = object()
        self._sizes: dict[int, int] = {}
        self._keys: Keys = as_keys(b"")
        self._buffer = _Buffer(dimensions, 0)
        self._vectors = self._buffer.first(0)
        self._order: Rows = np.empty(0, dtype=np.intp)
        self._sorted: Keys = as_keys(b"")

    def __len__(self) -> int:
        return len(self._order)

    def sizes(self) -> dict[int, int]:
        """Return the number of vectors in each block."""
        return dict(self._sizes)

    def updated(
        self, blocks: Mapping[int, tuple[bytes, bytes]], removed: Collection[int]
    ) -> "Vectors":
        """Return these with the keys and the quantized vectors of blocks, without removed ones.

        An existing block has the same vectors as before, and more after them.
        """
        last = max(self._sizes, default=0)
        is_growth = all(number >= last for number in blocks) and not removed
        parts = {} if is_growth else self._parts()
        for number in removed:
            parts.pop(number, None)
        for number, (keys, rows) in sorted(blocks.items()):
            checkpoint()
            known = self._sizes.get(number, 0) if is_growth else 0
            vectors = np.frombuffer(rows, dtype=np.int8).reshape(-1, self.dimensions)[known:]
            parts[number] = as_keys(keys)[known:], QuantizedRows.of(vectors)
        before = self if is_growth else Vectors(self.dimensions)
        return before.with_added(dict(sorted(parts.items())))

    def _parts(self) -> dict[int, tuple[Keys, QuantizedRows]]:
        """Return the keys and the vectors of each block."""
        ends = accumulate(self._sizes.values())
        parts = {
            number: slice(end - size, end)
            for (number, size), end in zip(self._sizes.items(), ends, strict=True)
        }
        rows, lengths = self._vectors
        return {
            number: (self._keys[part], QuantizedRows(rows[part], lengths[part]))
            for number, part in parts.items()
        }

    def with_added(self, added: Mapping[int, tuple[Keys, QuantizedRows]]) -> "Vectors":
        """Return these, and after them the new vectors of the last block and of new ones."""
        count = sum(len(keys) for keys, _ in added.values())
        total = len(self) + count
        changed = Vectors(self.dimensions)
        changed.version = self.version
        changed._sizes = self._sizes | {
            number: self._sizes.get(number, 0) + len(keys) for number, (keys, _) in added.items()
        }
        changed._keys = np.concatenate([self._keys, *(keys for keys, _ in added.values())])
        changed._buffer = self._buffer
        if self._buffer.size > len(self) or not self._buffer.has_room(count):
            changed._buffer = _Buffer(self.dimensions, total + total // 2)
            changed._buffer.add(self._vectors)
        for _, vectors in added.values():
            changed._buffer.add(vectors)
        changed._vectors = changed._buffer.first(total)
        order = np.argsort(changed._keys[len(self) :], kind="stable")
        new_keys = changed._keys[len(self) :][order]
        places = np.searchsorted(self._sorted, new_keys)
        changed._sorted = np.insert(self._sorted, places, new_keys)
        changed._order = np.insert(self._order, places, order + len(self))
        return changed

    def find(self, keys: Keys) -> Rows:
        """Return the numbers of the vectors with these keys; -1: no such vector."""
        if not len(self):
            return np.full(len(keys), -1, dtype=np.intp)
        places = np.searchsorted(self._sorted, keys)
        places[places == len(self)] = 0
        return np.where(self._sorted[places] == keys, self._order[places], -1)

    def cosines(self, query: Matrix) -> Floats:
        """Return the cosine of every vector with the query's first one; of zeros: -infinity."""
        return self._vectors.cosines(query)

    def select(self, numbers: Rows) -> SelectedRows:
        """Return the vectors with these numbers, in this order."""
        return SelectedRows(self._vectors, numbers)


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

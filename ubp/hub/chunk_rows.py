"""The chunks of many repositories as rows of arrays: how long each is, its vector, and what it is.

The rows of a repository lie beside each other in the order of blob and number, as `posting` counts
them. Where its chunks change, it gets new rows, and the old ones are left out once they are a
quarter of all.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ubp.core.model import ObjectId
from ubp.index.embed.vectors import Mask
from ubp.index.store.tokenizer import Table

MAX_GONE_SHARE = 1 / 4
FIRST_ROWS = 4096
NO_ROWS = -1

Integers = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]

PageKey = tuple[int, ObjectId]
"""A page: its repository's number, and its blob."""


class PageChunks(NamedTuple):
    """The pages of a repository, given by their blobs, and the place of the first chunk of each.

    The last of `firsts` is the number of all chunks.
    """

    blobs: Sequence[ObjectId]
    firsts: Sequence[int]

    def places(self, blob: ObjectId) -> range:
        """Return the places of a page's chunks; there may be none."""
        page = bisect_right(self.blobs, blob) - 1
        if page < 0 or self.blobs[page] != blob:
            return range(0)
        return range(self.firsts[page], self.firsts[page + 1])

    def chunk_at(self, place: int) -> tuple[ObjectId, int]:
        """Return the blob of the chunk at a place, and its number in the page."""
        page = bisect_right(self.firsts, place) - 1
        return self.blobs[page], place - self.firsts[page]


class Vectors(NamedTuple):
    """The vectors of rows, rounded to bytes, and the length of each; 0: the chunk has none."""

    rows: npt.NDArray[np.int8]
    lengths: npt.NDArray[np.float32]


class MirroredRows(NamedTuple):
    """The rows at a moment, which stay as they are: `starts` has the first one by repository.

    `lengths` are those of the chunks in words, by the table of the words.
    """

    starts: Integers
    lengths: Mapping[Table, Lengths]
    vectors: Vectors


class ChunkAt(NamedTuple):
    """A chunk; `order` is the place of its repository among those that the reader may see."""

    order: int
    repository: int
    blob: ObjectId
    number: int


class ChunkTable:
    """The rows as they change; for one thread at a time."""

    def __init__(self, dimensions: int) -> None:
        """Begin without rows; `dimensions` is the number of components of a vector."""
        self._dimensions = dimensions
        self._starts = np.zeros(0, dtype=np.int64)
        self._pages: dict[int, PageChunks] = {}
        self._size = self._live = 0
        self.generation = 0  # of the arrays
        self._allocate(FIRST_ROWS)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return self._live

    @property
    def nbytes(self) -> int:
        """The memory of the rows."""
        return self._lengths.nbytes + self._vectors.nbytes + self._norms.nbytes

    def update(
        self,
        repository: int,
        pages: PageChunks,
        lengths: Lengths,
        vectors: Mapping[ObjectId, Mapping[int, bytes]],
    ) -> None:
        """Give a repository rows of these lengths, in words and in stems: shape (n, 2).

        `vectors` are those of chunks, by blob and number; pages that it lacks keep theirs.
        """
        end = self._size + len(lengths)
        if end > self._lengths.shape[1]:
            self._copy(end + end // 2)
        start, end = self._size, self._size + len(lengths)
        self._lengths[:, start:end] = lengths.T
        self._vectors[start:end] = 0
        old = self._pages.get(repository)
        for page, blob in enumerate(pages.blobs):
            first = start + pages.firsts[page]
            if blob in vectors:
                for number, vector in vectors[blob].items():
                    self._vectors[first + number] = np.frombuffer(vector, dtype=np.int8)
            elif old is not None and (places := old.places(blob)):
                known = int(self._starts[repository]) + places.start
                self._vectors[first : first + len(places)] = self._vectors[
                    known : known + len(places)
                ]
        self._norms[start:end] = np.linalg.norm(self._vectors[start:end].astype(np.float32), axis=1)
        starts = np.full(max(len(self._starts), repository + 1), NO_ROWS, dtype=np.int64)
        starts[: len(self._starts)] = self._starts
        starts[repository] = start
        self._starts, self._size, self._pages[repository] = starts, end, pages
        self._live += len(lengths) - (old.firsts[-1] if old else 0)
        if self._size - self._live > max(FIRST_ROWS, self._size * MAX_GONE_SHARE):
            self._copy(self._size)

    def rows(self) -> MirroredRows:
        """Return the rows as they are now."""
        words, stems = self._lengths[:, : self._size]
        vectors = Vectors(self._vectors[: self._size], self._norms[: self._size])
        return MirroredRows(self._starts, {"words": words, "stems": stems}, vectors)

    def _allocate(self, capacity: int) -> None:
        self._lengths: Lengths = np.zeros((2, capacity), dtype=np.int32)
        self._vectors: npt.NDArray[np.int8] = np.zeros((capacity, self._dimensions), dtype=np.int8)
        self._norms: npt.NDArray[np.float32] = np.zeros(capacity, dtype=np.float32)

    def _copy(self, capacity: int) -> None:
        """Copy the rows that count into new arrays: searches under way have the old ones."""
        self.generation += 1
        old = self._lengths, self._vectors, self._norms
        starts = np.full(len(self._starts), NO_ROWS, dtype=np.int64)
        self._allocate(capacity)
        lengths, vectors, norms = old
        size = 0
        for repository, pages in self._pages.items():
            start, end = int(self._starts[repository]), size + pages.firsts[-1]
            rows = slice(start, start + pages.firsts[-1])
            self._lengths[:, size:end] = lengths[:, rows]
            self._vectors[size:end] = vectors[rows]
            self._norms[size:end] = norms[rows]
            starts[repository], size = size, end
        self._starts, self._size = starts, size


class ReadableRows:
    """The rows of the repositories that a reader may see, given by number with their pages."""

    def __init__(self, rows: MirroredRows, pages: Mapping[int, PageChunks]) -> None:
        self.lengths, self.vectors = rows.lengths, rows.vectors
        self._starts = rows.starts
        self._pages = pages
        self._repositories = np.array([*pages], dtype=np.int64)

    @property
    def dimensions(self) -> int:
        """The number of components of a vector; 0: there was no model."""
        return int(self.vectors.rows.shape[1])

    def __len__(self) -> int:
        """Return how many rows there are, those that the reader may not see too."""
        return len(self.lengths["words"])

    def at(self, repositories: Integers, places: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the rows of chunks, given by place, one repository's after the other's.

        `repositories` has the number of each and of its chunks, shape (r, 2).
        """
        numbers, sizes = repositories.T
        return np.repeat(self._starts[numbers].astype(np.int32), sizes) + places

    def find(self, repository: int, blob: ObjectId, number: int) -> int:
        """Return the row of a chunk; NO_ROWS: it is newer than the rows, or gone."""
        places = self._pages[repository].places(blob)
        return int(self._starts[repository]) + places[number] if number < len(places) else NO_ROWS

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the beginning and end of rows that lie beside each other, all that may be seen."""
        sizes = ((int(self._starts[number]), pages) for number, pages in self._pages.items())
        begin = end = 0
        for start, pages in sorted((start, pages.firsts[-1]) for start, pages in sizes):
            if start != end:
                yield begin, end
                begin = start
            end = start + pages
        yield begin, end

    def mask(self, pages: Iterable[PageKey]) -> Mask:
        """Return whether each row is of one of these pages."""
        mask = np.zeros(len(self), dtype=bool)
        for repository, blob in pages:
            start, places = int(self._starts[repository]), self._pages[repository].places(blob)
            mask[start + places.start : start + places.stop] = True
        return mask

    def chunks_at(self, rows: Integers) -> list[ChunkAt]:
        """Return which chunk each row is."""
        starts = self._starts[self._repositories]
        sizes = np.array([pages.firsts[-1] for pages in self._pages.values()], dtype=np.int64)
        # A repository without chunks begins where the next one does.
        order = np.lexsort((sizes, starts))
        orders = order[np.searchsorted(starts[order], rows, side="right") - 1].tolist()
        found = []
        for row, place in zip(rows.tolist(), orders, strict=True):
            repository = int(self._repositories[place])
            chunk = self._pages[repository].chunk_at(row - int(self._starts[repository]))
            found.append(ChunkAt(place, repository, *chunk))
        return found

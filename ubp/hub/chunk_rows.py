"""The chunks of many repositories as rows of arrays: how long each is, and which chunk a row is.

The rows of a repository lie beside each other in the order of blob and number, as `posting` counts
them. Where its chunks change, it gets new rows, and the old ones are left out once they are a
quarter of all.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ubp.core.model import ObjectId
from ubp.hub.vectors import PageKey
from ubp.index.embed.vectors import Mask
from ubp.index.store.tokenizer import Table

MAX_GONE_SHARE = 1 / 4
FIRST_ROWS = 4096
NO_ROWS = -1

Integers = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]


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


class ChunkRows(NamedTuple):
    """The rows at a moment, which stay as they are: `starts` has the first one by repository.

    `lengths` are those of the chunks in words, by the table of the words.
    """

    starts: Integers
    lengths: Mapping[Table, Lengths]


class ChunkAt(NamedTuple):
    """A chunk; `order` is the place of its repository among those that the reader may see."""

    order: int
    repository: int
    blob: ObjectId
    number: int


class ChunkTable:
    """The rows as they change; for one thread at a time."""

    def __init__(self) -> None:
        self._starts = np.zeros(0, dtype=np.int64)
        self._sizes: dict[int, int] = {}
        self._size = 0
        self._allocate(FIRST_ROWS)

    def update(self, repository: int, lengths: Lengths) -> None:
        """Give a repository rows of these lengths, in words and in stems: shape (n, 2)."""
        self._sizes[repository] = len(lengths)
        end = self._size + len(lengths)
        if end > self._rows.shape[1]:
            self._compact(repository, end + end // 2)
            end = self._size + len(lengths)
        starts = np.full(max(len(self._starts), repository + 1), NO_ROWS, dtype=np.int64)
        starts[: len(self._starts)] = self._starts
        starts[repository] = self._size
        self._rows[:, self._size : end] = lengths.T
        self._starts, self._size = starts, end
        if self._size - sum(self._sizes.values()) > max(FIRST_ROWS, self._size * MAX_GONE_SHARE):
            self._compact(NO_ROWS, self._size)

    def rows(self) -> ChunkRows:
        """Return the rows as they are now."""
        words, stems = self._rows[:, : self._size]
        return ChunkRows(self._starts, {"words": words, "stems": stems})

    def _allocate(self, capacity: int) -> None:
        self._rows: Lengths = np.zeros((2, capacity), dtype=np.int32)

    def _compact(self, changing: int, capacity: int) -> None:
        """Copy the rows that count into new arrays, without those of a repository that changes."""
        old, starts = self._rows, np.full(len(self._starts), NO_ROWS, dtype=np.int64)
        self._allocate(capacity)
        size = 0
        for repository, number in self._sizes.items():
            if repository != changing:
                start = self._starts[repository]
                self._rows[:, size : size + number] = old[:, start : start + number]
                starts[repository] = size
                size += number
        self._starts, self._size = starts, size


class ReadableRows:
    """The rows of the repositories that a reader may see, given by number with their pages."""

    def __init__(self, rows: ChunkRows, pages: Mapping[int, PageChunks]) -> None:
        self.lengths = rows.lengths
        self._starts = rows.starts
        self._pages = pages
        self._repositories = np.array([*pages], dtype=np.int64)

    def __len__(self) -> int:
        """Return how many rows there are, those that the reader may not see too."""
        return len(self.lengths["words"])

    def at(self, repositories: Integers, places: Integers) -> Integers:
        """Return the rows of chunks, given by repository and place."""
        return self._starts[repositories] + places

    def find(self, repository: int, blob: ObjectId, number: int) -> int:
        """Return the row of a chunk; NO_ROWS: it is newer than the rows, or gone."""
        places = self._pages[repository].places(blob)
        return int(self._starts[repository]) + places[number] if number < len(places) else NO_ROWS

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
        order = np.argsort(
            starts, kind="stable"
        )  # of those without chunks the last one begins there
        orders = order[np.searchsorted(starts[order], rows, side="right") - 1].tolist()
        found = []
        for row, place in zip(rows.tolist(), orders, strict=True):
            repository = int(self._repositories[place])
            chunk = self._pages[repository].chunk_at(row - int(self._starts[repository]))
            found.append(ChunkAt(place, repository, *chunk))
        return found

"""Vectors of many repositories in memory, as a database has them: followed row by row, exact.

Rows are appended, and those of pages that no longer exist are skipped until they are a quarter of
all. A search compares its query, rounded to bytes as the rows are, with all rows that its reader
may see, and exactly with those that may be among the nearest: by the inequality of Cauchy and
Schwarz no cosine differs by more than the length of what was rounded away.
"""

from collections.abc import Collection, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from simsimd import cdist

from ubp.core.model import ObjectId
from ubp.index.embed.vectors import MAX_COMPONENT, Floats, Mask, Matrix, QuantizedRows, Rows, best

MAX_GONE_SHARE = 1 / 4
ROWS_AT_ONCE = 16_384  # their products stay in the processor's cache
ROUNDING = 1e-5  # of 32-bit cosines
FIRST_ROWS = 4096
NO_REPOSITORY = 0  # of rows of pages that are gone; PostgreSQL counts from 1

PageKey = tuple[int, ObjectId]
"""A page: its repository's number, and its blob."""


class MirroredRow(NamedTuple):
    """The vector of a chunk, given by its page's blob and its number in the page."""

    blob: ObjectId
    number: int
    vector: bytes


class MirrorHit(NamedTuple):
    """A chunk and its cosine."""

    repository: int
    blob: ObjectId
    number: int
    score: float


class VectorMirror:
    """The vectors; for several threads."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._lock = Lock()
        self._pages: list[PageKey | None] = []  # None: it is gone
        self._numbers: dict[int, dict[ObjectId, int]] = {}  # of pages, by repository and blob
        self._size = 0
        self._gone = 0
        self._allocate(FIRST_ROWS)

    def __len__(self) -> int:
        return self._size - self._gone

    @property
    def bytes(self) -> int:
        """The memory of the rows."""
        arrays = self._rows, self._lengths, self._repository, self._page, self._chunk
        return sum(array.nbytes for array in arrays)

    def update(
        self, repository: int, blobs: Collection[ObjectId], added: Sequence[MirroredRow]
    ) -> None:
        """Add vectors of a repository, and forget those of pages other than `blobs`.

        Chunks that are there already are not added again.
        """
        with self._lock:
            known = self._numbers.setdefault(repository, {})
            for blob in known.keys() - set(blobs):
                self._forget(repository, blob)
            present = set(known)
            rows = [row for row in added if row.blob not in present]
            self._append(repository, rows)
            if self._gone > max(FIRST_ROWS, self._size * MAX_GONE_SHARE):
                self._compact()

    def nearest(
        self,
        query: Matrix,
        limit: int,
        repositories: Collection[int],
        within: Collection[PageKey] | None = None,
    ) -> list[MirrorHit]:
        """Return the chunks of these repositories, or of these of their pages, nearest to a query.

        Best first, equal ones by blob, number and the order of `repositories`.
        """
        with self._lock:
            size, pages = self._size, self._pages
            rows = QuantizedRows(self._rows[:size], self._lengths[:size])
            page, chunk = self._page[:size], self._chunk[:size]
            allowed = self._mask(repositories, within)
        near = _near(rows, query, allowed, limit)
        cosines = QuantizedRows(rows.rows[near], rows.lengths[near]).cosines(query)
        found = best(cosines, limit)
        if len(found) and (least := cosines[found[-1]]) > -np.inf:
            found = np.flatnonzero(cosines >= least)  # which of the equal ones is not chance
        hits = [
            MirrorHit(*key, int(chunk[row]), float(cosine))
            for row, cosine in zip(near[found].tolist(), cosines[found].tolist(), strict=True)
            if cosine > -np.inf and (key := pages[int(page[row])]) is not None
        ]
        order = {repository: place for place, repository in enumerate(repositories)}
        hits.sort(key=lambda hit: (-hit.score, hit.blob, hit.number, order[hit.repository]))
        return hits[:limit]

    def _mask(self, repositories: Collection[int], within: Collection[PageKey] | None) -> Mask:
        """Return whether each row is of these repositories, and of these pages."""
        repository = self._repository[: self._size]
        readable = np.zeros(max(self._numbers, default=0) + 1, dtype=bool)
        readable[[number for number in repositories if number in self._numbers]] = True
        if within is None:
            return readable[repository]
        mask = np.zeros(max(1, len(self._pages)), dtype=bool)
        for number, blob in within:
            page = self._numbers.get(number, {}).get(blob)
            if page is not None and readable[number]:
                mask[page] = True
        return mask[self._page[: self._size]]

    def _forget(self, repository: int, blob: ObjectId) -> None:
        number = self._numbers[repository].pop(blob)
        rows = np.flatnonzero(self._page[: self._size] == number)
        self._repository[rows] = NO_REPOSITORY
        self._gone += len(rows)
        self._pages[number] = None

    def _append(self, repository: int, rows: Sequence[MirroredRow]) -> None:
        if not rows:
            return
        end = self._size + len(rows)
        if end > len(self._rows):
            self._grow(end + end // 2)
        numbers = self._numbers[repository]
        for place, row in enumerate(rows, self._size):
            if row.blob not in numbers:
                numbers[row.blob] = len(self._pages)
                self._pages.append((repository, row.blob))
            self._page[place] = numbers[row.blob]
            self._chunk[place] = row.number
        self._repository[self._size : end] = repository
        joined = b"".join(row.vector for row in rows)
        added = QuantizedRows.of(np.frombuffer(joined, dtype=np.int8).reshape(len(rows), -1))
        self._rows[self._size : end] = added.rows
        self._lengths[self._size : end] = added.lengths
        self._size = end

    def _allocate(self, capacity: int) -> None:
        self._rows: npt.NDArray[np.int8] = np.zeros((capacity, self._dimensions), dtype=np.int8)
        self._lengths: Floats = np.ones(capacity, dtype=np.float32)
        self._repository = np.full(capacity, NO_REPOSITORY, dtype=np.int32)
        self._page = np.zeros(capacity, dtype=np.int32)
        self._chunk = np.zeros(capacity, dtype=np.int32)

    def _grow(self, capacity: int) -> None:
        self._copy(np.arange(self._size), capacity)

    def _compact(self) -> None:
        """Leave out the rows of pages that are gone; searches under way have the old arrays."""
        is_kept = np.array([page is not None for page in self._pages], dtype=bool)
        kept = np.flatnonzero(is_kept[self._page[: self._size]])
        renumbered = np.cumsum(is_kept) - 1
        self._copy(kept, len(kept) + len(kept) // 2 + FIRST_ROWS)
        self._size, self._gone = len(kept), 0
        self._page[: self._size] = renumbered[self._page[: self._size]]
        self._pages = [page for page in self._pages if page is not None]
        self._numbers = {}
        for number, (repository, blob) in enumerate(filter(None, self._pages)):
            self._numbers.setdefault(repository, {})[blob] = number

    def _copy(self, kept: npt.NDArray[np.intp], capacity: int) -> None:
        """Copy rows into new arrays of a capacity."""
        old = self._rows, self._lengths, self._repository, self._page, self._chunk
        self._allocate(capacity)
        rows, lengths, repository, page, chunk = old
        self._rows[: len(kept)] = rows[kept]
        self._lengths[: len(kept)] = lengths[kept]
        self._repository[: len(kept)] = repository[kept]
        self._page[: len(kept)] = page[kept]
        self._chunk[: len(kept)] = chunk[kept]


def _near(rows: QuantizedRows, query: Matrix, allowed: Mask, limit: int) -> Rows:
    """Return the rows that are allowed and may be among the `limit` nearest, in their order."""
    vector = query.rows[0]
    scale = MAX_COMPONENT / np.abs(vector).max()
    rounded = np.rint(vector * scale).astype(np.int8)
    error = float(np.linalg.norm(vector - rounded / scale)) + ROUNDING
    cosines = np.full(len(rows), -np.inf, dtype=np.float32)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        if allowed[part].any():
            products = np.asarray(cdist(rounded[None], rows.rows[part], metric="inner"))[0]
            cosines[part] = products / (rows.lengths[part] * scale)
    cosines[~allowed] = -np.inf
    zero = np.flatnonzero(cosines == 0)
    cosines[zero[~rows.rows[zero].any(axis=1)]] = -np.inf
    found = np.flatnonzero(cosines > -np.inf)
    if limit < len(found):  # of these alone: many equal numbers take a hundred times as long
        values = cosines[found]
        found = found[values >= np.partition(values, -limit)[-limit] - 2 * error]
    return found

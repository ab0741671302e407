"""Pairs of chunks of different pages that are more similar to each other than to anything else.

A cosine alone does not show what belongs together: what every page has (a license, a list of
prerequisites) is close to the same in many pages, and among pages about one subject everything is
close. So pairs are ranked by their margin: the cosine minus the mean of both chunks' cosines with
their nearest neighbors (cross-domain similarity local scaling, Conneau et al. 2018, "Word
translation without parallel data", section 2.3). See benchmarks/search/suggest_calibration.py for
the gain.

All cosines of 20,000 chunks are computed exactly. Exact tiles alone would be 30 lines shorter, but
their cost grows with the square: clustered vectors took 1.3 times the CPU of the cells at 25,000
chunks (9.6 s instead of 7.5), 2.2 times at 36,000 (21 s instead of 10) and 8 times at 90,000.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ubp.core.interruption import checkpoint
from ubp.index.embed.vectors import (
    Floats,
    Mask,
    Matrix,
    Rows,
    SelectedRows,
    VectorCollection,
    VectorHit,
    Vectors,
)

# How many groups a chunk is compared with, besides that of the pair; 3 to 20 do as well.
NEIGHBORS = 5
# The mean cosine with neighbors where there are too few pages to measure it. In ten repositories of
# 50 to 1,700 pages it is 0.59 to 0.83, in one of nine sections 0.33: the fewer, the lower. With two
# pages, a cosine of 0.59 then has the score of 0.8; paraphrases have 0.6, other chunks up to 0.4.
DEFAULT_NEIGHBOR_COSINE = 0.45
# So many cosines are computed between two checkpoints, in 0.05 s; they and what is sorted of them
# take 17 MB.
TILE_ROWS, TILE_COSINES = 256, 2_500_000
# Up to so many cosines are computed exactly, 20,000 chunks with each other: 4 s of CPU. Of more
# chunks, only those in the same and the nearest of sqrt(n) cells are compared: 90,000 chunks take
# 20 s instead of 170, and of the first 100 pairs of 36,000 chunks 95 are found.
MAX_COSINES = 20_000**2
CELL_ROUNDS, NEAREST_CELLS = 2, 16
PART_ROWS, PART_CANDIDATES = 4096, 100_000


Pair: TypeAlias = tuple[VectorHit, VectorHit, float]
"""Two chunks with their cosine as score, and the margin."""


def most_similar_pairs(
    collection: VectorCollection,
    vectors: Vectors,
    keys: Sequence[Hashable],
    min_margin: float,
    pages: Mask | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of chunks with at least this margin, the largest margin first.

    `keys` has one for each page; pages with the same key count as one page (a group). Of the pairs
    of a chunk with the chunks of another group, the best is yielded if that group is among the
    chunk's nearest. With `pages`, one chunk of every pair is in them.
    """
    rows = collection.rows(vectors)
    chunks, groups = _distinct(collection, rows, keys, pages)
    subset = None if pages is None else np.flatnonzero(pages[collection.pages_of(chunks)])
    if len(chunks) and groups[0] != groups[-1]:
        selected = vectors.select(rows[chunks])
        for pair in _find_pairs(selected, groups, min_margin, subset):
            score = min(pair.cosine, 1.0)
            first, second = collection.hits([chunks[pair.first], chunks[pair.second]], [score] * 2)
            yield first, second, pair.margin


def _distinct(
    collection: VectorCollection, rows: Rows, keys: Sequence[Hashable], preferred: Mask | None
) -> tuple[Rows, Rows]:
    """Return one chunk per group and vector, of the preferred pages if possible, and its group."""
    chunks = np.flatnonzero(rows >= 0)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    groups = np.array([numbers[key] for key in keys], dtype=np.intp)
    pages = collection.pages_of(chunks)
    is_other = np.zeros(len(chunks), dtype=bool) if preferred is None else ~preferred[pages]
    order = np.lexsort((chunks, is_other, rows[chunks], groups[pages]))
    chunks, groups = chunks[order], groups[pages[order]]
    is_same = (np.diff(rows[chunks]) == 0) & (np.diff(groups) == 0)
    is_first = np.append(True, ~is_same)[: len(chunks)]
    return chunks[is_first], groups[is_first]


class _RowPair(NamedTuple):
    first: int
    second: int
    cosine: float
    margin: float


def _find_pairs(
    vectors: SelectedRows, groups: Rows, min_margin: float, subset: Rows | None
) -> Iterator[_RowPair]:
    """Yield the pairs of rows, whose groups are in ascending order; the first is in the subset."""
    ids, starts = np.unique(groups, return_index=True)
    space = _Space(vectors, np.append(starts, len(groups)), np.searchsorted(ids, groups))
    rows = np.arange(len(groups)) if subset is None else subset
    if not len(rows):
        return
    # All rows find each other from both sides; those of a subset must search further.
    nearest = _nearest(space, rows, NEIGHBORS + 1 if subset is None else 4 * NEIGHBORS)
    # Candidates: each row with each of its nearest groups.
    other_means = _min_neighbor_means(space, nearest) if subset is None else None
    candidates = [
        _candidates(nearest, part, other_means, min_margin)
        for part in _slices(len(rows), PART_ROWS)
    ]
    indices, candidate_groups, cosines, partial_margins = map(
        np.concatenate, zip(*candidates, strict=True)
    )
    second = _best_in_groups(space, rows[indices], candidate_groups)
    others, place = np.unique(second, return_inverse=True)
    nearest_to_others = (
        _Nearest(nearest.groups[others], nearest.cosines[others])
        if subset is None
        else _nearest(space, others, NEIGHBORS + 1)
    )
    margins = (
        partial_margins - _neighbor_means(nearest_to_others, place, space.own[rows[indices]]) / 2
    )
    kept = np.flatnonzero(margins >= min_margin)
    for n in kept[np.argsort(-margins[kept], kind="stable")]:  # a list takes 5 times the memory
        first = int(rows[indices[n]])
        yield _RowPair(first, int(second[n]), float(cosines[n]), float(margins[n]))


class _Space(NamedTuple):
    """Vectors, the start of each group of them (and the end of the last), the group of each."""

    vectors: SelectedRows
    starts: Rows
    own: Rows

    def cosines(self, rows: Rows, columns: Rows) -> Floats:
        """Return the cosines of rows with columns."""
        left = self.vectors.floats(rows)
        cosines = np.empty((len(rows), len(columns)), dtype=np.float32)
        for part in _slices(len(columns), PART_ROWS):
            np.matmul(left, self.vectors.floats(columns[part]).T, out=cosines[:, part])
        return cosines


class _Nearest(NamedTuple):
    """For some rows, the groups with the best cosines, best first, and these cosines."""

    groups: Rows
    cosines: Floats


def _nearest(space: _Space, rows: Rows, limit: int) -> _Nearest:
    limit = min(limit, len(space.starts) - 2)
    groups = np.zeros((len(rows), limit), dtype=np.intp)
    cosines = np.full((len(rows), limit), -np.inf, dtype=np.float32)
    for places, columns in _tiles(space, rows):
        found = _nearest_in(space, rows[places], columns, limit)
        count = found.groups.shape[1]
        groups[places, :count], cosines[places, :count] = found
    return _Nearest(groups, cosines)


def _nearest_in(space: _Space, rows: Rows, columns: Rows, limit: int) -> _Nearest:
    """Return the nearest of the groups of some columns; what it computes is freed at its end."""
    owners = space.own[columns]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ids = owners[starts]
    best = np.maximum.reduceat(space.cosines(rows, columns), starts, axis=1)
    best[ids == space.own[rows][:, None]] = -np.inf
    count = min(limit, len(ids))
    largest = np.argpartition(best, -count, axis=1)[:, -count:]
    values = np.take_along_axis(best, largest, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return _Nearest(
        ids[np.take_along_axis(largest, order, axis=1)],
        np.take_along_axis(values, order, axis=1),
    )


def _candidates(
    nearest: _Nearest, part: slice, other_means: Floats | None, min_margin: float
) -> tuple[Rows, Rows, Floats, Floats]:
    """Return for some rows their indices, groups, cosines, and margins less the group's means.

    Left out are those whose margin is below the minimum even with the group's lowest mean.
    """
    count, limit = nearest.groups.shape
    indices = np.repeat(np.arange(count)[part], limit)
    groups, cosines = nearest.groups[part].ravel(), nearest.cosines[part].ravel()
    half = np.float32(0.5)
    partial_margins: Floats = cosines - _neighbor_means(nearest, indices, groups) * half
    upper_bounds = partial_margins
    if other_means is not None:
        upper_bounds = partial_margins - other_means[groups] * half
    kept = np.flatnonzero(upper_bounds >= min_margin)
    return indices[kept], groups[kept], cosines[kept], partial_margins[kept]


def _tiles(space: _Space, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Yield places in `rows`, and the vectors to compare them with, in ascending order."""
    count = len(space.vectors)
    if len(rows) * count <= MAX_COSINES:
        for tile in _slices(len(rows), _tile_rows(count)):
            yield np.arange(len(rows))[tile], np.arange(count)
        return
    centers = space.vectors.floats(slice(None, None, math.isqrt(count)))
    cells = _assign(space.vectors, centers)
    for _ in range(CELL_ROUNDS):
        sums = np.zeros_like(centers)
        for part in _slices(count, PART_ROWS):
            np.add.at(sums, cells[part], space.vectors.floats(part))
        centers = Matrix(sums).rows
        cells = _assign(space.vectors, centers)
    near = np.argsort(-(centers @ centers.T), axis=1, kind="stable")[:, :NEAREST_CELLS]
    for cell in range(len(centers)):
        columns = np.flatnonzero(np.isin(cells, near[cell]))
        places = np.flatnonzero(cells[rows] == cell)
        for tile in _slices(len(places), _tile_rows(len(columns))):
            yield places[tile], columns


def _tile_rows(columns: int) -> int:
    return max(1, min(TILE_ROWS, TILE_COSINES // columns))


def _assign(vectors: SelectedRows, centers: Floats) -> Rows:
    """Return the nearest center of each row."""
    nearest = [
        (vectors.floats(part) @ centers.T).argmax(axis=1)
        for part in _slices(len(vectors), PART_ROWS)
    ]
    return np.concatenate(nearest)


def _slices(count: int, size: int) -> Iterator[slice]:
    """Yield slices that cover so many rows, with a checkpoint before each."""
    for start in range(0, count, size):
        checkpoint()
        yield slice(start, start + size)


def _best_in_groups(space: _Space, rows: Rows, groups: Rows) -> Rows:
    """Return for each row the nearest one of a group."""
    best = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(groups, kind="stable")
    for same_group in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        checkpoint()
        for start in range(0, len(same_group), TILE_ROWS):
            places = same_group[start : start + TILE_ROWS]
            first, last = space.starts[groups[places[0]]], space.starts[groups[places[0]] + 1]
            others = space.vectors.floats(slice(first, last))
            tile = space.vectors.floats(rows[places]) @ others.T
            best[places] = first + tile.argmax(axis=1)
    return best


def _min_neighbor_means(space: _Space, nearest: _Nearest) -> Floats:
    """Return for each group a lower bound of its rows' `_neighbor_means`, whatever is excluded."""
    worst = nearest.cosines[:, 1:]
    means = worst.mean(axis=1) if worst.shape[1] == NEIGHBORS else np.zeros(len(worst))
    bounds: Floats = np.minimum.reduceat(means.astype(np.float32), space.starts[:-1])
    return bounds


def _neighbor_means(nearest: _Nearest, rows: Rows, excluded: Rows) -> Floats:
    """Return each row's mean cosine with its nearest groups but the excluded one.

    Where there are fewer than NEIGHBORS of them, DEFAULT_NEIGHBOR_COSINE stands in.
    """
    means = np.empty(len(rows), dtype=np.float32)
    for part in _slices(len(rows), PART_CANDIDATES):
        groups = nearest.groups[rows[part]]
        cosines = nearest.cosines[rows[part]].astype(np.float64)
        is_counted = (groups != excluded[part, None]) & np.isfinite(cosines)
        is_counted &= np.cumsum(is_counted, axis=1) <= NEIGHBORS
        missing = NEIGHBORS - is_counted.sum(axis=1)
        total = np.where(is_counted, cosines, 0).sum(axis=1) + missing * DEFAULT_NEIGHBOR_COSINE
        means[part] = total / NEIGHBORS
    return means

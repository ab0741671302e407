"""Chunks of different pages that are closer to each other than to anything else.

A cosine alone does not tell what belongs together: what every page has (a licence, a list of
prerequisites) is close to the same in many pages, and in pages about one thing everything is
close. What counts is how far a cosine stands out: the margin over the mean of what each of the two
has next (cross-domain similarity local scaling, Conneau et al. 2018, "Word translation without
parallel data", section 2.3). See benchmarks/suggest_calibration.py for what that brings.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ubp.index.embed.vectors import Floats, Mask, Matrix, Rows, VectorCollection, VectorHit, Vectors

# How many groups a chunk is compared with besides the one in question; 3 to 20 do as well.
NEIGHBOURS = 5
# What a chunk has next on average, where there are too few pages to ask. In ten repositories of 50
# to 1,700 pages it is 0.59 to 0.83, in one of nine sections 0.33: the fewer, the farther. With two
# pages alone, a cosine of 0.59 has the score of 0.8 then; paraphrases have 0.6, others up to 0.4.
USUAL = 0.45
ROWS_A_TILE = 256
# So many cosines are computed exactly, 20,000 chunks with each other: 4 s of CPU. Of more chunks,
# only those in the same and the nearest of sqrt(n) cells are compared: 90,000 chunks take 20 s
# instead of 170, and of the first 100 pairs of 36,000 chunks 95 are found.
MAX_COSINES = 20_000**2
ROUNDS, PROBES = 2, 16


Pair: TypeAlias = tuple[VectorHit, VectorHit, float]
"""Two chunks, with their cosine as score, and by how much it stands out."""


def most_similar_pairs(
    collection: VectorCollection,
    vectors: Vectors,
    keys: Sequence[str],
    least: float,
    of: Mask | None = None,
) -> Iterator[Pair]:
    """The pairs of chunks that stand out by at least so much, the most first.

    `keys` has one for each page: pages with the same are as one page. Of a chunk and another page
    the best pair is told, if that page is among the chunk's best. `of` tells the pages of which
    one is to be in every pair.
    """
    rows = collection.rows(vectors)
    chunks, groups = _distinct(collection, rows, keys, of)
    asked = None if of is None else np.flatnonzero(of[collection.pages_of(chunks)])
    if len(chunks) and groups[0] != groups[-1]:
        matrix = vectors.take(rows[chunks])
        for close in _find(matrix, groups, least, asked):
            score = min(close.cosine, 1.0)
            one, other = collection.found([chunks[close.first], chunks[close.second]], [score] * 2)
            yield one, other, close.margin


def _distinct(
    collection: VectorCollection, rows: Rows, keys: Sequence[str], of: Mask | None
) -> tuple[Rows, Rows]:
    """Of the chunks of a group that share a vector one, of the pages asked if any; its group."""
    chunks = np.flatnonzero(rows >= 0)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    groups = np.array([numbers[key] for key in keys], dtype=np.intp)
    pages = collection.pages_of(chunks)
    is_other = np.zeros(len(chunks), dtype=bool) if of is None else ~of[pages]
    order = np.lexsort((chunks, is_other, rows[chunks], groups[pages]))
    chunks, groups = chunks[order], groups[pages[order]]
    is_same = (np.diff(rows[chunks]) == 0) & (np.diff(groups) == 0)
    is_first = np.append(True, ~is_same)[: len(chunks)]
    return chunks[is_first], groups[is_first]


class _Close(NamedTuple):
    first: int
    second: int
    cosine: float
    margin: float


def _find(matrix: Matrix, groups: Rows, least: float, of: Rows | None) -> Iterator[_Close]:
    """The same with rows, whose groups are in ascending order."""
    ids, starts = np.unique(groups, return_index=True)
    space = _Space(matrix.rows, np.append(starts, len(groups)), np.searchsorted(ids, groups))
    rows = np.arange(len(groups)) if of is None else of
    # All chunks find each other from both sides; where only some are asked, they look further.
    nearest = _nearest(space, rows, NEIGHBOURS + 1 if of is None else 4 * NEIGHBOURS)
    which = np.repeat(np.arange(len(rows)), nearest.groups.shape[1])
    there, cosines = nearest.groups.ravel(), nearest.cosines.ravel()
    left = cosines - _usual(nearest, which, there) / 2
    at_most = left - (_least_usual(space, nearest)[there] / 2 if of is None else 0)
    kept = np.flatnonzero(at_most >= least)
    which, there, left, cosines = which[kept], there[kept], left[kept], cosines[kept]
    second = _best_in_groups(space, rows[which], there)
    others, place = np.unique(second, return_inverse=True)
    around = (
        _Nearest(nearest.groups[others], nearest.cosines[others])
        if of is None
        else _nearest(space, others, NEIGHBOURS + 1)
    )
    margins = left - _usual(around, place, space.own[rows[which]]) / 2
    for one in np.argsort(-margins, kind="stable").tolist():
        if margins[one] < least:
            break
        first = int(rows[which[one]])
        yield _Close(first, int(second[one]), float(cosines[one]), float(margins[one]))


class _Space(NamedTuple):
    """Vectors, where each group of them begins (and the last one ends), the group of each."""

    rows: Floats
    starts: Rows
    own: Rows


class _Nearest(NamedTuple):
    """For some rows the groups with the best cosines, best first, and these."""

    groups: Rows
    cosines: Floats


def _nearest(space: _Space, rows: Rows, most: int) -> _Nearest:
    most = min(most, len(space.starts) - 2)
    groups = np.zeros((len(rows), most), dtype=np.intp)
    cosines = np.full((len(rows), most), -np.inf, dtype=np.float32)
    for places, columns in _tiles(space, rows):
        owners = space.own[columns]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        ids = owners[starts]
        found = space.rows[rows[places]] @ space.rows[columns].T
        best = np.maximum.reduceat(found, starts, axis=1)
        best[ids == space.own[rows[places]][:, None]] = -np.inf
        count = min(most, len(ids))
        taken = np.argpartition(best, -count, axis=1)[:, -count:]
        values = np.take_along_axis(best, taken, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        groups[places, :count] = ids[np.take_along_axis(taken, order, axis=1)]
        cosines[places, :count] = np.take_along_axis(values, order, axis=1)
    return _Nearest(groups, cosines)


def _tiles(space: _Space, rows: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Which of the rows are compared with which vectors, these in ascending order."""
    count = len(space.rows)
    if len(rows) * count <= MAX_COSINES:
        for start in range(0, len(rows), ROWS_A_TILE):
            yield np.arange(start, min(start + ROWS_A_TILE, len(rows))), np.arange(count)
        return
    centers = space.rows[:: math.isqrt(count)]
    cells = _assign(space.rows, centers)
    for _ in range(ROUNDS):
        sums = np.zeros_like(centers)
        np.add.at(sums, cells, space.rows)
        centers = Matrix(sums).rows
        cells = _assign(space.rows, centers)
    near = np.argsort(-(centers @ centers.T), axis=1, kind="stable")[:, :PROBES]
    for cell in range(len(centers)):
        columns = np.flatnonzero(np.isin(cells, near[cell]))
        places = np.flatnonzero(cells[rows] == cell)
        for start in range(0, len(places), ROWS_A_TILE):
            yield places[start : start + ROWS_A_TILE], columns


def _assign(rows: Floats, centers: Floats) -> Rows:
    """The nearest center of each row."""
    parts = (rows[start : start + 4096] @ centers.T for start in range(0, len(rows), 4096))
    return np.concatenate([part.argmax(axis=1) for part in parts])


def _best_in_groups(space: _Space, rows: Rows, groups: Rows) -> Rows:
    """For each row the nearest one of a group."""
    best = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(groups, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        for start in range(0, len(some), ROWS_A_TILE):
            tile = some[start : start + ROWS_A_TILE]
            first, last = space.starts[groups[tile[0]]], space.starts[groups[tile[0]] + 1]
            found = space.rows[rows[tile]] @ space.rows[first:last].T
            best[tile] = first + found.argmax(axis=1)
    return best


def _least_usual(space: _Space, nearest: _Nearest) -> Floats:
    """For each group the least that one of its chunks may have next, whatever is left out."""
    worst = nearest.cosines[:, 1:]
    means = worst.mean(axis=1) if worst.shape[1] == NEIGHBOURS else np.zeros(len(worst))
    least: Floats = np.minimum.reduceat(means.astype(np.float32), space.starts[:-1])
    return least


def _usual(nearest: _Nearest, rows: Rows, besides: Rows) -> Floats:
    """The mean cosine with the best groups but for one; where there are too few, as is usual."""
    groups, cosines = nearest.groups[rows], nearest.cosines[rows].astype(np.float64)
    counts = (groups != besides[:, None]) & np.isfinite(cosines)
    counts &= np.cumsum(counts, axis=1) <= NEIGHBOURS
    missing = NEIGHBOURS - counts.sum(axis=1)
    total = np.where(counts, cosines, 0).sum(axis=1) + missing * USUAL
    usual: Floats = (total / NEIGHBOURS).astype(np.float32)
    return usual

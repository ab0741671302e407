"""The chunks of many repositories whose vectors are nearest to a query: exactly, in memory.

A search compares its query, rounded to bytes as the vectors are, with all that its reader may see,
and exactly with those that may be among the nearest: by the inequality of Cauchy and Schwarz no
cosine differs by more than the length of what was rounded away.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from simsimd import cdist

from ubp.core.model import ObjectId
from ubp.hub.chunk_rows import Integers, PageKey, ReadableRows
from ubp.index.embed.vectors import MAX_COMPONENT, Floats, Matrix, QuantizedRows

ROWS_AT_ONCE = 16_384  # their products stay in the processor's cache
ROUNDING = 1e-5  # of 32-bit cosines


class NearHit(NamedTuple):
    """A chunk and its cosine."""

    repository: int
    blob: ObjectId
    number: int
    score: float


def nearest(
    chunks: ReadableRows, query: Matrix, limit: int, within: Collection[PageKey] | None = None
) -> list[NearHit]:
    """Return the chunks, of these pages alone if given, whose vectors are nearest to a query.

    Best first, equal ones by blob, number and the order of the repositories.
    """
    vectors = chunks.vectors
    if within is None:
        rows = _near(chunks, query, limit)
    else:
        rows = np.flatnonzero(chunks.mask(within) & (vectors.lengths > 0))
    cosines = QuantizedRows(vectors.rows[rows], vectors.lengths[rows]).cosines(query)
    if limit < len(rows):
        is_best = cosines >= np.partition(cosines, -limit)[-limit]
        rows, cosines = rows[is_best], cosines[is_best]
    hits = sorted(
        (-cosine, chunk.blob, chunk.number, chunk.order, chunk.repository)
        for chunk, cosine in zip(chunks.chunks_at(rows), cosines.tolist(), strict=True)
    )
    return [
        NearHit(repository, blob, number, -cosine)
        for cosine, blob, number, _, repository in hits[:limit]
    ]


def _near(chunks: ReadableRows, query: Matrix, limit: int) -> Integers:
    """Return the rows that have a vector and may be among the `limit` nearest, in their order."""
    vector, (vectors, lengths) = query.rows[0], chunks.vectors
    scale = MAX_COMPONENT / np.abs(vector).max()
    rounded = np.rint(vector * scale).astype(np.int8)
    error = float(np.linalg.norm(vector - rounded / scale)) + ROUNDING
    found: list[Integers] = []
    best = np.full(limit, -np.inf, dtype=np.float32)
    cosines: list[Floats] = []
    for start, end in chunks.ranges():
        for first in range(start, end, ROWS_AT_ONCE):
            part = slice(first, min(end, first + ROWS_AT_ONCE))
            products = np.asarray(cdist(rounded[None], vectors[part], metric="inner"))[0]
            norms = lengths[part]
            values = products / (np.maximum(norms, 1) * scale)
            near = np.flatnonzero((values >= best[0] - 2 * error) & (norms > 0))
            if len(near):
                found.append(first + near)
                cosines.append(values[near])
                best = np.partition(np.concatenate([best, values[near]]), -limit)[-limit:]
    if not found:
        return np.zeros(0, dtype=np.int64)
    rows = np.concatenate(found)
    return np.compress(np.concatenate(cosines) >= best[0] - 2 * error, rows)

"""Vectors followed in memory: what a comparison with each of them finds, whatever has changed."""

import random

import numpy as np

from ubp.core.model import ObjectId
from ubp.hub.vectors import MirroredRow, VectorMirror
from ubp.index.embed.vectors import Matrix

DIMENSIONS = 8


def row_of(choose, blob, number):
    vector = [choose.randrange(-127, 128) for _ in range(DIMENSIONS)]
    if choose.random() < 0.05:
        vector = [0] * DIMENSIONS
    return MirroredRow(blob, number, np.array(vector, dtype=np.int8).tobytes())


def expected(held, query, repositories, within):
    """Return the cosines of all rows that are asked for, the largest first, by comparing each."""
    cosines = []
    for repository in repositories:
        for blob, rows in held.get(repository, {}).items():
            if within is None or (repository, blob) in within:
                for row in rows:
                    vector = np.frombuffer(row.vector, dtype=np.int8).astype(np.float64)
                    if vector.any():
                        cosines.append(vector @ query / np.linalg.norm(vector))
    return sorted(cosines, reverse=True)


def test_nearest_are_those_of_a_comparison_with_every_vector(monkeypatch):
    monkeypatch.setattr("ubp.hub.vectors.FIRST_ROWS", 16)  # it grows, and is compacted
    choose = random.Random(38)
    mirror = VectorMirror(DIMENSIONS)
    held, numbers = {}, iter(range(1, 10_000))
    for _ in range(120):
        repository = choose.randrange(1, 9)
        pages = held.setdefault(repository, {})
        for blob in choose.sample(sorted(pages), len(pages) // 2):
            del pages[blob]
        added = {ObjectId(f"{next(numbers):040x}"): [] for _ in range(choose.randrange(4))}
        for blob, rows in added.items():
            rows += [row_of(choose, blob, n) for n in range(choose.randrange(1, 5))]
        pages |= added
        mirror.update(repository, pages.keys(), [row for rows in added.values() for row in rows])

        readable = choose.sample(range(1, 10), choose.randrange(10))
        keys = [(number, blob) for number, some in held.items() for blob in some]
        within = choose.choice([None, set(choose.sample(keys, len(keys) // 2))])
        query = np.array([choose.gauss(0, 1) for _ in range(DIMENSIONS)])
        query[0] *= choose.choice([1, 100])  # the others are nearly rounded away
        query /= np.linalg.norm(query)
        hits = mirror.nearest(Matrix(query[None]), 5, readable, within)

        wanted = expected(held, query, readable, within)[:5]
        np.testing.assert_allclose([hit.score for hit in hits], wanted, atol=1e-5)
        assert all(hit.repository in readable for hit in hits)
        assert all(within is None or (hit.repository, hit.blob) in within for hit in hits)
    assert len(mirror) == sum(len(rows) for some in held.values() for rows in some.values())

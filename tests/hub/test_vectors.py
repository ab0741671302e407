"""Vectors followed in memory: what a comparison with each of them finds, whatever has changed."""

import random
from itertools import accumulate

import numpy as np

from ubp.core.model import ObjectId
from ubp.hub.chunk_rows import ChunkTable, PageChunks, ReadableRows
from ubp.hub.vectors import nearest
from ubp.index.embed.vectors import Matrix

DIMENSIONS = 8


def make_vector(choose):
    if choose.random() < 0.05:
        return bytes(DIMENSIONS)
    vector = [choose.randrange(-127, 128) for _ in range(DIMENSIONS)]
    return np.array(vector, dtype=np.int8).tobytes()


def expected(held, query, repositories, within):
    """Return the cosines of all chunks that are asked for, the largest first, comparing each."""
    cosines = []
    for repository in repositories:
        for blob, vectors in held.get(repository, {}).items():
            if within is None or (repository, blob) in within:
                for packed in vectors:
                    vector = np.frombuffer(packed, dtype=np.int8).astype(np.float64)
                    if vector.any():
                        cosines.append(vector @ query / np.linalg.norm(vector))
    return sorted(cosines, reverse=True)


def test_nearest_are_those_of_a_comparison_with_every_vector(monkeypatch):
    monkeypatch.setattr("ubp.hub.chunk_rows.FIRST_ROWS", 16)  # it grows, and is compacted
    monkeypatch.setattr("ubp.hub.vectors.ROWS_AT_ONCE", 7)
    choose = random.Random(38)
    table = ChunkTable(DIMENSIONS)
    held, chunks, numbers = {}, {}, iter(range(1, 10_000))
    for _ in range(120):
        repository = choose.randrange(1, 9)
        pages = held.setdefault(repository, {})
        for blob in choose.sample(sorted(pages), len(pages) // 2):
            del pages[blob]
        added = {
            ObjectId(f"{next(numbers) * 7919 % 9973:040x}"): [
                make_vector(choose) for _ in range(choose.randrange(1, 5))
            ]
            for _ in range(choose.randrange(4))
        }
        pages |= added
        blobs = sorted(pages)
        firsts = [*accumulate((len(pages[blob]) for blob in blobs), initial=0)]
        chunks[repository] = PageChunks(blobs, firsts)
        lengths = [[choose.randrange(9), repository] for _ in range(firsts[-1])]
        new = {blob: dict(enumerate(vectors)) for blob, vectors in added.items()}
        table.update(
            repository, chunks[repository], np.array(lengths, dtype=np.int32).reshape(-1, 2), new
        )

        asked = choose.sample(range(1, 10), choose.randrange(10))
        rows = ReadableRows(table.rows(), {n: chunks[n] for n in asked if n in chunks})
        keys = [(number, blob) for number in asked for blob in held.get(number, ())]
        within = choose.choice([None, set(choose.sample(keys, len(keys) // 2))])
        query = np.array([choose.gauss(0, 1) for _ in range(DIMENSIONS)])
        query[0] *= choose.choice([1, 100])  # the others are nearly rounded away
        query /= np.linalg.norm(query)
        hits = nearest(rows, Matrix(query[None]), 5, within)

        wanted = expected(held, query, asked, within)[:5]
        np.testing.assert_allclose([hit.score for hit in hits], wanted, atol=1e-5)
        assert all(hit.repository in asked for hit in hits)
        assert all(within is None or (hit.repository, hit.blob) in within for hit in hits)
        for begin, end in rows.ranges():
            assert {*rows.lengths["stems"][begin:end]} <= {*asked}
        every = np.concatenate([np.arange(*part) for part in rows.ranges()])
        found = rows.chunks_at(every)
        assert {(each.repository, each.blob) for each in found} == {*keys}
        assert [rows.find(each.repository, each.blob, each.number) for each in found] == [*every]
    assert len(table) == sum(len(vectors) for some in held.values() for vectors in some.values())

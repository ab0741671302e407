"""Chunks that are closer to each other than to anything else."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from ubp.core.model import ObjectId
from ubp.index.embed import similar as closest
from ubp.index.embed.similar import DEFAULT_NEIGHBOR_COSINE, NEIGHBORS, most_similar_pairs
from ubp.index.embed.vectors import Matrix, VectorCollection, Vectors, quantize


def collect(rows, a_page=2):
    """Pages of so many chunks each, with these vectors."""
    keys = [number.to_bytes(16, "big") for number in range(1, len(rows) + 1)]
    vectors = Vectors(rows.shape[1]).updated({1: (b"".join(keys), quantize(Matrix(rows)))}, [])
    pages = {
        ObjectId(f"{number:040x}"): b"".join(keys[number * a_page : (number + 1) * a_page])
        for number in range(len(rows) // a_page)
    }
    return VectorCollection(pages), vectors


def random_rows(count=60, dimensions=6):
    return np.random.default_rng(3).standard_normal((count, dimensions)).astype(np.float32)


def expected(vectors, groups, least):
    """The same by plain loops: of a chunk and a group the best pair, of the chunk's best groups."""
    rows = vectors.select(np.arange(len(groups))).floats(slice(None))
    cosines = rows @ rows.T
    names = sorted(set(groups))
    best = np.array(
        [
            [max(cosines[i, j] for j in range(len(groups)) if groups[j] == g) for g in names]
            for i in range(len(groups))
        ]
    )

    def usual(i, besides):
        others = sorted((best[i, n] for n, g in enumerate(names) if g not in besides), reverse=True)
        others = [*others[:NEIGHBORS], *[DEFAULT_NEIGHBOR_COSINE] * (NEIGHBORS - len(others))]
        return sum(others) / NEIGHBORS

    found = {}
    for i, own in enumerate(groups):
        ranked = sorted((-best[i, n], g) for n, g in enumerate(names) if g != own)
        for _, group in ranked[: NEIGHBORS + 1]:
            j = max((n for n, g in enumerate(groups) if g == group), key=lambda n: cosines[i, n])
            margin = cosines[i, j] - usual(i, {own, group}) / 2 - usual(j, {own, group}) / 2
            if margin >= least:
                found[i, j] = round(float(margin), 4)
    return found


def told(found, collection, a_page=2):
    numbers = {page: place for place, page in enumerate(collection.pages)}
    return {
        (numbers[one.page] * a_page + one.number, numbers[other.page] * a_page + other.number): (
            round(margin, 4)
        )
        for one, other, margin in found
    }


@pytest.mark.parametrize("pages_a_group", [1, 3])
def test_margins_are_what_plain_loops_find(pages_a_group):
    collection, vectors = collect(random_rows())
    keys = [str(number // pages_a_group) for number in range(30)]
    groups = [keys[chunk // 2] for chunk in range(60)]
    found = list(most_similar_pairs(collection, vectors, keys, -1))
    assert told(found, collection) == pytest.approx(expected(vectors, groups, -1))
    margins = [margin for _, _, margin in found]
    assert margins == sorted(margins, reverse=True)
    some = list(most_similar_pairs(collection, vectors, keys, margins[20]))
    assert [margin for _, _, margin in some] == margins[: len(some)]
    assert len(some) >= 21


def test_of_some_pages_one_is_in_every_pair():
    collection, vectors = collect(random_rows())
    keys = list(map(str, range(30)))
    page = collection.pages[4]
    asked = list(most_similar_pairs(collection, vectors, keys, 0.05, collection.mask({page})))
    every = told(most_similar_pairs(collection, vectors, keys, 0.05), collection)
    assert asked
    assert {one.page for one, _, _ in asked} == {page}
    both = every.keys() & told(asked, collection).keys()
    assert {pair for pair in every if pair[0] // 2 == 4} <= both
    assert {pair: every[pair] for pair in both} == {
        pair: margin for pair, margin in told(asked, collection).items() if pair in both
    }


def test_what_every_page_has_stands_out_nowhere():
    one = np.eye(12, dtype=np.float32)
    rows = np.stack([row for n in range(10) for row in (one[11], one[n])])
    rows[1::2][1] = (one[0] * 3 + one[1]) / np.sqrt(10)
    collection, vectors = collect(rows)
    (first, second), *_ = [
        (a, b)
        for a, b, _ in most_similar_pairs(collection, vectors, list(map(str, range(10))), 0.1)
    ]
    assert {(first.page, first.number), (second.page, second.number)} == {
        (collection.pages[0], 1),
        (collection.pages[1], 1),
    }


def test_of_two_pages_alone_the_cosine_decides():
    rows = np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)
    collection, vectors = collect(rows, 1)
    (pair, same) = most_similar_pairs(collection, vectors, ["a", "b"], -1)
    assert pair[2] == same[2] == pytest.approx(0.8 - DEFAULT_NEIGHBOR_COSINE, abs=0.01)
    assert list(most_similar_pairs(collection, vectors, ["a", "a"], -1)) == []
    assert list(most_similar_pairs(VectorCollection({}), vectors, [], -1)) == []
    assert list(most_similar_pairs(collection, Vectors(2), ["a", "b"], -1)) == []


def test_many_chunks_are_compared_in_cells_and_lose_little(monkeypatch):
    generator = np.random.default_rng(5)
    topics = generator.standard_normal((40, 16))
    rows = (topics[np.arange(1200) % 40] + 0.5 * generator.standard_normal((1200, 16))).astype("f4")
    collection, vectors = collect(rows, 1)
    keys = list(map(str, range(1200)))
    exact = told(most_similar_pairs(collection, vectors, keys, 0), collection, 1)
    monkeypatch.setattr(closest, "MAX_COSINES", 0)
    monkeypatch.setattr(closest, "TILE_ROWS", 16)
    cells = told(most_similar_pairs(collection, vectors, keys, 0), collection, 1)
    best = sorted(exact, key=lambda pair: -exact[pair])[:100]
    assert len(set(best) & cells.keys()) >= 90
    assert all(a >= b for a, b in pairwise(cells.values()))


def test_comparing_needs_the_memory_of_two_tiles():
    collection, vectors = collect(random_rows(8000))
    tracemalloc.start()
    try:
        list(most_similar_pairs(collection, vectors, list(map(str, range(4000))), 1))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    tile = closest.TILE_ROWS * 8000 * 4
    assert most < 2.5 * tile

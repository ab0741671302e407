"""Chunks and their vectors: which are best, which are alike. Numbers made by hand."""

import numpy as np
import pytest

from ubp.core.model import ObjectId
from ubp.index.embed.vectors import Matrix, QuantizedRows, VectorCollection, Vectors, quantize

A, B, C = (ObjectId(letter * 40) for letter in "abc")
KEYS = [bytes([number]) * 16 for number in range(6)]
EAST, NORTH, NORTH_EAST, WEST, NOTHING = (
    (1, 0), (0, 1), (1, 1), (-1, 0), (0, 0),
)  # fmt: skip


def matrix(*rows):
    return Matrix(np.array(rows, dtype=np.float32))


def vectors(*rows):
    """Vectors under the first KEYS, in two blocks."""
    found = Vectors(2)
    half = len(rows) // 2
    blocks = {
        number: (b"".join(KEYS[part]), quantize(matrix(*rows[part])))
        for number, part in ((7, slice(half, len(rows))), (3, slice(half)))
    }
    return found.updated(blocks, [])


@pytest.fixture
def pages():
    return VectorCollection(
        {A: KEYS[0] + KEYS[1], B: b"", C: KEYS[2] + KEYS[0] + KEYS[3] + KEYS[5]},
    )


@pytest.fixture
def known():
    return vectors(EAST, NORTH, NORTH_EAST, NOTHING)


def rounded(found):
    return [(one.page, one.number, round(one.score, 2)) for one in found]


def test_the_best_chunks_are_those_nearest_to_the_query(pages, known):
    cosines = known.cosines(matrix(EAST))
    assert rounded(pages.best(cosines, known, 10)) == [
        (A, 0, 1.0), (C, 1, 1.0), (C, 0, 0.71), (A, 1, 0.0),
    ]  # fmt: skip
    assert rounded(pages.best(cosines, known, 1)) == [(A, 0, 1.0)]
    assert pages.best(cosines, known, 0) == []


def test_a_mask_leaves_pages_out(pages, known):
    cosines = known.cosines(matrix(EAST))
    assert rounded(pages.best(cosines, known, 9, pages.mask({C}))) == [(C, 1, 1.0), (C, 0, 0.71)]


def test_chunks_without_a_vector_are_missing_by_page(pages, known):
    assert pages.missing(known) == {C: 1}
    assert pages.missing(Vectors(2)) == {A: 2, C: 4}
    assert pages.best(Vectors(2).cosines(matrix(EAST)), Vectors(2), 5) == []


def test_a_block_that_grew_is_known_at_once(pages, known):
    known = known.updated({9: (KEYS[5], quantize(matrix(WEST)))}, [])
    assert pages.missing(known) == {}
    assert known.sizes() == {3: 2, 7: 2, 9: 1}
    assert rounded(pages.best(known.cosines(matrix(WEST)), known, 1)) == [(C, 3, 1.0)]
    known = known.updated({}, [3, 7])
    assert pages.missing(known) == {A: 2, C: 3}


def test_a_byte_a_number_keeps_the_direction():
    rows = np.random.default_rng(2).standard_normal((100, 256)).astype(np.float32)
    one = Vectors(256).updated({1: (bytes(1600), quantize(Matrix(rows)))}, [])
    kept = one.select(np.arange(100)).floats(slice(None))
    assert (kept * Matrix(rows).rows).sum(axis=1).min() > 0.9999


def test_equal_vectors_have_equal_cosines_among_any_number_of_others():
    chance = np.random.default_rng(5)
    query = Matrix(chance.standard_normal((1, 256)))
    row = chance.integers(-127, 128, 256, dtype=np.int8)
    numbers = (1, 2, 5, 8, 13, 33, 1023, 1025)
    cosines = [QuantizedRows.of(np.tile(row, (number, 1))).cosines(query) for number in numbers]
    assert len({float(cosine) for of_rows in cosines for cosine in of_rows}) == 1


def test_vectors_that_were_read_before_stay_while_others_are_added(known):
    """Two snapshots that grow from the same vectors share memory, and none sees the other's."""
    before = known.select(np.arange(len(known))).floats(slice(None))
    left = known.updated({9: (KEYS[5], quantize(matrix(WEST)))}, [])
    right = known.updated({9: (KEYS[5], quantize(matrix(EAST)))}, [])
    assert (left.select(np.arange(len(known))).floats(slice(None)) == before).all()
    last = np.array([len(known)])
    assert np.allclose(left.select(last).floats(slice(None)), matrix(WEST).rows, atol=0.01)
    assert np.allclose(right.select(last).floats(slice(None)), matrix(EAST).rows, atol=0.01)

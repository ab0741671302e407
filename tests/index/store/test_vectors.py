"""Vectors in blocks: kept, read again, forgotten."""

import sqlite3
from pathlib import Path

import pytest

from ubp.core.errors import IndexDamagedError
from ubp.index.store.file import FILE_NAME
from ubp.index.store.schema import insertion
from ubp.index.store.vectors import (
    Block,
    VectorTable,
    prune_vectors,
)

MODEL, OTHER = b"m" * 16, b"o" * 16


def key(number):
    return number.to_bytes(16, "big")


def keys(*numbers):
    return b"".join(map(key, numbers))


@pytest.fixture
def vectors(store):
    return VectorTable(store.database, MODEL, 2)


def everything(stored):
    return list(stored.blocks(stored.sizes()).values())


def test_saved_vectors_are_read_again(vectors, open_here):
    vectors.save(keys(1, 2), b"aabb")
    vectors.save(keys(3), b"cc")
    vectors.save(b"", b"")
    again = VectorTable(open_here().database, MODEL, 2)
    assert everything(again) == [Block(3, keys(1, 2, 3), b"aabbcc")]
    assert again.keys(again.sizes()) == {key(1), key(2), key(3)}


def test_full_block_is_not_rewritten(vectors, monkeypatch):
    monkeypatch.setattr("ubp.index.store.vectors.BLOCK_VECTORS", 2)
    vectors.save(keys(1, 2), b"aabb")
    first = vectors.sizes()
    vectors.save(keys(3), b"cc")
    assert vectors.sizes().items() > first.items()
    assert everything(vectors) == [Block(2, keys(1, 2), b"aabb"), Block(1, keys(3), b"cc")]


def test_models_have_separate_blocks(vectors, store):
    vectors.save(keys(1), b"aa")
    other = VectorTable(store.database, OTHER, 3)
    assert (other.sizes(), other.keys([])) == ({}, set())
    other.save(keys(1), b"xyz")
    assert everything(vectors) == [Block(1, keys(1), b"aa")]
    assert everything(other) == [Block(1, keys(1), b"xyz")]


def test_numbers_are_never_reused(vectors, store):
    vectors.save(keys(1), b"aa")
    before = vectors.sizes()
    store.clear()
    assert vectors.sizes() == {}
    vectors.save(keys(2), b"bb")
    assert not vectors.sizes().keys() & before.keys()


def test_pruning_keeps_the_vectors_of_pages(vectors, store):
    vectors.save(keys(1, 2, 3), b"aabbcc")
    VectorTable(store.database, OTHER, 2).save(keys(2), b"xx")
    before = vectors.sizes()
    put_page(store, keys(3, 1))
    store.database.write(prune_vectors)
    assert everything(vectors) == [Block(2, keys(1, 3), b"aacc")]
    assert VectorTable(store.database, OTHER, 2).sizes() == {}
    assert not vectors.sizes().keys() & before.keys()
    again = vectors.sizes()
    store.database.write(prune_vectors)
    assert vectors.sizes() == again


def test_pruning_for_one_model_removes_the_others(vectors, store):
    vectors.save(keys(1), b"aa")
    VectorTable(store.database, OTHER, 2).save(keys(1), b"xx")
    put_page(store, keys(1))
    store.database.write(lambda connection: prune_vectors(connection, MODEL))
    assert VectorTable(store.database, OTHER, 2).sizes() == {}
    assert vectors.keys(vectors.sizes()) == {key(1)}


@pytest.mark.parametrize(
    "damage",
    ["size = 3", "size = 'x'", "keys = 'text'", "vectors = x'00'", "keys = x'00'", "vectors = 1"],
)
def test_inconsistent_block_rebuilds_the_index(damage, vectors, store, warnings):
    vectors.save(keys(1, 2), b"aabb")
    store.database.write(
        lambda connection: connection.execute(f"UPDATE vector_block SET {damage}") and None
    )
    with pytest.raises(IndexDamagedError):
        vectors.save(keys(3), b"cc")  # nothing is added to it
    assert everything(vectors) == []
    assert warnings == ["The index was damaged and is being rebuilt."]
    vectors.save(keys(3), b"cc")
    store.database.write(
        lambda connection: connection.execute(f"UPDATE vector_block SET {damage}") and None
    )
    with pytest.raises(IndexDamagedError):
        store.database.write(prune_vectors)
    assert vectors.sizes() == {}


def test_read_only_file_is_copied_to_memory(vectors, store, data_dir: Path):
    vectors.save(keys(1), b"aa")
    store.database.checkpoint()
    with sqlite3.connect(data_dir / FILE_NAME) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        store.database._opened.connection.execute("PRAGMA busy_timeout=1")
        vectors.save(keys(2), b"bb")
        holder.rollback()
    holder.close()
    assert store.path is None
    assert vectors.keys(vectors.sizes()) == {key(1), key(2)}


def put_page(store, texts):
    def put(connection):
        connection.execute(
            insertion("page"),
            [bytes(20), None, "", "", "", "", "", texts, 0, 0],
        )

    store.database.write(put)

"""The vectors of texts, in blocks of bytes, and the fingerprints of models."""

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ubp.index.store.codec import KEY_BYTES
from ubp.index.store.database import Database
from ubp.index.store.file import other_formats, read_elsewhere
from ubp.index.store.schema import IS_PAID, insertion, intact

# A block that is not full is rewritten with every addition: 1,024 vectors of 256 numbers are
# 280 KB, and 200,000 vectors are 200 rows.
BLOCK_VECTORS = 1024

COLUMNS = "size, keys, vectors"
INTACT = intact("vector_block")


class Block(NamedTuple):
    """`size` keys and vectors, concatenated."""

    size: int
    keys: bytes
    vectors: bytes


class VectorTable:
    """The vectors of one model. That of a text never changes; it may be there twice."""

    def __init__(self, database: Database, model: bytes, dimensions: int) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions

    def sizes(self) -> dict[int, int]:
        """Return the size of each block; a block only changes by growing."""
        return dict(
            self._database.rows(
                "SELECT id, size FROM vector_block WHERE model = ? ORDER BY id", [self._model]
            )
        )

    def blocks(self, ids: Iterable[int]) -> dict[int, Block]:
        """Return those of these blocks that exist."""
        rows = self._database.rows_in(
            f"SELECT id, {COLUMNS} FROM vector_block WHERE {INTACT} AND id IN",  # noqa: S608  # ours
            ids,
            order=" ORDER BY id",
        )
        return {number: Block(*row) for number, *row in rows}

    def keys(self, ids: Iterable[int]) -> set[bytes]:
        """Return the keys of the texts that have a vector in these blocks."""
        rows = self._database.rows_in(
            f"SELECT keys FROM vector_block WHERE {INTACT} AND id IN",  # noqa: S608  # ours
            ids,
        )
        return {key for (keys,) in rows for key in split(keys)}

    def save(self, keys: bytes, vectors: bytes) -> None:
        """Save vectors. Call it in batches, so that other writers do not wait long."""
        added = Block(len(keys) // KEY_BYTES, keys, vectors)
        if keys:
            self._database.write(lambda connection: self._append(connection, added))

    def elsewhere(self) -> Iterator[Block]:
        """Yield the model's blocks in indexes of other formats, the last one written first."""
        path = self._database.path
        sql = "SELECT size, keys, vectors FROM vector_block WHERE model = ? AND dimensions = ?"
        for other in other_formats(os.path.dirname(path)) if path else ():
            for row in read_elsewhere(other, sql, [self._model, self._dimensions]):
                block = Block(*row)
                lengths = len(block.keys), len(block.vectors)
                if lengths == (block.size * KEY_BYTES, block.size * self._dimensions):
                    yield block

    def _append(self, connection: sqlite3.Connection, added: Block) -> None:
        last = connection.execute(
            f"SELECT id, {COLUMNS} FROM vector_block WHERE model = ? AND dimensions = ?"  # noqa: S608  # ours
            f" AND {INTACT} ORDER BY id DESC LIMIT 1",
            [self._model, self._dimensions],
        ).fetchone()
        if last is None or last[1] + added.size > BLOCK_VECTORS:
            write_block(connection, self._model, self._dimensions, added)
            return
        number, size, keys, vectors = last
        connection.execute(
            "UPDATE vector_block SET size = ?2, keys = ?3, vectors = ?4,"
            " checksum = checksum('vector_block', id, model, dimensions, ?2, ?3, ?4) WHERE id = ?1",
            [number, size + added.size, keys + added.keys, vectors + added.vectors],
        )


def write_block(
    connection: sqlite3.Connection, model: bytes, dimensions: int, block: Block
) -> None:
    """Write a block under a number that no block ever had, in an earlier file either.

    Sessions remember the blocks that they have read by number.
    """
    (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM vector_block").fetchone()
    number = max(time.time_ns() // 1000, last + 1)
    connection.execute(insertion("vector_block"), [number, model, dimensions, *block])


def prune_vectors(connection: sqlite3.Connection, model: bytes | None = None) -> None:
    """Remove the vectors of texts that no page has, and with `model` other local models'."""
    if model is not None:
        connection.execute(
            f"DELETE FROM vector_block WHERE model <> ? AND NOT {IS_PAID}",  # noqa: S608  # ours
            [model],
        )
    texts = connection.execute(f"SELECT texts FROM page WHERE {intact('page')}")  # noqa: S608  # ours
    used = {key for (keys,) in texts for key in split(keys)}
    rows = connection.execute(
        f"SELECT id, model, dimensions, keys FROM vector_block WHERE {INTACT}"  # noqa: S608  # ours
    ).fetchall()
    for number, block_model, dimensions, keys in rows:
        kept = [place for place, key in enumerate(split(keys)) if key in used]
        if len(kept) * KEY_BYTES < len(keys):
            block = _extract(connection, number, dimensions, kept)
            connection.execute("DELETE FROM vector_block WHERE id = ?", [number])
            if block.size:
                write_block(connection, block_model, dimensions, block)


def split(keys: bytes) -> Iterator[bytes]:
    """Return the single keys of concatenated ones."""
    return (keys[start : start + KEY_BYTES] for start in range(0, len(keys), KEY_BYTES))


def _extract(
    connection: sqlite3.Connection, number: int, dimensions: int, places: Collection[int]
) -> Block:
    keys, vectors = connection.execute(
        "SELECT keys, vectors FROM vector_block WHERE id = ?", [number]
    ).fetchone()
    return Block(
        len(places),
        b"".join(keys[KEY_BYTES * place : KEY_BYTES * (place + 1)] for place in places),
        b"".join(vectors[dimensions * place : dimensions * (place + 1)] for place in places),
    )

"""The vectors of texts, in blocks of bytes, and the fingerprints of models."""

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ubp.index.store.codec import KEY_BYTES
from ubp.index.store.database import Database

# A block that is not full is rewritten with every addition: 1,024 vectors of 256 numbers are
# 280 KB, and 200,000 vectors are 200 rows.
BLOCK_VECTORS = 1024

COLUMNS = "size, keys, vectors"
IS_VALID = (
    "typeof(keys) = 'blob' AND length(keys) = 16 * size"
    " AND typeof(vectors) = 'blob' AND length(vectors) = dimensions * size"
)


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
            f"SELECT id, {COLUMNS} FROM vector_block WHERE id IN",  # noqa: S608  # a constant
            ids,
            order=" ORDER BY id",
        )
        return (
            self._database.unpack(lambda: {number: self._block(row) for number, *row in rows}) or {}
        )

    def keys(self, ids: Iterable[int]) -> set[bytes]:
        """Return the keys of the texts that have a vector in these blocks."""
        rows = self._database.rows_in("SELECT keys FROM vector_block WHERE id IN", ids)
        return (
            self._database.unpack(lambda: {key for (keys,) in rows for key in split(keys)}) or set()
        )

    def save(self, keys: bytes, vectors: bytes) -> None:
        """Save vectors. Call it in batches, so that other writers do not wait long."""
        added = Block(len(keys) // KEY_BYTES, keys, vectors)
        if keys:
            self._database.write(lambda connection: self._append(connection, added))

    def _append(self, connection: sqlite3.Connection, added: Block) -> None:
        last = connection.execute(
            f"SELECT id, {COLUMNS} FROM vector_block WHERE model = ? AND dimensions = ?"  # noqa: S608  # ours
            f" AND {IS_VALID} ORDER BY id DESC LIMIT 1",
            [self._model, self._dimensions],
        ).fetchone()
        if last is None or last[1] + added.size > BLOCK_VECTORS:
            write_block(connection, self._model, self._dimensions, added)
            return
        number, size, keys, vectors = last
        connection.execute(
            "UPDATE vector_block SET size = ?, keys = ?, vectors = ? WHERE id = ?",
            [size + added.size, keys + added.keys, vectors + added.vectors, number],
        )

    def _block(self, row: Sequence[object]) -> Block:
        size, keys, vectors = row
        if not (isinstance(size, int) and isinstance(keys, bytes) and isinstance(vectors, bytes)):
            raise TypeError("a block is a number and bytes")
        if len(keys) != size * KEY_BYTES or len(vectors) != size * self._dimensions:
            raise ValueError("a block has as many keys as vectors")
        return Block(size, keys, vectors)


def write_block(
    connection: sqlite3.Connection, model: bytes, dimensions: int, block: Block
) -> None:
    """Write a block under a number that no block ever had, in an earlier file either.

    Sessions remember the blocks that they have read by number.
    """
    connection.execute(
        "INSERT INTO vector_block (id, model, dimensions, size, keys, vectors) VALUES"
        " (max(?, (SELECT ifnull(max(id), 0) + 1 FROM vector_block)), ?, ?, ?, ?, ?)",
        [time.time_ns() // 1000, model, dimensions, *block],
    )


def prune_vectors(connection: sqlite3.Connection, model: bytes | None = None) -> None:
    """Remove the vectors of texts that no page has, and with `model` those of other models."""
    if model is not None:
        connection.execute("DELETE FROM vector_block WHERE model <> ?", [model])
    connection.execute(f"DELETE FROM vector_block WHERE NOT ({IS_VALID})")  # noqa: S608  # ours
    texts = connection.execute(
        "SELECT texts FROM page WHERE typeof(texts) = 'blob' AND length(texts) % 16 = 0"
    )
    used = {key for (keys,) in texts for key in split(keys)}
    rows = connection.execute("SELECT id, model, dimensions, keys FROM vector_block").fetchall()
    for number, block_model, dimensions, keys in rows:
        kept = [place for place, key in enumerate(split(keys)) if key in used]
        if len(kept) * KEY_BYTES < len(keys):
            block = _extract(connection, number, dimensions, kept)
            connection.execute("DELETE FROM vector_block WHERE id = ?", [number])
            if block.size:
                write_block(connection, block_model, dimensions, block)


def split(keys: bytes) -> Iterator[bytes]:
    """Return the single keys of concatenated ones; ValueError, TypeError if they are none."""
    if not isinstance(keys, bytes):
        raise TypeError("keys are bytes")
    if len(keys) % KEY_BYTES:
        raise ValueError("keys have 16 bytes each")
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


def known_fingerprint(database: Database, directory: str | bytes, stamp: str) -> bytes | None:
    """Return the saved fingerprint of the model in a folder, if its files are unchanged."""
    rows = database.rows(
        "SELECT fingerprint FROM model WHERE directory = ? AND stamp = ?", [directory, stamp]
    )
    return next((fingerprint for (fingerprint,) in rows if isinstance(fingerprint, bytes)), None)


def save_fingerprint(
    database: Database, directory: str | bytes, stamp: str, fingerprint: bytes
) -> None:
    """Save a model's fingerprint, so that its files need not be read again."""

    def save(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO model (directory, stamp, fingerprint) VALUES (?, ?, ?)",
            [directory, stamp, fingerprint],
        )

    database.write(save)

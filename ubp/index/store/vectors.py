"""The vectors of texts, in blocks that are read as they are: bytes in, bytes out."""

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ubp.index.store.codec import KEY_BYTES
from ubp.index.store.database import Database, Rows, chunks, marks

# A block that is not full is written anew with every addition: 1,024 vectors of 256 numbers are
# 280 KB. And 200,000 vectors are 200 rows.
BLOCK_VECTORS = 1024

COLUMNS = "size, keys, vectors"
SOUND = (
    "typeof(keys) = 'blob' AND length(keys) = 16 * size"
    " AND typeof(vectors) = 'blob' AND length(vectors) = dimensions * size"
)


class Block(NamedTuple):
    """`size` keys and vectors, one after the other."""

    size: int
    keys: bytes
    vectors: bytes


class VectorTable:
    """Vectors of one model. They never change; they can only be missing, or be there twice."""

    def __init__(self, database: Database, model: bytes, dimensions: int) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions

    def sizes(self) -> dict[int, int]:
        """How many vectors each block has; one of the same size is the same block."""
        return dict(
            self._database.rows(
                "SELECT id, size FROM vector_block WHERE model = ? ORDER BY id", [self._model]
            )
        )

    def blocks(self, ids: Iterable[int]) -> dict[int, Block]:
        """These blocks, as far as they are there."""
        rows: Rows = []
        for chunk in chunks(list(ids)):
            rows += self._database.rows(
                f"SELECT id, {COLUMNS} FROM vector_block WHERE id IN ({marks(chunk)}) ORDER BY id",  # noqa: S608  # "?,?"
                chunk,
            )
        return (
            self._database.unpack(lambda: {number: self._block(row) for number, *row in rows}) or {}
        )

    def keys(self, ids: Iterable[int]) -> set[bytes]:
        """The keys of the texts that have a vector in these blocks."""
        rows: Rows = []
        for chunk in chunks(list(ids)):
            rows += self._database.rows(
                f"SELECT keys FROM vector_block WHERE id IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                chunk,
            )
        return (
            self._database.unpack(lambda: {key for (keys,) in rows for key in split(keys)}) or set()
        )

    def save(self, keys: bytes, vectors: bytes) -> None:
        """Keep these; call it in batches, so that no writer holds others up."""
        added = Block(len(keys) // KEY_BYTES, keys, vectors)
        if keys:
            self._database.write(lambda connection: self._append(connection, added))

    def _append(self, connection: sqlite3.Connection, added: Block) -> None:
        last = connection.execute(
            f"SELECT id, {COLUMNS} FROM vector_block WHERE model = ? AND dimensions = ? AND {SOUND}"  # noqa: S608  # ours
            " ORDER BY id DESC LIMIT 1",
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
    """Write a block under a number that no block ever had, in no earlier file either.

    Whoever has read a block knows it by its number.
    """
    connection.execute(
        "INSERT INTO vector_block (id, model, dimensions, size, keys, vectors) VALUES"
        " (max(?, (SELECT ifnull(max(id), 0) + 1 FROM vector_block)), ?, ?, ?, ?, ?)",
        [time.time_ns() // 1000, model, dimensions, *block],
    )


def prune_vectors(connection: sqlite3.Connection, model: bytes | None = None) -> None:
    """Forget the vectors of texts that no page has, and with `model` those of other models."""
    if model is not None:
        connection.execute("DELETE FROM vector_block WHERE model <> ?", [model])
    connection.execute(f"DELETE FROM vector_block WHERE NOT ({SOUND})")  # noqa: S608  # ours
    texts = connection.execute(
        "SELECT texts FROM page WHERE typeof(texts) = 'blob' AND length(texts) % 16 = 0"
    )
    live = {key for (keys,) in texts for key in split(keys)}
    rows = connection.execute("SELECT id, model, dimensions, keys FROM vector_block").fetchall()
    for number, its_model, dimensions, keys in rows:
        kept = [place for place, key in enumerate(split(keys)) if key in live]
        if len(kept) * KEY_BYTES < len(keys):
            block = _take(connection, number, dimensions, kept)
            connection.execute("DELETE FROM vector_block WHERE id = ?", [number])
            if block.size:
                write_block(connection, its_model, dimensions, block)


def split(keys: bytes) -> Iterator[bytes]:
    """Keys that stand one after the other; ValueError, TypeError where they are no keys."""
    if not isinstance(keys, bytes):
        raise TypeError("keys are bytes")
    if len(keys) % KEY_BYTES:
        raise ValueError("keys have 16 bytes each")
    return (keys[start : start + KEY_BYTES] for start in range(0, len(keys), KEY_BYTES))


def _take(
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
    """The fingerprint of the model in a folder, if its files are those that had it."""
    rows = database.rows(
        "SELECT fingerprint FROM model WHERE directory = ? AND stamp = ?", [directory, stamp]
    )
    return next((fingerprint for (fingerprint,) in rows if isinstance(fingerprint, bytes)), None)


def save_fingerprint(
    database: Database, directory: str | bytes, stamp: str, fingerprint: bytes
) -> None:
    """Remember it, so that the files need not be read again."""

    def save(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO model (directory, stamp, fingerprint) VALUES (?, ?, ?)",
            [directory, stamp, fingerprint],
        )

    database.write(save)

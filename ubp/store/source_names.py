"""The names in sources and the mentions in pages, keyed by blob; learned on demand only."""

import sqlite3
import zlib
from collections.abc import Collection, Mapping
from typing import Literal

from ubp.model import ObjectId
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.values import pack_id, unpack_id

Kind = Literal["source", "page", "answer"]

# Names compress to a third; more effort takes longer and gains a tenth.
EFFORT = 1


class StoredNames:
    """What blobs name, as texts. A blob's never change; they can only be missing.

    An answer's key is the digest of all that it hangs on, so the same holds for it.
    """

    def __init__(self, database: Database, kind: Kind) -> None:
        self._database = database
        self._kind = kind

    def read(self, blobs: Collection[ObjectId]) -> dict[ObjectId, str]:
        """The texts of these blobs, as far as they are known."""
        rows: Rows = []
        for chunk in chunks(blobs):
            rows += self._database.rows(
                f"SELECT blob, content FROM names WHERE kind = ? AND blob IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                [self._kind, *map(pack_id, chunk)],
            )
        return self._database.unpack(lambda: dict(_unpacked(*row) for row in rows)) or {}

    def forget(self) -> None:
        """Let all texts of this kind go."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM names WHERE kind = ?", [self._kind])

        self._database.write(forget)

    def save(self, texts: Mapping[ObjectId, str]) -> None:
        """Keep these."""
        rows = [
            (self._kind, pack_id(blob), zlib.compress(text.encode(), EFFORT))
            for blob, text in texts.items()
        ]

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO names (kind, blob, content) VALUES (?, ?, ?)", rows
            )

        if rows:
            self._database.write(save)


def _unpacked(blob: bytes, content: bytes) -> tuple[ObjectId, str]:
    try:
        return unpack_id(blob), zlib.decompress(content).decode()
    except zlib.error as error:
        raise ValueError("names are compressed") from error

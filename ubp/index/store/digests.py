"""Digests of files outside the object store, while the files are the same: `stamp` shows it."""

import sqlite3
from collections.abc import Mapping

from ubp.index.store.database import Database
from ubp.index.store.schema import insertion, intact


def known_digest(database: Database, path: str | bytes, stamp: str) -> bytes | None:
    """Return the saved digest of a file or a folder, if it is unchanged."""
    rows = database.rows(
        f"SELECT {intact('digest')}, digest FROM digest WHERE path = ? AND stamp = ?",  # noqa: S608  # ours
        [path, stamp],
    )
    return next((digest for _, digest in rows), None)


def save_digests(database: Database, digests: Mapping[tuple[str | bytes, str], bytes]) -> None:
    """Save digests by path and stamp, so that the files need not be read again."""
    rows = [(*key, digest) for key, digest in digests.items()]

    def save(connection: sqlite3.Connection) -> None:
        connection.executemany(insertion("digest", "INSERT OR REPLACE"), rows)

    if rows:
        database.write(save)

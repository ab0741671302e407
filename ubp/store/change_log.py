"""Which files each commit touched: a commit's row numbers the paths, which stand once each."""

import sqlite3
import struct
from collections.abc import Collection, Mapping, Sequence

from ubp.model import FilePath, ObjectId
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.values import pack_id, pack_path, unpack_id, unpack_path


class ChangeLog:
    """What commits touched, as far as it is known. It never changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, commits: Collection[ObjectId]) -> dict[ObjectId, tuple[FilePath, ...]]:
        """The paths of each commit that is known."""
        stored = self._rows(commits)
        numbers = self._database.unpack(
            lambda: {unpack_id(commit): _unpack_numbers(touched) for commit, touched in stored}
        )
        if not numbers:
            return {}
        # Asked last: paths that have been pruned meanwhile are missing, and none has come later.
        rows = self._database.rows("SELECT id, path FROM touched_path")
        paths = self._database.unpack(lambda: {row: unpack_path(path) for row, path in rows}) or {}
        return {
            commit: tuple([paths[one] for one in touched])
            for commit, touched in numbers.items()
            if paths.keys() >= set(touched)  # else read anew
        }

    def save(self, changes: Mapping[ObjectId, tuple[FilePath, ...]]) -> None:
        """Keep what commits touched."""
        if not changes:
            return
        paths = {pack_path(path): None for touched in changes.values() for path in touched}

        def save(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO touched_path (path) VALUES (?)", [(path,) for path in paths]
            )
            ids = {
                path: row
                for chunk in chunks(paths)
                for row, path in connection.execute(
                    f"SELECT id, path FROM touched_path WHERE path IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                    chunk,
                )
            }
            connection.executemany(
                'INSERT OR REPLACE INTO logged_change ("commit", paths) VALUES (?, ?)',
                [
                    (pack_id(commit), _pack_numbers([ids[pack_path(path)] for path in touched]))
                    for commit, touched in changes.items()
                ],
            )

        self._database.write(save)

    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not self._database.rows("SELECT 1 FROM logged_change LIMIT 1")

    def prune(self, commits: Collection[ObjectId]) -> None:
        """Forget all commits but these, and the paths that only others touched."""

        def prune(connection: sqlite3.Connection) -> None:
            kept = set(map(pack_id, commits))
            gone: list[tuple[bytes]] = []
            used: set[int] = set()
            for commit, touched in connection.execute('SELECT "commit", paths FROM logged_change'):
                if commit in kept:
                    used.update(_unpack_numbers(touched))
                else:
                    gone.append((commit,))
            connection.executemany('DELETE FROM logged_change WHERE "commit" = ?', gone)
            rows = connection.execute("SELECT id FROM touched_path").fetchall()
            unused = [row for row in rows if row[0] not in used]
            connection.executemany("DELETE FROM touched_path WHERE id = ?", unused)

        self._database.unpack(lambda: self._database.write(prune))

    def _rows(self, commits: Collection[ObjectId]) -> Rows:
        rows: Rows = []
        for chunk in chunks(commits):
            rows += self._database.rows(
                f'SELECT "commit", paths FROM logged_change WHERE "commit" IN ({marks(chunk)})',  # noqa: S608  # "?,?"
                list(map(pack_id, chunk)),
            )
        return rows


def _pack_numbers(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _unpack_numbers(packed: bytes) -> tuple[int, ...]:
    try:
        return struct.unpack(f"<{len(packed) // 4}I", packed)
    except struct.error as error:
        raise ValueError("a path's number has four bytes") from error

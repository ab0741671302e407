"""Answers of history: per commit for ever, per head as long as it is one of the last heads."""

import sqlite3
import struct
from collections.abc import Collection, Mapping, Sequence

from ubp.core.interruption import with_checkpoints
from ubp.core.model import (
    BaselineQuery,
    Commit,
    Drift,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
    Pair,
    PairCount,
)
from ubp.index.store.codec import (
    pack_co_changes,
    pack_entries,
    pack_id,
    pack_ids,
    pack_path,
    pack_search,
    pack_text,
    unpack_co_changes,
    unpack_drift,
    unpack_entries,
    unpack_id,
    unpack_path,
    unpack_searches,
)
from ubp.index.store.database import Database, Rows, chunks, last_number, marks
from ubp.index.store.schema import insertion, intact


class ChangeLog:
    """The files that each commit touched, which never change; each path is stored once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, commits: Collection[ObjectId]) -> dict[ObjectId, tuple[FilePath, ...]]:
        """Return the paths of these commits that the table has."""
        stored = self._database.rows_in(
            f'SELECT "commit", paths FROM logged_change WHERE {intact("logged_change")}'  # noqa: S608  # ours
            ' AND "commit" IN',
            map(pack_id, commits),
        )
        if not stored:
            return {}
        numbers = {unpack_id(commit): _unpack_numbers(touched) for commit, touched in stored}
        # Read last: the paths of these commits are all there by now, unless pruned meanwhile.
        rows = self._database.rows(
            f"SELECT id, path FROM touched_path WHERE {intact('touched_path')}"  # noqa: S608  # ours
        )
        paths = {row: unpack_path(path) for row, path in rows}
        return {
            commit: tuple([paths[number] for number in touched])
            for commit, touched in numbers.items()
            if paths.keys() >= set(touched)  # else its paths were pruned
        }

    def save(self, changes: Mapping[ObjectId, tuple[FilePath, ...]]) -> None:
        """Save the files that commits touched."""
        if not changes:
            return
        paths = {pack_path(path): None for touched in changes.values() for path in touched}

        def save(connection: sqlite3.Connection) -> None:
            ids = {
                path: row
                for chunk in chunks(paths)
                for row, path in connection.execute(
                    f"SELECT id, path FROM touched_path WHERE {intact('touched_path')}"  # noqa: S608  # ours, "?,?"
                    f" AND path IN ({marks(chunk)})",
                    chunk,
                )
            }
            new = enumerate(
                [path for path in paths if path not in ids],
                last_number(connection, "touched_path") + 1,
            )
            ids |= {path: row for row, path in new}
            connection.executemany(
                insertion("touched_path", "INSERT OR IGNORE"),
                [(row, path) for path, row in ids.items()],
            )
            connection.executemany(
                insertion("logged_change", "INSERT OR REPLACE"),
                [
                    (pack_id(commit), _pack_numbers([ids[pack_path(path)] for path in touched]))
                    for commit, touched in changes.items()
                ],
            )

        self._database.write(save)

    def is_empty(self) -> bool:
        """Return whether the table has no commit."""
        return not self._database.rows("SELECT 1 FROM logged_change LIMIT 1")

    def prune(self, commits: Collection[ObjectId]) -> None:
        """Remove all commits but these, and the paths that only others touched."""

        def prune(connection: sqlite3.Connection) -> None:
            kept = set(map(pack_id, commits))
            removed: list[tuple[bytes]] = []
            used: set[int] = set()
            for commit, touched in connection.execute(
                f'SELECT "commit", paths FROM logged_change WHERE {intact("logged_change")}'  # noqa: S608  # ours
            ):
                if commit in kept:
                    used.update(_unpack_numbers(touched))
                else:
                    removed.append((commit,))
            connection.executemany('DELETE FROM logged_change WHERE "commit" = ?', removed)
            rows = connection.execute("SELECT id FROM touched_path").fetchall()
            unused = [row for row in rows if row[0] not in used]
            connection.executemany("DELETE FROM touched_path WHERE id = ?", unused)

        self._database.write(prune)


def _pack_numbers(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _unpack_numbers(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // 4}I", packed)


# Enough for the branches that somebody works on in turn, and for the old and new head of a rebase.
MAX_HEADS = 8


class HistoryTable:
    """Answers of history. Those of a shallow clone change when it is deepened: save none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def heads(self) -> tuple[ObjectId, ...]:
        """Return the commits from which history was walked, the latest first."""
        rows = self._database.rows('SELECT "commit" FROM head ORDER BY id DESC')
        return tuple(unpack_id(commit) for (commit,) in rows)

    def first_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """Return the saved first changes of a head; none is a shallow clone's boundary."""
        rows = self._rows_of_head("first_change", 'path, first_change."commit"', head)
        return {
            unpack_path(path): LastChange(unpack_id(commit), is_boundary=False)
            for path, commit in with_checkpoints(rows)
        }

    def save_first_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to the saved first changes of a head."""
        rows = [
            (pack_path(path), pack_id(change.commit))
            for path, change in with_checkpoints(changes.items())
        ]
        self._save_for_head(head, "first_change", rows)

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """Return the saved last changes of a head."""
        rows = self._rows_of_head("last_change", 'path, last_change."commit", is_boundary', head)
        return {
            unpack_path(path): LastChange(unpack_id(commit), bool(is_boundary))
            for path, commit, is_boundary in with_checkpoints(rows)
        }

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to the saved last changes of a head."""
        rows = [
            (pack_path(path), pack_id(change.commit), change.is_boundary)
            for path, change in with_checkpoints(changes.items())
        ]
        self._save_for_head(head, "last_change", rows)

    def drifts(self, head: ObjectId) -> dict[BaselineQuery, Drift]:
        """Return the saved drifts of a head."""
        rows = self._rows_of_head("drift", "search, commits, is_complete, existed", head)
        searches = unpack_searches([row[0] for row in rows])
        drifts = (unpack_drift(*row[1:]) for row in rows)
        return dict(zip(searches, drifts, strict=True))

    def save_drifts(self, head: ObjectId, drifts: Mapping[BaselineQuery, Drift]) -> None:
        """Add to the saved drifts of a head."""
        rows = [
            (pack_search(search), pack_ids(drift.commits), drift.is_complete, drift.existed)
            for search, drift in drifts.items()
        ]
        self._save_for_head(head, "drift", rows)

    def co_changes(self, head: ObjectId) -> dict[Pair, PairCount]:
        """Return how often pages and their sources changed together, as seen from a head."""
        rows = self._rows_of_head("together", "tallies", head)
        return unpack_co_changes(rows[0][0]) if rows else {}

    def save_co_changes(self, head: ObjectId, counts: Mapping[Pair, PairCount]) -> None:
        """Save the counts of a head, in place of the old ones."""
        self._save_for_head(head, "together", [(pack_co_changes(counts),)])

    def entries_at(
        self, paths_by_commit: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """Return the saved entries (None: no such path) at these paths of commits' trees."""
        rows = self._database.rows_in(
            f'SELECT "commit", entries FROM commit_entries WHERE {intact("commit_entries")}'  # noqa: S608  # ours
            ' AND "commit" IN',
            map(pack_id, paths_by_commit),
        )
        return {
            (commit, path): entry
            for packed, entries in with_checkpoints(rows, every=10)
            for commit in (unpack_id(packed),)
            for path, entry in unpack_entries(entries, paths_by_commit[commit]).items()
        }

    def save_entries_at(self, entries: Mapping[tuple[ObjectId, FilePath], Entry | None]) -> None:
        """Save entries of commits' trees, None where there was none."""
        by_commit: dict[ObjectId, dict[FilePath, Entry | None]] = {}
        for (commit, path), entry in entries.items():
            by_commit.setdefault(commit, {})[path] = entry

        def save(connection: sqlite3.Connection) -> None:
            for commit, added in by_commit.items():
                row = connection.execute(
                    f"SELECT entries FROM commit_entries WHERE {intact('commit_entries')}"  # noqa: S608  # ours
                    ' AND "commit" = ?',
                    [pack_id(commit)],
                ).fetchone()
                known = unpack_entries(row[0]) if row else {}
                connection.execute(
                    insertion("commit_entries", "INSERT OR REPLACE"),
                    [pack_id(commit), pack_entries({**known, **added})],
                )

        if by_commit:
            self._database.write(save)

    def commits(self, ids: Collection[ObjectId]) -> dict[ObjectId, Commit]:
        """Return the records of these commits that the table has."""
        rows = self._database.rows_in(
            "SELECT id, date, author, subject FROM commit_record"  # noqa: S608  # ours
            f" WHERE {intact('commit_record')} AND id IN",
            map(pack_id, ids),
        )
        commits = [Commit(unpack_id(row[0]), *row[1:]) for row in rows]
        return {commit.id: commit for commit in commits}

    def save_commits(self, commits: Mapping[ObjectId, Commit]) -> None:
        """Save the records of commits."""
        rows = [
            (pack_id(commit.id), commit.date, pack_text(commit.author), pack_text(commit.subject))
            for commit in commits.values()
        ]
        self._save("commit_record", rows)

    def _rows_of_head(self, table: str, columns: str, head: ObjectId) -> Rows:
        return self._database.rows(
            f"SELECT {columns} FROM {table} JOIN head ON head.id = {table}.head"  # noqa: S608  # ours
            f' WHERE {intact(table)} AND head."commit" = ?',
            [pack_id(head)],
        )

    def _save(self, table: str, rows: Rows) -> None:
        if rows:
            statement = insertion(table, "INSERT OR REPLACE")
            self._database.write(lambda connection: connection.executemany(statement, rows))

    def _save_for_head(self, head: ObjectId, table: str, rows: Rows) -> None:
        def save(connection: sqlite3.Connection) -> None:
            connection.execute('INSERT OR IGNORE INTO head ("commit") VALUES (?)', [pack_id(head)])
            (row,) = connection.execute(
                'SELECT id FROM head WHERE "commit" = ?', [pack_id(head)]
            ).fetchone()
            marks = ", ".join(f"?{number}" for number in range(3, len(rows[0]) + 3))
            connection.executemany(
                f"INSERT OR REPLACE INTO {table}"  # noqa: S608  # one of ours
                f" VALUES (?1, {marks}, checksum('{table}', ?2, {marks}))",
                [(row, pack_id(head), *values) for values in rows],
            )
            connection.execute(
                "DELETE FROM head WHERE id NOT IN (SELECT id FROM head ORDER BY id DESC LIMIT ?)",
                [MAX_HEADS],
            )

        if rows:
            self._database.write(save)

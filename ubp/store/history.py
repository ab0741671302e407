"""What history said: per head, for as long as the head is among the last; per commit, for ever."""

import sqlite3
from collections.abc import Collection, Mapping

from ubp.model import (
    Commit,
    Drift,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
    Pair,
    Search,
    Tally,
)
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.values import (
    pack_id,
    pack_ids,
    pack_path,
    pack_search,
    pack_tallies,
    pack_text,
    unpack_drift,
    unpack_entry,
    unpack_id,
    unpack_path,
    unpack_searches,
    unpack_tallies,
)

# Enough for the branches that somebody works on in turn, and for a rebase's old and new head.
HEADS_KEPT = 8

OF_HEAD = 'head = (SELECT id FROM head WHERE "commit" = ?)'


class History(Database):
    """Answers of history. Those of a shallow clone hold only until it is deepened: keep none."""

    def heads(self) -> tuple[ObjectId, ...]:
        """The commits from which history was walked, the latest first."""
        rows = self.rows('SELECT "commit" FROM head ORDER BY id DESC')
        return self.unpack(lambda: tuple(unpack_id(commit) for (commit,) in rows)) or ()

    def first_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """All that is known of a head; where a shallow clone ends is never kept."""
        rows = self.rows(
            f'SELECT path, "commit" FROM first_change WHERE {OF_HEAD}',  # noqa: S608  # a constant
            [pack_id(head)],
        )
        unpacked = self.unpack(
            lambda: {
                unpack_path(path): LastChange(unpack_id(commit), is_boundary=False)
                for path, commit in rows
            }
        )
        return unpacked or {}

    def save_first_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to what is known of a head."""
        rows = [(pack_path(path), pack_id(change.commit)) for path, change in changes.items()]
        self._save_for_head(head, "first_change", rows)

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """All that is known of a head."""
        rows = self.rows(
            f'SELECT path, "commit", is_boundary FROM last_change WHERE {OF_HEAD}',  # noqa: S608  # a constant
            [pack_id(head)],
        )
        unpacked = self.unpack(
            lambda: {
                unpack_path(path): LastChange(unpack_id(commit), bool(is_boundary))
                for path, commit, is_boundary in rows
            }
        )
        return unpacked or {}

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to what is known of a head."""
        rows = [
            (pack_path(path), pack_id(change.commit), change.is_boundary)
            for path, change in changes.items()
        ]
        self._save_for_head(head, "last_change", rows)

    def drifts(self, head: ObjectId) -> dict[Search, Drift]:
        """All that is known of a head."""
        rows = self.rows(
            f"SELECT search, commits, is_complete, existed FROM drift WHERE {OF_HEAD}",  # noqa: S608  # a constant
            [pack_id(head)],
        )

        def unpack() -> dict[Search, Drift]:
            searches = unpack_searches([row[0] for row in rows])
            drifts = (unpack_drift(*row[1:]) for row in rows)
            return dict(zip(searches, drifts, strict=True))

        return self.unpack(unpack) or {}

    def save_drifts(self, head: ObjectId, drifts: Mapping[Search, Drift]) -> None:
        """Add to what is known of a head."""
        rows = [
            (pack_search(search), pack_ids(drift.commits), drift.is_complete, drift.existed)
            for search, drift in drifts.items()
        ]
        self._save_for_head(head, "drift", rows)

    def together(self, head: ObjectId) -> dict[Pair, Tally]:
        """All that is known of a head: how often pages and their sources changed together."""
        rows = self.rows(f"SELECT tallies FROM together WHERE {OF_HEAD}", [pack_id(head)])  # noqa: S608  # a constant
        return self.unpack(lambda: unpack_tallies(rows[0][0]) if rows else {}) or {}

    def save_together(self, head: ObjectId, tallies: Mapping[Pair, Tally]) -> None:
        """Keep all that is known of a head, in place of what was known."""
        self._save_for_head(head, "together", [(pack_tallies(tallies),)])

    def entries_at(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """What stood at each path of each commit's tree, as far as it is known; None: nothing."""
        rows: Rows = []
        for chunk in chunks(wanted):
            # All of these commits' rows: hardly more than the wanted ones, and one statement.
            rows += self.rows(
                'SELECT "commit", path, mode, id FROM past_entry'  # noqa: S608  # "?,?"
                f' WHERE "commit" IN ({marks(chunk)})',
                list(map(pack_id, chunk)),
            )
        known = self.unpack(
            lambda: {
                (commit, path): None if mode is None else unpack_entry(mode, found)
                for commit, path, mode, found in rows
            }
        )
        return {
            (commit, path): known[key]
            for commit, paths in wanted.items()
            for path in paths
            if known and (key := (pack_id(commit), pack_path(path))) in known
        }

    def save_entries_at(self, entries: Mapping[tuple[ObjectId, FilePath], Entry | None]) -> None:
        """Keep what stood there."""
        rows = [
            (pack_id(commit), pack_path(path), entry and entry.mode, entry and pack_id(entry.id))
            for (commit, path), entry in entries.items()
        ]
        self._save("past_entry", rows)

    def commits(self, ids: Collection[ObjectId]) -> dict[ObjectId, Commit]:
        """What these commits say, as far as it is known."""
        rows: Rows = []
        for chunk in chunks(ids):
            rows += self.rows(
                f"SELECT id, date, author, subject FROM commit_record WHERE id IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                list(map(pack_id, chunk)),
            )
        commits = self.unpack(lambda: [Commit(unpack_id(row[0]), *row[1:]) for row in rows])
        return {commit.id: commit for commit in commits or ()}

    def save_commits(self, commits: Mapping[ObjectId, Commit]) -> None:
        """Keep what they say."""
        rows = [
            (pack_id(commit.id), commit.date, pack_text(commit.author), pack_text(commit.subject))
            for commit in commits.values()
        ]
        self._save("commit_record", rows)

    def _save(self, table: str, rows: Rows) -> None:
        if rows:
            self.write(lambda connection: _insert(connection, table, rows))

    def _save_for_head(self, head: ObjectId, table: str, rows: Rows) -> None:
        def save(connection: sqlite3.Connection) -> None:
            connection.execute('INSERT OR IGNORE INTO head ("commit") VALUES (?)', [pack_id(head)])
            (row,) = connection.execute(
                'SELECT id FROM head WHERE "commit" = ?', [pack_id(head)]
            ).fetchone()
            _insert(connection, table, [(row, *values) for values in rows])
            connection.execute(
                "DELETE FROM head WHERE id NOT IN (SELECT id FROM head ORDER BY id DESC LIMIT ?)",
                [HEADS_KEPT],
            )

        if rows:
            self.write(save)


def _insert(connection: sqlite3.Connection, table: str, rows: Rows) -> None:
    connection.executemany(
        f"INSERT OR REPLACE INTO {table} VALUES ({marks(rows[0])})",  # noqa: S608  # one of ours
        rows,
    )

"""The store as a whole: facts, listings, history, and the care of the file."""

import os
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from ubp.core.model import ObjectId, Warn
from ubp.index.store.codec import pack_id, unpack_ids, unpack_path
from ubp.index.store.file import remove_unused
from ubp.index.store.history import History
from ubp.index.store.listings import ListingReader
from ubp.index.store.schema import FORMAT, TABLES


class Statistics(NamedTuple):
    """The index as `ubp status` shows it.

    `path` is None where the index is in memory; `why_in_memory` then says why. `written_at` is in
    seconds since the epoch, None in memory. `pages` counts the blobs with facts, those of other
    branches and of older versions included.
    """

    path: str | None
    why_in_memory: str
    format: int
    size_bytes: int
    written_at: float | None
    pages: int
    listings: int
    heads: int


class Pruned(NamedTuple):
    """What `prune` has thrown away."""

    pages: int
    listings: int
    freed_bytes: int


def open_store(data_dir: str, warn: Warn) -> "Store":
    """Open the index in this folder, making it where it is not; in memory where it cannot be.

    Never fails: `warn` is told where something is wrong that the user should know.
    """
    return Store(data_dir, warn)


class Store(ListingReader, History):
    """Everything that UBP remembers of a repository; one connection, closed by its owner."""

    def statistics(self) -> Statistics:
        """Counts and sizes."""
        pages, listings, heads = (
            sum(count for (count,) in self.rows(f"SELECT count(*) FROM {table}"))  # noqa: S608  # ours
            for table in ("facts", "listing", "head")
        )
        size, written_at = self._size_and_time()
        return Statistics(
            path=self.path,
            why_in_memory=self.why_in_memory,
            format=FORMAT,
            size_bytes=size,
            written_at=written_at,
            pages=pages,
            listings=listings,
            heads=heads,
        )

    def clear(self) -> None:
        """Forget everything, so that all is read again from Git and the work tree."""
        from ubp.index.store.page_facts import clear_pages

        self._remembered = None

        def clear(connection: sqlite3.Connection) -> None:
            clear_pages(connection)
            for table in TABLES:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608  # ours

        self.write(clear)

    def forget_facts(self, blobs: Collection[ObjectId]) -> None:
        """Let these pages be read again, front matter and Markdown."""
        from ubp.index.store.page_facts import PageFactsTable

        super().forget_facts(blobs)
        PageFactsTable(self).forget(blobs)

    def prune(self, model: bytes | None = None) -> Pruned:
        """Forget work trees that are gone, pages of no listing, and commits of no history kept.

        With `model` (a fingerprint) the vectors of all other models go too. Indexes of other
        formats are removed where they are no longer used.
        """
        from ubp.index.store.page_facts import PageFactsTable

        before = self._size_and_time()[0]
        pages, listings = 0, 0

        def prune(connection: sqlite3.Connection) -> None:
            nonlocal pages, listings
            listings = _prune_listings(connection)
            pages = connection.execute(
                "DELETE FROM facts WHERE blob NOT IN (SELECT id FROM entry WHERE is_document)"
            ).rowcount
            connection.execute("DELETE FROM names WHERE blob NOT IN (SELECT id FROM entry)")
            connection.execute(
                'DELETE FROM past_entry WHERE "commit" NOT IN (SELECT "commit" FROM last_change)'
            )
            _prune_commits(connection)

        self.write(prune)
        PageFactsTable(self).prune(model)
        self._vacuum()
        freed = max(0, before - self._size_and_time()[0])
        if self.path is not None:
            freed += remove_unused(os.path.dirname(self.path))
        return Pruned(pages, listings, freed)

    def _vacuum(self) -> None:
        from sqlite_utils import Database  # 190 ms of CPU: for maintenance only

        with suppress(sqlite3.Error):  # others are at work: the space is used again later
            Database(self._opened.connection, execute_plugins=False).vacuum()
        self.settle()

    def _size_and_time(self) -> tuple[int, float | None]:
        if self.path is None:
            return 0, None
        found = [os.stat(self.path)]
        with suppress(FileNotFoundError):
            log = os.stat(self.path + "-wal")
            # A log is made for reading too, and is empty then.
            found += [log] if log.st_size else []
        return sum(one.st_size for one in found), max(one.st_mtime for one in found)


def _prune_listings(connection: sqlite3.Connection) -> int:
    rows = connection.execute("SELECT git_dir FROM listing UNION SELECT git_dir FROM graph")
    gone = [row for row in rows.fetchall() if not os.path.isdir(unpack_path(row[0]))]
    connection.executemany("DELETE FROM graph WHERE git_dir = ?", gone)
    return connection.executemany("DELETE FROM listing WHERE git_dir = ?", gone).rowcount


def _prune_commits(connection: sqlite3.Connection) -> None:
    named = {
        commit
        for (commits,) in connection.execute("SELECT commits FROM drift").fetchall()
        for commit in map(pack_id, unpack_ids(commits))
    }
    stored = connection.execute("SELECT id FROM commit_record").fetchall()
    gone = [commit for commit in stored if commit[0] not in named]
    connection.executemany("DELETE FROM commit_record WHERE id = ?", gone)

"""The index of a repository: one database, its tables, and their maintenance."""

import os
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from ubp.core.model import ObjectId, Warn
from ubp.index.store.codec import pack_id, unpack_ids, unpack_path
from ubp.index.store.database import Database
from ubp.index.store.facts import FactsTable
from ubp.index.store.file import remove_unused
from ubp.index.store.history import HistoryTable
from ubp.index.store.listings import ListingTable
from ubp.index.store.schema import FORMAT, TABLES


class Statistics(NamedTuple):
    """The index as `ubp status` shows it.

    `path` is None where the index is in memory; `why_in_memory` is then the reason. `written_at` is
    in seconds since the epoch, None in memory. `pages` counts the blobs with facts, those of other
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
    """What `prune` removed."""

    pages: int
    listings: int
    freed_bytes: int


def open_store(data_dir: str, warn: Warn) -> "Store":
    """Open the index in this folder, create it if it is missing, or use one in memory.

    Never fails: `warn` is called with what the user should know.
    """
    return Store(Database(data_dir, warn))


class Store:
    """The index of a repository, with the tables that every command needs.

    The others (`PageFactsTable`, `EdgeTable`, `VectorTable`, …) are built over `database` where
    they are used, so that `ubp stale` does not import them.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.facts = FactsTable(database)
        self.listings = ListingTable(database)
        self.history = HistoryTable(database)

    @property
    def path(self) -> str | None:
        """The database's file; None: in memory."""
        return self.database.path

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def statistics(self) -> Statistics:
        """Return counts and sizes."""
        pages, listings, heads = (
            sum(count for (count,) in self.database.rows(f"SELECT count(*) FROM {table}"))  # noqa: S608  # ours
            for table in ("facts", "listing", "head")
        )
        size, written_at = self._size_and_time()
        return Statistics(
            path=self.path,
            why_in_memory=self.database.why_in_memory,
            format=FORMAT,
            size_bytes=size,
            written_at=written_at,
            pages=pages,
            listings=listings,
            heads=heads,
        )

    def clear(self) -> None:
        """Remove everything but paid vectors: it is read again from Git and the work tree."""
        from ubp.index.store.page_facts import clear_pages
        from ubp.index.store.schema import IS_PAID

        self._remembered = None

        def clear(connection: sqlite3.Connection) -> None:
            clear_pages(connection)
            for table in TABLES:
                kept = f" WHERE NOT {IS_PAID}" if table == "vector_block" else ""
                connection.execute(f"DELETE FROM {table}{kept}")  # noqa: S608  # ours

        self.database.write(clear)

    def forget_pages(self, blobs: Collection[ObjectId]) -> None:
        """Remove the facts of these pages, so that front matter and Markdown are read again."""
        from ubp.index.store.page_facts import PageFactsTable

        self.facts.forget(blobs)
        PageFactsTable(self.database).forget(blobs)

    def forget_excluded(self) -> None:
        """Remove and overwrite what comes from texts that are not documents of a commit here.

        The words of a single page cannot be removed from the full text: the documents are read
        again when they are needed, as their uncommitted and former versions are.
        """
        from ubp.index.store.page_facts import clear_pages, note_removed_pages
        from ubp.index.store.vectors import prune_vectors

        def forget(connection: sqlite3.Connection) -> None:
            for table in ("facts", "page"):
                connection.execute(
                    f"DELETE FROM {table} WHERE blob NOT IN"  # noqa: S608  # ours
                    " (SELECT id FROM entry WHERE is_document)"
                )
            prune_vectors(connection)
            clear_pages(connection)
            connection.execute("DELETE FROM names")
            note_removed_pages(connection)

        self.facts = FactsTable(self.database)
        self.database.rows("PRAGMA secure_delete=ON")
        self.database.write(forget)
        self.database.rows("PRAGMA secure_delete=OFF")
        self.database.vacuum()  # removes what was deleted earlier, too

    def prune(self, model: bytes | None = None) -> Pruned:
        """Remove what no work tree needs: its listing, pages that no listing has, old commits.

        With `model` (a fingerprint) the vectors of all other models are removed too, and so are
        indexes of other formats that are no longer used.
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
                "DELETE FROM commit_entries"
                ' WHERE "commit" NOT IN (SELECT "commit" FROM last_change)'
            )
            _prune_commits(connection)

        self.database.write(prune)
        PageFactsTable(self.database).prune(model)
        self.database.vacuum()
        freed = max(0, before - self._size_and_time()[0])
        if self.path is not None:
            freed += remove_unused(os.path.dirname(self.path))
        return Pruned(pages, listings, freed)

    def _size_and_time(self) -> tuple[int, float | None]:
        if self.path is None:
            return 0, None
        files = [os.stat(self.path)]
        with suppress(FileNotFoundError):
            log = os.stat(self.path + "-wal")
            # A reader creates a log too, which stays empty.
            files += [log] if log.st_size else []
        return sum(file.st_size for file in files), max(file.st_mtime for file in files)


def _prune_listings(connection: sqlite3.Connection) -> int:
    rows = connection.execute("SELECT git_dir FROM listing UNION SELECT git_dir FROM graph")
    removed = [row for row in rows.fetchall() if not os.path.isdir(unpack_path(row[0]))]
    connection.executemany("DELETE FROM graph WHERE git_dir = ?", removed)
    return connection.executemany("DELETE FROM listing WHERE git_dir = ?", removed).rowcount


def _prune_commits(connection: sqlite3.Connection) -> None:
    used = {
        commit
        for (commits,) in connection.execute("SELECT commits FROM drift").fetchall()
        for commit in map(pack_id, unpack_ids(commits))
    }
    stored = connection.execute("SELECT id FROM commit_record").fetchall()
    unused = [commit for commit in stored if commit[0] not in used]
    connection.executemany("DELETE FROM commit_record WHERE id = ?", unused)

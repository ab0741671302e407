"""The files and folders of one commit for each work tree, moved from commit to commit."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.model import Entry, FilePath, ObjectId
from ubp.store.facts import Facts, pack_keys
from ubp.store.values import pack_id, pack_path, unpack_entry, unpack_id, unpack_path

# A listing takes 100 bytes a file; who has more work trees than this pays `git ls-tree` for some.
LISTINGS_KEPT = 8

# Counts on for ever, so that a listing that was moved and moved back is not taken for the same.
NEXT_GENERATION = "(SELECT ifnull(max(generation), 0) + 1 FROM listing)"

DOCUMENTS_WITHOUT_FACTS = """
SELECT path, entry.id FROM entry LEFT JOIN facts ON facts.blob = entry.id AND facts.keys = ?
WHERE entry.listing = ? AND is_document AND facts.id IS NULL
"""

IsDocument = Callable[[FilePath, Entry], bool]


class Listing(NamedTuple):
    """A stored listing as it was found.

    `scope` is the configuration that tells documents, `complete_for` the front matter keys for
    which all of them have facts. Whoever changes a listing gives it another `generation`.
    """

    row: int
    commit: ObjectId
    scope: str
    generation: int
    complete_for: str | None

    def is_complete(self, keys: Sequence[str]) -> bool:
        """Whether every document has facts under these keys."""
        return self.complete_for == pack_keys(keys)


class Listings(Facts):
    """The listings: made, moved, and told apart by configuration."""

    def listing(self, git_dir: str) -> Listing | None:
        """The listing of a work tree, at whatever commit it is."""
        return self._find("git_dir = ?", pack_path(git_dir))

    def listing_at(self, commit: ObjectId) -> Listing | None:
        """Any work tree's listing of this commit."""
        return self._find('"commit" = ?', pack_id(commit))

    def save_listing(
        self,
        git_dir: str,
        commit: ObjectId,
        scope: str,
        entries: Mapping[FilePath, Entry],
        is_document: IsDocument,
    ) -> None:
        """Keep all files and folders of a commit; the oldest of too many listings goes."""
        rows = list(_pack_entries(entries.items(), is_document))

        def save(connection: sqlite3.Connection) -> None:
            (generation,) = connection.execute(f"SELECT {NEXT_GENERATION}").fetchone()
            connection.execute("DELETE FROM listing WHERE git_dir = ?", [pack_path(git_dir)])
            cursor = connection.execute(
                'INSERT INTO listing (git_dir, "commit", scope, generation) VALUES (?, ?, ?, ?)',
                [pack_path(git_dir), pack_id(commit), scope, generation],
            )
            _put(connection, cursor.lastrowid, rows)
            connection.execute(
                "DELETE FROM listing WHERE id NOT IN"
                " (SELECT id FROM listing ORDER BY generation DESC LIMIT ?)",
                [LISTINGS_KEPT],
            )

        self.write(save)

    def move_listing(
        self,
        listing: Listing,
        commit: ObjectId,
        changes: Mapping[FilePath, Entry | None],
        is_document: IsDocument,
    ) -> bool:
        """Move it to another commit, which differs from its own by these files and folders.

        False: another process has changed it before.
        """
        gone = [(listing.row, pack_path(path)) for path, entry in changes.items() if entry is None]
        there = [(path, entry) for path, entry in changes.items() if entry is not None]
        rows = list(_pack_entries(there, is_document))

        def move(connection: sqlite3.Connection) -> bool:
            if not _change(connection, listing, commit, listing.scope):
                return False
            connection.executemany("DELETE FROM entry WHERE listing = ? AND path = ?", gone)
            _put(connection, listing.row, rows)
            return True

        return self.write(move)

    def rescope_listing(self, listing: Listing, scope: str, is_document: IsDocument) -> bool:
        """Tell its documents anew, under another configuration; False: it was changed before."""

        def rescope(connection: sqlite3.Connection) -> bool:
            if not _change(connection, listing, listing.commit, scope):
                return False
            entries = connection.execute(
                "SELECT path, mode, id, is_document FROM entry WHERE listing = ?", [listing.row]
            )
            changed = [
                (not was, listing.row, path)
                for path, mode, blob, was in entries.fetchall()
                if is_document(unpack_path(path), unpack_entry(mode, blob)) != bool(was)
            ]
            connection.executemany(
                "UPDATE entry SET is_document = ? WHERE listing = ? AND path = ?", changed
            )
            return True

        return self.write(rescope)

    def mark_complete(self, listing: Listing, keys: Sequence[str]) -> None:
        """Note that every document of the listing has facts, if that is so."""

        def mark(connection: sqlite3.Connection) -> bool:
            arguments = [pack_keys(keys), listing.row]
            if connection.execute(DOCUMENTS_WITHOUT_FACTS + "LIMIT 1", arguments).fetchone():
                return False
            connection.execute(
                "UPDATE listing SET complete_for = ? WHERE id = ? AND generation = ?",
                [*arguments, listing.generation],
            )
            return True

        self.write(mark)

    def _find(self, condition: str, value: str | bytes) -> Listing | None:
        found = self.rows(
            'SELECT id, "commit", scope, generation, complete_for FROM listing'  # noqa: S608  # two texts, above
            f" WHERE {condition} ORDER BY generation DESC LIMIT 1",
            [value],
        )
        listings = self.unpack(
            lambda: [Listing(row, unpack_id(commit), *rest) for row, commit, *rest in found]
        )
        return listings[0] if listings else None


def _pack_entries(
    entries: Iterable[tuple[FilePath, Entry]], is_document: IsDocument
) -> Iterator[tuple[str | bytes, int, bytes, bool]]:
    for path, entry in entries:
        yield pack_path(path), entry.mode, pack_id(entry.id), is_document(path, entry)


def _put(
    connection: sqlite3.Connection,
    row: int | None,
    entries: Iterable[tuple[str | bytes, int, bytes, bool]],
) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO entry (listing, path, mode, id, is_document)"  # noqa: S608  # a number
        f" VALUES ({row}, ?, ?, ?, ?)",
        entries,
    )


def _change(connection: sqlite3.Connection, listing: Listing, commit: ObjectId, scope: str) -> bool:
    changed = connection.execute(
        'UPDATE listing SET "commit" = ?, scope = ?, complete_for = NULL,'  # noqa: S608  # a constant
        f" generation = {NEXT_GENERATION} WHERE id = ? AND generation = ?",
        [pack_id(commit), scope, listing.row, listing.generation],
    )
    return changed.rowcount > 0

"""Listings: the files and folders of one commit for each work tree, updated when HEAD moves."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ubp.core.interruption import with_checkpoints
from ubp.core.model import MODE_TREE, Entry, FilePath, ObjectId, Page
from ubp.index.store.codec import (
    pack_id,
    pack_path,
    unpack_entry,
    unpack_facts,
    unpack_id,
    unpack_path,
)
from ubp.index.store.database import Database, Rows, chunks, marks, row_checksum
from ubp.index.store.facts import pack_keys
from ubp.index.store.schema import insertion, intact

# A listing takes 100 bytes a file; beyond so many work trees some run `git ls-tree` again.
MAX_LISTINGS = 8

# Never reused, so that a listing that was moved and moved back is not taken for the same one.
NEXT_GENERATION = "(SELECT ifnull(max(generation), 0) + 1 FROM listing)"

DOCUMENTS_WITHOUT_FACTS = """
SELECT path, entry.id FROM entry LEFT JOIN facts ON facts.blob = entry.id AND facts.keys = ?
WHERE entry.listing = ? AND is_document AND facts.id IS NULL
"""

INTACT = intact("entry")

BOUND_PAGES = f"""
SELECT path, blob, content, facts.checksum + entry.checksum
FROM facts CROSS JOIN entry INDEXED BY document
ON entry.listing = ? AND entry.id = facts.blob AND entry.is_document
WHERE facts.keys = ? AND facts.is_bound AND {INTACT} AND {intact("facts")}
"""  # noqa: S608  # ours

IsDocument = Callable[[FilePath, Entry], bool]


class ListingMovedError(Exception):
    """The listing has changed since it was read: the answer is unknown."""


class Listing(NamedTuple):
    """A stored listing as it was read.

    `scope` is the configuration that decides what a document is, `complete_for` the front matter
    keys for which all documents have facts, `bound_sum` the sum of the checksums of those with
    references. Every change of a listing gives it a new `generation`.
    """

    row: int
    commit: ObjectId
    scope: str
    generation: int
    complete_for: str | None
    bound_sum: int | None

    def is_complete(self, keys: Sequence[str]) -> bool:
        """Return whether every document has facts under these keys."""
        return self.complete_for == pack_keys(keys)


class ListingTable:
    """The listings of work trees.

    Each query of a listing's content is one statement (or a few) without a transaction, so that no
    reader keeps the log from being checkpointed. Another process may move the listing meanwhile:
    then the query raises ListingMovedError.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_work_tree(self, git_dir: str) -> Listing | None:
        """Return the listing of a work tree, at whatever commit it is."""
        return self._find("git_dir = ?", pack_path(git_dir))

    def at_commit(self, commit: ObjectId) -> Listing | None:
        """Return a listing of this commit, of any work tree."""
        return self._find('"commit" = ?', pack_id(commit))

    def save(
        self,
        git_dir: str,
        commit: ObjectId,
        scope: str,
        entries: Mapping[FilePath, Entry],
        is_document: IsDocument,
    ) -> None:
        """Save all files and folders of a commit; the oldest of too many listings is removed."""
        rows = list(_pack_entries(entries.items(), is_document))

        def save(connection: sqlite3.Connection) -> None:
            (generation,) = connection.execute(f"SELECT {NEXT_GENERATION}").fetchone()
            connection.execute("DELETE FROM listing WHERE git_dir = ?", [pack_path(git_dir)])
            (row,) = connection.execute("SELECT ifnull(max(id), 0) + 1 FROM listing").fetchone()
            connection.execute(
                'INSERT INTO listing (id, git_dir, "commit", scope, generation, entry_sum,'
                " checksum) VALUES (?1, ?2, ?3, ?4, ?5, 0, checksum('listing', ?1, ?2, ?3, ?4))",
                [row, pack_path(git_dir), pack_id(commit), scope, generation],
            )
            _insert(connection, row, rows)
            connection.execute(
                "UPDATE listing SET entry_sum ="
                " (SELECT ifnull(sum(checksum), 0) FROM entry WHERE listing = ?1) WHERE id = ?1",
                [row],
            )
            connection.execute(
                "DELETE FROM listing WHERE id NOT IN"
                " (SELECT id FROM listing ORDER BY generation DESC LIMIT ?)",
                [MAX_LISTINGS],
            )

        self._database.write(save)

    def move(
        self,
        listing: Listing,
        commit: ObjectId,
        changes: Mapping[FilePath, Entry | None],
        is_document: IsDocument,
    ) -> bool:
        """Move a listing to another commit, which differs from its own by these entries.

        False: another process has changed it meanwhile.
        """
        removed = [pack_path(path) for path, entry in changes.items() if entry is None]
        present = [(path, entry) for path, entry in changes.items() if entry is not None]
        rows = list(_pack_entries(present, is_document))

        def move(connection: sqlite3.Connection) -> bool:
            if not _update(connection, listing, commit, listing.scope):
                return False
            with _summing(connection, listing.row, [*removed, *(path for path, *_ in rows)]):
                connection.executemany(
                    f"DELETE FROM entry WHERE listing = {listing.row} AND path = ?",  # noqa: S608  # a number
                    [(path,) for path in removed],
                )
                _insert(connection, listing.row, rows)
            return True

        return self._database.write(move)

    def rescope(self, listing: Listing, scope: str, is_document: IsDocument) -> bool:
        """Mark its documents anew, under another configuration; False: see `move`."""

        def rescope(connection: sqlite3.Connection) -> bool:
            if not _update(connection, listing, listing.commit, scope):
                return False
            entries = connection.execute(
                f"SELECT path, mode, id, is_document FROM entry WHERE {INTACT} AND listing = ?",  # noqa: S608  # ours
                [listing.row],
            )
            changed = [
                (path, mode, blob, not was_document)
                for path, mode, blob, was_document in entries.fetchall()
                if is_document(unpack_path(path), unpack_entry(mode, blob)) != bool(was_document)
            ]
            with _summing(connection, listing.row, [path for path, *_ in changed]):
                _insert(connection, listing.row, changed)
            return True

        return self._database.write(rescope)

    def mark_complete(self, listing: Listing, keys: Sequence[str]) -> None:
        """Record that every document of the listing has facts, if so."""

        def mark(connection: sqlite3.Connection) -> bool:
            arguments = [pack_keys(keys), listing.row]
            if connection.execute(DOCUMENTS_WITHOUT_FACTS + "LIMIT 1", arguments).fetchone():
                return False
            rows = connection.execute(BOUND_PAGES, [listing.row, arguments[0]])
            connection.execute(
                "UPDATE listing SET complete_for = ?, bound_sum = ?"
                " WHERE id = ? AND generation = ?",
                [arguments[0], _bound_sum(rows.fetchall()), listing.row, listing.generation],
            )
            return True

        self._database.write(mark)

    def entries(self, listing: Listing, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        """Return the files and folders at these paths.

        Checksums are compared here, as in `names_of_files`.
        """
        rows = self._database.rows_in(
            "SELECT path, mode, id, is_document, checksum FROM entry WHERE listing = ? AND path IN",
            map(pack_path, paths),
            [listing.row],
        )
        self._check(listing)
        entries: dict[FilePath, Entry] = {}
        for path, mode, id_, is_document, checksum in with_checkpoints(rows):
            if row_checksum("entry", listing.row, path, mode, id_, is_document) != checksum:
                self._database.replace_damaged()
            entries[unpack_path(path)] = unpack_entry(mode, id_)
        return entries

    def files(self, listing: Listing, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Return everything below a folder ("" is the root) but folders."""
        condition, arguments = _below(folder)
        return self._query_entries(listing, f"mode <> {MODE_TREE} AND ({condition})", arguments)

    def children(self, listing: Listing, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Return the files and folders directly in a folder ("" is the root)."""
        condition, arguments = _below(folder)
        start = len(_prefix(folder)) + 1
        is_deeper = f"instr(substr(CAST(path AS BLOB), {start}), x'2f')"
        return self._query_entries(listing, f"({condition}) AND NOT {is_deeper}", arguments)

    def non_ascii_paths(self, listing: Listing) -> list[FilePath]:
        """Return the paths that may have several Unicode forms."""
        rows = self._database.rows(
            f"SELECT path FROM entry WHERE listing = ? AND {INTACT}"  # noqa: S608  # ours
            " AND length(path) <> length(CAST(path AS BLOB))",
            [listing.row],
        )
        self._check(listing)
        return [unpack_path(path) for (path,) in rows]

    def site_configs(self, listing: Listing) -> list[FilePath]:
        """Return the files whose names resemble those of site generators' configurations."""
        rows = self._database.rows(
            f"SELECT path FROM entry WHERE listing = ? AND {INTACT}"  # noqa: S608  # ours
            " AND (path LIKE '%\\_sidebar.md' ESCAPE '\\' OR NOT is_document) AND ("
            "path LIKE '%conf%.%' OR path LIKE '%docs%.y%ml' OR path LIKE '%hugo.%'"
            " OR path LIKE '%.eleventy.%' OR path LIKE '%quarto.y%ml' OR path LIKE '%sidebar.md'"
            " OR path LIKE '%myst.yml' OR path LIKE '%book.toml' OR path LIKE '%zensical.toml'"
            " OR path LIKE '%.obsidian/app.json' OR path LIKE '%versions.json'"
            " OR path LIKE '%mix.exs' OR path LIKE '%dendron.yml'"
            " OR path LIKE '%render-link%.html')",
            [listing.row],
        )
        self._check(listing)
        return [unpack_path(path) for (path,) in rows]

    def documents(self, listing: Listing) -> list[tuple[FilePath, ObjectId]]:
        """Return the documents and their blobs."""
        rows = self._database.rows(
            f"SELECT path, id FROM entry WHERE listing = ? AND {INTACT} AND is_document",  # noqa: S608  # ours
            [listing.row],
        )
        return self._documents(listing, rows)

    def count_documents(self, listing: Listing) -> int:
        """Return the number of documents."""
        rows = self._database.rows(
            "SELECT count(*) FROM entry WHERE listing = ? AND is_document", [listing.row]
        )
        self._check(listing)
        return sum(count for (count,) in rows)

    def documents_without_facts(
        self, listing: Listing, keys: Sequence[str]
    ) -> list[tuple[FilePath, ObjectId]]:
        """Return the documents without facts under these keys, and their blobs."""
        rows = self._database.rows(DOCUMENTS_WITHOUT_FACTS, [pack_keys(keys), listing.row])
        return self._documents(listing, rows)

    def bound_pages(self, listing: Listing, keys: Sequence[str]) -> list[Page]:
        """Return the documents with references or problems, in no order.

        Starts from the facts: of 26,000 notes most name no source (1 ms instead of 30). Without
        statistics SQLite would look each one up by the primary key's first column (110 ms).
        """
        rows = self._database.rows(BOUND_PAGES, [listing.row, pack_keys(keys)])
        self._check(listing)
        if listing.is_complete(keys) and _bound_sum(rows) != listing.bound_sum:
            self._database.replace_damaged()  # an index lacks rows
        facts = unpack_facts([content for _, _, content, _ in rows])
        return [
            Page(unpack_path(path), unpack_id(blob), page_facts)
            for (path, blob, *_), page_facts in zip(rows, facts, strict=True)
        ]

    def names_of_files(
        self, listing: Listing, kinds: Sequence[str]
    ) -> tuple[dict[ObjectId, bytes], list[tuple[FilePath, Entry]]]:
        """Return what `BlobTable` has of the files, documents apart, by blob; and the others.

        Checksums are compared here: with 2,000 sources, a function that SQLite calls for each row
        takes 3 ms, and this loop 1.4.
        """
        existing = [
            kind
            for kind in kinds
            if self._database.rows("SELECT 1 FROM names WHERE kind = ? LIMIT 1", [kind])
        ]
        # A damaged entry is not looked for: its id is none of a blob that has names.
        rows = self._database.rows(
            "SELECT id, kind, content, names.checksum, CASE WHEN content IS NULL THEN path END,"  # noqa: S608  # ours
            f" CASE WHEN content IS NULL THEN mode END, CASE WHEN content IS NULL THEN {INTACT} END"
            f" FROM entry LEFT JOIN names ON names.blob = entry.id AND kind IN ({marks(existing)})"
            f" WHERE listing = ? AND NOT is_document AND mode <> {MODE_TREE}",
            [*existing, listing.row],
        )
        self._check(listing)
        stored: dict[ObjectId, bytes] = {}
        missing: list[tuple[FilePath, Entry]] = []
        for id_, kind, content, checksum, path, mode, _ in rows:
            if content is None:
                missing.append((unpack_path(path), unpack_entry(mode, id_)))
            elif row_checksum("names", kind, id_, content) != checksum:
                self._database.replace_damaged()
            else:
                stored[unpack_id(id_)] = content
        return stored, missing

    def files_of(
        self, listing: Listing, blobs: Collection[ObjectId]
    ) -> list[tuple[FilePath, Entry]]:
        """Return the files that have one of these blobs, documents apart."""
        rows = self._database.rows_in(
            f"SELECT path, mode, id, {INTACT} FROM entry"  # noqa: S608  # ours
            " WHERE listing = ? AND NOT is_document AND id IN",
            map(pack_id, blobs),
            [listing.row],
        )
        return self._entries(listing, [row[:3] for row in rows])

    def _find(self, condition: str, value: str | bytes) -> Listing | None:
        rows = self._database.rows(
            f'SELECT {intact("listing")}, id, "commit", scope, generation,'  # noqa: S608  # two texts, above
            " complete_for, bound_sum, entry_sum ="
            " (SELECT ifnull(sum(checksum), 0) FROM entry WHERE entry.listing = listing.id)"
            f" FROM listing WHERE {condition} ORDER BY generation DESC LIMIT 1",
            [value],
        )
        if not all(is_whole for *_, is_whole in rows):
            self._database.replace_damaged()
        listings = [Listing(row, unpack_id(commit), *rest) for _, row, commit, *rest, _ in rows]
        return listings[0] if listings else None

    def _query_entries(
        self, listing: Listing, condition: str, arguments: Sequence[object]
    ) -> list[tuple[FilePath, Entry]]:
        rows = self._database.rows(
            f"SELECT path, mode, id FROM entry WHERE listing = ? AND ({condition}) AND {INTACT}",  # noqa: S608  # from above
            [listing.row, *arguments],
        )
        return self._entries(listing, rows)

    def _entries(self, listing: Listing, rows: Rows) -> list[tuple[FilePath, Entry]]:
        self._check(listing)
        return [
            (unpack_path(path), unpack_entry(mode, id_))
            for path, mode, id_ in with_checkpoints(rows)
        ]

    def _documents(self, listing: Listing, rows: Rows) -> list[tuple[FilePath, ObjectId]]:
        self._check(listing)
        return [(unpack_path(path), unpack_id(blob)) for path, blob in with_checkpoints(rows)]

    def _check(self, listing: Listing) -> None:
        # Called after the rows were read: generations only grow, so they were this listing's.
        is_same = self._database.rows(
            f'SELECT {intact("listing")} FROM listing WHERE id = ? AND "commit" = ?'  # noqa: S608  # ours
            " AND scope = ? AND generation = ?",
            [listing.row, pack_id(listing.commit), listing.scope, listing.generation],
        )
        if not is_same:
            raise ListingMovedError


def _bound_sum(rows: Rows) -> int:
    """Return the sum of the checksums of BOUND_PAGES; none is zero, so that it counts them, too."""
    return sum(checksum + 1 for *_, checksum in rows)


def _pack_entries(
    entries: Iterable[tuple[FilePath, Entry]], is_document: IsDocument
) -> Iterator[tuple[str | bytes, int, bytes, bool]]:
    for path, entry in entries:
        yield pack_path(path), entry.mode, pack_id(entry.id), is_document(path, entry)


def _insert(
    connection: sqlite3.Connection,
    row: int,
    entries: Iterable[tuple[str | bytes, int, bytes, bool]],
) -> None:
    connection.executemany(
        insertion("entry", "INSERT OR REPLACE"), ((row, *entry) for entry in entries)
    )


@contextmanager
def _summing(
    connection: sqlite3.Connection, row: int, paths: Sequence[str | bytes]
) -> Iterator[None]:
    """Change a listing's sum by what its entries at these paths change."""
    before = _sum_at(connection, row, paths)
    yield
    change = _sum_at(connection, row, paths) - before
    connection.execute("UPDATE listing SET entry_sum = entry_sum + ? WHERE id = ?", [change, row])


def _sum_at(connection: sqlite3.Connection, row: int, paths: Sequence[str | bytes]) -> int:
    return sum(
        checksum
        for chunk in chunks(paths)
        for (checksum,) in connection.execute(
            f"SELECT checksum FROM entry WHERE listing = ? AND path IN ({marks(chunk)})",  # noqa: S608  # "?,?"
            [row, *chunk],
        )
    )


def _update(connection: sqlite3.Connection, listing: Listing, commit: ObjectId, scope: str) -> bool:
    updated = connection.execute(
        'UPDATE listing SET "commit" = ?1, scope = ?2, complete_for = NULL,'  # noqa: S608  # ours
        f" checksum = checksum('listing', id, git_dir, ?1, ?2), generation = {NEXT_GENERATION}"
        f" WHERE id = ?3 AND generation = ?4 AND {intact('listing')}",
        [pack_id(commit), scope, listing.row, listing.generation],
    )
    return updated.rowcount > 0


def _prefix(folder: FilePath) -> bytes:
    path = pack_path(folder)
    return (path if isinstance(path, bytes) else path.encode()) + b"/" if folder else b""


def _below(folder: FilePath) -> tuple[str, list[object]]:
    # SQLite sorts a folder's undecodable names (BLOB) apart from the others (TEXT).
    prefix = _prefix(folder)
    if not prefix:
        return "1", []
    end = prefix[:-1] + b"0"  # the character after "/"
    ranges: list[object] = [prefix, end]
    condition = "path >= ? AND path < ?"
    path = pack_path(folder)
    if isinstance(path, str):
        ranges += [path + "/", path + "0"]
        condition = f"{condition} OR {condition}"
    return condition, ranges

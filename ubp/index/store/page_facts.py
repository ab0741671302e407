"""Facts of pages' Markdown by blob: names, sections, links, chunks, their words and text keys."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ubp.core.model import Chunk, Link, ObjectId, Section
from ubp.core.text import without_cjk
from ubp.index.store.codec import (
    PageNames,
    PageRows,
    pack_id,
    unpack_chunks,
    unpack_id,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.index.store.database import Database, Rows, chunks
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.vectors import prune_vectors, split

LINK_COLUMNS = (
    'kind, target, anchor, link_type, label, line, "column",'
    " byte_start, byte_end, context, section, meant_type"
)
CHUNK_COLUMNS = "section, line_start, line_end, byte_start, byte_end, token_count"

# Facts that no work tree needs are kept for the next switch of branches, until they are this many
# times what work trees have. The full text cannot remove a single chunk: it is rebuilt then.
STALE_ROWS_SHARE = 2
SPARE_PAGES = 1000
SPARE_CHUNKS = 4000


class PageFactsTable:
    """The Markdown facts of pages. Those of a blob never change.

    Not an attribute of `Store`, which every command imports: it is built where links are needed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def missing(self, blobs: Collection[ObjectId]) -> set[ObjectId]:
        """Return those of these pages whose facts the table lacks."""
        known = {blob for (blob,) in self._rows("SELECT blob FROM page WHERE blob IN", blobs)}
        return {blob for blob in blobs if pack_id(blob) not in known}

    def save(self, pages: Mapping[ObjectId, PageRows]) -> None:
        """Save facts. Call it in batches, so that other writers do not wait long."""

        def save(connection: sqlite3.Connection) -> None:
            for blob, rows in pages.items():
                page = connection.execute(
                    "INSERT OR IGNORE INTO page (blob, title, aliases, sections, anchors, texts)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    [pack_id(blob), *rows[:5]],
                )
                if page.rowcount:
                    _insert_page(connection, page.lastrowid, rows)

        if pages:
            self._database.write(save)

    def names(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageNames]:
        """Return titles and aliases."""
        rows = self._rows("SELECT blob, title, aliases FROM page WHERE blob IN", blobs)
        found = self._database.unpack(
            lambda: {
                unpack_id(blob): PageNames(title, unpack_names(aliases) if aliases != "[]" else ())
                for blob, title, aliases in rows
            }
        )
        return found or {}

    def links(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Link, ...]]:
        """Return the links of those of these pages that the table has, in order."""
        rows = self._rows(
            f"SELECT blob, {LINK_COLUMNS} FROM page LEFT JOIN link ON link.page = page.id"  # noqa: S608  # ours
            " WHERE blob IN",
            blobs,
            " ORDER BY page.id, link.number",
        )

        def unpack() -> dict[ObjectId, tuple[Link, ...]]:
            return {
                unpack_id(blob): unpack_links(row[1:] for row in group if row[1] is not None)
                for blob, group in groupby(rows, itemgetter(0))
            }

        return self._database.unpack(unpack) or {}

    def sections(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Section, ...]]:
        """Return the sections of these pages."""
        rows = self._rows("SELECT blob, sections FROM page WHERE blob IN", blobs)
        return (
            self._database.unpack(
                lambda: {unpack_id(blob): unpack_sections(text) for blob, text in rows}
            )
            or {}
        )

    def anchors(self, blobs: Collection[ObjectId]) -> dict[ObjectId, frozenset[str]]:
        """Return all that a link may name after `#`, case-folded."""
        rows = self._rows("SELECT blob, anchors FROM page WHERE blob IN", blobs)
        return (
            self._database.unpack(
                lambda: {unpack_id(blob): frozenset(unpack_names(text)) for blob, text in rows}
            )
            or {}
        )

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """Return the chunks of these pages in order."""
        rows = self._rows(
            f"SELECT blob, {CHUNK_COLUMNS} FROM page JOIN chunk ON chunk.page = page.id"  # noqa: S608  # ours
            " WHERE blob IN",
            blobs,
            " ORDER BY page, number",
        )

        def unpack() -> dict[ObjectId, tuple[Chunk, ...]]:
            return {
                unpack_id(blob): unpack_chunks(row[1:] for row in group)
                for blob, group in groupby(rows, itemgetter(0))
            }

        return self._database.unpack(unpack) or {}

    def requesting(self, names: Iterable[int]) -> set[ObjectId]:
        """Return the pages with a link to one of these names (checksums)."""
        rows = self._database.rows_in(
            "SELECT DISTINCT blob FROM asked JOIN page ON page.id = asked.page WHERE name IN",
            set(names),
        )
        return {unpack_id(blob) for (blob,) in rows}

    def forget(self, blobs: Collection[ObjectId]) -> None:
        """Remove the facts of these pages, so that they are read again."""
        rows = [(pack_id(blob),) for blob in blobs]

        def forget(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM page WHERE blob = ?", rows)
            _remove_orphans(connection)

        self._database.write(forget)

    def is_outgrown(self) -> bool:
        """Return whether most pages are of no work tree any more."""
        ((pages, used),) = self._database.rows(
            "SELECT (SELECT count(*) FROM page), (SELECT count(DISTINCT blob) FROM node)"
        ) or [(0, 0)]
        return bool(pages > STALE_ROWS_SHARE * used + SPARE_PAGES)

    def prune(self, model: bytes | None = None) -> int:
        """Remove the pages that no work tree's commit has, and their vectors; return how many.

        With `model` (a fingerprint) the vectors of all other models are removed too.
        """
        pages = 0

        def prune(connection: sqlite3.Connection) -> None:
            nonlocal pages
            pages = connection.execute(
                "DELETE FROM page WHERE blob NOT IN (SELECT blob FROM node WHERE blob IS NOT NULL)"
                " AND blob NOT IN (SELECT id FROM entry WHERE is_document)"
            ).rowcount
            _remove_orphans(connection)
            prune_vectors(connection, model)

        self._database.write(prune)
        return pages

    def _rows(self, select: str, blobs: Iterable[ObjectId], order: str = "") -> Rows:
        return self._database.rows_in(select, map(pack_id, set(blobs)), order=order)


def _remove_orphans(connection: sqlite3.Connection) -> None:
    """Remove what belongs to removed pages; everything, if most words do."""
    connection.execute("DELETE FROM asked WHERE page NOT IN (SELECT id FROM page)")
    ((words, used),) = connection.execute(
        "SELECT (SELECT count(*) FROM words_docsize), (SELECT count(*) FROM chunk)"
    )
    if words > STALE_ROWS_SHARE * used + SPARE_CHUNKS:
        clear_pages(connection)
    connection.execute("UPDATE graph SET is_learned = 0")


def clear_pages(connection: sqlite3.Connection) -> None:
    """Remove the facts of all pages."""
    for table in ("words", "stems"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608  # ours
    connection.execute("DELETE FROM page")
    connection.execute("DELETE FROM asked")


def _insert_page(connection: sqlite3.Connection, page: int | None, rows: PageRows) -> None:
    connection.executemany(
        f"INSERT INTO link (page, number, {LINK_COLUMNS})"  # noqa: S608  # a number
        f" VALUES ({page}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *link) for number, link in enumerate(rows.links)],
    )
    connection.executemany(
        f"INSERT OR IGNORE INTO asked (name, page) VALUES (?, {page})",  # noqa: S608  # a number
        [(name,) for name in rows.requested],
    )
    for number, (*columns, words) in enumerate(rows.chunks):
        _insert_chunk(connection, [page, number, *columns], words)


def _insert_chunk(
    connection: sqlite3.Connection, columns: Sequence[object], words: Sequence[str]
) -> None:
    chunk = connection.execute(
        f"INSERT INTO chunk (page, number, {CHUNK_COLUMNS})"  # noqa: S608  # ours
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        columns,
    ).lastrowid
    for table, texts in (("words", words), ("stems", map(without_cjk, words))):
        connection.execute(
            f"INSERT INTO {table} (rowid, title, headings, body, aliases) VALUES (?, ?, ?, ?, ?)",  # noqa: S608  # ours
            [chunk, *texts],
        )


class TextRows(NamedTuple):
    """What the texts of a page's chunks are built from: heading path, first and last byte."""

    title: str | None
    places: tuple[tuple[tuple[str, ...], int, int], ...]
    keys: bytes


class ChunkPlace(NamedTuple):
    """The place of a chunk in its page."""

    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class TextTable:
    """The texts of pages' chunks; of a text itself only the key is stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def texts(self, graph: StoredGraphVersion) -> dict[ObjectId, bytes]:
        """Return the keys of the texts of each page of a stored graph."""
        return self._texts(
            self._database.rows(
                "SELECT blob, texts FROM page WHERE blob IN"
                " (SELECT blob FROM node WHERE graph = ? AND blob IS NOT NULL)",
                [graph.row],
            )
        )

    def texts_of(self, blobs: Collection[ObjectId]) -> dict[ObjectId, bytes]:
        """Return the keys of the texts of these pages."""
        return self._texts(
            self._database.rows_in(
                "SELECT blob, texts FROM page WHERE blob IN", map(pack_id, blobs)
            )
        )

    def text_rows(self, blobs: Collection[ObjectId]) -> dict[ObjectId, TextRows]:
        """Return what the texts of these pages are built from."""
        pages = self._database.rows_in(
            "SELECT id, blob, title, sections, texts FROM page WHERE blob IN", map(pack_id, blobs)
        )
        places: dict[int, list[tuple[int, int, int]]] = {}
        for page, section, start, end in self._database.rows_in(
            "SELECT page, section, byte_start, byte_end FROM chunk WHERE page IN",
            [row[0] for row in pages],
            order=" ORDER BY page, number",
        ):
            places.setdefault(page, []).append((section, start, end))

        def unpack() -> dict[ObjectId, TextRows]:
            return {
                unpack_id(blob): TextRows(
                    title, _with_headings(places.get(page, ()), sections), texts
                )
                for page, blob, title, sections, texts in pages
            }

        return self._database.unpack(unpack) or {}

    def places(
        self, chunk_numbers: Sequence[tuple[ObjectId, int]]
    ) -> dict[tuple[ObjectId, int], ChunkPlace]:
        """Return the places of these chunks (their page's blob, their number)."""
        rows: Rows = []
        for batch in chunks(chunk_numbers):
            middle = len(batch) // 2  # a chunk is two arguments
            for half in (batch[:middle], batch[middle:]):
                rows += self._places(half)

        def unpack() -> dict[tuple[ObjectId, int], ChunkPlace]:
            return {
                (unpack_id(blob), number): ChunkPlace(unpack_names(path), *lines)
                for blob, number, path, *lines in rows
            }

        return self._database.unpack(unpack) or {}

    def _places(self, wanted: Sequence[tuple[ObjectId, int]]) -> Rows:
        if not wanted:
            return []
        pairs = ",".join(["(?,?)"] * len(wanted))
        return self._database.rows(
            f"WITH wanted (blob, number) AS (VALUES {pairs})"  # noqa: S608  # "(?,?)"
            " SELECT page.blob, chunk.number,"
            " json_extract(page.sections, '$[' || chunk.section || '][2]'),"
            " line_start, line_end, byte_start, byte_end FROM wanted"
            " JOIN page ON page.blob = wanted.blob"
            " JOIN chunk ON chunk.page = page.id AND chunk.number = wanted.number",
            [value for blob, number in wanted for value in (pack_id(blob), number)],
        )

    def _texts(self, rows: Rows) -> dict[ObjectId, bytes]:
        return (
            self._database.unpack(
                lambda: {unpack_id(blob): _check_keys(texts) for blob, texts in rows}
            )
            or {}
        )


def _with_headings(
    places: Sequence[tuple[int, int, int]], sections: str
) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    paths = dict(enumerate(section.heading_path for section in unpack_sections(sections)))
    if any(section not in paths for section, *_ in places):
        raise ValueError("a chunk is of one of its page's sections")
    return tuple((paths[section], start, end) for section, start, end in places)


def _check_keys(keys: bytes) -> bytes:
    split(keys)
    return keys

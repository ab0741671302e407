"""What pages' Markdown says, keyed by their blobs: names, sections, chunks, links, words.

The texts of chunks, by their keys: which pages have them, where they stand.
"""

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
from ubp.index.store.database import Database, Rows, chunks, marks
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.vectors import prune_vectors, split

LINK_COLUMNS = (
    'kind, target, anchor, link_type, label, line, "column",'
    " byte_start, byte_end, context, section, meant_type"
)
CHUNK_COLUMNS = "section, line_start, line_end, byte_start, byte_end, token_count"

# What nobody needs is kept for the next switch of branches, until it is this many times what the
# work trees have. The full text can take out no single chunk, so that it is then made anew.
STALE_ROWS_SHARE = 2
SPARE_PAGES = 1000
SPARE_CHUNKS = 4000


class PageFactsTable:
    """The graph facts of pages. Written once; they can only be missing.

    No part of `Store`, whose import is part of every command: it is made where links are asked for.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def missing(self, blobs: Collection[ObjectId]) -> set[ObjectId]:
        """Those of these pages of which nothing is known."""
        known = {blob for (blob,) in self._rows("SELECT blob FROM page WHERE blob IN", blobs)}
        return {blob for blob in blobs if pack_id(blob) not in known}

    def save(self, pages: Mapping[ObjectId, PageRows]) -> None:
        """Keep these; call it in batches, so that no writer holds others up."""

        def save(connection: sqlite3.Connection) -> None:
            for blob, rows in pages.items():
                page = connection.execute(
                    "INSERT OR IGNORE INTO page (blob, title, aliases, sections, anchors, texts)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    [pack_id(blob), *rows[:5]],
                )
                if page.rowcount:
                    _put_page(connection, page.lastrowid, rows)

        if pages:
            self._database.write(save)

    def naming(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageNames]:
        """Titles and aliases."""
        rows = self._rows("SELECT blob, title, aliases FROM page WHERE blob IN", blobs)
        found = self._database.unpack(
            lambda: {
                unpack_id(blob): PageNames(title, unpack_names(aliases) if aliases != "[]" else ())
                for blob, title, aliases in rows
            }
        )
        return found or {}

    def links(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Link, ...]]:
        """The links of these pages in order; what is not known is left out."""
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
        """The sections of these pages."""
        rows = self._rows("SELECT blob, sections FROM page WHERE blob IN", blobs)
        return (
            self._database.unpack(
                lambda: {unpack_id(blob): unpack_sections(text) for blob, text in rows}
            )
            or {}
        )

    def anchors(self, blobs: Collection[ObjectId]) -> dict[ObjectId, frozenset[str]]:
        """All that a link may name behind the pages' paths, folded."""
        rows = self._rows("SELECT blob, anchors FROM page WHERE blob IN", blobs)
        return (
            self._database.unpack(
                lambda: {unpack_id(blob): frozenset(unpack_names(text)) for blob, text in rows}
            )
            or {}
        )

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """The chunks of these pages in order."""
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

    def asking(self, names: Iterable[int]) -> set[ObjectId]:
        """The pages with a link that asks for one of these names, by their checksums."""
        found: set[ObjectId] = set()
        for chunk in chunks(set(names)):
            rows = self._database.rows(
                "SELECT DISTINCT blob FROM asked JOIN page ON page.id = asked.page"  # noqa: S608  # "?,?"
                f" WHERE name IN ({marks(chunk)})",
                chunk,
            )
            found.update(unpack_id(blob) for (blob,) in rows)
        return found

    def forget(self, blobs: Collection[ObjectId]) -> None:
        """Let these pages be read again."""
        rows = [(pack_id(blob),) for blob in blobs]

        def forget(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM page WHERE blob = ?", rows)
            _sweep(connection)

        self._database.write(forget)

    def is_outgrown(self) -> bool:
        """Whether most of what is known is of no snapshot any more."""
        ((known, named),) = self._database.rows(
            "SELECT (SELECT count(*) FROM page), (SELECT count(DISTINCT blob) FROM node)"
        ) or [(0, 0)]
        return bool(known > STALE_ROWS_SHARE * named + SPARE_PAGES)

    def prune(self, model: bytes | None = None) -> int:
        """Forget the pages that no work tree's commit has; tell how many.

        Their vectors go too, and with `model` (a fingerprint) those of all other models.
        """
        pages = 0

        def prune(connection: sqlite3.Connection) -> None:
            nonlocal pages
            pages = connection.execute(
                "DELETE FROM page WHERE blob NOT IN (SELECT blob FROM node WHERE blob IS NOT NULL)"
                " AND blob NOT IN (SELECT id FROM entry WHERE is_document)"
            ).rowcount
            _sweep(connection)
            prune_vectors(connection, model)

        self._database.write(prune)
        return pages

    def _rows(self, select: str, blobs: Iterable[ObjectId], order: str = "") -> Rows:
        rows: Rows = []
        for chunk in chunks(set(blobs)):
            sql = f"{select} ({marks(chunk)}){order}"
            rows += self._database.rows(sql, list(map(pack_id, chunk)))
        return rows


def _sweep(connection: sqlite3.Connection) -> None:
    """Take away what belongs to pages that are gone; most words being such, take away all."""
    connection.execute("DELETE FROM asked WHERE page NOT IN (SELECT id FROM page)")
    ((words, live),) = connection.execute(
        "SELECT (SELECT count(*) FROM words_docsize), (SELECT count(*) FROM chunk)"
    )
    if words > STALE_ROWS_SHARE * live + SPARE_CHUNKS:
        clear_pages(connection)
    connection.execute("UPDATE graph SET is_learned = 0")


def clear_pages(connection: sqlite3.Connection) -> None:
    """Take away everything that pages say."""
    for table in ("words", "stems"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608  # ours
    connection.execute("DELETE FROM page")
    connection.execute("DELETE FROM asked")


def _put_page(connection: sqlite3.Connection, page: int | None, rows: PageRows) -> None:
    connection.executemany(
        f"INSERT INTO link (page, number, {LINK_COLUMNS})"  # noqa: S608  # a number
        f" VALUES ({page}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *link) for number, link in enumerate(rows.links)],
    )
    connection.executemany(
        f"INSERT OR IGNORE INTO asked (name, page) VALUES (?, {page})",  # noqa: S608  # a number
        [(name,) for name in rows.asked],
    )
    for number, (*columns, words) in enumerate(rows.chunks):
        _put_chunk(connection, [page, number, *columns], words)


def _put_chunk(
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
    """What is needed to tell the texts of a page's chunks: heading path, first and last byte."""

    title: str | None
    places: tuple[tuple[tuple[str, ...], int, int], ...]
    keys: bytes


class ChunkPlace(NamedTuple):
    """Where a chunk stands in its page."""

    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class TextTable:
    """The texts of the pages that were learned; of a text itself only the key is kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def texts(self, graph: StoredGraphVersion) -> dict[ObjectId, bytes]:
        """The keys of the texts of each page of a stored graph."""
        return self._texts(
            self._database.rows(
                "SELECT blob, texts FROM page WHERE blob IN"
                " (SELECT blob FROM node WHERE graph = ? AND blob IS NOT NULL)",
                [graph.row],
            )
        )

    def texts_of(self, blobs: Collection[ObjectId]) -> dict[ObjectId, bytes]:
        """The keys of the texts of these pages."""
        rows: Rows = []
        for chunk in chunks(blobs):
            rows += self._database.rows(
                f"SELECT blob, texts FROM page WHERE blob IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                list(map(pack_id, chunk)),
            )
        return self._texts(rows)

    def text_rows(self, blobs: Collection[ObjectId]) -> dict[ObjectId, TextRows]:
        """What is needed to tell the texts of these pages."""
        pages: Rows = []
        places: dict[int, list[tuple[int, int, int]]] = {}
        for chunk in chunks(blobs):
            found = self._database.rows(
                "SELECT id, blob, title, sections, texts FROM page"  # noqa: S608  # "?,?"
                f" WHERE blob IN ({marks(chunk)})",
                list(map(pack_id, chunk)),
            )
            pages += found
            for page, *place in self._database.rows(
                "SELECT page, section, byte_start, byte_end FROM chunk"  # noqa: S608  # "?,?"
                f" WHERE page IN ({marks(found)}) ORDER BY page, number",
                [row[0] for row in found],
            ):
                places.setdefault(page, []).append((place[0], place[1], place[2]))

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
        """Where these chunks (their page's blob, their number) stand."""
        rows: Rows = []
        for some in chunks(chunk_numbers):
            for part in (some[: len(some) // 2], some[len(some) // 2 :]):
                rows += self._places(part)

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
                lambda: {unpack_id(blob): _checked(texts) for blob, texts in rows}
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


def _checked(keys: bytes) -> bytes:
    split(keys)
    return keys

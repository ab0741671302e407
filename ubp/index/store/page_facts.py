"""Facts of pages' Markdown by blob: names, sections, links, chunks, their words and text keys."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from ubp.core.model import Chunk, Link, ObjectId, PageFields, Section
from ubp.core.text import without_cjk
from ubp.index.store.codec import (
    PageNames,
    PageRows,
    pack_id,
    unpack_addresses,
    unpack_anchors,
    unpack_chunks,
    unpack_fields,
    unpack_id,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.index.store.database import Database, Rows, chunks, last_number, later_generation
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.schema import CHECKED, insertion, intact
from ubp.index.store.vectors import prune_vectors
from ubp.markdown.sites.anchors import PageAnchors

# After the page and the number in it.
LINK_COLUMNS = ", ".join(f"link.{column}" for column in CHECKED["link"].columns[2:])
CHUNK_COLUMNS = ", ".join(f"chunk.{column}" for column in CHECKED["chunk"].columns[3:])

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
            statement = insertion("page", "INSERT OR IGNORE")
            last_chunk = last_number(connection, "chunk")
            for blob, rows in pages.items():
                counts = len(rows.links), len(rows.chunks)
                page = connection.execute(statement, [pack_id(blob), *rows[:7], *counts])
                if page.rowcount:
                    _insert_page(connection, (page.lastrowid or 0, pack_id(blob)), rows, last_chunk)
                    last_chunk += len(rows.chunks)

        if pages:
            self._database.write(save)

    def names(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageNames]:
        """Return titles, aliases and addresses."""
        rows = self._rows(_of_pages("blob, title, aliases, addresses"), blobs)
        return {
            unpack_id(blob): PageNames(
                title,
                unpack_names(aliases) if aliases != "[]" else (),
                unpack_addresses(addresses),
            )
            for blob, title, aliases, addresses in rows
        }

    def fields(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageFields]:
        """Return the fields of these pages' front matter."""
        rows = self._rows(_of_pages("blob, fields"), blobs)
        return {unpack_id(blob): unpack_fields(text) for blob, text in rows}

    def links(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Link, ...]]:
        """Return the links of those of these pages that the table has, in order."""
        return {
            blob: unpack_links(row[2:] for row in rows)
            for blob, rows in self._parts("link", LINK_COLUMNS, blobs).items()
        }

    def sections(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Section, ...]]:
        """Return the sections of these pages."""
        rows = self._rows(_of_pages("blob, sections"), blobs)
        return {unpack_id(blob): unpack_sections(text) for blob, text in rows}

    def anchors(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageAnchors]:
        """Return what these pages say about their anchors."""
        rows = self._rows(_of_pages("blob, anchors"), blobs)
        return {unpack_id(blob): unpack_anchors(text) for blob, text in rows}

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """Return the chunks of these pages in order."""
        return {
            blob: unpack_chunks(row[2:] for row in rows)
            for blob, rows in self._parts("chunk", CHUNK_COLUMNS, blobs).items()
        }

    def requesting(self, names: Iterable[int]) -> set[ObjectId]:
        """Return the pages with a link to one of these names (checksums)."""
        rows = self._database.rows_in(
            "SELECT DISTINCT blob FROM asked JOIN page ON page.id = asked.page"  # noqa: S608  # ours
            f" WHERE {intact('asked')} AND name IN",
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

    def _parts(
        self, table: Literal["link", "chunk"], columns: str, blobs: Collection[ObjectId]
    ) -> dict[ObjectId, Rows]:
        """Return the links or the chunks of these pages: page, number and columns, in order."""
        counts = self._rows(_of_pages(f"blob, {table}s"), blobs)
        rows = self._rows(
            f"SELECT blob, {table}.number, {columns} FROM page"  # noqa: S608  # ours
            f" JOIN {table} ON {table}.page = page.id WHERE {intact(table)} AND blob IN",
            blobs,
            f" ORDER BY page.id, {table}.number",
        )
        parts = {blob: list(group) for blob, group in groupby(rows, itemgetter(0))}
        for blob, count in counts:
            if [row[1] for row in parts.setdefault(blob, [])] != list(range(count)):
                self._database.replace_damaged()
        return {unpack_id(blob): parts[blob] for blob, _ in counts}

    def _rows(self, select: str, blobs: Iterable[ObjectId], order: str = "") -> Rows:
        return self._database.rows_in(select, map(pack_id, set(blobs)), order=order)


def _of_pages(columns: str) -> str:
    return f"SELECT {columns} FROM page WHERE {intact('page')} AND blob IN"  # noqa: S608  # ours


def _remove_orphans(connection: sqlite3.Connection) -> None:
    """Remove what belongs to removed pages; everything, if most words do."""
    connection.execute("DELETE FROM asked WHERE page NOT IN (SELECT id FROM page)")
    ((words, used),) = connection.execute(
        "SELECT (SELECT count(*) FROM words_docsize), (SELECT count(*) FROM chunk)"
    )
    if words > STALE_ROWS_SHARE * used + SPARE_CHUNKS:
        clear_pages(connection)
    note_removed_pages(connection)


def note_removed_pages(connection: sqlite3.Connection) -> None:
    """Mark every graph as changed, so that open views look for pages that they still need."""
    connection.execute(
        f"UPDATE graph SET is_learned = 0, generation = {later_generation('graph')}"  # noqa: S608  # ours
    )


def clear_pages(connection: sqlite3.Connection) -> None:
    """Remove the facts of all pages."""
    for table in ("words", "stems"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608  # ours
    connection.execute("DELETE FROM page")
    connection.execute("DELETE FROM asked")


def _insert_page(
    connection: sqlite3.Connection, page: tuple[int, bytes], rows: PageRows, last_chunk: int
) -> None:
    """Insert what belongs to a page (its row and blob); its chunks follow the last one."""
    row, blob = page
    connection.executemany(
        _insertion_of_part("link"),
        [(row, blob, number, *link) for number, link in enumerate(rows.links)],
    )
    connection.executemany(
        insertion("asked", "INSERT OR IGNORE"), [(name, row) for name in rows.requested]
    )
    chunks = [(last_chunk + place, *chunk) for place, chunk in enumerate(rows.chunks, 1)]
    connection.executemany(
        _insertion_of_part("chunk"),
        [(row, blob, chunk, place, *columns) for place, (chunk, *columns, _) in enumerate(chunks)],
    )
    for chunk, *_, words in chunks:
        for table, texts in (("words", words), ("stems", map(without_cjk, words))):
            connection.execute(
                f"INSERT INTO {table} (rowid, title, headings, body, aliases)"  # noqa: S608  # ours
                " VALUES (?, ?, ?, ?, ?)",
                [chunk, *texts],
            )


def _insertion_of_part(table: str) -> str:
    """Return the statement for a page's row, its blob, and the columns of a part of it."""
    columns = CHECKED[table].columns[1:]
    marks = ", ".join(f"?{number}" for number in range(3, len(columns) + 3))
    return (
        f"INSERT INTO {table} (page, {', '.join(columns)}, checksum)"  # noqa: S608  # ours
        f" VALUES (?1, {marks}, checksum('{table}', ?2, {marks}))"
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
                f"{_of_pages('blob, texts')}"  # noqa: S608  # ours
                " (SELECT blob FROM node WHERE graph = ? AND blob IS NOT NULL)",
                [graph.row],
            )
        )

    def texts_of(self, blobs: Collection[ObjectId]) -> dict[ObjectId, bytes]:
        """Return the keys of the texts of these pages."""
        return self._texts(self._database.rows_in(_of_pages("blob, texts"), map(pack_id, blobs)))

    def text_rows(self, blobs: Collection[ObjectId]) -> dict[ObjectId, TextRows]:
        """Return what the texts of these pages are built from."""
        pages = self._database.rows_in(
            _of_pages("id, blob, title, sections, texts"), map(pack_id, blobs)
        )
        places: dict[int, list[tuple[int, int, int]]] = {}
        for page, section, start, end in self._database.rows_in(
            "SELECT page, section, byte_start, byte_end FROM chunk"  # noqa: S608  # ours
            f" JOIN page ON page.id = chunk.page WHERE {intact('chunk')} AND page IN",
            [row[0] for row in pages],
            order=" ORDER BY page, number",
        ):
            places.setdefault(page, []).append((section, start, end))
        return {
            unpack_id(blob): TextRows(title, _with_headings(places.get(page, ()), sections), texts)
            for page, blob, title, sections, texts in pages
        }

    def places(
        self, chunk_numbers: Sequence[tuple[ObjectId, int]]
    ) -> dict[tuple[ObjectId, int], ChunkPlace]:
        """Return the places of these chunks (their page's blob, their number)."""
        rows: Rows = []
        for batch in chunks(chunk_numbers):
            middle = len(batch) // 2  # a chunk is two arguments
            for half in (batch[:middle], batch[middle:]):
                rows += self._places(half)
        return {
            (unpack_id(blob), number): ChunkPlace(unpack_names(path), *lines)
            for blob, number, path, *lines in rows
        }

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
            " JOIN chunk ON chunk.page = page.id AND chunk.number = wanted.number"
            f" WHERE {intact('page')} AND {intact('chunk')}",
            [value for blob, number in wanted for value in (pack_id(blob), number)],
        )

    def _texts(self, rows: Rows) -> dict[ObjectId, bytes]:
        return {unpack_id(blob): texts for blob, texts in rows}


def _with_headings(
    places: Sequence[tuple[int, int, int]], sections: str
) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    paths = [section.heading_path for section in unpack_sections(sections)]
    return tuple((paths[section], start, end) for section, start, end in places)

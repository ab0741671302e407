"""What pages' Markdown says, keyed by their blobs: names, sections, chunks, links, words."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from ubp.model import Chunk, Link, ObjectId, Section
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import (
    PageNaming,
    PageRows,
    unpack_chunks,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.store.values import pack_id, unpack_id
from ubp.store.vectors import prune_vectors
from ubp.words import without_cjk

LINK_COLUMNS = (
    'kind, target, anchor, link_type, label, line, "column",'
    " byte_start, byte_end, context, section, meant_type"
)
CHUNK_COLUMNS = "section, line_start, line_end, byte_start, byte_end, token_count"

# What nobody needs is kept for the next switch of branches, until it is this many times what the
# work trees have. The full text can take out no single chunk, so that it is then made anew.
OUTGROWN = 2
SPARE_PAGES = 1000
SPARE_CHUNKS = 4000


class GraphFacts:
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

    def naming(self, blobs: Collection[ObjectId]) -> dict[ObjectId, PageNaming]:
        """Titles and aliases."""
        rows = self._rows("SELECT blob, title, aliases FROM page WHERE blob IN", blobs)
        found = self._database.unpack(
            lambda: {
                unpack_id(blob): PageNaming(title, unpack_names(aliases) if aliases != "[]" else ())
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
        return bool(known > OUTGROWN * named + SPARE_PAGES)

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
    if words > OUTGROWN * live + SPARE_CHUNKS:
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

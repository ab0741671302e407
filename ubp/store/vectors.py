"""The vectors of texts, in blocks that are read as they are: bytes in, bytes out."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ubp.model import ObjectId, Section
from ubp.store.database import Database, Rows
from ubp.store.edges import StoredGraph
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import unpack_names, unpack_sections
from ubp.store.values import pack_id, unpack_id

KEY_BYTES = 16

# A block that is not full is written anew with every addition: 1,024 vectors of 256 numbers are
# 280 KB. And 200,000 vectors are 200 rows.
BLOCK_VECTORS = 1024


class Block(NamedTuple):
    """`size` keys and vectors, one after the other."""

    size: int
    keys: bytes
    vectors: bytes


class TextRows(NamedTuple):
    """What is needed to tell the texts of a page's chunks; their places are bytes."""

    title: str | None
    sections: tuple[Section, ...]
    places: tuple[tuple[int, int, int], ...]  # section, byte_start, byte_end
    keys: bytes


class ChunkPlace(NamedTuple):
    """Where a chunk stands in its page."""

    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class StoredVectors:
    """Vectors of one model. They never change; they can only be missing, or be there twice."""

    def __init__(self, database: Database, model: bytes, dimensions: int) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions

    def sizes(self) -> dict[int, int]:
        """How many vectors each block has; one of the same size is the same block."""
        return dict(
            self._database.rows(
                "SELECT id, count FROM vector_block WHERE model = ? ORDER BY id", [self._model]
            )
        )

    def blocks(self, ids: Iterable[int]) -> dict[int, Block]:
        """These blocks, as far as they are there."""
        rows: Rows = []
        for chunk in chunks(list(ids)):
            rows += self._database.rows(
                "SELECT id, count, keys, vectors FROM vector_block"  # noqa: S608  # "?,?"
                f" WHERE id IN ({marks(chunk)}) ORDER BY id",
                chunk,
            )
        return self._database.unpack(lambda: dict(map(self._block, rows))) or {}

    def save(self, keys: bytes, vectors: bytes) -> None:
        """Keep these; call it in batches, so that no writer holds others up."""
        added = Block(len(keys) // KEY_BYTES, keys, vectors)

        def save(connection: sqlite3.Connection) -> None:
            last = connection.execute(
                "SELECT id, count, keys, vectors FROM vector_block WHERE model = ?"
                " ORDER BY id DESC LIMIT 1",
                [self._model],
            ).fetchone()
            if last is None or last[1] + added.size > BLOCK_VECTORS:
                self._insert(connection, added)
                return
            connection.execute(
                "UPDATE vector_block SET count = ?, keys = ?, vectors = ? WHERE id = ?",
                [last[1] + added.size, last[2] + keys, last[3] + vectors, last[0]],
            )

        if keys:
            self._database.write(save)

    def texts(self, graph: StoredGraph) -> dict[ObjectId, bytes]:
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
                    title, unpack_sections(sections), tuple(places.get(page, ())), texts
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

    def _block(self, row: Sequence[object]) -> tuple[int, Block]:
        number, count, keys, vectors = row
        if not (isinstance(number, int) and isinstance(count, int)):
            raise TypeError("a block is a number")
        if not (isinstance(keys, bytes) and isinstance(vectors, bytes)):
            raise TypeError("a block is bytes")
        if len(keys) != count * KEY_BYTES or len(vectors) != count * self._dimensions:
            raise ValueError("a block has as many keys as vectors")
        return number, Block(count, keys, vectors)

    def _insert(self, connection: sqlite3.Connection, block: Block) -> None:
        connection.execute(
            "INSERT INTO vector_block (model, dimensions, count, keys, vectors)"
            " VALUES (?, ?, ?, ?, ?)",
            [self._model, self._dimensions, *block],
        )

    def _texts(self, rows: Rows) -> dict[ObjectId, bytes]:
        return (
            self._database.unpack(lambda: {unpack_id(blob): _keys(texts) for blob, texts in rows})
            or {}
        )


def _keys(texts: object) -> bytes:
    if not isinstance(texts, bytes) or len(texts) % KEY_BYTES:
        raise ValueError("keys have 16 bytes each")
    return texts

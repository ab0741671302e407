"""The texts of chunks, by their keys: which pages have them, where they stand."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ubp.model import ObjectId
from ubp.store.database import Database, Rows
from ubp.store.edges import StoredGraph
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import unpack_names, unpack_sections
from ubp.store.values import pack_id, unpack_id
from ubp.store.vectors import split


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


class StoredTexts:
    """The texts of the pages that were learned; of a text itself only the key is kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

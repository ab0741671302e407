"""Full text search in one snapshot: of the chunks in the index, only its documents' count."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ubp.core.model import Chunk, FilePath, ObjectId
from ubp.index.link_graph import LinkGraph
from ubp.index.store.database import Database
from ubp.index.store.fulltext import FullTextIndex, RowMatch, Table
from ubp.index.store.page_facts import PageFactsTable

FIRST_MATCHES = 8  # examined before all of them are
# FTS5 searches the chunks of given pages only up to so many: listing the chunks of 26,000 takes 30
# ms, of 500 less than one. Beyond that the hits in other pages are skipped.
MAX_FILTER_PAGES = 2000


class TextHit(NamedTuple):
    """A chunk of a document that matches; the smaller the rank, the better."""

    path: FilePath
    blob: ObjectId
    number: int
    rank: float


class FullTextSearch:
    """The words of a snapshot's documents."""

    def __init__(self, database: Database, links: LinkGraph) -> None:
        self._index = FullTextIndex(database)
        self._facts = PageFactsTable(database)
        self._links = links
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        self._frequencies: dict[tuple[str, Table], int] = {}
        self._matches: dict[str, bool] = {}
        self._size: int | None = None

    def search(
        self, match: RowMatch, limit: int, within: Collection[FilePath] | None = None
    ) -> list[TextHit]:
        """Return the best chunks for an FTS5 expression with segmented words (`ubp.core.text`).

        A page that exists at several paths is a hit at each of them, or of those in `within`. Equal
        ranks are in the order of blob, chunk and path.

        Raises:
            ValueError: FTS5 cannot read the expression.
        """
        if limit <= 0:
            return []
        allowed = None if within is None else frozenset(within)
        blobs = None
        if allowed is not None and len(allowed) <= MAX_FILTER_PAGES:
            blobs = set(self._links.blobs(allowed).values())

        def select(candidates: set[ObjectId]) -> set[ObjectId]:
            return self._in_snapshot(candidates, allowed)

        rows = self._links.read_consistently(
            lambda: self._index.search(match, limit, select, blobs)
        )
        paths = self._paths_of({row.blob for row in rows})
        hits = [
            TextHit(path, *row)
            for row in rows
            for path in paths[row.blob]
            if allowed is None or path in allowed
        ]
        return hits[:limit]

    def count(self, match: str, limit: int) -> int:
        """Return how many of the first `limit` matching chunks are the snapshot's."""
        counts = self._links.read_consistently(
            lambda: self._index.count(match, limit, self._in_snapshot)
        )
        return counts.selected

    def has(self, match: str) -> bool:
        """Return whether any of the snapshot's chunks matches.

        Nothing is ranked unless the first matches are all in other snapshots.
        """
        if match not in self._matches:
            self._matches[match] = self._has(match)
        return self._matches[match]

    def holding(self, match: str, within: Collection[FilePath] | None = None) -> set[FilePath]:
        """Return the documents with a matching chunk, or those of them in `within`."""
        candidates = None if within is None else set(self._links.blobs(within).values())
        blobs = self._links.read_consistently(
            lambda: self._in_snapshot(self._index.holding(match, candidates))
        )
        documents = {path for paths in self._paths_of(blobs).values() for path in paths}
        return documents if within is None else documents.intersection(within)

    def frequency(self, match: str, table: Table = "words") -> int:
        """Return the number of matching chunks, in other snapshots too, as BM25 counts them.

        The counts are cached: that of a long phrase takes some milliseconds.
        """
        if (match, table) not in self._frequencies:
            self._frequencies[match, table] = self._links.read_consistently(
                lambda: self._index.frequency(match, table)
            )
        return self._frequencies[match, table]

    def size(self) -> int:
        """Return the number of chunks, in other snapshots too."""
        if self._size is None:
            self._size = self._index.size()
        return self._size

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """Return the chunks of those of these pages that are in the index."""
        return self._facts.chunks(blobs)

    def _has(self, match: str) -> bool:
        first = self._links.read_consistently(
            lambda: self._index.count(match, FIRST_MATCHES, self._in_snapshot)
        )
        if first.matching < FIRST_MATCHES:  # counting a long phrase again takes as long
            self._frequencies[match, "words"] = first.matching
            return first.selected > 0
        return first.selected > 0 or bool(self.search(RowMatch(match), 1))

    def _in_snapshot(
        self, blobs: set[ObjectId], within: frozenset[FilePath] | None = None
    ) -> set[ObjectId]:
        return {
            blob
            for blob, paths in self._paths_of(blobs).items()
            if paths and (within is None or not within.isdisjoint(paths))
        }

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        """Return the paths of these pages; read once for each, as the snapshot does not change."""
        unknown = blobs - self._paths.keys()
        if unknown:
            paths = self._links.paths_of(unknown)
            self._paths.update((blob, paths.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}

"""The full text of one snapshot: of what the index knows only its documents count."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeVar

from ubp.core.model import Chunk, FilePath, ObjectId
from ubp.index.link_graph import LinkGraph
from ubp.index.link_updates import MAX_ATTEMPTS
from ubp.index.store.database import Database
from ubp.index.store.fulltext import FullTextIndex, MatchCounts, RowMatch, Table
from ubp.index.store.page_facts import PageFactsTable

T = TypeVar("T")

FIRST = 8  # matches that are looked at before all of them are
# Where more pages than these may answer, FTS5 is not told which: to name the chunks of 26,000 takes
# 30 ms, of 500 less than one. Those that may not are passed over.
MAX_NAMED = 2000


class TextHit(NamedTuple):
    """A chunk of a document that holds the words; the smaller the rank, the better."""

    path: FilePath
    blob: ObjectId
    number: int
    rank: float


class FullTextSearch:
    """The words of a snapshot's documents."""

    def __init__(self, database: Database, linked: LinkGraph) -> None:
        self._index = FullTextIndex(database)
        self._facts = PageFactsTable(database)
        self._linked = linked
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        self._frequencies: dict[tuple[str, Table], int] = {}
        self._held: dict[str, bool] = {}
        self._size: int | None = None

    def search(
        self, match: RowMatch, limit: int, within: Collection[FilePath] | None = None
    ) -> list[TextHit]:
        """The best chunks for an expression of FTS5, whose words are segmented (`ubp.core.text`).

        A page that stands at several paths is there at each of them; `within` names the paths that
        count. Equal ranks are in the order of blob, chunk and path.

        Raises:
            ValueError: FTS5 cannot read the expression.
        """
        if limit <= 0:
            return []
        that_count = None if within is None else frozenset(within)
        blobs = None
        if that_count is not None and len(that_count) <= MAX_NAMED:
            blobs = set(self._linked.blobs(that_count).values())

        def counts(found: set[ObjectId]) -> set[ObjectId]:
            return self._that_count(found, that_count)

        rows = self._ask(lambda: self._index.search(match, limit, counts, blobs))
        paths = self._paths_of({row.blob for row in rows})
        hits = [
            TextHit(path, *row)
            for row in rows
            for path in paths[row.blob]
            if that_count is None or path in that_count
        ]
        return hits[:limit]

    def count(self, match: str, most: int) -> int:
        """How many of the first `most` chunks that match are the documents'."""
        return self._ask(lambda: self._index.count(match, most, self._that_count)).counting

    def has(self, match: str) -> bool:
        """Whether any chunk matches; nothing is ranked unless the first ones are no documents'."""
        if match not in self._held:
            self._held[match] = self._has(match)
        return self._held[match]

    def holding(self, match: str, within: Collection[FilePath] | None = None) -> set[FilePath]:
        """The documents with a chunk that matches, of those `within` if they are given."""
        of = None if within is None else set(self._linked.blobs(within).values())
        blobs = self._ask(lambda: self._that_count(self._index.holding(match, of)))
        found = {path for paths in self._paths_of(blobs).values() for path in paths}
        return found if within is None else found.intersection(within)

    def frequency(self, match: str, table: Table = "words") -> int:
        """How many chunks match, those of other snapshots too: what BM25 goes by.

        A long phrase takes some milliseconds, so that it is asked for once.
        """
        if (match, table) not in self._frequencies:
            self._frequencies[match, table] = self._ask(lambda: self._counted(match, table))
        return self._frequencies[match, table]

    def size(self) -> int:
        """How many chunks there are, those of other snapshots too."""
        if self._size is None:
            self._size = self._index.size()
        return self._size

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """The chunks of these pages, as far as they are known."""
        return self._facts.chunks(blobs)

    def _has(self, match: str) -> bool:
        first = self._ask(lambda: self._first(match))
        if first.holding < FIRST:  # of a long phrase another count takes as long
            self._frequencies[match, "words"] = first.holding
            return first.counting > 0
        return first.counting > 0 or bool(self.search(RowMatch(match), 1))

    def _first(self, match: str) -> MatchCounts:
        first = self._index.count(match, FIRST, self._that_count)
        if not first.holding:
            self._paths_of(set())  # the words may have gone
        return first

    def _ask(self, question: Callable[[], T]) -> T:
        """Ask again where the words went while they were asked for, and are learned anew."""
        for _ in range(MAX_ATTEMPTS):
            before = self._linked.load_count
            answer = question()
            if self._linked.load_count == before:
                break
        return answer

    def _counted(self, match: str, table: Table) -> int:
        found = self._index.frequency(match, table)
        if not found:
            self._paths_of(set())  # the words may have gone
        return found

    def _that_count(
        self, blobs: set[ObjectId], within: frozenset[FilePath] | None = None
    ) -> set[ObjectId]:
        return {
            blob
            for blob, paths in self._paths_of(blobs).items()
            if paths and (within is None or not within.isdisjoint(paths))
        }

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        """Where these pages stand; asked once for each, for the snapshot does not change.

        Where there are none the words may have gone: asking for nothing notices it.
        """
        unknown = blobs - self._paths.keys()
        if unknown or not blobs:
            found = self._linked.paths_of(unknown)
            self._paths.update((blob, found.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}

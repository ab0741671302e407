"""Full text search in one snapshot: of the chunks in the index, only its documents' count.

How rare a word is, and how long a chunk is usually, are counted in the snapshot, too: no rank
depends on what else is indexed.
"""

from array import array
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from ubp.core.model import Chunk, FilePath, ObjectId
from ubp.core.text import closest_names
from ubp.index.link_graph import LinkGraph
from ubp.index.match import Match, Phrase
from ubp.index.store.fulltext import (
    ChunkRows,
    Extent,
    FullTextIndex,
    RowMatch,
    Statistics,
    WordsRow,
)
from ubp.index.store.links import StoredGraphVersion
from ubp.index.store.page_facts import PageFactsTable
from ubp.index.store.tokenizer import Table
from ubp.index.tree import IndexContext

FIRST_MATCHES = 8  # examined before all of them are
MIN_SIMILAR = 5  # letters of a word that may be misspelt
MAX_SIMILAR = 3  # words are examined
SIMILARITY = 0.8  # one letter of five differs
# FTS5 searches the chunks of given pages only up to so many: listing the chunks of 26,000 takes 30
# ms, of 500 less than one. Beyond that the hits in other pages are skipped.
MAX_FILTER_PAGES = 2000


class TextHit(NamedTuple):
    """A chunk of a document that matches; the smaller the rank, the better."""

    path: FilePath
    blob: ObjectId
    number: int
    rank: float


class WordCounts(Protocol):
    """What ranks count: a snapshot's own chunks, or those of several that are searched as one."""

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase."""

    def extent(self, table: Table) -> Extent:
        """Return how much text there is."""


class FullTextSearch:
    """The words of a snapshot's documents."""

    def __init__(self, context: IndexContext, links: LinkGraph) -> None:
        self._index = FullTextIndex(context.store.database)
        self._facts = PageFactsTable(context.store.database)
        self._context = context
        self._links = links
        self._chunks: dict[Table, tuple[int, ChunkRows]] = {}
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}
        self._frequencies: dict[tuple[Phrase, Table], int] = {}
        self._matches: dict[Phrase, bool] = {}

    def search(
        self,
        match: RowMatch,
        limit: int,
        within: Collection[FilePath] | None = None,
        counts: WordCounts | None = None,
    ) -> list[TextHit]:
        """Return the best chunks for some phrases.

        A page that exists at several paths is a hit at each of them, or of those in `within`. Equal
        ranks are in the order of blob, chunk and path. They count the snapshot's chunks, or what
        `counts` does.
        """
        if limit <= 0:
            return []
        counts = counts or self
        allowed = None if within is None else frozenset(within)
        blobs = None
        if allowed is not None and len(allowed) <= MAX_FILTER_PAGES:
            blobs = set(self._links.blobs(allowed).values())

        def select(candidates: set[ObjectId]) -> set[ObjectId]:
            return self._in_snapshot(candidates, allowed)

        def search() -> list[WordsRow]:
            chunks = self._chunks_of(match.table)
            extent = counts.extent(match.table)
            weights = {
                term: extent.weight(counts.frequency(term, match.table))
                for term in (*match.terms, *match.adding)
            }
            statistics = Statistics(chunks, weights, extent)
            return self._index.search(match, statistics, limit, select, blobs)

        rows = self._links.read_consistently(search)
        paths = self._paths_of({row.blob for row in rows})
        hits = [
            TextHit(path, *row)
            for row in rows
            for path in paths[row.blob]
            if allowed is None or path in allowed
        ]
        return hits[:limit]

    def count(self, match: Match, limit: int) -> int:
        """Return how many of the first `limit` matching chunks are the snapshot's."""
        counts = self._links.read_consistently(
            lambda: self._index.count(match, limit, self._in_snapshot)
        )
        return counts.selected

    def has(self, phrase: Phrase) -> bool:
        """Return whether any of the snapshot's chunks contains a phrase.

        Nothing is ranked unless the first matches are all in other snapshots.
        """
        if phrase not in self._matches:
            self._matches[phrase] = self._has(phrase)
        return self._matches[phrase]

    def words_with(self, part: str, limit: int) -> list[str] | None:
        """Return words of the snapshot at least half of which is this part, the shortest first.

        It is in lower case. None if more than `limit` have it: such a part says nothing.
        """
        vocabulary = self._vocabulary()
        found: list[str] = []
        position = vocabulary.find(part)
        while position >= 0:
            start = vocabulary.rfind("\n", 0, position) + 1
            end = vocabulary.find("\n", position)
            word = vocabulary[start : end if end >= 0 else None]
            if len(word) <= 2 * len(part) and self.has(Phrase(word)):
                found.append(word)
                if len(found) > limit:
                    return None
            position = vocabulary.find(part, start + len(word))
        return sorted(found, key=lambda word: (len(word), word))

    def similar_word(self, word: str) -> str | None:
        """Return the word of the snapshot most like one in lower case that it does not have.

        None: none is like it. Only words with the same first letter and about the same length are
        compared.
        """
        if len(word) < MIN_SIMILAR:
            return None
        lengths = range(len(word) - 1, len(word) + 2)
        words = (each for each in self._vocabulary().split("\n") if len(each) in lengths)
        alike = [each for each in words if each[0] == word[0] and each.isalpha()]
        closest = closest_names(word, alike, MAX_SIMILAR, SIMILARITY)
        return next((each for each in closest if self.has(Phrase(each))), None)

    def _vocabulary(self) -> str:
        kept: list[tuple[object, str]] = self._context.cache.derived("vocabulary", list)
        key = (self._context.store.database.identity, self._index.last_page())
        if not kept or kept[0][0] != key:
            kept[:] = [(key, self._index.vocabulary())]
        return kept[0][1]

    def holding(self, match: Match, within: Collection[FilePath] | None = None) -> set[FilePath]:
        """Return the documents with a matching chunk, or those of them in `within`."""
        return self._documents_with(match, within, "words", None)

    def some_holding(
        self, match: Match, limit: int, table: Table, within: Collection[FilePath] | None = None
    ) -> set[FilePath]:
        """Return documents with a matching chunk; of at most `limit` blobs of any snapshot."""
        return self._documents_with(match, within, table, limit)

    def _documents_with(
        self, match: Match, within: Collection[FilePath] | None, table: Table, limit: int | None
    ) -> set[FilePath]:
        candidates = None if within is None else set(self._links.blobs(within).values())
        blobs = self._links.read_consistently(
            lambda: self._in_snapshot(self._index.holding(match, candidates, table, limit))
        )
        documents = {path for paths in self._paths_of(blobs).values() for path in paths}
        return documents if within is None else documents.intersection(within)

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase.

        The counts are cached: that of a long phrase takes some milliseconds.
        """
        if (phrase, table) not in self._frequencies:
            self._frequencies[phrase, table] = self._links.read_consistently(
                lambda: self._index.frequency(phrase, table, self._any_chunks(table))
            )
        return self._frequencies[phrase, table]

    def extent(self, table: Table) -> Extent:
        """Return how many chunks there are, and how many words they have in a table."""
        return self._links.read_consistently(lambda: self._chunks_of(table).extent)

    def size(self) -> int:
        """Return the number of chunks."""
        return self._links.read_consistently(lambda: self._any_chunks("words").size)

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """Return the chunks of those of these pages that are in the index."""
        return self._facts.chunks(blobs)

    def _has(self, phrase: Phrase) -> bool:
        first = self._links.read_consistently(
            lambda: self._index.count(phrase, FIRST_MATCHES, self._in_snapshot)
        )
        if first.matching < FIRST_MATCHES:  # counting a long phrase again takes as long
            self._frequencies[phrase, "words"] = first.selected
            return first.selected > 0
        return first.selected > 0 or self.frequency(phrase) > 0

    def _any_chunks(self, table: Table) -> ChunkRows:
        """Return the snapshot's chunks in a table, or in the other one if they are known there.

        Their rows are the same in both, only their lengths differ.
        """
        known = [t for t, (count, _) in self._chunks.items() if count == self._links.load_count]
        return self._chunks_of(known[0] if known else table)

    def _chunks_of(self, table: Table) -> ChunkRows:
        """Return the snapshot's chunks; they are listed again where their rows may be others."""
        if table not in self._chunks or self._chunks[table][0] != self._links.load_count:
            load_count = self._links.load_count
            chunks = self._links.query_stored(lambda graph: self._stored_chunks(table, graph))
            chunks = chunks or ChunkRows(0, array("i"), 0, 0)
            if self._links.patched:
                patched = {node.blob for node in self._links.patched.values() if node and node.blob}
                removed = self._index.rows_of(table, self._links.replaced())
                chunks = chunks.changed(removed, self._index.rows_of(table, patched))
            self._chunks[table] = load_count, chunks
        return self._chunks[table][1]

    def _stored_chunks(self, table: Table, graph: StoredGraphVersion) -> ChunkRows:
        """Return the chunks of a stored graph's pages, cached until it or its rows change."""
        if not graph.is_complete:  # its pages may be read later
            return self._index.chunks_of(table, graph)
        key = (self._context.store.database.identity, graph.row, graph.generation)
        last: dict[Table, tuple[object, ChunkRows]] = self._context.cache.derived("chunks", dict)
        if table not in last or last[table][0] != key:
            last[table] = key, self._index.chunks_of(table, graph)
        return last[table][1]

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
        unknown = {blob for blob in blobs if blob not in self._paths}  # `-` copies all keys
        if unknown:
            paths = self._links.paths_of(unknown)
            self._paths.update((blob, paths.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}

"""Several repositories searched as one: their words, names, links and vectors in one ranking.

How rare a word is, and how long a chunk is usually, are counted over all of them. Paths know their
repository (`RepositoryPath`) outside of the views that answer.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import NamedTuple, TypeVar, cast

from ubp.core.model import (
    Chunk,
    FilePath,
    ObjectId,
    Page,
    PageFields,
    Section,
    in_repository,
    plain_path,
    repository_of,
)
from ubp.core.text import closest_name
from ubp.index.fulltext import TextHit
from ubp.index.match import Match, Phrase
from ubp.index.store.fulltext import Extent, RowMatch
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.index.store.tokenizer import Table
from ubp.index.view import View
from ubp.search.searched import Scope
from ubp.search.semantic import SemanticRanking

T = TypeVar("T")


class Together:
    """The documents of several views, searched as those of one; see `Searched`."""

    def __init__(self, views: Mapping[str, View]) -> None:
        """Search views, by the names that the paths of their documents have as repositories."""
        self.views = views
        self.cache = DerivedValues()
        self._words = WordsTogether(self)

    @property
    def context(self) -> "Together":
        """What outlives these answers: they themselves."""
        return self

    def full_text(self) -> "WordsTogether":
        """Return the search for the documents' words."""
        return self._words

    def link_graph(self) -> "Together":
        """Return the documents' sections."""
        return self

    def adjacency(self) -> "Together":
        """Return the links from and to single documents."""
        return self

    def document_paths(self) -> list[FilePath]:
        """Return the paths of the documents, sorted by repository."""
        return [
            in_repository(name, path)
            for name in sorted(self.views)
            for path in self.views[name].document_paths()
        ]

    def pages_at(self, paths: Collection[FilePath]) -> dict[FilePath, Page]:
        """Return those of these paths that are documents."""
        return {
            path: page._replace(filepath=path)
            for path, page in self._collect(paths, View.pages_at).items()
        }

    def fields(self, paths: Collection[FilePath]) -> dict[FilePath, PageFields]:
        """Return the fields of these documents' front matter."""
        return self._collect(paths, View.fields)

    def field_names(self) -> frozenset[str]:
        """Return the names of the fields of front matter that any document has."""
        return frozenset[str]().union(*(view.field_names() for view in self.views.values()))

    def read(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """Return the bytes of these documents; None: not available."""
        return self._collect(paths, View.read)

    def is_changed(self, path: FilePath) -> bool:
        """Return whether a document may differ from its blob."""
        return self.views[repository_of(path)].is_changed(plain_path(path))

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of each of these documents."""
        return self._collect(paths, lambda view, some: view.link_graph().sections_of(some))

    def neighbors(self, paths: Collection[FilePath], limit: int) -> dict[FilePath, Neighborhood]:
        """Return the first links from and to each of these documents, which are in its view."""
        found = self._collect(paths, lambda view, some: view.adjacency().neighbors(some, limit))
        return {path: _moved(around, repository_of(path)) for path, around in found.items()}

    def by_view(self, paths: Iterable[FilePath]) -> dict[str, list[FilePath]]:
        """Return the paths in each view that has any of these."""
        parts: dict[str, list[FilePath]] = {}
        for path in paths:
            parts.setdefault(repository_of(path), []).append(plain_path(path))
        return parts

    def within(self, scope: Scope) -> Iterator[tuple[str, View, Scope]]:
        """Yield the views with documents in a scope, with the paths of these; None: all."""
        if scope is None:
            yield from ((name, view, None) for name, view in self.views.items())
        else:
            parts = self.by_view(scope)
            yield from ((name, self.views[name], frozenset(part)) for name, part in parts.items())

    def _collect(
        self,
        paths: Collection[FilePath],
        ask: Callable[[View, Collection[FilePath]], Mapping[FilePath, T]],
    ) -> dict[FilePath, T]:
        found = {
            in_repository(name, path): value
            for name, part in self.by_view(paths).items()
            for path, value in ask(self.views[name], part).items()
        }
        return {path: found[path] for path in paths if path in found}


class DerivedValues:
    """Values derived from blobs."""

    def __init__(self) -> None:
        self._derived: dict[str, object] = {}

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` derived from blobs, cached under this name."""
        if name not in self._derived:
            self._derived[name] = make()
        return cast("T", self._derived[name])


class WordsTogether:
    """The words of several views' documents; see `Words`."""

    def __init__(self, together: Together) -> None:
        self._together = together
        self._parts = [view.full_text() for view in together.views.values()]

    def search(self, match: RowMatch, limit: int, within: Scope = None) -> list[TextHit]:
        """Return the best chunks, ranked by what is counted over all views."""
        hits = [
            hit._replace(path=in_repository(name, hit.path))
            for name, view, scope in self._together.within(within)
            for hit in view.full_text().search(match, limit, scope, counts=self)
        ]
        hits.sort(key=lambda hit: (hit.rank, hit.blob, hit.number, hit.path))
        return hits[:limit]

    def count(self, match: Match, limit: int) -> int:
        """Return how many of the first `limit` matching chunks are in these documents."""
        return min(limit, sum(part.count(match, limit) for part in self._parts))

    def has(self, phrase: Phrase) -> bool:
        """Return whether any chunk contains a phrase."""
        return any(part.has(phrase) for part in self._parts)

    def words_with(self, part: str, limit: int) -> list[str] | None:
        """Return words at least half of which is a part; None if more than `limit` are."""
        words: set[str] = set()
        for full_text in self._parts:
            found = full_text.words_with(part, limit)
            words.update(found or ())
            if found is None or len(words) > limit:
                return None
        return sorted(words, key=lambda word: (len(word), word))

    def similar_word(self, word: str) -> str | None:
        """Return the word most like one that no chunk contains; None: none is like it."""
        found = (full_text.similar_word(word) for full_text in self._parts)
        return closest_name(word, filter(None, found))

    def holding(self, match: Match, within: Scope = None) -> set[FilePath]:
        """Return the documents with a matching chunk."""
        return {
            in_repository(name, path)
            for name, view, scope in self._together.within(within)
            for path in view.full_text().holding(match, scope)
        }

    def some_holding(
        self, match: Match, limit: int, table: Table, within: Scope = None
    ) -> set[FilePath]:
        """Return documents with a matching chunk; of at most `limit` blobs of each view."""
        return {
            in_repository(name, path)
            for name, view, scope in self._together.within(within)
            for path in view.full_text().some_holding(match, limit, table, scope)
        }

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase."""
        return sum(part.frequency(phrase, table) for part in self._parts)

    def extent(self, table: Table) -> Extent:
        """Return how many chunks there are, and how many words they have in a table."""
        extents = [part.extent(table) for part in self._parts]
        return Extent(*map(sum, zip(*extents, strict=True)))

    def size(self) -> int:
        """Return the number of chunks."""
        return sum(part.size() for part in self._parts)

    def chunks(self, blobs: Collection[ObjectId]) -> dict[ObjectId, tuple[Chunk, ...]]:
        """Return the chunks of these pages."""
        found: dict[ObjectId, tuple[Chunk, ...]] = {}
        for part in self._parts:
            found |= part.chunks(set(blobs) - found.keys())
        return found


class NearChunk(NamedTuple):
    """A chunk of a document, and its cosine."""

    path: FilePath
    number: int
    score: float


class MeaningTogether:
    """The vectors of several views' chunks, of those that have any; see `SemanticRanking`.

    Cosines of different models are read on the scale of the bundled one, so they compare.
    """

    def __init__(self, together: Together, parts: Mapping[str, SemanticRanking]) -> None:
        self._together = together
        self._parts = parts
        self._first = next(iter(parts.values()))

    def nearest(self, text: str, limit: int, within: Scope = None) -> list[NearChunk]:
        """Return the chunks nearest to a text, best first, in the documents `within` if given."""
        found = [
            [
                NearChunk(in_repository(name, chunk.path), chunk.number, chunk.score)
                for chunk in self._parts[name].nearest(text, limit, scope)
            ]
            for name, _, scope in self._together.within(within)
            if name in self._parts
        ]
        return list(islice(merge(*found, key=lambda chunk: -chunk.score), limit))

    def similarity(self, text: str, names: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each of these names with a text."""
        return self._first.similarity(text, names)

    def overlaps(self, text: str, passages: Sequence[str]) -> Sequence[float]:
        """Return how much of a text each passage has, in its words or near ones; []: unknown."""
        return self._first.overlaps(text, passages)


def _moved(around: Neighborhood, repository: str) -> Neighborhood:
    def move(link: Neighbor) -> Neighbor:
        return link._replace(
            source=in_repository(repository, link.source),
            target=in_repository(repository, link.target),
        )

    return Neighborhood(list(map(move, around.out)), list(map(move, around.into)))

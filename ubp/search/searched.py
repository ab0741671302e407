"""What a search asks about documents, wherever their words, links and pages are stored.

A view of one repository answers (`ubp.index.view`, its names and conditions `ubp.search.scope`).
Whoever answers for several has paths that know their repository (`ubp.core.model.RepositoryPath`).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from ubp.core.model import Chunk, FilePath, ObjectId, Page, PageFields, Section
from ubp.index.fulltext import TextHit
from ubp.index.match import Match, Phrase
from ubp.index.store.fulltext import RowMatch
from ubp.index.store.links import Neighborhood
from ubp.index.store.tokenizer import Table
from ubp.search.query import Condition
from ubp.search.terms import Term

T = TypeVar("T")

Scope = Collection[FilePath] | None
"""The documents that may match, as `Names.select` returned them; None: all of them.

A store that has a language for conditions returns one that it recognizes, and reads no paths.
"""


class Names(Protocol):
    """The names of documents' files, and the documents that meet a condition."""

    def score(self, terms: Sequence[Term]) -> dict[FilePath, float]:
        """Return the score of each document with a term in its name."""

    def matching(self, terms: Iterable[Term]) -> set[FilePath]:
        """Return the documents with one of these terms in their names."""

    def equal(
        self, key: tuple[str, ...], key_of: Callable[[str], tuple[str, ...]]
    ) -> set[FilePath]:
        """Return the documents whose names have a key."""

    def select(self, condition: Condition) -> Scope:
        """Return the documents that meet a condition."""


class Words(Protocol):
    """The words of documents; see `ubp.index.fulltext.FullTextSearch`."""

    def search(self, match: RowMatch, limit: int, within: Scope = None) -> list[TextHit]:
        """Return the best chunks, equal ones by blob, chunk and path."""

    def count(self, match: Match, limit: int) -> int:
        """Return how many of the first `limit` matching chunks are in these documents."""

    def has(self, phrase: Phrase) -> bool:
        """Return whether any chunk contains a phrase."""

    def words_with(self, part: str, limit: int) -> list[str] | None:
        """Return words at least half of which is a part; None if more than `limit` are."""

    def similar_word(self, word: str) -> str | None:
        """Return the word most like one that no chunk contains; None: none is like it."""

    def holding(self, match: Match, within: Scope = None) -> set[FilePath]:
        """Return the documents with a matching chunk."""

    def some_holding(
        self, match: Match, limit: int, table: Table, within: Scope = None
    ) -> set[FilePath]:
        """Return documents with a matching chunk; of at most `limit` blobs."""

    def frequency(self, phrase: Phrase, table: Table = "words") -> int:
        """Return the number of chunks that contain a phrase."""

    def size(self) -> int:
        """Return the number of chunks."""

    def chunks(self, blobs: Collection[ObjectId]) -> Mapping[ObjectId, Sequence[Chunk]]:
        """Return the chunks of these pages."""


class Links(Protocol):
    """The links around documents."""

    def neighbors(self, paths: Collection[FilePath], limit: int) -> dict[FilePath, Neighborhood]:
        """Return the first links from and to each of these documents."""


class Sections(Protocol):
    """The sections of documents."""

    def sections_of(self, paths: Collection[FilePath]) -> Mapping[FilePath, Sequence[Section]]:
        """Return the sections of each of these documents."""


class Cache(Protocol):
    """Values derived from blobs."""

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` derived from blobs, cached under this name."""


class Context(Protocol):
    """What outlives a view."""

    @property
    def cache(self) -> Cache:
        """The values derived from blobs."""


class Searched(Protocol):
    """Documents that are searched: a view, or several as one."""

    @property
    def context(self) -> Context:
        """What outlives these answers."""

    def full_text(self) -> Words:
        """Return the search for the documents' words."""

    def link_graph(self) -> Sections:
        """Return the documents' sections."""

    def adjacency(self) -> Links:
        """Return the links from and to single documents."""

    def pages_at(self, paths: Collection[FilePath]) -> dict[FilePath, Page]:
        """Return those of these paths that are documents."""

    def fields(self, paths: Collection[FilePath]) -> Mapping[FilePath, PageFields]:
        """Return the fields of these documents' front matter."""

    def read(self, paths: Collection[FilePath]) -> Mapping[FilePath, bytes | None]:
        """Return the bytes of these documents; None: not available."""

    def field_names(self) -> Collection[str]:
        """Return the names of the fields of front matter that any document has."""

    def is_changed(self, path: FilePath) -> bool:
        """Return whether a document may differ from its blob."""

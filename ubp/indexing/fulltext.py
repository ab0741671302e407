"""The full text of one snapshot: of what the index knows only its documents count."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ubp.indexing.laying import ATTEMPTS
from ubp.indexing.linked import Linked
from ubp.model import FilePath, ObjectId
from ubp.store.database import Database
from ubp.store.fulltext import FullTextIndex

T = TypeVar("T")

FIRST = 8  # matches that are looked at before all of them are
EVEN = (1.0, 1.0, 1.0, 1.0)


class WordHit(NamedTuple):
    """A chunk of a document that holds the words; the smaller the rank, the better.

    Lines count from 1, both ends included; the bytes from `byte_start` to `byte_end` are its text.
    """

    path: FilePath
    blob: ObjectId
    number: int
    rank: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class FullText:
    """The words of a snapshot's documents."""

    def __init__(self, database: Database, linked: Linked) -> None:
        self._index = FullTextIndex(database)
        self._linked = linked
        self._paths: dict[ObjectId, Sequence[FilePath]] = {}

    def search(self, match: str, limit: int, weights: Sequence[float]) -> list[WordHit]:
        """The best chunks for an expression of FTS5, whose words are segmented (`ubp.words`).

        `weights` are those of title, headings, body and aliases. A page that stands at several
        paths is there at each of them. Equal ranks are in the order of blob, chunk and path.

        Raises:
            ValueError: FTS5 cannot read the expression.
        """
        if limit <= 0:
            return []
        rows = self._ask(lambda: self._index.search(match, limit, weights, self._that_count))
        paths = self._paths_of({row.blob for row in rows})
        hits = [WordHit(path, *row) for row in rows for path in paths[row.blob]]
        return hits[:limit]

    def count(self, match: str, most: int) -> int:
        """How many of the first `most` chunks that match are the documents'."""
        return self._ask(lambda: self._index.count(match, most, self._that_count))

    def has(self, match: str) -> bool:
        """Whether any chunk matches; nothing is ranked unless the first ones are no documents'."""
        return self.count(match, FIRST) > 0 or bool(self.search(match, 1, EVEN))

    def _ask(self, question: Callable[[], T]) -> T:
        """Ask again where the words went while they were asked for, and are learned anew."""
        for _ in range(ATTEMPTS):
            before = self._linked.times_laid
            answer = question()
            if self._linked.times_laid == before:
                break
        return answer

    def _that_count(self, blobs: set[ObjectId]) -> set[ObjectId]:
        return {blob for blob, paths in self._paths_of(blobs).items() if paths}

    def _paths_of(self, blobs: set[ObjectId]) -> dict[ObjectId, Sequence[FilePath]]:
        """Where these pages stand; asked once for each, for the snapshot does not change.

        Where there are none the words may have gone: asking for nothing notices it.
        """
        unknown = blobs - self._paths.keys()
        if unknown or not blobs:
            found = self._linked.paths_of(unknown)
            self._paths.update((blob, found.get(blob, ())) for blob in unknown)
        return {blob: self._paths[blob] for blob in blobs}

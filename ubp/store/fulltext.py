"""Questions to the full text: which chunks hold the words, the best ones first."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ubp.model import ObjectId
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import unpack_names
from ubp.store.values import unpack_id

COLUMNS = ("title", "headings", "body", "aliases")

# Of a page's sections (JSON) the heading path of a chunk's own, without reading all of them.
HEADING_PATH = "json_extract(sections, '$[' || section || '][2]')"

# Hits of other branches and of older versions are passed over: so many more than were asked for
# are fetched first, and this many times more each time that too few are left.
FIRST_SHARE = 2
GROWTH = 4
# Chunks of the same rank stand in no order: as many are looked at to put them in order.
MOST_EQUALS = 256


class WordsRow(NamedTuple):
    """A chunk that holds the words; the smaller the rank (BM25, negative), the better."""

    blob: ObjectId
    number: int
    rank: float
    heading_path: tuple[str, ...]
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class FullTextIndex:
    """The words of all pages that were ever learned; the caller knows which ones count."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        match: str,
        limit: int,
        weights: Sequence[float],
        counts: Callable[[set[ObjectId]], set[ObjectId]],
    ) -> list[WordsRow]:
        """The best chunks of pages that count; `match` is FTS5's, its words segmented.

        `weights` are those of COLUMNS. Equal ranks are put in the order of blob and number.

        Raises:
            ValueError: FTS5 cannot read `match`.
        """
        # Of 5,000 matches this takes 5.3 ms, FTS5's own `ORDER BY rank LIMIT` 8.8.
        numbers = ", ".join(repr(float(weight)) for weight in weights)
        ranking = f"SELECT rowid, bm25(words, {numbers}) AS best"
        wanted = limit * FIRST_SHARE + 1
        while True:
            ranked = self._database.matches(
                f"{ranking} FROM words WHERE words MATCH ? ORDER BY best, rowid LIMIT ?",
                [match, wanted],
            )
            hits = self._that_count(ranked, counts)
            is_all = len(ranked) < wanted
            if is_all or _is_enough(hits, ranked, limit):
                return self._rows(hits[:limit])
            wanted = max(wanted * GROWTH, limit + MOST_EQUALS + 1)

    def count(self, match: str, most: int, counts: Callable[[set[ObjectId]], set[ObjectId]]) -> int:
        """How many of the first `most` chunks that hold the words are of pages that count."""
        ranked = self._database.matches(
            "SELECT rowid, 0 FROM words WHERE words MATCH ? LIMIT ?", [match, most]
        )
        return len(self._that_count(ranked, counts))

    def _that_count(
        self, ranked: Rows, counts: Callable[[set[ObjectId]], set[ObjectId]]
    ) -> list[tuple[float, bytes, int, int]]:
        ranks: dict[int, float] = dict(ranked)
        rows: Rows = []
        for chunk in chunks(ranks):
            rows += self._database.rows(
                "SELECT chunk.id, number, blob FROM chunk JOIN page ON page.id = chunk.page"  # noqa: S608  # "?,?"
                f" WHERE chunk.id IN ({marks(chunk)})",
                chunk,
            )
        valid = counts({unpack_id(blob) for _, _, blob in rows})
        return sorted(
            (ranks[row], blob, number, row)
            for row, number, blob in rows
            if unpack_id(blob) in valid
        )

    def _rows(self, hits: Sequence[tuple[float, bytes, int, int]]) -> list[WordsRow]:
        found: Rows = []
        for chunk in chunks([row for *_, row in hits]):
            found += self._database.rows(
                f"SELECT chunk.id, {HEADING_PATH}, line_start, line_end, byte_start, byte_end"  # noqa: S608  # "?,?"
                f" FROM chunk JOIN page ON page.id = chunk.page WHERE chunk.id IN ({marks(chunk)})",
                chunk,
            )
        places = {row: rest for row, *rest in found}

        def unpack() -> list[WordsRow]:
            return [
                WordsRow(
                    unpack_id(blob),
                    number,
                    rank,
                    unpack_names(places[row][0]),
                    *places[row][1:],
                )
                for rank, blob, number, row in hits
                if row in places
            ]

        return self._database.unpack(unpack) or []


def _is_enough(hits: Sequence[tuple[float, bytes, int, int]], ranked: Rows, limit: int) -> bool:
    """Whether no chunk that was not fetched can be among the first, equal ones considered."""
    if len(hits) < limit:
        return False
    return bool(hits[limit - 1][0] < ranked[-1][1]) or len(ranked) > limit + MOST_EQUALS

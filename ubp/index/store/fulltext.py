"""Questions to the full text: which chunks hold the words, the best ones first."""

import json
from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Literal, NamedTuple

from ubp.core.model import ObjectId
from ubp.index.store.codec import pack_id, unpack_id
from ubp.index.store.database import Database, chunks, marks

COLUMNS = ("title", "headings", "body", "aliases")

Table = Literal["words", "stems"]
"""Where is looked: words are found as they are written, or in all forms of English."""

# Hits of other branches and of older versions are passed over: so many more than were asked for
# are fetched first (4 µs each), and this many times more each time that too few are left.
FIRST_SHARE = 1.25
GROWTH = 4
# Chunks of the same rank stand in no order: as many are looked at to put them in order.
MAX_TIES = 256

OF_PAGES = (
    " AND +rowid IN (SELECT chunk.id FROM json_each(?) AS one JOIN chunk ON chunk.page = one.value)"
)
OF_ROWS = " AND +rowid IN (SELECT value FROM json_each(?))"

Counts = Callable[[set[ObjectId]], set[ObjectId]]
"""Which of these pages count."""

_Ranked = tuple[float, int]  # rank, row
_Hit = tuple[float, bytes, int, int]  # rank, blob, number, row


class RowMatch(NamedTuple):
    """What is asked of FTS5, its words segmented; `weights` are those of COLUMNS.

    Chunks that hold `expression` are found; what the best of them hold of `adding` adds to their
    ranks, and may put them in another order.
    """

    expression: str
    weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    adding: Sequence[str] = ()
    table: Table = "words"


class WordsRow(NamedTuple):
    """A chunk that holds the words; the smaller the rank (BM25, negative), the better."""

    blob: ObjectId
    number: int
    rank: float


class MatchCounts(NamedTuple):
    """How many chunks hold the words, and how many of these are of pages that count."""

    holding: int
    counting: int


class FullTextIndex:
    """The words of all pages that were ever learned; the caller knows which ones count."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        match: RowMatch,
        limit: int,
        counts: Counts,
        within: Collection[ObjectId] | None = None,
    ) -> list[WordsRow]:
        """The best chunks of pages that count; none but `within` do, if these are given.

        Equal ranks are put in the order of blob and number.

        Raises:
            ValueError: FTS5 cannot read an expression.
        """
        hits = self._best(match, limit, counts, within)
        if match.adding and hits:
            hits = self._ranked_further(match, hits)
        return (
            self._database.unpack(
                lambda: [
                    WordsRow(unpack_id(blob), number, rank)
                    for rank, blob, number, _ in hits[:limit]
                ]
            )
            or []
        )

    def count(self, match: str, most: int, counts: Counts) -> MatchCounts:
        """Count the first `most` chunks that hold the words."""
        found = self._database.matches(
            "SELECT blob FROM (SELECT rowid AS row FROM words WHERE words MATCH ? LIMIT ?)"
            " LEFT JOIN chunk ON chunk.id = row LEFT JOIN page ON page.id = chunk.page",
            [match, most],
        )
        blobs = self._database.unpack(lambda: [unpack_id(blob) for (blob,) in found if blob]) or []
        valid = counts(set(blobs))
        return MatchCounts(len(found), sum(blob in valid for blob in blobs))

    def frequency(self, match: str, table: Table) -> int:
        """How many chunks hold the words, whether or not they count; 30 ns each."""
        rows = self._database.matches(
            f"SELECT count(*) FROM {table} WHERE {table} MATCH ?",  # noqa: S608  # one of two
            [match],
        )
        return int(rows[0][0]) if rows else 0

    def size(self) -> int:
        """How many chunks there are, whether or not they count."""
        rows = self._database.rows("SELECT count(*) FROM words_docsize")
        return int(rows[0][0]) if rows else 0

    def holding(self, match: str, within: Collection[ObjectId] | None = None) -> set[ObjectId]:
        """The pages with a chunk that holds the words, whether or not they count."""
        condition, arguments = "", []
        if within is not None:
            condition, arguments = OF_PAGES, [json.dumps(self._pages(within))]
        rows = self._database.matches(
            "SELECT blob FROM page WHERE id IN (SELECT page FROM chunk WHERE id IN"  # noqa: S608  # a constant
            f" (SELECT rowid FROM words WHERE words MATCH ?{condition}))",
            [match, *arguments],
        )
        return self._database.unpack(lambda: {unpack_id(blob) for (blob,) in rows}) or set()

    def _best(
        self, match: RowMatch, limit: int, counts: Counts, within: Collection[ObjectId] | None
    ) -> list[_Hit]:
        condition, arguments = "", []
        if within is not None:
            condition, arguments = OF_PAGES, [json.dumps(self._pages(within))]
        size, fetched = int(limit * FIRST_SHARE) + 1, 0
        while True:
            more = max(size * GROWTH, limit + MAX_TIES + 1)
            if size > fetched:  # to rank costs a hundred times what it takes to fetch more
                ranked = self._ranked(match, condition, [*arguments, more])
                fetched, seen, hits = more, 0, list[_Hit]()
            # Behind enough of them only equal ones count, unless another order is made of all.
            is_full = len(hits) >= limit and not match.adding
            worst = hits[limit - 1][0] if is_full else inf
            some = [one for one in ranked[seen:size] if one[0] <= worst]
            hits = sorted([*hits, *self._that_count(some, counts)])
            if len(ranked) < size or _is_enough(hits, ranked[:size], limit):
                return hits
            seen, size = size, more

    def _ranked_further(self, match: RowMatch, hits: Sequence[_Hit]) -> list[_Hit]:
        # BM25 is a sum over terms. To rank by all of them again takes twice as long.
        ranks = {row: rank for rank, *_, row in hits}
        rows = json.dumps(list(ranks))
        for expression in match.adding:
            one = match._replace(expression=expression)
            for rank, row in self._ranked(one, OF_ROWS, [rows, len(ranks)]):
                ranks[row] += rank
        return sorted((ranks[row], blob, number, row) for _, blob, number, row in hits)

    def _ranked(self, match: RowMatch, condition: str, arguments: list[object]) -> list[_Ranked]:
        # Of 5,000 matches this takes 5.3 ms, FTS5's own `ORDER BY rank LIMIT` 8.8.
        numbers = ", ".join(repr(float(weight)) for weight in match.weights)
        table = match.table
        return self._database.matches(
            f"SELECT bm25({table}, {numbers}) AS best, rowid AS row FROM {table}"  # noqa: S608  # numbers, constants
            f" WHERE {table} MATCH ?{condition} ORDER BY best, row LIMIT ?",
            [match.expression, *arguments],
        )

    def _that_count(self, ranked: Sequence[_Ranked], counts: Counts) -> list[_Hit]:
        # Words of chunks that are gone stay, so that there may be no chunk to a row.
        rows = self._database.rows(
            "SELECT chunk.id, blob, number FROM json_each(?) AS one JOIN chunk ON"
            " chunk.id = one.value JOIN page ON page.id = chunk.page",
            [json.dumps([row for _, row in ranked])],
        )
        ranks = {row: rank for rank, row in ranked}

        def unpack() -> list[_Hit]:
            blobs = {blob: unpack_id(blob) for _, blob, _ in rows}
            valid = counts(set(blobs.values()))
            return [
                (ranks[row], blob, number, row)
                for row, blob, number in rows
                if blobs[blob] in valid
            ]

        return self._database.unpack(unpack) or []

    def _pages(self, blobs: Collection[ObjectId]) -> list[int]:
        pages: list[int] = []
        for chunk in chunks(blobs):
            rows = self._database.rows(
                f"SELECT id FROM page WHERE blob IN ({marks(chunk)})",  # noqa: S608  # "?,?"
                list(map(pack_id, chunk)),
            )
            pages += [page for (page,) in rows]
        return pages


def _is_enough(hits: Sequence[_Hit], found: Sequence[_Ranked], limit: int) -> bool:
    """Whether no chunk that was not fetched can be among the first, equal ones considered."""
    if len(hits) < limit:
        return False
    return bool(hits[limit - 1][0] < found[-1][0]) or len(found) > limit + MAX_TIES

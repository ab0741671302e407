"""Queries of the full text: the chunks that match words, the best ones first."""

import json
from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Literal, NamedTuple

from ubp.core.model import ObjectId
from ubp.index.store.codec import pack_id, unpack_id
from ubp.index.store.database import Database
from ubp.index.store.schema import intact

COLUMNS = ("title", "headings", "body", "aliases")

Table = Literal["words", "stems"]
"""Words are matched as they are written, or in all forms of English."""

# Hits of other branches and of older versions are skipped: so many more than the limit are fetched
# first (4 µs each), and this many times more each time that too few are left.
FIRST_SHARE = 1.25
GROWTH = 4
# Chunks of equal rank have no order: so many are fetched to sort them.
MAX_TIES = 256

OF_PAGES = (
    " AND +rowid IN"
    " (SELECT chunk.id FROM json_each(?) AS wanted JOIN chunk ON chunk.page = wanted.value)"
)
OF_ROWS = " AND +rowid IN (SELECT value FROM json_each(?))"

Select = Callable[[set[ObjectId]], set[ObjectId]]
"""Returns those of these pages that may be found."""

_Ranked = tuple[float, int]  # rank, row
_Hit = tuple[float, bytes, int, int]  # rank, blob, number, row


class RowMatch(NamedTuple):
    """A query of FTS5, its words segmented; `weights` are those of COLUMNS.

    Chunks that match `expression` are found; matches of `adding` in the best of them add to their
    ranks, and may change their order.
    """

    expression: str
    weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0)
    adding: Sequence[str] = ()
    table: Table = "words"


class WordsRow(NamedTuple):
    """A matching chunk; the smaller the rank (BM25, negative), the better."""

    blob: ObjectId
    number: int
    rank: float


class MatchCounts(NamedTuple):
    """How many chunks match, and how many of these are of pages that may be found."""

    matching: int
    selected: int


class FullTextIndex:
    """The words of all pages in the store; callers select those that may be found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        match: RowMatch,
        limit: int,
        select: Select,
        within: Collection[ObjectId] | None = None,
    ) -> list[WordsRow]:
        """Return the best chunks of the pages that may be found (`within`: of these alone).

        Equal ranks are sorted by blob and number.

        Raises:
            ValueError: FTS5 cannot parse an expression.
        """
        hits = self._best(match, limit, select, within)
        if match.adding and hits:
            hits = self._add_ranks(match, hits)
        return [WordsRow(unpack_id(blob), number, rank) for rank, blob, number, _ in hits[:limit]]

    def count(self, match: str, most: int, select: Select) -> MatchCounts:
        """Count the first `most` chunks that match."""
        rows = self._database.matches(
            "SELECT blob FROM (SELECT rowid AS row FROM words WHERE words MATCH ? LIMIT ?)"  # noqa: S608  # ours
            " LEFT JOIN chunk ON chunk.id = row LEFT JOIN page ON page.id = chunk.page"
            f" AND {intact('chunk')}",
            [match, most],
        )
        blobs = [unpack_id(blob) for (blob,) in rows if blob]
        selected = select(set(blobs))
        return MatchCounts(len(rows), sum(blob in selected for blob in blobs))

    def frequency(self, match: str, table: Table) -> int:
        """Return how many chunks match, of whatever pages; 30 ns each."""
        rows = self._database.matches(
            f"SELECT count(*) FROM {table} WHERE {table} MATCH ?",  # noqa: S608  # one of two
            [match],
        )
        return int(rows[0][0]) if rows else 0

    def size(self) -> int:
        """Return the number of chunks, of whatever pages."""
        rows = self._database.rows("SELECT count(*) FROM words_docsize")
        return int(rows[0][0]) if rows else 0

    def holding(self, match: str, within: Collection[ObjectId] | None = None) -> set[ObjectId]:
        """Return the pages with a chunk that matches, whether they may be found or not."""
        condition, arguments = "", []
        if within is not None:
            condition, arguments = OF_PAGES, [json.dumps(self._pages(within))]
        rows = self._database.matches(
            "SELECT DISTINCT blob FROM chunk JOIN page ON page.id = chunk.page"  # noqa: S608  # ours
            f" WHERE {intact('chunk')} AND chunk.id IN"
            f" (SELECT rowid FROM words WHERE words MATCH ?{condition})",
            [match, *arguments],
        )
        return {unpack_id(blob) for (blob,) in rows}

    def _best(
        self, match: RowMatch, limit: int, select: Select, within: Collection[ObjectId] | None
    ) -> list[_Hit]:
        condition, arguments = "", []
        if within is not None:
            condition, arguments = OF_PAGES, [json.dumps(self._pages(within))]
        size, fetched = int(limit * FIRST_SHARE) + 1, 0
        while True:
            more = max(size * GROWTH, limit + MAX_TIES + 1)
            if size > fetched:  # ranking costs a hundred times as much as fetching more
                ranked = self._ranked(match, condition, [*arguments, more])
                fetched, seen, hits = more, 0, list[_Hit]()
            # After enough hits only equal ranks matter, unless `adding` changes the order of all.
            is_full = len(hits) >= limit and not match.adding
            worst = hits[limit - 1][0] if is_full else inf
            candidates = [hit for hit in ranked[seen:size] if hit[0] <= worst]
            hits = sorted([*hits, *self._selected_hits(candidates, select)])
            if len(ranked) < size or _is_enough(hits, ranked[:size], limit):
                return hits
            seen, size = size, more

    def _add_ranks(self, match: RowMatch, hits: Sequence[_Hit]) -> list[_Hit]:
        # BM25 is a sum over terms. Ranking by all of them again takes twice as long.
        ranks = {row: rank for rank, *_, row in hits}
        rows = json.dumps(list(ranks))
        for expression in match.adding:
            addition = match._replace(expression=expression)
            for rank, row in self._ranked(addition, OF_ROWS, [rows, len(ranks)]):
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

    def _selected_hits(self, ranked: Sequence[_Ranked], select: Select) -> list[_Hit]:
        # The words of removed chunks stay, so that a row may have no chunk.
        rows = self._database.rows(
            "SELECT chunk.id, blob, number FROM json_each(?) AS ranked JOIN chunk ON"  # noqa: S608  # ours
            f" chunk.id = ranked.value JOIN page ON page.id = chunk.page AND {intact('chunk')}",
            [json.dumps([row for _, row in ranked])],
        )
        ranks = {row: rank for rank, row in ranked}
        blobs = {blob: unpack_id(blob) for _, blob, _ in rows}
        selected = select(set(blobs.values()))
        return [
            (ranks[row], blob, number, row) for row, blob, number in rows if blobs[blob] in selected
        ]

    def _pages(self, blobs: Collection[ObjectId]) -> list[int]:
        rows = self._database.rows_in("SELECT id FROM page WHERE blob IN", map(pack_id, blobs))
        return [page for (page,) in rows]


def _is_enough(hits: Sequence[_Hit], found: Sequence[_Ranked], limit: int) -> bool:
    """Return whether no chunk that was not fetched can be among the first, ties included."""
    if len(hits) < limit:
        return False
    return bool(hits[limit - 1][0] < found[-1][0]) or len(found) > limit + MAX_TIES

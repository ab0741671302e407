"""Queries of the full text: the chunks that match words, the best ones first.

FTS5's BM25 counts all chunks of the index: those of other branches and of older versions, too. The
rank of a chunk may not depend on them. So FTS5 only finds how often a chunk contains a term, and
BM25 is computed here, from the chunks of one snapshot.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from math import inf, log
from typing import Literal, NamedTuple, Self

from ubp.core.model import ObjectId
from ubp.index.match import AllOf, AnyOf, Match, Phrase
from ubp.index.store.codec import pack_id, unpack_id
from ubp.index.store.database import Database, Rows
from ubp.index.store.links import EdgeTable, StoredGraphVersion
from ubp.index.store.schema import intact
from ubp.index.store.tokenizer import COLUMNS, Table, tokenizer

# BM25's constants, as in FTS5: how soon further occurrences count less, how much length matters.
K1, B = 1.2, 0.75
SATURATED = K1 + 1
"""The most that BM25 gives for a term of weight 1."""
MIN_WEIGHT = 1e-6
"""The weight of a term in more than half of the chunks."""

# Hits in pages that may not be found are skipped: so many more than the limit are examined first
# (4 µs each), and this many times more each time that too few are left.
FIRST_SHARE = 1.25
GROWTH = 4
PAGES_PER_QUERY = 10_000  # whose chunks are listed: their rows take 20 MB

LAST_CHARACTER = "\U0010ffff"
OF_PAGES = (
    " AND +rowid IN"
    " (SELECT chunk.id FROM json_each(?) AS wanted JOIN chunk ON chunk.page = wanted.value)"
)
OF_ROWS = " AND +rowid IN (SELECT value FROM json_each(?))"

Select = Callable[[set[ObjectId]], set[ObjectId]]
"""Returns those of these pages that may be found."""

CountAll = Callable[[Phrase, Table, bytes], "Counted"]
"""Counts the chunks with a phrase in a state of the index; see `FullTextIndex.count_all`."""

_Hit = tuple[float, bytes, int, int]  # rank, blob, number, row


class RowMatch(NamedTuple):
    """What ranks chunks; `weights` are those of COLUMNS, whole numbers.

    Chunks with any of `terms` are found, or those of them that match `condition`; matches of
    `adding` in these add to their ranks.
    """

    terms: Sequence[Phrase]
    weights: Sequence[int] = (1, 1, 1, 1)
    condition: Match | None = None
    adding: Sequence[Phrase] = ()
    table: Table = "words"


class ChunkRows(NamedTuple):
    """The chunks of a snapshot: the words of each row from `first` on, -1 where there is none."""

    first: int
    lengths: "array[int]"
    size: int
    words: int

    def changed(self, removed: Iterable[int], added: Mapping[int, int]) -> Self:
        """Return these chunks without some of their rows, and with others of so many words."""
        end = self.first + len(self.lengths)
        first = min([self.first] * bool(self.lengths) + [*added], default=end)
        last = max([end - 1, *added])
        lengths = array("i", [-1]) * (self.first - first if self.lengths else 0)
        lengths.extend(self.lengths)
        lengths.extend(array("i", [-1]) * (last + 1 - first - len(lengths)))
        size, words = self.size, self.words
        for row in removed:
            size, words = size - 1, words - lengths[row - first]
            lengths[row - first] = -1
        for row, length in added.items():
            if lengths[row - first] < 0:
                size, words = size + 1, words + length
                lengths[row - first] = length
        return self._replace(first=first, lengths=lengths, size=size, words=words)

    @property
    def extent(self) -> "Extent":
        """How much text the chunks are."""
        return Extent(self.size, self.words)


class Extent(NamedTuple):
    """How much text is searched: a number of chunks, and of their words."""

    chunks: int
    words: int

    def weight(self, frequency: int) -> float:
        """Return the weight of a term that so many of the chunks contain."""
        return max(MIN_WEIGHT, log(odds(frequency, self.chunks)))


class Statistics(NamedTuple):
    """What BM25 counts: the chunks of a snapshot, and in `extent` the weights of terms.

    The extent is that of the chunks, or of all that are searched as one with them.
    """

    chunks: ChunkRows
    weights: Mapping[Phrase, float]
    extent: Extent


def odds(frequency: int, size: int) -> float:
    """Return how many chunks of `size` lack a term, for each that contains it, smoothed."""
    return (max(size, frequency) - frequency + 0.5) / (frequency + 0.5)


class WordsRow(NamedTuple):
    """A matching chunk; the smaller the rank (BM25, negative), the better."""

    blob: ObjectId
    number: int
    rank: float


class Counted(NamedTuple):
    """How many chunks of the whole index match in one of its states, and how much text it has."""

    state: bytes
    extent: "Extent"
    chunks: int


class MatchCounts(NamedTuple):
    """How many chunks match, and how many of these are of pages that may be found."""

    matching: int
    selected: int


def write_fts5(match: Match) -> str:
    """Write what is looked for in FTS5's language."""
    if isinstance(match, Phrase):
        words = match.words.replace('"', " ")
        written = f'{"^ " * match.is_first}"{words}"{" *" * match.is_prefix}'
        return f"({match.column} : {written})" if match.column else written
    if isinstance(match, AllOf | AnyOf):
        operator = " AND " if isinstance(match, AllOf) else " OR "
        return f"({operator.join(map(write_fts5, match.parts))})"
    return f"({write_fts5(match.included)} NOT {write_fts5(match.excluded)})"


class FullTextIndex:
    """The words of all pages in the store; callers select those that may be found."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: dict[tuple[object, Table, Phrase], Counted] = {}

    def rows_of(self, table: Table, pages: Collection[ObjectId]) -> dict[int, int]:
        """Return the rows of these pages' chunks, and how many words each has."""
        sql = _ROWS.format(table=table)
        return self._lengths(self._database.rows_in(f"{sql} page.blob IN", map(pack_id, pages)))

    def chunks_of(self, table: Table, graph: StoredGraphVersion) -> ChunkRows:
        """Return the rows of the chunks of a stored graph's pages.

        Raises:
            GraphMovedError: the graph has changed since it was read.
        """
        sql = (
            f"{_ROWS.format(table=table)} page.id > ? AND page.id <= ? AND EXISTS"  # noqa: S608  # ours
            " (SELECT 1 FROM node WHERE node.blob = page.blob AND graph = ?)"
        )
        ((last,),) = self._database.rows("SELECT max(id) FROM page") or [(None,)]
        chunks = ChunkRows(0, array("i"), 0, 0)
        for page in range(0, last or 0, PAGES_PER_QUERY):
            rows = self._database.rows(sql, [page, page + PAGES_PER_QUERY, graph.row])
            chunks = chunks.changed((), self._lengths(rows))
        EdgeTable(self._database).check(graph)
        return chunks

    def search(
        self,
        match: RowMatch,
        statistics: Statistics,
        limit: int,
        select: Select,
        within: Collection[ObjectId] | None = None,
    ) -> list[WordsRow]:
        """Return the best chunks of the pages that may be found (`within`: of these alone).

        Equal ranks are sorted by blob and number.
        """
        condition, rows = "", None
        if within is not None:
            condition, rows = OF_PAGES, json.dumps(self._pages(within))
        if match.condition:
            matching = self._database.matches(
                f"SELECT rowid FROM {match.table} WHERE {match.table} MATCH ?{condition}",  # noqa: S608  # ours
                [write_fts5(match.condition), *([] if rows is None else [rows])],
            )
            condition, rows = OF_ROWS, json.dumps([row for (row,) in matching])
        ranking = _Ranking(self._database, self.count_all, match, statistics)
        scores = ranking.scores(match.terms, condition, rows)
        if match.adding and scores:
            # To rank all chunks by all of the terms takes twice as long. What the added ones give
            # at most lifts no chunk that is further below the `limit` best than that.
            best = self._best(scores, limit, select)
            least = -best[limit - 1][0] if len(best) >= limit else -inf
            least -= SATURATED * sum(statistics.weights[term] for term in match.adding)
            scores = {row: score for row, score in scores.items() if score >= least}
            added = ranking.scores(match.adding, OF_ROWS, json.dumps([*scores]))
            scores = {row: score + added.get(row, 0.0) for row, score in scores.items()}
        hits = self._best(scores, limit, select)
        return [WordsRow(unpack_id(blob), number, rank) for rank, blob, number, _ in hits[:limit]]

    def count(self, match: Match, most: int, select: Select) -> MatchCounts:
        """Count the first `most` chunks that match."""
        rows = self._database.matches(
            "SELECT blob FROM (SELECT rowid AS row FROM words WHERE words MATCH ? LIMIT ?)"  # noqa: S608  # ours
            " LEFT JOIN chunk ON chunk.id = row LEFT JOIN page ON page.id = chunk.page"
            f" AND {intact('chunk')}",
            [write_fts5(match), most],
        )
        blobs = [unpack_id(blob) for (blob,) in rows if blob]
        selected = select(set(blobs))
        return MatchCounts(len(rows), sum(blob in selected for blob in blobs))

    def frequency(self, phrase: Phrase, table: Table, chunks: ChunkRows) -> int:
        """Return how many of these chunks contain a phrase.

        It takes 0.03 µs for each, where there are no others 0.2.
        """
        counted = self.count_all(phrase, table)
        if not counted.chunks or counted.extent.chunks == chunks.size:
            return counted.chunks
        rows = self._database.matches(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?",  # noqa: S608  # one of two
            [write_fts5(phrase), chunks.first, chunks.first + len(chunks.lengths) - 1],
        )
        first, lengths = chunks.first, chunks.lengths
        return sum(lengths[row - first] >= 0 for (row,) in rows)

    def count_all(self, phrase: Phrase, table: Table, state: bytes | None = None) -> Counted:
        """Count the chunks of all snapshots that contain a phrase, once in a state of the index."""
        key = self._database.identity, table, phrase
        counted = self._counted.get(key)
        if counted is None or counted.state != state:
            # In one statement, so that all are of one state, which every change writes anew.
            ((found, averages, count),) = self._database.matches(
                f"SELECT {_state_of(table)}, (SELECT block FROM {table}_data WHERE id = 1),"  # noqa: S608  # one of two
                f" count(*) FROM {table} WHERE {table} MATCH ?",
                [write_fts5(phrase)],
            )
            size, *words = _numbers(averages) or [0]
            counted = self._counted[key] = Counted(found, Extent(size, sum(words)), count)
        return counted

    def last_page(self) -> int:
        """Return a number that is larger once further pages are in the index."""
        ((last,),) = self._database.rows("SELECT ifnull(max(id), 0) FROM page") or [(0,)]
        return int(last)

    def vocabulary(self) -> str:
        """Return the Latin words and identifiers of all pages in the store, one a line.

        Of 42,000 sections it takes 0.36 s of CPU, and 1 MB.
        """
        rows = self._database.rows(
            "SELECT term FROM temp.words_row", before=_make_vocabulary("words", "row")
        )
        return "\n".join(term for (term,) in rows if term.isascii() and term.isidentifier())

    def holding(
        self,
        match: Match,
        within: Collection[ObjectId] | None = None,
        table: Table = "words",
        limit: int | None = None,
    ) -> set[ObjectId]:
        """Return the pages with a chunk that matches, at most `limit`; not all may be found."""
        condition, arguments = "", []
        if within is not None:
            condition, arguments = OF_PAGES, [json.dumps(self._pages(within))]
        rows = self._database.matches(
            "SELECT DISTINCT blob FROM chunk JOIN page ON page.id = chunk.page"  # noqa: S608  # ours
            f" WHERE {intact('chunk')} AND chunk.id IN"
            f" (SELECT rowid FROM {table} WHERE {table} MATCH ?{condition})"
            f"{'' if limit is None else ' LIMIT ?'}",
            [write_fts5(match), *arguments, *([] if limit is None else [limit])],
        )
        return {unpack_id(blob) for (blob,) in rows}

    def _best(self, scores: Mapping[int, float], limit: int, select: Select) -> list[_Hit]:
        """Return the best chunks, at least `limit`, and all that are as good as the last one."""
        hits: list[_Hit] = []
        size, seen = int(limit * FIRST_SHARE) + 1, inf
        while True:
            best = nlargest(size, scores.values())
            least = best[-1] if len(best) == size else -inf
            rows = [row for row, score in scores.items() if least <= score < seen]
            hits = sorted([*hits, *self._selected_hits(rows, scores, select)])
            if len(hits) >= limit or len(best) < size:
                return hits
            size, seen = size * GROWTH, least

    def _selected_hits(
        self, rows: Sequence[int], scores: Mapping[int, float], select: Select
    ) -> list[_Hit]:
        found = self._database.rows(
            "SELECT chunk.id, blob, number FROM json_each(?) AS ranked JOIN chunk ON"  # noqa: S608  # ours
            f" chunk.id = ranked.value JOIN page ON page.id = chunk.page AND {intact('chunk')}",
            [json.dumps(rows)],
        )
        blobs = {blob: unpack_id(blob) for _, blob, _ in found}
        selected = select(set(blobs.values()))
        return [
            (-scores[row], blob, number, row)
            for row, blob, number in found
            if blobs[blob] in selected
        ]

    def _lengths(self, rows: Rows) -> dict[int, int]:
        totals = {lengths: sum(_numbers(lengths)) for lengths in {size for _, size in rows}}
        if None in totals:
            self._database.replace_damaged()  # the full text lacks a chunk
        return {row: totals[lengths] for row, lengths in rows}

    def _pages(self, blobs: Collection[ObjectId]) -> list[int]:
        rows = self._database.rows_in("SELECT id FROM page WHERE blob IN", map(pack_id, blobs))
        return [page for (page,) in rows]


class _Ranking:
    """BM25 of one search."""

    def __init__(
        self, database: Database, count: CountAll, match: RowMatch, statistics: Statistics
    ) -> None:
        self._database, self._count = database, count
        self._table, self._columns = match.table, match.weights
        self._chunks, self._weights, self._extent = statistics
        self._bounds = self._chunks.first, self._chunks.first + len(self._chunks.lengths) - 1
        table, numbers = match.table, ", ".join(map(repr, map(float, match.weights)))
        self._ranks = (
            f"SELECT {_state_of(table)}, NULL UNION ALL"  # noqa: S608  # numbers, constants
            f" SELECT rowid, bm25({table}, {numbers}) FROM {table}"
            f" WHERE {table} MATCH ?1 AND rowid BETWEEN ?2 AND ?3"
        )

    def scores(self, terms: Iterable[Phrase], condition: str, rows: str | None) -> dict[int, float]:
        """Return the sum over these terms for each chunk that has any of them."""
        first, lengths = self._chunks.first, self._chunks.lengths
        average = max(self._extent.words, 1) / max(self._extent.chunks, 1)
        scores: dict[int, float] = {}
        known = scores.get
        for term in terms:
            weight = self._weights[term]
            # Of a word in more than half of the chunks the list is long: it is often in each twice.
            is_listed = rows is None and weight > MIN_WEIGHT
            words = self._words(term) if is_listed else None
            found = self._count_words(words) if words else self._count_term(term, condition, rows)
            for row, n in found.items():
                length = lengths[row - first]
                if length >= 0:
                    # Operation by operation as FTS5 does, and as a hub does: equal ranks stay so.
                    score = weight * ((n * SATURATED) / (n + K1 * (1 - B + B * length / average)))
                    scores[row] = known(row, 0.0) + score
        return scores

    def _words(self, term: Phrase) -> tuple[str, str] | None:
        """Return the first and last word of the index that match a term; None: it is a phrase."""
        words = tokenizer(self._table).words(term.words)
        if len(words) != 1 or term.column or term.is_first:
            return None
        return words[0], words[0] + LAST_CHARACTER * term.is_prefix

    def _count_words(self, words: tuple[str, str]) -> Mapping[int, int]:
        """Return how often chunks contain words, each time as often as its column's weight.

        To list the words' places, as text, takes half as long as FTS5's ranks.
        """
        lists = ", ".join(f"group_concat(iif(col = '{column}', doc, NULL))" for column in COLUMNS)
        ((*places,),) = self._database.rows(
            f"SELECT {lists} FROM temp.{self._table}_instance"  # noqa: S608  # constants
            " WHERE term BETWEEN ? AND ? AND doc BETWEEN ? AND ?",
            [*words, *self._bounds],
            before=_make_vocabulary(self._table, "instance"),
        )
        counts = Counter[int]()
        for rows, weight in zip(places, self._columns, strict=True):
            counts.update(json.loads(f"[{rows or ''}]") * weight)
        return counts

    def _count_term(self, term: Phrase, condition: str, rows: str | None) -> dict[int, int]:
        """Return the same of a term, in some rows."""
        arguments = [write_fts5(term), *self._bounds, *([] if rows is None else [rows])]
        while True:
            (state, _), *found = self._database.matches(self._ranks + condition, arguments)
            counted = self._count(term, self._table, state)
            if counted.state == state:  # else the index has changed in between
                break
        # FTS5's rank is -most * n / (n + k), k depending on a chunk's length: n is wanted.
        extent = counted.extent
        most = SATURATED * extent.weight(counted.chunks)
        short, longer = K1 * (1 - B), K1 * B * extent.chunks / max(extent.words, 1)
        first, lengths = self._chunks.first, self._chunks.lengths
        return {
            row: round(-rank / (most + rank) * (short + longer * lengths[row - first]))
            for row, rank in found
        }


def _state_of(table: Table) -> str:
    """Return the query of a table's list of its parts, which FTS5 writes at every change."""
    return f"(SELECT block FROM {table}_data WHERE id = 10)"  # noqa: S608  # one of two


def _make_vocabulary(table: Table, kind: Literal["row", "instance"]) -> str:
    """Return the statement that makes a table of the words of the full text, for a connection."""
    return (
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_{kind}"
        f" USING fts5vocab(main, {table}, {kind})"
    )


def _numbers(block: bytes | None) -> list[int]:
    """Return the numbers that FTS5 has written one after the other (SQLite's `varint`)."""
    numbers, number = [], 0
    for byte in block or b"":
        number = number << 7 | byte & 0x7F
        is_last = not byte & 0x80
        if is_last:
            numbers.append(number)
            number = 0
    return numbers


_ROWS = (
    "SELECT chunk.id, size.sz FROM page JOIN chunk ON chunk.page = page.id"
    " LEFT JOIN {table}_docsize AS size ON size.id = chunk.id WHERE"
)

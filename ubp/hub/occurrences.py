"""How often the chunks of a hub contain the terms of a query, found in one statement.

Words are in the lists of `posting`. Of phrases, of beginnings of words, and of words whose
repositories are not listed, PostgreSQL finds the chunks. How often these have a phrase of several
words it estimates; of a rare one it returns the positions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ubp.core.model import ObjectId
from ubp.hub.bm25 import Found, Positions, count_occurrences
from ubp.hub.chunk_rows import NO_ROWS, ReadableRows
from ubp.hub.postings import OCCURRENCES, read_postings, select_postings
from ubp.hub.tokens import lexemes_of, write_tsquery
from ubp.index.match import Match, Phrase
from ubp.index.store.tokenizer import Table

# Of a phrase in more chunks it is estimated how often they have it: to count takes 40 µs each.
MAX_COUNTED = 300
# No more chunks with a phrase are looked at; those with it in a name or a heading come first.
MAX_ESTIMATED = 10_000
# The number of occurrences that ts_rank implies, which adds the weight of the n-th occurrence
# divided by n², so that of words of the body 1 / (π²/6 - sum) - 0.55 is their number. Weights are
# those of `ubp.search.lexical.WEIGHTS`, aliases first.
RANK_WEIGHTS = "{0.5,0.125,1,0.5}"
PHRASE_SCALE = 8.0  # a body's word weighs 1/8
_NUMBER = "(case when {0} < 2 then 1 / greatest(1.645 - {0}, 0.03) - 0.55 else 1.15 * {0} end)"

_PACKED_CHUNKS = (
    "string_agg(int4send(f.repository) || int4send(f.number) || float8send(f.occurrences),"
    " ''::bytea), null::bytea, array_agg(encode(f.blob, 'hex'))"
)
_OF_FOUND = (
    "from chunk c where c.repository = f.repository and c.blob = f.blob and c.number = f.number"
)
_PACKED = np.dtype([("repository", ">i4"), ("number", ">i4"), ("occurrences", ">f8")])

_NONE = Found(np.zeros(0, np.int32), np.zeros(0, np.uint16))

StoredPositions = Mapping[str, Sequence[Any]]
Row = tuple[
    int,
    bytes | None,
    bytes | None,
    Sequence[str] | None,
    Sequence[StoredPositions | None] | None,
    bool | None,
]
"""The number of what was asked for, what `OccurrenceQuery` packs of it, and `written`'s answer."""


class OccurrenceQuery:
    """A statement that finds what is added to it, and reads its rows."""

    def __init__(self, table: Table) -> None:
        self.values: dict[str, Any] = {}
        self._table = table
        self._parts: list[str] = []
        self._phrases: dict[int, Phrase] = {}
        self._exact: set[int] = set()
        self.returned: Counter[int] = Counter()
        """How many chunks with a phrase the database has returned, by number; see `read`."""
        self.written: dict[int, bool] = {}
        """Whether a phrase is in one of its chunks as it is written, by number; see `read`."""

    @property
    def sql(self) -> str:
        """The statement; "": nothing was added."""
        return " union all ".join(f"({part})" for part in self._parts)

    def add_word(self, number: int, word: str, readable: str) -> None:
        """Find a word in repositories whose words are listed."""
        is_stem = self._table == "stems"
        query, values = select_postings(word, readable, is_stem=is_stem, number=number)
        self.values |= values
        self._parts.append(
            f"select {number}, listed.*, null::text[], null::json, null::bool from ({query}) listed"  # noqa: S608  # ours
        )

    def add_phrase(self, number: int, phrase: Phrase, allowed: str, *, is_common: bool) -> None:
        """Find a phrase in allowed chunks; `is_common`: more than MAX_ESTIMATED may have it."""
        query = f"%(q{number})s::tsquery"
        self.values[f"q{number}"] = write_tsquery(phrase, self._table)
        found = f"{self._table} @@ {query}"
        choices = [found]
        if is_common:
            named = f"ts_filter({self._table}, '{{a,b,d}}') @@ {query}"
            choices = [named, f"{found} and not {named}"]
        matching = " union all ".join(
            f"select repository, blob, number, {self._table} as vector from chunk"  # noqa: S608  # ours
            f" where {allowed} and {choice}"
            for choice in choices
        )
        matching = f"{matching} limit {MAX_ESTIMATED}"
        if len(lexemes_of(phrase, self._table)) == 1:
            self._add_words(number, phrase, matching)
        else:
            self._add_estimated(number, phrase, matching)

    def _add_words(self, number: int, phrase: Phrase, matching: str) -> None:
        """Count a word, or the words of a beginning, in these chunks."""
        plain, prefixes = _lexemes([phrase], self._table)
        self.values[f"w{number}"] = (plain or prefixes)[0]
        is_word = "starts_with(u.lexeme, {})" if prefixes else "u.lexeme = {}"
        self._exact.add(number)
        self._parts.append(
            f"""
            select {number}, {_PACKED_CHUNKS}, null::json, null::bool
            from (
                select repository, blob, number, (
                    select sum({OCCURRENCES}) from unnest(vector) u
                    where {is_word.format(f"%(w{number})s")}
                ) as occurrences
                from ({matching}) c
            ) f
            """  # noqa: S608  # ours
        )

    def _add_estimated(self, number: int, phrase: Phrase, matching: str) -> None:
        """Find the positions of a phrase in these chunks; of a common one estimate the number."""
        positions, values = select_positions([phrase], self._table, number)
        self.values |= {**values, f"t{number}": write_tsquery(phrase, "words")}
        self._phrases[number] = phrase
        few = f"(select count(*) from found) <= {MAX_COUNTED}"  # noqa: S608  # a number
        rank = f"{PHRASE_SCALE} * ts_rank('{RANK_WEIGHTS}', c.vector, %(q{number})s::tsquery)"
        self._parts.append(
            f"""
            with found as materialized (
                select repository, blob, number, {_NUMBER.format("rank")} as occurrences
                from ({matching}) c cross join lateral (select {rank} as rank offset 0) ranked
            )
            select {number}, {_PACKED_CHUNKS},
                case when {few} then json_agg(
                    case when {few} then (select {positions} {_OF_FOUND}) end
                ) end,
                exists (
                    select from found f where (select words @@ %(t{number})s::tsquery {_OF_FOUND})
                )
            from found f
            """  # noqa: S608  # ours
        )

    def add_condition(self, number: int, condition: Match, compared: str, allowed: str) -> None:
        """Find the allowed chunks of which the expression `compared` matches."""
        self.values["condition"] = write_tsquery(condition, self._table)
        self._parts.append(
            f"""
            select {number}, {_PACKED_CHUNKS}, null::json, null::bool
            from (
                select repository, blob, number, 1 as occurrences from chunk
                where {allowed} and {compared} @@ %(condition)s::tsquery limit {MAX_ESTIMATED}
            ) f
            """  # noqa: S608  # ours
        )

    def read(self, rows: Iterable[Row], asked: int, readable: ReadableRows) -> list[Found]:
        """Return what was found of each of the things that were asked for."""
        parts: list[list[Found]] = [[] for _ in range(asked)]
        for number, heads, lists, blobs, positions, is_written in rows:
            if is_written is not None:
                self.written[number] = is_written
            if heads is None or blobs is None:
                parts[number].append(read_listed(heads, lists, readable))
            else:
                found = _read_chunks(heads, blobs, readable)
                self.returned[number] += len(found.rows)
                parts[number].append(self._counted(number, found, positions))
        return [_join(found) for found in parts]

    def _counted(
        self, number: int, found: Found, positions: Sequence[StoredPositions | None] | None
    ) -> Found:
        """Return the same, with how often the words at these positions are it; None: unknown."""
        if positions is None:
            return found._replace(is_exact=number in self._exact)
        phrase = self._phrases[number]
        words = map(read_positions, positions)
        counted = (count_occurrences(each, phrase, self._table) for each in words)
        return found._replace(occurrences=np.fromiter(counted, dtype=np.float64), is_exact=True)


def select_positions(
    terms: Iterable[Phrase], table: Table, number: int
) -> tuple[str, Mapping[str, Any]]:
    """Return the expression for where the words of terms are in a chunk `c`, and parameters.

    `number` tells the parameters of expressions apart.
    """
    plain, prefixes = _lexemes(terms, table)
    values: dict[str, Any] = {f"plain{number}": plain}
    starts = []
    for index, prefix in enumerate(prefixes):
        values[f"p{number}_{index}"] = prefix
        starts.append(f" or starts_with(u.lexeme, %(p{number}_{index})s)")
    return (
        "(select json_object_agg(u.lexeme, json_build_array(u.positions, u.weights))"  # noqa: S608  # ours
        f" from unnest(c.{table}) u where u.lexeme = any(%(plain{number})s){''.join(starts)})"
    ), values


def read_positions(stored: StoredPositions | None) -> dict[str, Positions]:
    """Return the positions of words that `select_positions` has found."""
    return {word: Positions(*found) for word, found in (stored or {}).items()}


def _lexemes(terms: Iterable[Phrase], table: Table) -> tuple[list[str], list[str]]:
    """Return the words of phrases, and the beginnings of words."""
    plain: dict[str, None] = {}
    prefixes: dict[str, None] = {}
    for term in terms:
        words = [*lexemes_of(term, table).values()]
        plain.update(dict.fromkeys(words[:-1] if term.is_prefix else words))
        prefixes.update(dict.fromkeys(words[-1:] if term.is_prefix else ()))
    return list(plain), list(prefixes)


def read_listed(heads: bytes | None, lists: bytes | None, readable: ReadableRows) -> Found:
    """Return the chunks that `select_postings` has found."""
    if heads is None or lists is None:
        return _NONE
    postings = read_postings(heads, lists)
    rows = readable.at(postings.repositories, postings.places)
    return Found(rows, postings.occurrences)


def _read_chunks(heads: bytes, blobs: Sequence[str], readable: ReadableRows) -> Found:
    packed = np.frombuffer(heads, dtype=_PACKED)
    rows = np.array(
        [
            readable.find(repository, ObjectId(blob), number)
            for repository, blob, number in zip(
                packed["repository"].tolist(), blobs, packed["number"].tolist(), strict=True
            )
        ],
        dtype=np.int32,
    )
    return Found(rows, packed["occurrences"].astype(np.float64), is_exact=False)


def _join(parts: Sequence[Found]) -> Found:
    rows = np.concatenate([_NONE.rows, *(part.rows for part in parts)])
    occurrences = np.concatenate([_NONE.occurrences, *(part.occurrences for part in parts)])
    is_known = rows != NO_ROWS
    is_exact = bool(parts) and all(part.is_exact for part in parts)
    return Found(rows[is_known], occurrences[is_known], is_exact)

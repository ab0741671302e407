"""Which chunks of a repository contain each of its words, and how often: as its last push has them.

A row of `posting` has the words whose hashes begin with the same byte. Of each it has the first
eight bytes of its SHA-256, four of the number of chunks that contain it, and four for each chunk:
22 bits of its place among the repository's chunks in the order of blob and number, and ten of how
often it has the word, each time as often as the column's weight (`ubp.search.lexical.WEIGHTS`).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ubp.hub.database import Connection
from ubp.hub.tokens import FIRST, LABELS
from ubp.index.store.tokenizer import COLUMNS
from ubp.search.lexical import WEIGHTS

HASH_BYTES, COUNT_BYTES = 8, 4
OCCURRENCE_BITS = 10
MAX_OCCURRENCES = (1 << OCCURRENCE_BITS) - 1
# Of a repository with more chunks, four million, the last ones are not found by their words.
MAX_CHUNKS = 1 << 32 - OCCURRENCE_BITS

OCCURRENCES = "cardinality(u.weights)" + "".join(
    f" + {weight - 1} * cardinality(array_positions(u.weights, '{LABELS[column]}'))"
    for column, weight in zip(COLUMNS, WEIGHTS.columns, strict=True)
    if weight != 1
)
"""The expression for how often a chunk has a word, an element `u` of its `tsvector`."""

_LIST = f"""
with numbered as (
    select row_number() over (order by blob, number)::bigint - 1 as place, words, stems
    from chunk where repository = %(repository)s
)
insert into posting (repository, is_stem, bucket, lists)
select %(repository)s, is_stem, get_byte(hash, 0),
       string_agg(substring(hash for {HASH_BYTES}) || int4send(chunks) || list, ''::bytea)
from (
    select is_stem, sha256(convert_to(lexeme, 'UTF8')) as hash, count(*)::int as chunks,
           string_agg(substring(
               int8send((place << {OCCURRENCE_BITS}) | least(occurrences, {MAX_OCCURRENCES})) from 5
           ), ''::bytea order by place) as list
    from (
        select false as is_stem, u.lexeme, place, {OCCURRENCES} as occurrences
        from numbered cross join unnest(words) u
        union all
        select true, u.lexeme, place, {OCCURRENCES}
        from numbered cross join unnest(stems) u
    ) found
    where lexeme <> '{FIRST}' and place < {MAX_CHUNKS}
    group by is_stem, lexeme
) listed
group by is_stem, get_byte(hash, 0)
"""  # noqa: S608  # numbers, and names of columns


class Postings(NamedTuple):
    """The chunks of some repositories that contain a word.

    `repositories` has the number of each repository and of its chunks, shape (r, 2); `places` and
    `occurrences` have those of the chunks, one repository's after the other's.
    """

    repositories: npt.NDArray[np.int64]
    places: npt.NDArray[np.int32]
    occurrences: npt.NDArray[np.uint16]


def list_words(connection: Connection, repository: int) -> None:
    """List the words of a repository, whose row in `search_state` is locked, anew."""
    connection.execute("delete from posting where repository = %s", [repository])
    connection.execute(_LIST, {"repository": repository})
    connection.execute(
        "update search_state set listed = version where repository = %s", [repository]
    )


def select_counts(
    word: str, readable: str, *, is_stem: bool, number: int
) -> tuple[str, Mapping[str, Any]]:
    """Return the query of the number of chunks with a word, by repository, and its parameters.

    `readable` is the condition on repositories; `number` tells the parameters of queries apart.
    """
    found, values = _found(word, readable, is_stem=is_stem, number=number)
    return f"select repository, chunks from ({found}) listed", values  # noqa: S608  # ours


def select_presence(
    word: str, readable: str, *, is_stem: bool, number: int
) -> tuple[str, Mapping[str, Any]]:
    """Return the query that finds nothing if no chunk has a word, and its parameters.

    `readable` is the condition on repositories; `number` tells the parameters of queries apart.
    """
    found, values = _found(word, readable, is_stem=is_stem, number=number)
    return f"select from ({found}) listed", values


def select_postings(
    word: str, readable: str, *, is_stem: bool, number: int
) -> tuple[str, Mapping[str, Any]]:
    """Return the query of the chunks with a word, two columns for `read_postings`, and parameters.

    `readable` is the condition on repositories; `number` tells the parameters of queries apart.
    """
    found, values = _found(word, readable, is_stem=is_stem, number=number)
    start = HASH_BYTES + COUNT_BYTES
    query = f"""
        select string_agg(int4send(repository) || int4send(chunks), ''::bytea),
            string_agg(substring(lists from at + {start} for 4 * chunks), ''::bytea)
        from ({found}) listed
    """  # noqa: S608  # ours
    return query, values


def read_postings(repositories: bytes, chunks: bytes) -> Postings:
    """Return what `select_postings` has found."""
    rows = np.frombuffer(repositories, dtype=">i4").astype(np.int64).reshape(-1, 2)
    packed = np.frombuffer(chunks, dtype=">u4").astype(np.uint32)
    places = (packed >> OCCURRENCE_BITS).astype(np.int32)
    return Postings(rows, places, (packed & MAX_OCCURRENCES).astype(np.uint16))


def count_chunks(repositories: bytes | None) -> dict[int, int]:
    """Return the number of chunks by repository, of the first column of `select_postings`."""
    pairs = np.frombuffer(repositories or b"", dtype=">i4").reshape(-1, 2)
    return dict(pairs.tolist())


def _found(
    word: str, readable: str, *, is_stem: bool, number: int
) -> tuple[str, Mapping[str, Any]]:
    digest = sha256(word.encode()).digest()
    query = f"""
        select repository, lists, at,
            ('x' || encode(substring(lists from at + {HASH_BYTES} for {COUNT_BYTES}), 'hex'))
                ::bit(32)::int as chunks
        from posting cross join lateral (select position(%(h{number})s in lists) as at) found
        where {readable} and is_stem = {is_stem} and bucket = %(b{number})s and at > 0
    """  # noqa: S608  # numbers, and a condition of ours
    return query, {f"h{number}": digest[:HASH_BYTES], f"b{number}": digest[0]}

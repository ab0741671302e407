"""How many chunks of a repository contain each of its words, as its last push has counted them.

A row of `word_count` has the words whose hashes begin with the same byte: of each the first eight
bytes of its SHA-256, and four of the number of chunks.
"""

from collections.abc import Mapping
from hashlib import sha256

from ubp.hub.database import Connection

HASH_BYTES = 8

_COUNT = f"""
insert into word_count (repository, is_stem, bucket, counts)
select %(repository)s, is_stem, get_byte(hash, 0),
       string_agg(substring(hash for {HASH_BYTES}) || int4send(chunks), ''::bytea)
from (
    select true as is_stem, sha256(convert_to(word, 'UTF8')) as hash, ndoc as chunks
    from ts_stat(format('select stems from chunk where repository = %%s', %(repository)s::int))
    union all
    select false, sha256(convert_to(word, 'UTF8')), ndoc
    from ts_stat(format('select words from chunk where repository = %%s', %(repository)s::int))
) counted
group by is_stem, get_byte(hash, 0)
"""  # noqa: S608  # a number


def count_words(connection: Connection, repository: int) -> None:
    """Count the words of a repository, whose row in `search_state` is locked, anew."""
    connection.execute("delete from word_count where repository = %s", [repository])
    connection.execute(_COUNT, {"repository": repository})
    connection.execute(
        "update search_state set counted = version where repository = %s", [repository]
    )


def select_counts(
    word: str, readable: str, *, is_stem: bool, number: int
) -> tuple[str, Mapping[str, bytes | int]]:
    """Return the query of the chunks with a word, by repository, and the values of its parameters.

    `readable` is the condition on repositories; `number` tells the parameters of queries apart.
    """
    digest = sha256(word.encode()).digest()
    query = f"""
        select repository, ('x' || encode(substring(counts from found.at + {HASH_BYTES} for 4),
            'hex'))::bit(32)::int as chunks
        from word_count cross join lateral (select position(%(h{number})s in counts) as at) found
        where {readable} and is_stem = {is_stem} and bucket = %(b{number})s and found.at > 0
    """  # noqa: S608  # numbers, and a condition of ours
    return query, {f"h{number}": digest[:HASH_BYTES], f"b{number}": digest[0]}

"""Take the texts of pages: staged until their push is complete, then those of the tip alone.

Everything about a repository's texts is written under the lock of its row in `search_state`. So the
ids of its chunks rise in the order of its commits: whoever has read some of them reads the rest by
`id > last`.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ubp.board.wire import WireError
from ubp.core.model import ObjectId
from ubp.hub.database import Connection
from ubp.hub.postings import list_words
from ubp.hub.read_text import TEXT_FORMAT, ReadText, read_texts
from ubp.index.embed.protocol import EmbeddingModel

Wanted = Literal["none", "all", "sent"]
"""Which texts a push asks the hub to keep: none that are new, all, or what was sent of them."""
WANTED: frozenset[str] = frozenset({"none", "all", "sent"})


@dataclass(frozen=True, slots=True)
class TextPush:
    """A push, as far as texts are concerned; `is_new`: it has changed the board."""

    repository: int
    ref: str
    wanted: Wanted
    is_new: bool


# To write the words of 20 MB of Japanese pages takes a minute and more.
SECONDS_TO_MOVE = 600
MAX_TEXTS = 2_000  # in one answer about those that are missing
# To read so many again takes a second or two, in which pushes of their repository wait.
TEXTS_AT_ONCE = 64

_STAGE = """
insert into staged_text
(repository, blob, format, model, facts, fields, sections, chunks, body)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s)
on conflict (repository, blob) do update set at = now(), format = excluded.format,
    model = excluded.model, facts = excluded.facts, fields = excluded.fields,
    sections = excluded.sections, chunks = excluded.chunks, body = excluded.body
"""

# Blobs of the tip's pages; as a parameter they are looked up in a hash, whatever the planner knows.
_LIVE = """
select array(select distinct f.oid from page p join file f using (ref, path) where p.ref = %s)
"""

# A program without a model asks for no text because of its vectors.
_MISSING = """
select live.blob from unnest(%(live)s::bytea[]) as live (blob)
where not exists (select from text t where t.repository = %(repository)s and t.blob = live.blob
                  and t.format = %(format)s
                  and (%(model)s::bytea is null or t.model = %(model)s))
  and not exists (select from staged_text t where t.repository = %(repository)s
                  and t.blob = live.blob
                  and t.format = %(format)s
                  and (%(model)s::bytea is null or t.model = %(model)s))
limit %(limit)s
"""

# What the tip has no more, and what another version of UBP, or another model, has read.
_DELETE = """
delete from text t where t.repository = %(repository)s
and (not (t.blob = any(%(live)s::bytea[]))
     or exists (select from staged_text s where s.repository = t.repository and s.blob = t.blob))
"""

_MOVE_TEXTS = """
insert into text (repository, blob, format, model, facts, fields, sections, chunks, body)
select s.repository, s.blob, s.format, s.model, s.facts, s.fields, s.sections, s.chunks, s.body
from staged_text s where s.repository = %(repository)s and s.blob = any(%(live)s::bytea[])
"""

_MOVE_CHUNKS = """
insert into chunk (repository, blob, number, id, length, stem_length, vector, words, stems)
select s.repository, s.blob, s.number,
       state.last_id + row_number() over (order by s.blob, s.number),
       s.length, s.stem_length, s.vector, s.words, s.stems
from staged_chunk s join search_state state using (repository)
where s.repository = %(repository)s and s.blob = any(%(live)s::bytea[])
"""

# What older versions of UBP have read, and where it is asked for what has vectors of other models.
# A program without a model leaves rows with vectors.
_OLD_REPOSITORY = """
select t.repository from text t
where t.format < %(format)s and (t.model is null or %(model)s::bytea is not null)
   or %(of_other_models)s and t.model is distinct from %(model)s
order by t.repository limit 1
"""

_OLD = """
select t.blob, t.body from text t
where t.repository = %(repository)s
  and (t.format < %(format)s and (t.model is null or %(model)s::bytea is not null)
       or %(of_other_models)s and t.model is distinct from %(model)s)
order by t.blob limit %(limit)s
"""

_DELETE_MOVED = """
delete from staged_text s where s.repository = %(repository)s and s.blob = any(%(live)s::bytea[])
"""

_DELETE_OLD = """
delete from text t where t.repository = %(repository)s and t.blob = any(%(live)s::bytea[])
"""

_COUNT = """
update search_state s set version = s.version + 1,
    listed = case when s.listed = s.version then s.version + 1 else s.listed end,
    chunks = c.chunks, words = c.words, stems = c.stems, last_id = greatest(s.last_id, c.last_id)
from (select count(*) as chunks, coalesce(sum(length), 0) as words,
             coalesce(sum(stem_length), 0) as stems, coalesce(max(id), 0) as last_id
      from chunk where repository = %(repository)s) c
where s.repository = %(repository)s
"""


def stage_texts(
    connection: Connection, repository: int, texts: Sequence[ReadText], model: bytes | None
) -> None:
    """Keep texts until their push is complete."""
    for text in texts:
        blob = bytes.fromhex(text.blob)
        connection.execute(
            _STAGE,
            [
                *(repository, blob, TEXT_FORMAT, model, text.facts, text.fields, text.sections),
                *(text.places, text.body),
            ],
        )
        connection.execute(
            "delete from staged_chunk where repository = %s and blob = %s", [repository, blob]
        )
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "copy staged_chunk (repository, blob, number, length, stem_length, vector, words,"
            " stems) from stdin"
        ) as copy,
    ):
        for text in texts:
            for number, chunk in enumerate(text.chunks):
                copy.write_row(
                    [
                        *(repository, bytes.fromhex(text.blob), number),
                        *(chunk.words.length, chunk.stems.length, chunk.vector),
                        *(chunk.words.literal, chunk.stems.literal),
                    ]
                )


def searched_ref(connection: Connection, repository: int) -> str | None:
    """Return the ref whose texts are kept: the tip of the repository."""
    row = connection.execute(
        "select ref.name from repository r join ref on ref.id = r.tip where r.id = %s", [repository]
    ).fetchone()
    return str(row[0]) if row else None


def take_texts(connection: Connection, push: TextPush, model: bytes | None) -> tuple[ObjectId, ...]:
    """Keep the texts of the tip's pages alone, as its board is now; return those that are missing.

    Of another ref than the tip nothing is kept. Nothing is written if texts are missing.
    """
    wanted = push.wanted
    row = connection.execute(
        "select ref.id from repository r join ref on ref.id = r.tip"
        " where r.id = %s and ref.name = %s",
        [push.repository, push.ref],
    ).fetchone()
    if row is None:
        return ()
    values: dict[str, Any] = {
        "repository": push.repository,
        "format": TEXT_FORMAT,
        "model": model,
        "limit": MAX_TEXTS,
    }
    state = _lock(connection, push.repository, is_made=wanted != "none")
    if not state:
        return ()
    ((values["live"],),) = connection.execute(_LIVE, [row[0]]).fetchall()
    if wanted == "all":
        missing = connection.execute(_MISSING, values).fetchall()
        if missing:
            return tuple(ObjectId(bytes(blob).hex()) for (blob,) in missing)
    staged = "select from staged_text where repository = %s limit 1"
    if not push.is_new and not connection.execute(staged, [push.repository]).rowcount:
        return ()
    if wanted == "none":  # what another push staged was not meant for this one
        connection.execute("delete from staged_text where repository = %s", [push.repository])
    connection.execute(f"set local statement_timeout = '{SECONDS_TO_MOVE}s'")
    _replace(connection, _DELETE, values)
    connection.execute("delete from staged_text where repository = %s", [push.repository])
    return ()


def reread_texts(
    connection: Connection, model: EmbeddingModel | None, *, of_other_models: bool = False
) -> int:
    """Read some texts of older formats again, from what is stored; return how many.

    A search in a process that has this format, and this model, finds a page from the end of the
    transaction on. `of_other_models`: texts without vectors of this one, too.

    Raises:
        ModelError: the model cannot be used.
    """
    values: dict[str, Any] = {
        "format": TEXT_FORMAT,
        "model": model and model.fingerprint,
        "limit": TEXTS_AT_ONCE,
        "of_other_models": of_other_models,
    }
    found = connection.execute(_OLD_REPOSITORY, values).fetchone()
    if found is None or not _lock(connection, found[0], is_made=True):
        return 0
    values["repository"] = found[0]
    rows = connection.execute(_OLD, values).fetchall()
    pages = {ObjectId(bytes(blob).hex()): zlib.decompress(body) for blob, body in rows}
    values["live"] = [blob for blob, _ in rows]
    stage_texts(connection, found[0], read_texts(pages, model), values["model"])
    connection.execute(f"set local statement_timeout = '{SECONDS_TO_MOVE}s'")
    _replace(connection, _DELETE_OLD, values)
    return len(pages)


def has_old_texts(connection: Connection) -> bool:
    """Return whether older versions of UBP have read some texts."""
    old = "select from text where format < %s limit 1"
    return connection.execute(old, [TEXT_FORMAT]).rowcount > 0


def _replace(connection: Connection, delete: str, values: Mapping[str, Any]) -> None:
    """Delete texts, move the `live` ones that are staged to their place, and count what changed."""
    changed = connection.execute(delete, values).rowcount
    changed += connection.execute(_MOVE_TEXTS, values).rowcount
    for statement in (_MOVE_CHUNKS, _DELETE_MOVED, _COUNT):
        connection.execute(statement, values)
    if changed:
        list_words(connection, values["repository"])


def list_unlisted(connection: Connection) -> bool:
    """List the words of one repository whose last push an older program took, which lists none.

    Return whether there was one.
    """
    row = connection.execute(
        "select repository from search_state where listed <> version order by repository limit 1"
    ).fetchone()
    if row is None or not _lock(connection, row[0], is_made=False):
        return False
    connection.execute(f"set local statement_timeout = '{SECONDS_TO_MOVE}s'")
    list_words(connection, row[0])
    return True


def _lock(connection: Connection, repository: int, *, is_made: bool) -> bool:
    """Lock the row of a repository's texts, and return whether there is one."""
    if is_made:
        connection.execute(
            "insert into search_state (repository) values (%s) on conflict do nothing",
            [repository],
        )
    found = connection.execute(
        "select 1 from search_state where repository = %s for update", [repository]
    ).fetchone()
    return found is not None


def read_wanted(value: object) -> Wanted:
    """Return which texts a push wants to be kept.

    Raises:
        WireError: it is none of them.
    """
    if value is None:
        return "none"
    if not isinstance(value, str) or value not in WANTED:
        raise WireError("what is wanted of texts is unknown")
    return value  # type: ignore[return-value]  # one of three

"""The log of calls: a row each, with a digest of the question whose key is not in the database."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from ubp.hub.database import Connection, Database

QUESTION_BYTES = 16


@dataclass(frozen=True, slots=True)
class Call:
    """A call: who asked what, how it ended, and how long it took."""

    reader: str
    method: str
    question: bytes
    status: int
    milliseconds: int


class Audit:
    """Writes calls to the log."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key

    def write(self, call: Call) -> None:
        """Add a call.

        Raises:
            HubError: the database cannot be reached.
        """
        digest = hmac.new(self._key, call.question, sha256).digest()[:QUESTION_BYTES]
        with self._database.connection() as connection:
            make_partition(connection, "audit")
            connection.execute(
                "insert into audit (reader, method, question, status, milliseconds)"
                " values (%s, %s, %s, %s, %s)",
                [call.reader, call.method, digest, call.status, call.milliseconds],
            )


def make_partition(connection: Connection, table: str) -> None:
    """Make the partition of this month, where it does not exist."""
    connection.execute("select make_partition(%s, now())", [table])


def drop_partitions(connection: Connection, table: str, months: int) -> list[str]:
    """Drop the partitions that are older than so many months, and return their names."""
    rows = connection.execute(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent = %s::regclass and right(c.relname, 7) <"
        " to_char((now() at time zone 'UTC') - make_interval(months => %s), 'YYYY_MM')"
        " order by 1",
        [table, months],
    ).fetchall()
    names = [str(name) for (name,) in rows]
    for name in names:
        connection.execute("select drop_partition(%s)", [name])
    return names


def read_calls(connection: Connection, start: datetime) -> Iterator[tuple[str, Call]]:
    """Yield the calls since a time, each with its own, as text."""
    with connection.cursor() as cursor:
        rows = cursor.stream(
            "select at, reader, method, question, status, milliseconds from audit"
            " where at >= %s order by at, id",
            [start],
        )
        for moment, reader, method, question, status, milliseconds in rows:
            at = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            yield at, Call(reader, method, bytes(question), status, milliseconds)

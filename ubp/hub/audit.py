"""The log of calls: a row each, with a digest of the question whose key is not in the database.

Where reads go to a replica, they go on while the primary is down: their rows are kept in memory, up
to a number, and written once it answers again.
"""

import hmac
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from threading import Lock
from typing import Any

from ubp.hub.database import Connection, Database, DatabaseDownError

QUESTION_BYTES = 16
MAX_KEPT = 100_000  # about 50 MB
SECONDS_BETWEEN_TRIES = 5.0  # calls do not wait for a primary that was down just now

_INSERT = """
insert into audit (at, reader, method, question, status, milliseconds)
values (%s, %s, %s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call: who asked what, how it ended, and how long it took."""

    reader: str
    method: str
    question: bytes
    status: int
    milliseconds: int


class Audit:
    """Writes calls to the log, for any thread."""

    def __init__(self, database: Database, key: bytes, max_kept: int = 0) -> None:
        """Keep up to `max_kept` calls in memory while the database is down."""
        self._database = database
        self._key = key
        self._max_kept = max_kept
        self._kept: list[Sequence[Any]] = []
        self._try_at = 0.0
        self._lock = Lock()

    def write(self, call: Call) -> None:
        """Add a call.

        Raises:
            HubError: the database cannot be reached, and no more calls may be kept.
        """
        digest = hmac.new(self._key, call.question, sha256).digest()[:QUESTION_BYTES]
        moment = datetime.now(UTC)
        row = [moment, call.reader, call.method, digest, call.status, call.milliseconds]
        with self._lock:
            is_down = time.monotonic() < self._try_at and len(self._kept) < self._max_kept
            rows = [] if is_down else self._kept
            self._kept = [*self._kept, row] if is_down else []
        if is_down:
            return
        try:
            self._insert([*rows, row])
        except DatabaseDownError:
            with self._lock:
                self._try_at = time.monotonic() + SECONDS_BETWEEN_TRIES
                has_room = len(rows) + len(self._kept) < self._max_kept
                self._kept = [*rows, *([row] if has_room else ()), *self._kept]
            if not has_room:
                raise

    def _insert(self, rows: Sequence[Sequence[Any]]) -> None:
        with self._database.connection() as connection:
            make_partition(connection, "audit")
            connection.cursor().executemany(_INSERT, rows)


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

"""SQL over tables that are made for one query, in memory."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import sqlite_utils

from ubp.core.errors import UsageError

READING = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)


class Table(NamedTuple):
    """Columns with their Python types, and rows."""

    columns: Mapping[str, type]
    rows: Iterable[Mapping[str, Any]]


class QueryResult(NamedTuple):
    """The rows that a query selects: for each column a text, a number or None.

    The names of columns are unique.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


def run_query(sql: str, tables: Mapping[str, Table]) -> QueryResult:
    """Run one SELECT over tables.

    Raises:
        UsageError: it is not a SELECT, or SQLite cannot run it.
    """
    database = sqlite_utils.Database(memory=True, execute_plugins=False)
    for name, table in tables.items():
        copies = ({key: _storable(value) for key, value in row.items()} for row in table.rows)
        database.table(name).create(dict(table.columns)).insert_all(copies)
    connection = database.conn
    # The data is a copy and in memory, but ATTACH would open any file.
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY
    )
    try:
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise UsageError(
            f"Cannot run this query: {error}.",
            cause="Only a single SELECT over the tables in `ubp sql --help` is allowed.",
            hint="Try `ubp sql 'SELECT filepath, level FROM documents'`.",
        ) from error
    finally:
        connection.close()
    if cursor.description is None:
        raise UsageError(
            "The query is empty.",
            hint="Try `ubp sql 'SELECT filepath, level FROM documents'`.",
        )
    columns = _unique_names([column[0] for column in cursor.description])
    return QueryResult(columns, [tuple(map(_readable, row)) for row in rows])


def _unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Number the columns of the same name from the second on: `filepath`, `filepath_2`."""
    unique: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{number}" for number in count(2))
        new = (each for each in numbered if each not in unique and each not in names)
        unique[next(new) if name in unique else name] = None
    return tuple(unique)


def _readable(value: Any) -> Any:
    """A BLOB, which only an expression makes, is returned in hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else value


def _storable(value: Any) -> Any:
    """SQLite stores UTF-8; a byte of a name that is not becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value

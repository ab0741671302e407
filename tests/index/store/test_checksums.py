"""Checksums: a value that UBP did not save is damage, in every table that declares them."""

import re
import sqlite3
from collections.abc import Callable

import pytest

from ubp.core.errors import IndexDamagedError, StoreError, ask_again_if_damaged
from ubp.index.store.schema import CHECKED, SCHEMA, intact
from ubp.index.store.store import Store

REFERRED = ("head", "page", "node", "listing", "graph")


def columns_of(store: Store, table: str) -> list[tuple[str, str]]:
    rows = store.database.rows(f"PRAGMA table_info({table})")
    return [(name, kind) for _, name, kind, *_ in rows]


def put(store: Store, table: str) -> None:
    """Insert a row into a table, after those that it refers to, with the right checksum."""

    def work(connection: sqlite3.Connection) -> None:
        for name in dict.fromkeys((*REFERRED, table)):
            kinds = [kind for _, kind in columns_of(store, name)]
            values = [{"BLOB": b"x", "INTEGER": 1}.get(kind, "x") for kind in kinds]
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT OR REPLACE INTO {name} VALUES ({marks})", values)
        checked = CHECKED[table]
        ((checksum,),) = connection.execute(
            f"SELECT checksum('{table}', {', '.join(qualified(table))})"
            f" FROM {table}{checked.joined}"
        ).fetchall()
        connection.execute(f"UPDATE {table} SET checksum = ?", [checksum])

    store.database.rows("PRAGMA foreign_keys=OFF")
    store.database.write(work)


def qualified(table: str) -> list[str]:
    return [name if "." in name else f"{table}.{name}" for name in CHECKED[table].columns]


def read(store: Store, table: str) -> list[tuple[object, ...]]:
    return store.database.rows(
        f"SELECT {', '.join(qualified(table))} FROM {table}{CHECKED[table].joined}"
        f" WHERE {intact(table)}"
    )


def test_tables_except_full_text_and_heads_have_checksums() -> None:
    tables = set(re.findall(r"^CREATE TABLE (\w+)", SCHEMA, re.MULTILINE))
    assert tables - CHECKED.keys() == {"head"}


@pytest.mark.parametrize("table", CHECKED)
def test_changed_value_in_any_column_is_damage(open_here: Callable[[], Store], table: str) -> None:
    store = open_here()
    own = [column for column in CHECKED[table].columns if "." not in column]
    for column in own:
        put(store, table)
        assert len(read(store, table)) == 1
        store.database.write(
            lambda connection, column=column: connection.execute(  # type: ignore[misc]
                f"UPDATE {table} SET {column} = "
                f"CASE typeof({column}) WHEN 'integer' THEN {column} + 1 ELSE x'79' END"
            )
        )
        if column not in {"id", "listing", "graph"} or read_any(store, table):
            with pytest.raises(IndexDamagedError):
                read(store, table)
            store = open_here()
        else:
            store.clear()


def read_any(store: Store, table: str) -> bool:
    rows = store.database.rows(f"SELECT 1 FROM {table}{CHECKED[table].joined}")
    return bool(rows)


def test_row_moved_to_another_head_is_damage(store: Store) -> None:
    put(store, "drift")
    store.database.write(lambda c: c.execute("UPDATE head SET \"commit\" = x'09'"))
    with pytest.raises(IndexDamagedError):
        read(store, "drift")


def test_index_that_is_damaged_again_and_again_is_an_error() -> None:
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        raise IndexDamagedError

    with pytest.raises(StoreError, match="damaged several times"):
        ask_again_if_damaged(ask, lambda: None)
    assert len(asked) == 3

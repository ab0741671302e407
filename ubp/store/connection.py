"""Connections to the database: opened, examined, rebuilt where they must be, else in memory."""

import os
import sqlite3
from contextlib import closing, suppress
from typing import NamedTuple

from ubp.seams import Warn
from ubp.store.place import (
    FILE_NAME,
    Identity,
    find_obstacle,
    identify,
    is_unclean,
    put_in_place,
    wait_for_lock,
)
from ubp.store.schema import FORMAT, SCHEMA, SHADOWS

# A writer holds the lock for a few milliseconds, 0.5 s for the listing of 100,000 files; nobody
# shall wait five seconds, whatever happens.
BUSY_SECONDS = 4.0

PRAGMAS = """
PRAGMA synchronous=NORMAL;
PRAGMA cache_size=-64000;
PRAGMA mmap_size=268435456;
PRAGMA temp_store=MEMORY;
PRAGMA foreign_keys=ON;
PRAGMA trusted_schema=OFF;
"""

# SQLite's own are left out: indexes without text, statistics where somebody ran ANALYZE, and the
# tables behind the full text.
TABLES_MADE = (
    "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"  # noqa: S608  # ours
    f" AND NOT (type = 'table' AND name IN {SHADOWS})"
)

# Another process may replace the file while it is opened; a third time in a row is no chance.
OPENING_ATTEMPTS = 3

SQLITE_ERROR, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CORRUPT, SQLITE_NOTADB = 1, 5, 6, 11, 26


DAMAGED = "The index was damaged; it is rebuilt."


class Opened(NamedTuple):
    """A connection, and the file that it is to; no file: in memory, for the reason given."""

    connection: sqlite3.Connection
    path: str | None
    identity: Identity | None
    why_in_memory: str


def open_connection(data_dir: str, warn: Warn) -> Opened:
    """Open the database in this folder, or one in memory where none can be kept there.

    What can only be read (a read-only file system, somebody else's files) is copied into memory,
    in silence: the answers are right, and there may be nothing that the user could do about it.
    """
    path = os.path.join(data_dir, FILE_NAME)
    try:
        obstacle = find_obstacle(data_dir)
        if obstacle is None:
            return _open_file(path, warn)
    except (OSError, sqlite3.Error) as error:
        return Opened(_copy_of_file(path) or new_in_memory(), None, None, str(error))
    warn(f"The index is kept in memory only: {obstacle}")
    return Opened(new_in_memory(), None, None, obstacle)


def new_in_memory() -> sqlite3.Connection:
    """An empty database that nobody else sees."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    memory.executescript(SCHEMA + PRAGMAS)
    return memory


def copy_in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """What a database holds, in memory; an empty one where it cannot be read."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    with suppress(sqlite3.Error):
        source.backup(memory, progress=_refuse_to_wait)
        memory.executescript(PRAGMAS)
        if _is_sound(memory):
            return memory
    memory.close()
    return new_in_memory()


def _refuse_to_wait(status: int, *_: int) -> None:
    # Python would try again for ever.
    if status in {SQLITE_BUSY, SQLITE_LOCKED}:
        raise sqlite3.OperationalError("the database is locked")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is at fault: not a database, malformed, other tables, text that is none."""
    # Undecodable text comes without a code.
    code = getattr(error, "sqlite_errorcode", SQLITE_ERROR) & 0xFF
    return code in {SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB} or isinstance(
        error, sqlite3.IntegrityError
    )


def _open_file(path: str, warn: Warn) -> Opened:
    for _ in range(OPENING_ATTEMPTS):
        identity = identify(path)
        if identity is None:
            put_in_place(path, None)
            continue
        connection, fault = _examine(path)
        if connection is None:
            put_in_place(path, identity)
            if fault:
                warn(fault)
            continue
        try:
            wait_for_lock(path)
        except OSError:
            connection.close()
            raise
        if identify(path) == identity:
            return Opened(connection, path, identity, "")
        connection.close()
    raise OSError("the index is being replaced again and again")


def _examine(path: str) -> tuple[sqlite3.Connection | None, str]:
    """A connection to a sound database; else None, and what is wrong with it."""
    was_unclean = is_unclean(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.executescript(PRAGMAS)
        if not _is_sound(connection):
            fault = DAMAGED if os.stat(path).st_size else ""
        elif was_unclean and not _is_unharmed(connection):
            fault = DAMAGED
        else:
            return connection, ""
    except (OSError, sqlite3.Error) as error:
        connection.close()
        if not isinstance(error, sqlite3.Error) or not is_damage(error):
            raise
        return None, DAMAGED
    connection.close()
    return None, fault


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Whether the database has this version's format and tables."""
    if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
        return False
    tables = connection.execute(TABLES_MADE).fetchall()
    return len(tables) == SCHEMA.count("CREATE ") and all(sql in SCHEMA for (sql,) in tables)


def _is_unharmed(connection: sqlite3.Connection) -> bool:
    """Read every page (2 ms a megabyte), then fold the log back, so that this is done once."""
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        return False
    fold_log(connection)
    return True


def fold_log(connection: sqlite3.Connection) -> None:
    """Empty the write-ahead log: one with content tells the next to start of an unclean end."""
    connection.execute("PRAGMA busy_timeout=0")
    with suppress(sqlite3.Error):  # others are reading: then they will do it
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")


def _copy_of_file(path: str) -> sqlite3.Connection | None:
    """The content of a file in a folder where SQLite cannot make its log; None: not to be had.

    Without the log only a file that nobody is writing is whole: no log, and the same before and
    after.
    """
    address = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace(os.sep, "/")
    uri = f"file://{'' if address.startswith('/') else '/'}{address}?immutable=1"
    with suppress(OSError, sqlite3.Error):
        before = os.stat(path)
        if is_unclean(path):
            return None
        with closing(sqlite3.connect(uri, uri=True)) as source:
            memory = copy_in_memory(source)
        after = os.stat(path)
        is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if is_same and not is_unclean(path):
            return memory
        memory.close()
    return None

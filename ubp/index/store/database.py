"""Connections to the database: opened, examined, rebuilt where they must be, else in memory.

The database as a memory that never stands in the way: what it cannot tell is not known.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from ubp.core.errors import StoreError
from ubp.core.model import Warn
from ubp.index.store.file import (
    FILE_NAME,
    Identity,
    create_file,
    find_obstacle,
    identify,
    is_unclean,
    wait_for_lock,
)
from ubp.index.store.schema import FORMAT, SCHEMA, SHADOWS

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
        return Opened(_copy_of_file(path) or open_in_memory(), None, None, str(error))
    warn(f"The index is kept in memory only: {obstacle}")
    return Opened(open_in_memory(), None, None, obstacle)


def open_in_memory() -> sqlite3.Connection:
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
    return open_in_memory()


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
            create_file(path, None)
            continue
        connection, fault = _examine(path)
        if connection is None:
            create_file(path, identity)
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


T = TypeVar("T")
Rows = list[tuple[Any, ...]]

# SQLite takes 32,766 arguments in one statement since 3.32 and 999 before.
MAX_ARGUMENTS = 900

# Of 110 MB written once a small cache loses nothing, and what is mapped counts as this process's.
SPARING = "PRAGMA mmap_size=0; PRAGMA cache_size=-16000;"

# The file, the file rebuilt, memory: what fails then is no matter of files.
WRITE_ATTEMPTS = 3


class Database:
    """One connection, closed by its owner.

    Everything in it can be had again from Git. So no trouble with it reaches a caller: a damaged
    file is rebuilt, a full disk or a lock that nobody gives back leads to a copy in memory, and
    what was asked meanwhile is answered as not known.
    """

    def __init__(self, data_dir: str, warn: Warn) -> None:
        self._data_dir = data_dir
        self._warn = warn
        self._has_written = False
        self._opened = open_connection(data_dir, warn)

    @property
    def path(self) -> str | None:
        """The file; None: in memory."""
        return self._opened.path

    @property
    def why_in_memory(self) -> str:
        """Why there is no file; empty where there is one."""
        return self._opened.why_in_memory

    def rows(self, sql: str, arguments: Sequence[object] = ()) -> Rows:
        """What a query finds; nothing where the database is out of order."""
        try:
            return self._opened.connection.execute(sql, arguments).fetchall()
        except sqlite3.Error as error:
            self._carry_on(error)
            return []

    def matches(self, sql: str, arguments: Sequence[object]) -> Rows:
        """`rows` for what somebody else has written; ValueError where SQLite cannot read that."""
        try:
            return self._opened.connection.execute(sql, arguments).fetchall()
        except sqlite3.OperationalError as error:
            # Damage has other codes, and the tables are known to be there.
            if getattr(error, "sqlite_errorcode", SQLITE_ERROR) == SQLITE_ERROR:
                raise ValueError(str(error)) from error
            self._carry_on(error)
        except sqlite3.Error as error:
            self._carry_on(error)
        return []

    def write(self, work: Callable[[sqlite3.Connection], bool | None]) -> bool:
        """Do this work in one transaction, waiting for other writers; False: `work` said so."""
        for _ in range(WRITE_ATTEMPTS):
            connection = self._opened.connection
            try:
                # Not a deferred BEGIN: that one fails at once where another is writing.
                connection.execute("BEGIN IMMEDIATE")
                is_done = work(connection) is not False
                connection.execute("COMMIT" if is_done else "ROLLBACK")
            except sqlite3.Error as error:
                _roll_back(connection)
                self._carry_on(error)
            except BaseException:
                _roll_back(connection)
                raise
            else:
                self._has_written |= is_done
                return is_done
        path = os.path.join(self._data_dir, FILE_NAME)
        raise StoreError("The index cannot be written.", hint=f"Delete {path}.")

    def spare_memory(self) -> None:
        """Hold less of the file in memory from now on: much will be written."""
        with suppress(sqlite3.Error):
            self._opened.connection.executescript(SPARING)

    def start_over(self) -> None:
        """Put an empty database in the place of a damaged one."""
        path, identity = self._opened.path, self._opened.identity
        self._opened.connection.close()
        if path is None:
            self._opened = self._opened._replace(connection=open_in_memory())
            return
        self._warn(DAMAGED)
        try:
            create_file(path, identity)
        except (OSError, sqlite3.Error) as error:
            self._opened = Opened(open_in_memory(), None, None, str(error))
        else:
            self._opened = open_connection(self._data_dir, self._warn)

    def unpack(self, values: Callable[[], T]) -> T | None:
        """What `values` makes of rows; None, and starting over, where they were not put in so.

        SQLite keeps no checksums.
        """
        try:
            return values()
        except (ValueError, TypeError):
            self.start_over()
            return None

    def settle(self) -> None:
        """Fold the log of what was written back into the file, where nobody is reading it."""
        if self._has_written and self.path is not None:
            self._has_written = False
            fold_log(self._opened.connection)

    def vacuum(self) -> None:
        """Return the space of deleted rows to the file system, unless others are reading."""
        import sqlite_utils  # 190 ms of CPU: for maintenance only

        with suppress(sqlite3.Error):  # the space is used again later
            sqlite_utils.Database(self._opened.connection, execute_plugins=False).vacuum()
        self.settle()

    def close(self) -> None:
        """Give the file back."""
        self.settle()
        self._opened.connection.close()

    def _carry_on(self, error: sqlite3.Error) -> None:
        if isinstance(error, (sqlite3.ProgrammingError, sqlite3.InterfaceError)):
            raise error
        if is_damage(error):
            self.start_over()
            return
        if self.path is None:
            raise StoreError("The index in memory cannot be used.", cause=str(error)) from error
        source = self._opened.connection
        self._opened = Opened(copy_in_memory(source), None, None, str(error))
        source.close()


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def marks(arguments: Sequence[object]) -> str:
    """A "?" for each argument."""
    return ",".join("?" * len(arguments))


def chunks(values: Collection[T]) -> Iterator[list[T]]:
    """Values by as many as one statement takes."""
    iterator = iter(values)
    while chunk := list(islice(iterator, MAX_ARGUMENTS)):
        yield chunk

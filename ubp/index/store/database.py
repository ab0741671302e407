"""The index's database: opened, checked, replaced if it is damaged, or kept in memory.

Everything in it is derived from Git. Damage is raised as IndexDamagedError, when an empty database
has replaced the damaged one; no other failure reaches a caller.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from marshal import dumps
from typing import Any, NamedTuple, NoReturn, TypeVar
from zlib import crc32

from ubp.core.errors import IndexDamagedError, StoreError
from ubp.core.interruption import batches, checkpoint
from ubp.core.model import Warn
from ubp.index.store.file import (
    FILE_NAME,
    Identity,
    create_file,
    find_obstacle,
    has_stamp,
    identify,
    is_unclean,
    stamping,
    wait_for_lock,
    write_stamp,
)
from ubp.index.store.schema import CHECKED, FORMAT, SCHEMA, SHADOWS, intact

# A writer holds the lock for a few milliseconds, 0.5 s for the listing of 100,000 files; no
# call may wait longer than five seconds.
BUSY_SECONDS = 4.0

# No part of the file is mapped: reading a page that another program has cut off would end the
# process (SIGBUS).
PRAGMAS = """
PRAGMA synchronous=NORMAL;
PRAGMA cache_size=-64000;
PRAGMA mmap_size=0;
PRAGMA temp_store=MEMORY;
PRAGMA foreign_keys=ON;
PRAGMA trusted_schema=OFF;
"""

# Without SQLite's own: indexes without SQL, statistics of ANALYZE, the tables behind the full text.
CREATED_TABLES = (
    "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"  # noqa: S608  # ours
    f" AND NOT (type = 'table' AND name IN {SHADOWS})"
)

# Another process may replace the file while it is opened; three times in a row is no coincidence.
OPENING_ATTEMPTS = 3

SQLITE_ERROR, SQLITE_BUSY, SQLITE_LOCKED = 1, 5, 6
# What the file is not to blame for: permissions, locks, memory, interrupts, the disk.
SYSTEM_ERRORS = frozenset({3, SQLITE_BUSY, SQLITE_LOCKED, 7, 8, 9, 10, 13, 14, 15, 22})
SQLITE_IOERR_SHORT_READ = 522


DAMAGED = "The index was damaged and is being rebuilt."
FUNCTION_FAILED = "user-defined function raised exception"  # `intact`
DAMAGED_FOR_GOOD = "the index is damaged and cannot be replaced"
# Such files, which are not opened again in this process: the question is asked again.
_ABANDONED: set[tuple[str, Identity | None]] = set()


Value = str | bytes | int | None


class Opened(NamedTuple):
    """A connection and its file; without a file it is in memory, for the reason given."""

    connection: sqlite3.Connection
    path: str | None
    identity: Identity | None
    why_in_memory: str


def open_connection(data_dir: str, warn: Warn) -> Opened:
    """Open the database in this folder, or one in memory where none can be kept there.

    A read-only one (file system, permissions) is copied into memory without a warning: the answers
    are right, and there may be nothing that the user could do about it.
    """
    path = os.path.join(data_dir, FILE_NAME)
    try:
        obstacle = find_obstacle(data_dir)
        if obstacle is None:
            if _ABANDONED and (path, identify(path)) in _ABANDONED:
                return Opened(open_in_memory(), None, None, DAMAGED_FOR_GOOD)
            return _open_file(path, warn)
    except (OSError, sqlite3.Error) as error:
        return Opened(_copy_of_file(path) or open_in_memory(), None, None, str(error))
    warn(f"The index is kept in memory only: {obstacle}")
    return Opened(open_in_memory(), None, None, obstacle)


# About a millisecond.
INSTRUCTIONS_BETWEEN_CHECKPOINTS = 50_000


def _connect(path: str, timeout: float = 0.0) -> sqlite3.Connection:
    """Return a connection whose queries can be interrupted (`ubp.core.interruption`)."""
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
    connection.set_progress_handler(_is_interrupted, INSTRUCTIONS_BETWEEN_CHECKPOINTS)
    return connection


def _is_interrupted() -> bool:
    try:
        checkpoint()
    except BaseException:  # noqa: BLE001  # `_recover` raises it again
        return True
    return False


def open_in_memory() -> sqlite3.Connection:
    """Return an empty database of this process alone."""
    memory = _connect(":memory:")
    memory.executescript(SCHEMA + PRAGMAS)
    _add_functions(memory)
    return memory


def copy_in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a database in memory, an empty one where it cannot be read."""
    memory = _connect(":memory:")
    with suppress(sqlite3.Error):
        source.backup(memory, progress=_raise_if_locked)
        memory.executescript(PRAGMAS)
        _add_functions(memory)
        if _is_sound(memory):
            return memory
    memory.close()
    return open_in_memory()


def _raise_if_locked(status: int, *_: int) -> None:
    # Python would retry for ever.
    if status in {SQLITE_BUSY, SQLITE_LOCKED}:
        raise sqlite3.OperationalError("the database is locked")


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged: no database, malformed, other tables, bad text."""
    # Undecodable text comes without a code.
    code: int = getattr(error, "sqlite_errorcode", SQLITE_ERROR)
    return code == SQLITE_IOERR_SHORT_READ or code & 0xFF not in SYSTEM_ERRORS


def _open_file(path: str, warn: Warn) -> Opened:
    for _ in range(OPENING_ATTEMPTS):
        identity = identify(path)
        if identity is None:
            create_file(path, None)
            continue
        connection, fault = _open_sound(path)
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
    raise OSError("other processes keep replacing the index")


def _open_sound(path: str) -> tuple[sqlite3.Connection | None, str]:
    """Return a connection to a sound database, else None and the warning to print."""
    connection = _connect(path, BUSY_SECONDS)
    try:
        connection.executescript(PRAGMAS)
        _add_functions(connection)
        if not _is_sound(connection):
            fault = DAMAGED if os.stat(path).st_size else ""
        elif has_stamp(path):
            if is_unclean(path):
                with stamping(path):
                    empty_log(connection)
            return connection, ""
        elif _is_intact(connection):
            write_stamp(path)
            return connection, ""
        else:
            fault = DAMAGED
    except OSError:
        connection.close()
        raise
    except Exception as error:  # of the schema's text, whatever is wrong with it
        connection.close()
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        return None, DAMAGED
    connection.close()
    return None, fault


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Return whether the database has this version's format and tables."""
    if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
        return False
    tables = connection.execute(CREATED_TABLES).fetchall()
    return len(tables) == SCHEMA.count("CREATE ") and all(sql in SCHEMA for (sql,) in tables)


def _add_functions(connection: sqlite3.Connection) -> None:
    connection.create_function("checksum", -1, row_checksum, deterministic=True)
    connection.create_function("intact", -1, _check, deterministic=True)


def row_checksum(*values: Value) -> int:
    """Return the checksum of a row: of its table's name and its columns, as in `CHECKED`."""
    # Version 2 is the same in all versions of Python: without references to equal values. Damage
    # passes with a probability of 2^-32.
    return crc32(dumps(values, 2))


def _check(checksum: Value, *values: Value) -> bool:
    if crc32(dumps(values, 2)) != checksum:
        raise ValueError(DAMAGED)
    return True


def _is_intact(connection: sqlite3.Connection) -> bool:
    """Return whether all pages and rows are right: another program has written to the file."""
    empty_log(connection)
    if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        return False
    for table, checked in CHECKED.items():
        connection.execute(
            f"SELECT count(*) FROM {table}{checked.joined} WHERE {intact(table)}"  # noqa: S608  # ours
        ).fetchall()
    for table in ("words", "stems"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")  # noqa: S608  # ours
    return not connection.execute(
        "SELECT 1 FROM page WHERE links <> (SELECT count(*) FROM link WHERE page = page.id)"
        " OR chunks <> (SELECT count(*) FROM chunk WHERE page = page.id) LIMIT 1"
    ).fetchone()


def empty_log(connection: sqlite3.Connection) -> None:
    """Empty the write-ahead log: content in it means that its writer was killed."""
    connection.execute("PRAGMA busy_timeout=0")
    with suppress(sqlite3.Error):  # others are reading, and will do it
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")


def _copy_of_file(path: str) -> sqlite3.Connection | None:
    """Return a copy in memory of a file beside which SQLite cannot create its log, if possible.

    Without the log only a file that nobody is writing is consistent: it has no log, and is the same
    before and after.
    """
    address = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace(os.sep, "/")
    uri = f"file://{'' if address.startswith('/') else '/'}{address}?immutable=1"
    with suppress(OSError, sqlite3.Error):
        before = os.stat(path)
        if is_unclean(path):
            return None
        is_known = has_stamp(path)
        with closing(sqlite3.connect(uri, uri=True)) as source:
            memory = copy_in_memory(source)
        after = os.stat(path)
        is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if is_same and not is_unclean(path) and (is_known or _is_intact(memory)):
            return memory
        memory.close()
    return None


T = TypeVar("T")
Rows = list[tuple[Any, ...]]

# SQLite takes 32,766 arguments in one statement since 3.32 and 999 before.
MAX_ARGUMENTS = 900

# Writing 110 MB once is as fast with a small cache.
SAVE_MEMORY = "PRAGMA cache_size=-16000;"

# In the file, then in a copy in memory: a failure of this has another cause.
ATTEMPTS = 2


class Database:
    """One connection, closed by its owner.

    A damaged file is replaced, and every method raises IndexDamagedError then. After a full disk,
    or a lock that is not released, the work goes on in a copy in memory.
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
    def identity(self) -> object:
        """What differs once the numbers of rows may be others: a damaged file was replaced."""
        return self._opened

    @property
    def why_in_memory(self) -> str:
        """Why there is no file; empty where there is one."""
        return self._opened.why_in_memory

    def rows(self, sql: str, arguments: Sequence[object] = (), *, before: str = "") -> Rows:
        """Return the rows of a query; the statement `before` it is of the same connection."""
        for _ in range(ATTEMPTS):
            connection = self._opened.connection
            try:
                if before:
                    connection.execute(before)
                return connection.execute(sql, arguments).fetchall()
            except sqlite3.Error as error:
                self._recover(error)
        raise StoreError("Cannot read the index.", cause=self.why_in_memory)

    def rows_in(
        self,
        query: str,
        values: Iterable[object],
        arguments: Sequence[object] = (),
        order: str = "",
    ) -> Rows:
        """Return the rows of a query that ends with `IN`, for any number of values.

        `arguments` are those before the values; `order` holds within the rows of one statement.
        """
        rows: Rows = []
        for chunk in chunks(values):
            rows += self.rows(f"{query} ({marks(chunk)}){order}", [*arguments, *chunk])
        return rows

    def matches(self, sql: str, arguments: Sequence[object]) -> Rows:
        """Return the rows of a query with text of a user in it.

        Raises:
            ValueError: SQLite cannot parse the text.
        """
        for _ in range(ATTEMPTS):
            try:
                return self._opened.connection.execute(sql, arguments).fetchall()
            except sqlite3.Error as error:
                # Damage has other codes, and the tables are known to exist.
                code = getattr(error, "sqlite_errorcode", None)
                if code == SQLITE_ERROR and str(error) != FUNCTION_FAILED:
                    raise ValueError(str(error)) from error
                self._recover(error)
        raise StoreError("Cannot read the index.", cause=self.why_in_memory)

    def write(self, work: Callable[[sqlite3.Connection], object]) -> bool:
        """Do this work in one transaction, after other writers; return False if `work` does."""
        for _ in range(ATTEMPTS):
            connection = self._opened.connection
            try:
                # A deferred BEGIN would fail at once while another process is writing.
                connection.execute("BEGIN IMMEDIATE")
                is_done = work(connection) is not False
                with stamping(self.path):  # a large log is written back
                    connection.execute("COMMIT" if is_done else "ROLLBACK")
            except sqlite3.Error as error:
                _roll_back(connection)
                self._recover(error)
            except BaseException:
                _roll_back(connection)
                raise
            else:
                self._has_written |= is_done
                return is_done
        path = os.path.join(self._data_dir, FILE_NAME)
        raise StoreError("Cannot write the index.", hint=f"Delete {path} and try again.")

    def is_known(self) -> bool:
        """Return whether the file is as UBP left it."""
        return self.path is None or has_stamp(self.path)

    def save_memory(self) -> None:
        """Use less memory from now on, before much is written."""
        with suppress(sqlite3.Error):
            self._opened.connection.executescript(SAVE_MEMORY)

    def replace_damaged(self) -> NoReturn:
        """Replace a damaged database by an empty one, and raise IndexDamagedError."""
        opened = self._opened
        opened.connection.close()
        path = os.path.join(self._data_dir, FILE_NAME)
        try:
            if opened.path is None:  # a copy of a file that cannot be written
                _ABANDONED.add((path, identify(path)))
            else:
                self._warn(DAMAGED)
                create_file(path, opened.identity)
        except (OSError, sqlite3.Error):
            _ABANDONED.add((path, opened.identity))
        self._opened = open_connection(self._data_dir, self._warn)
        raise IndexDamagedError(DAMAGED)

    def checkpoint(self) -> None:
        """Write the log of what was saved back into the file, unless others are reading."""
        if self._has_written and self.path is not None:
            self._has_written = False
            with stamping(self.path):
                empty_log(self._opened.connection)

    def vacuum(self) -> None:
        """Return the space of deleted rows to the file system, unless others are reading."""
        import sqlite_utils  # 190 ms of CPU: for maintenance only

        with suppress(sqlite3.Error):  # the space is used again later
            sqlite_utils.Database(self._opened.connection, execute_plugins=False).vacuum()
        self.checkpoint()

    def close(self) -> None:
        """Close the connection."""
        with stamping(self.path):  # the last connection writes the log back
            self.checkpoint()
            self._opened.connection.close()

    def _recover(self, error: sqlite3.Error) -> None:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            checkpoint()
            return
        if isinstance(error, (sqlite3.ProgrammingError, sqlite3.InterfaceError)):
            raise error
        if is_damage(error):
            self.replace_damaged()
        if self.path is None:
            raise StoreError("Cannot use the in-memory index.", cause=str(error)) from error
        source = self._opened.connection
        self._opened = Opened(copy_in_memory(source), None, None, str(error))
        source.close()


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def last_number(connection: sqlite3.Connection, table: str) -> int:
    """Return the last number that a table's AUTOINCREMENT has given."""
    rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchall()
    return max((number for (number,) in rows), default=0)


def later_generation(table: str) -> str:
    """Return the expression for generations after all of a table's, each row's in its order.

    SQLite compares each updated row with those that are not updated yet: none may have the same.
    """
    return f"generation + (SELECT max(generation) - min(generation) + 1 FROM {table})"  # noqa: S608  # ours


def marks(arguments: Sequence[object]) -> str:
    """Return a "?" for each argument."""
    return ",".join("?" * len(arguments))


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield values in lists of as many as one statement takes."""
    return batches(values, MAX_ARGUMENTS)

"""The database as a memory that never stands in the way: what it cannot tell is not known."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from ubp.errors import StoreError
from ubp.seams import Warn
from ubp.store.connection import (
    DAMAGED,
    SQLITE_ERROR,
    Opened,
    copy_in_memory,
    fold_log,
    is_damage,
    new_in_memory,
    open_connection,
)
from ubp.store.place import FILE_NAME, put_in_place

T = TypeVar("T")
Rows = list[tuple[Any, ...]]

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
            self._opened = self._opened._replace(connection=new_in_memory())
            return
        self._warn(DAMAGED)
        try:
            put_in_place(path, identity)
        except (OSError, sqlite3.Error) as error:
            self._opened = Opened(new_in_memory(), None, None, str(error))
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

"""The database's files: created and replaced as a whole, one process at a time."""

import os
import sqlite3
import stat
import time
from _thread import get_ident  # `threading` costs the hook 2 ms
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

from ubp.index.store.schema import FORMAT, IS_PAID, SCHEMA

PREFIX, SUFFIX = "index-", ".db"
# The format is part of the name, so that two versions of UBP do not rebuild one file in turns.
FILE_NAME = f"{PREFIX}{FORMAT}{SUFFIX}"
LOCK_NAME = "rebuild.lock"
STAMP_SUFFIX = "-stamp"

# Creating an empty database takes 5 ms; after a second of waiting a process goes on in memory.
LOCK_WAIT_SECONDS = 1.0
LOCK_POLL_SECONDS = 0.005
STAMP_POLLS = 20
# A lock of this age belongs to a process that was killed while it held it.
LOCK_STALE_SECONDS = 3.0
# An index of another format that nothing was written to for this long belongs to a version that is
# no longer used. (File times decide about this cache only, never about staleness.)
UNUSED_SECONDS = 14 * 86_400
# One with vectors that cost money may be the only place that has them.
UNUSED_PAID_SECONDS = 365 * 86_400

Identity = tuple[int, int]
Row = tuple[Any, ...]


def find_obstacle(data_dir: str) -> str | None:
    """Return why the index cannot be kept in this folder, as a sentence; None: it can."""
    try:
        mode = os.lstat(data_dir).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return f"{data_dir} is a symbolic link, which is not followed."
    if not stat.S_ISDIR(mode):
        return f"{data_dir} is a file, not a folder."
    return None


def identify(path: str) -> Identity | None:
    """Return which file is at a path, so that a replaced one is noticed; None: no file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def is_unclean(path: str) -> bool:
    """Return whether the last user of the database was killed, or is still writing.

    The last connection to close writes the write-ahead log back and removes it.
    """
    try:
        return os.stat(path + "-wal").st_size > 0
    except FileNotFoundError:
        return False


def has_stamp(path: str) -> bool:
    """Return whether the database is as UBP left it: no other program has written to it.

    A process may be between writing and recording that it did: then it is waited for.
    """
    for _ in range(STAMP_POLLS):
        if _read_stamp(path) == _stamp_of(path):
            return True
        time.sleep(LOCK_POLL_SECONDS)
    return False


@contextmanager
def stamping(path: str | None) -> Iterator[None]:
    """Record what this process does to the database; not if it was changed unseen before."""
    before = None if path is None else _stamp_of(path)
    is_known = path is not None and before == _read_stamp(path)
    yield
    if path is not None and is_known and _stamp_of(path) != before:
        write_stamp(path)


def write_stamp(path: str) -> None:
    """Record that the database is sound as it is."""
    new = f"{path}{STAMP_SUFFIX}.{os.getpid()}.{get_ident()}"
    with suppress(OSError):  # where nothing can be written, it is examined again
        _remove(new)
        with open(new, "xb") as file:
            file.write(_stamp_of(path))
        os.replace(new, path + STAMP_SUFFIX)


def _stamp_of(path: str) -> bytes:
    """Return what changes when a file is written to, replaced or copied; nothing: no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return b""
    times = status.st_mtime_ns, status.st_ctime_ns
    return repr((status.st_dev, status.st_ino, status.st_size, *times)).encode()


def _read_stamp(path: str) -> bytes:
    try:
        with open(path + STAMP_SUFFIX, "rb") as file:
            return file.read()
    except OSError:
        return b""


def create_file(
    path: str, replaced: Identity | None, wait_seconds: float = LOCK_WAIT_SECONDS
) -> None:
    """Replace the file `replaced` by an empty database, unless another process has done so already.

    It appears as a whole (`os.replace`); processes with the old one open continue with that. Unlike
    in `write_atomically`, SQLite writes the new file, and a lock keeps two processes from
    replacing it.

    Raises:
        OSError: nothing can be written there, or another process holds the lock for too long.
        sqlite3.Error: the disk is full.
    """
    folder = os.path.dirname(path)
    with suppress(FileExistsError):
        os.mkdir(folder)
    lock = _take_lock(path, wait_seconds)
    try:
        if identify(path) != replaced:
            return
        new = path + ".new"
        _remove(new, new + "-journal", new + "-wal", new + "-shm")
        _create(new)
        # SQLite would replay the old log into the new file. A process that opens the old file in
        # this moment sees the lock, and opens it again (`wait_for_lock`).
        _remove(path + "-wal", path + "-shm")
        os.replace(new, path)
        write_stamp(path)
        remove_unused(folder)
    finally:
        _remove(lock)


def wait_for_lock(path: str) -> None:
    """Wait while another process creates an empty database; TimeoutError after a second."""
    lock = _lock_path(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while os.path.lexists(lock):
        _wait(lock, deadline)


def replace_index(folder: str) -> None:
    """Replace the index in a folder by an empty one, and remove those of other formats.

    Nothing of what they contained is left in a file. Processes that have one open continue with
    what they have, and notice the new one when they are asked next. The lock of a process that was
    killed is waited for.

    Raises:
        OSError: nothing can be written there, or another process holds the lock for too long.
    """
    path = os.path.join(folder, FILE_NAME)
    if (current := identify(path)) is not None:
        create_file(path, current, LOCK_STALE_SECONDS + LOCK_WAIT_SECONDS)
    for name in os.listdir(folder):
        if name.startswith(PREFIX) and not name.startswith(FILE_NAME):
            _remove(os.path.join(folder, name))


def other_formats(folder: str) -> list[str]:
    """Return the paths of indexes of other formats, the last one written first."""
    paths = [
        os.path.join(folder, name)
        for name in os.listdir(folder)
        if name.startswith(PREFIX) and name.endswith(SUFFIX) and name != FILE_NAME
    ]
    return sorted(paths, key=os.path.getmtime, reverse=True)


def remove_unused(folder: str) -> int:
    """Remove indexes of other formats that were not written to lately; return their bytes."""
    freed = 0
    with suppress(OSError):  # another process removed one, or has it open (Windows)
        for path in other_formats(folder):
            beside = (path + suffix for suffix in ("-wal", "-shm", STAMP_SUFFIX))
            files = [path, *filter(os.path.exists, beside)]
            age = time.time() - max(map(os.path.getmtime, files))
            if age > UNUSED_SECONDS and (age > UNUSED_PAID_SECONDS or not _has_paid(path)):
                size = sum(map(os.path.getsize, files))
                _remove(*files)
                freed += size
    return freed


def read_elsewhere(path: str, sql: str, arguments: Sequence[object] = ()) -> list[Row]:
    """Return rows of an index of another format; none if it is not as UBP left it."""
    if not has_stamp(path):
        return []
    connection = None
    try:
        # A log that is no longer written makes SQLite leave two files beside the index.
        how = "mode=ro" if is_unclean(path) else "immutable=1"
        connection = sqlite3.connect(f"file:{quote(path)}?{how}", uri=True)
        return connection.execute(sql, arguments).fetchall()
    except sqlite3.Error:  # it has no such table
        return []
    finally:
        if connection is not None:
            connection.close()


def _has_paid(path: str) -> bool:
    return bool(read_elsewhere(path, f"SELECT 1 FROM vector_block WHERE {IS_PAID} LIMIT 1"))  # noqa: S608  # ours


def _create(path: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # A damaged file is detected and rebuilt, so that there is no need to wait for the disk.
        connection.executescript(
            f"PRAGMA synchronous=OFF; BEGIN; {SCHEMA} PRAGMA user_version={FORMAT}; COMMIT;"
            "PRAGMA journal_mode=WAL;"
        )
    finally:
        connection.close()


def _take_lock(path: str, wait_seconds: float) -> str:
    # A file, not flock: the same on every system, and independent of the database's own locks.
    lock = _lock_path(path)
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            with open(lock, "xb"):
                return lock
        except FileExistsError:
            _wait(lock, deadline)


def _lock_path(path: str) -> str:
    return os.path.join(os.path.dirname(path), LOCK_NAME)


def _wait(lock: str, deadline: float) -> None:
    with suppress(FileNotFoundError):
        if time.time() - os.lstat(lock).st_mtime > LOCK_STALE_SECONDS:
            os.unlink(lock)
    if time.monotonic() > deadline:
        raise TimeoutError("another process is rebuilding the index")
    time.sleep(LOCK_POLL_SECONDS)


def _remove(*paths: str) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            os.unlink(path)

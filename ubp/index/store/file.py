"""The database's files: created and replaced as a whole, one process at a time."""

import os
import sqlite3
import stat
import time
from contextlib import suppress

from ubp.index.store.schema import FORMAT, SCHEMA

PREFIX, SUFFIX = "index-", ".db"
# The format is part of the name, so that two versions of UBP do not rebuild one file in turns.
FILE_NAME = f"{PREFIX}{FORMAT}{SUFFIX}"
LOCK_NAME = "rebuild.lock"

# Creating an empty database takes 5 ms; after a second of waiting a process goes on in memory.
LOCK_WAIT_SECONDS = 1.0
LOCK_POLL_SECONDS = 0.005
# A lock of this age belongs to a process that was killed while it held it.
LOCK_STALE_SECONDS = 3.0
# An index of another format that nothing was written to for this long belongs to a version that is
# no longer used. (File times decide about this cache only, never about staleness.)
UNUSED_SECONDS = 14 * 86_400

Identity = tuple[int, int]


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


def create_file(path: str, replaced: Identity | None) -> None:
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
    lock = _take_lock(path)
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
        remove_unused(folder)
    finally:
        _remove(lock)


def wait_for_lock(path: str) -> None:
    """Wait while another process creates an empty database; TimeoutError after a second."""
    lock = _lock_path(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while os.path.lexists(lock):
        _wait(lock, deadline)


def remove_unused(folder: str) -> int:
    """Remove indexes of other formats that were not written to lately; return their bytes."""
    freed = 0
    with suppress(OSError):  # another process removed one, or has it open (Windows)
        for name in os.listdir(folder):
            if not name.startswith(PREFIX) or not name.endswith(SUFFIX) or name == FILE_NAME:
                continue
            path = os.path.join(folder, name)
            files = [path, *(log for log in (path + "-wal", path + "-shm") if os.path.exists(log))]
            if time.time() - max(map(os.path.getmtime, files)) > UNUSED_SECONDS:
                size = sum(map(os.path.getsize, files))
                _remove(*files)
                freed += size
    return freed


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


def _take_lock(path: str) -> str:
    # A file, not flock: the same on every system, and independent of the database's own locks.
    lock = _lock_path(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
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

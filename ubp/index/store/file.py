"""The database's files: nothing in their way, put in place as a whole, found unharmed."""

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

# Making an empty database takes 5 ms; who still waits after a second goes on in memory.
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
    """Which file stands there, so that a replaced one is noticed; None: none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def is_unclean(path: str) -> bool:
    """Whether the last to use the database was killed, or is still writing.

    The last connection to close folds the write-ahead log back and removes it.
    """
    try:
        return os.stat(path + "-wal").st_size > 0
    except FileNotFoundError:
        return False


def create_file(path: str, replaced: Identity | None) -> None:
    """Put an empty database where `replaced` stands, unless another process has done so already.

    It appears as a whole (`os.replace`); who has the old one open goes on with that. Unlike in
    `write_atomically`, SQLite writes the new file, and a lock keeps two processes from replacing
    it.

    Raises:
        OSError: nothing can be written there, or another process is at it for too long.
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
        _make(new)
        # SQLite would replay the old log into the new file. Who opens the old file in this moment
        # sees the lock, and opens again (`wait_for_lock`).
        _remove(path + "-wal", path + "-shm")
        os.replace(new, path)
        remove_unused(folder)
    finally:
        _remove(lock)


def wait_for_lock(path: str) -> None:
    """Wait while another process puts an empty database there; TimeoutError after a second."""
    lock = _lock_of(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while os.path.lexists(lock):
        _wait(lock, deadline)


def remove_unused(folder: str) -> int:
    """Remove indexes of other formats that nothing was written to lately; return their bytes."""
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


def _make(path: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # A damaged file is found and rebuilt, so that no power cut is worth waiting for the disk.
        connection.executescript(
            f"PRAGMA synchronous=OFF; BEGIN; {SCHEMA} PRAGMA user_version={FORMAT}; COMMIT;"
            "PRAGMA journal_mode=WAL;"
        )
    finally:
        connection.close()


def _take_lock(path: str) -> str:
    # A file and no flock: the same on every system, and apart from the database's own locks.
    lock = _lock_of(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            with open(lock, "xb"):
                return lock
        except FileExistsError:
            _wait(lock, deadline)


def _lock_of(path: str) -> str:
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

"""The database's files: nothing in their way, put in place as a whole, found unharmed."""

import os
import sqlite3
import stat
import time
from contextlib import suppress

from ubp.store.schema import FORMAT, SCHEMA

FILE_NAME = "knowledge.db"
LOCK_NAME = "rebuild.lock"
IGNORE_NAME = ".gitignore"

# Making an empty database takes 5 ms; who still waits after a second goes on in memory.
LOCK_WAIT_SECONDS = 1.0
LOCK_POLL_SECONDS = 0.005
# A lock of this age belongs to a process that was killed while it held it.
LOCK_STALE_SECONDS = 3.0

Identity = tuple[int, int]


def find_obstacle(data_dir: str) -> str | None:
    """What forbids to keep the index there, as a sentence: nothing may lead out of the repository.

    A checked-in symlink would have us write wherever it points; git never makes one in `.ubp/`.
    """
    folder = _mode(data_dir)
    if folder is None:
        return None
    name = os.path.basename(data_dir)
    if stat.S_ISLNK(folder):
        return f"{name} is a symbolic link, which is not followed."
    if not stat.S_ISDIR(folder):
        return f"{name} is a file, not a folder."
    for suffix in ("", "-wal", "-shm"):
        mode = _mode(os.path.join(data_dir, FILE_NAME + suffix))
        if mode is not None and not stat.S_ISREG(mode):
            kind = "a symbolic link, which is not followed" if stat.S_ISLNK(mode) else "not a file"
            return f"{name}/{FILE_NAME}{suffix} is {kind}."
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


def put_in_place(path: str, replaced: Identity | None) -> None:
    """Put an empty database where `replaced` stands, unless another process has done so already.

    It appears as a whole (`os.replace`); who has the old one open goes on with that.

    Raises:
        OSError: nothing can be written there, or another process is at it for too long.
        sqlite3.Error: the disk is full.
    """
    folder = os.path.dirname(path)
    with suppress(FileExistsError):
        os.mkdir(folder)
    ignore_everything(folder)
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
    finally:
        _remove(lock)


def wait_for_lock(path: str) -> None:
    """Wait while another process puts an empty database there; TimeoutError after a second."""
    lock = _lock_of(path)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    while os.path.lexists(lock):
        _wait(lock, deadline)


def ignore_everything(folder: str) -> None:
    """Make the folder invisible to Git, by a file that Git reads there; never touch one."""
    file = os.path.join(folder, IGNORE_NAME)
    if os.path.lexists(file):
        return
    with suppress(OSError), open(file, "xb") as ignore:
        ignore.write(b"*\n")


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


def _mode(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None

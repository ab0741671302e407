"""The servers running on a repository: a file per process in `serve.lock`, locked while it runs."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

LOCK_NAME = "serve.lock"

# Beyond the end of the file: on Windows nobody can read locked bytes.
LOCKED_BYTE = 1 << 20


class RunningServer(NamedTuple):
    """A running server: its process id, and its start in seconds since the epoch."""

    pid: int
    since: float


@contextmanager
def registered_server(data_dir: str) -> Iterator[None]:
    """List this process among the servers of a repository as long as the context lasts.

    Does nothing where the folder is not writable.
    """
    folder = os.path.join(data_dir, LOCK_NAME)
    find_running(data_dir)  # removes the files of killed servers
    path = os.path.join(folder, str(os.getpid()))
    descriptor = None
    with suppress(OSError):
        if _is_folder(data_dir):
            with suppress(FileExistsError):
                os.mkdir(folder)
        if _is_folder(folder):
            descriptor = _open_locked(path)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(path)
            with suppress(OSError):  # other servers are running
                os.rmdir(folder)


@contextmanager
def lock_file(path: str) -> Iterator[bool]:
    """Lock a file, created if need be, as long as the context lasts; False: another process has.

    Child processes inherit the lock on POSIX systems: it lasts until the last of them ends, also
    where this process is killed.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        is_locked = _lock(descriptor, waits=False)
        if os.name == "posix":
            os.set_inheritable(descriptor, is_locked)
        yield is_locked
    finally:
        os.close(descriptor)


def find_running(data_dir: str) -> tuple[RunningServer, ...]:
    """Return the running servers, and remove the files of those that were killed.

    A server runs if its file is locked. A process id would not tell: it may be another process's by
    now, or one of another container.
    """
    folder = os.path.join(data_dir, LOCK_NAME)
    if not _is_folder(folder):
        return ()
    names = sorted((name for name in os.listdir(folder) if name.isdecimal()), key=int)
    return tuple(server for name in names if (server := _read_server(os.path.join(folder, name))))


def _is_folder(path: str) -> bool:
    # symbolic links are never followed
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _read_server(path: str) -> RunningServer | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    is_stale = False
    try:
        is_stale = _lock(descriptor, waits=False)
        since = os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)
    if is_stale:
        with suppress(OSError):
            os.unlink(path)
        return None
    return RunningServer(int(os.path.basename(path)), since)


def _open_locked(path: str) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        _lock(descriptor, waits=True)
        os.utime(path)
        # Another process may have removed it as stale before it was locked.
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, waits: bool) -> bool:
    """Lock a file; return False if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(descriptor, waits=waits)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _lock_on_windows(descriptor: int, *, waits: bool) -> bool:
    import msvcrt

    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if waits else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True

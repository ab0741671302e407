"""Which servers run on a repository: a file each in `serve.lock`, locked while it runs."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

LOCK_NAME = "serve.lock"

# Beyond what is written there: Windows lets nobody read what is locked.
LOCKED_BYTE = 1 << 20


class RunningServer(NamedTuple):
    """A server: its process, and since when it runs (seconds since the epoch)."""

    pid: int
    since: float


@contextmanager
def registered_server(data_dir: str) -> Iterator[None]:
    """Have this process told among the servers of a repository, as long as the context lasts.

    Where nothing can be written there, nobody is told.
    """
    folder = os.path.join(data_dir, LOCK_NAME)
    find_running(data_dir)  # and forget those that were killed
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
            _forget(path, descriptor)


def find_running(data_dir: str) -> tuple[RunningServer, ...]:
    """The servers that run now; files of those that were killed are removed.

    A process's number says nothing: another may have it by now, or it counts in another container.
    So the system is asked whether somebody still holds the lock.
    """
    folder = os.path.join(data_dir, LOCK_NAME)
    if not _is_folder(folder):
        return ()
    names = sorted((name for name in os.listdir(folder) if name.isdecimal()), key=int)
    return tuple(one for name in names if (one := _examine(os.path.join(folder, name))))


def _is_folder(path: str) -> bool:
    """Whether this is a folder, and no link: UBP follows none."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _examine(path: str) -> RunningServer | None:
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
        # Somebody may have taken it for a stale one before it was locked.
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        os.close(descriptor)


def _forget(path: str, descriptor: int) -> None:
    os.close(descriptor)
    with suppress(OSError):
        os.unlink(path)
    with suppress(OSError):  # others run
        os.rmdir(os.path.dirname(path))


def _lock(descriptor: int, *, waits: bool) -> bool:
    """Lock a file; False: another process holds it."""
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

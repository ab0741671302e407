"""Read regular files only; write files so that a reader, or a crash, never meets half of one."""

import errno
import os
import stat
from contextlib import suppress
from typing import BinaryIO


def open_regular_file(path: str, *, follows_link: bool = True) -> BinaryIO:
    """Open a regular file for reading.

    What the path names is examined after it is opened, so that nothing can replace it in between,
    and opening never waits: a FIFO without a writer would let this process wait for ever.

    Raises:
        OSError: it cannot be opened; or is a FIFO, a socket, a device or a directory; or, with
            `follows_link` false, a symbolic link.
    """
    flags = os.O_RDONLY
    for name in ("O_BINARY", "O_NONBLOCK", "O_NOCTTY"):  # each absent on some systems
        flags |= getattr(os, name, 0)
    flags |= 0 if follows_link else getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", path)


def read_regular_file(path: str, limit: int | None = None, *, follows_link: bool = True) -> bytes:
    """Return the bytes of a regular file, at most `limit` of them; raise as `open_regular_file`."""
    with open_regular_file(path, follows_link=follows_link) as file:
        if limit is None:
            return file.read()
        # `read(limit)` would allocate that much first, which takes ten times as long as reading.
        return file.read(min(limit, os.fstat(file.fileno()).st_size))


def write_atomically(path: str, data: bytes) -> None:
    """Replace the content of the file at `path`, or create the file; an existing mode is kept.

    The bytes go to a new file in the same folder, reach the disk, and are renamed. A symbolic link
    at `path` would be replaced, not followed: callers refuse links.

    Raises:
        OSError: the file cannot be written; it is unchanged, and nothing is left beside it.
    """
    temporary = f"{path}.ubp-{os.getpid()}"
    with suppress(OSError):
        os.unlink(temporary)  # left by a killed process with this number, as containers reuse them
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise

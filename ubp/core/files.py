"""Write files so that a reader, or a crash, never meets half of one."""

import os
import stat
from contextlib import suppress


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

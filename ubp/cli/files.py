"""Files that a command was told to write: at a path from the working directory, whole or not."""

import os

from ubp.cli.terminal import Terminal
from ubp.errors import UsageError


def check_folder(path: str, terminal: Terminal) -> None:
    """Tell that a file cannot be written, before the work is done.

    Raises:
        UsageError: there is no such folder.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(os.path.join(terminal.directory, folder)):
        raise UsageError(
            f"{path} cannot be written.",
            cause=f"There is no folder {folder}; paths are relative to the working directory.",
            hint="Make the folder first, or name another path.",
        )


def write_file(path: str, text: str, terminal: Terminal) -> None:
    """Put a file in place: whoever reads it finds the old text or the new one, never a part.

    A device or pipe that stands there is written to. A symlink is not followed: the repository may
    hold one that leads anywhere.

    Raises:
        UsageError: it cannot be written.
    """
    place = os.path.join(terminal.directory, path)
    data = text.encode("utf-8", "backslashreplace")
    try:
        if _is_stream(place):
            with open(place, "wb") as stream:
                stream.write(data)
        elif os.path.islink(place):
            raise UsageError(
                f"{path} cannot be written.",
                cause="It is a symlink.",
                hint="Name the file that it leads to, or another one.",
            )
        else:
            _replace(place, data)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written.",
            cause=f"{error.strerror or error}.",
            hint="Name a file in a folder where you may write.",
        ) from error


def _is_stream(place: str) -> bool:
    """Whether a device or pipe stands there; /dev/stdout is one wherever it leads."""
    is_device = os.path.abspath(place).startswith("/dev/")
    return is_device or (os.path.exists(place) and not os.path.isfile(place))


def _replace(place: str, data: bytes) -> None:
    temporary = f"{place}.ubp-{os.getpid()}"
    with open(temporary, "xb") as stream:
        try:
            stream.write(data)
            stream.close()
            os.replace(temporary, place)
        except OSError:
            os.unlink(temporary)
            raise

"""What the server tells its user: on stderr, and in serve.log, which several servers share."""

import logging
import os
import stat
import sys
import time
from contextlib import suppress

from ubp.render.wording import printable

LOG_NAME = "serve.log"
# Two files of this size at most: a week of warnings, some hours of --verbose.
BYTES_A_LOG = 1 << 20


def set_up_log(data_dir: str, level: int) -> None:
    """Tell everything from this level on to stderr and to the log in this folder."""
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [logging.StreamHandler(sys.stderr)]
    if not os.path.islink(data_dir):
        root.addHandler(_SharedFile(os.path.join(data_dir, LOG_NAME)))
    for handler in root.handlers:
        handler.setFormatter(_Lines())
    # What a library warns of is no answer either.
    logging.captureWarnings(capture=True)


class _Lines(logging.Formatter):
    """A line an entry, with the process that wrote it; traces indented below."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        lines = "\n    ".join(printable(line) for line in text.splitlines())
        return f"{moment} {os.getpid()} {record.levelname} {lines}"


class _SharedFile(logging.Handler):
    """Appends each entry by one write, and puts a full file aside.

    The file is opened for each entry: another server may have put it aside meanwhile. Where it
    cannot be written nothing is: the same stands on stderr.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        data = (self.format(record) + "\n").encode("utf-8", "backslashreplace")
        with suppress(OSError):
            if self._size() + len(data) > BYTES_A_LOG:
                os.replace(self._path, self._path + ".1")
            self._append(data)

    def _size(self) -> int:
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            return 0
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{self._path} is not a file")  # UBP follows no link
        return found.st_size

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self._path, flags, 0o644)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

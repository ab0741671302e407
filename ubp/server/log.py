"""The log of a server: on stderr, and of `ubp serve` in a shared serve.log."""

import logging
import os
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from ubp.frame.wording import printable

LOG_NAME = "serve.log"
# At most two files of this size: a week of warnings, some hours of --verbose.
MAX_LOG_BYTES = 1 << 20


def set_up_log(data_dirs: Sequence[str], level: int) -> None:
    """Log from this level on to stderr and to the file in each of these directories ("": none)."""
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [logging.StreamHandler(sys.stderr)]
    for data_dir in data_dirs:
        if data_dir and not os.path.islink(data_dir):
            root.addHandler(_SharedFileHandler(os.path.join(data_dir, LOG_NAME)))
    for handler in root.handlers:
        handler.setFormatter(_LineFormatter())
    # Warnings of libraries must not reach stdout either.
    logging.captureWarnings(capture=True)


class _LineFormatter(logging.Formatter):
    """One line an entry, with the process id; tracebacks are indented below it."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        lines = "\n    ".join(printable(line) for line in text.splitlines())
        return f"{moment} {os.getpid()} {record.levelname} {lines}"


class _SharedFileHandler(logging.Handler):
    """Appends each entry in one write, and rotates a full file.

    The file is opened for each entry, since another server may have rotated it. Where it cannot be
    written, stderr still has the entry.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        data = (self.format(record) + "\n").encode("utf-8", "backslashreplace")
        with suppress(OSError):
            if self._size() + len(data) > MAX_LOG_BYTES:
                os.replace(self._path, self._path + ".1")
            self._append(data)

    def _size(self) -> int:
        try:
            status = os.lstat(self._path)
        except FileNotFoundError:
            return 0
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{self._path} is not a file")  # UBP follows no link
        return status.st_size

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self._path, flags, 0o644)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

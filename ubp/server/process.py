"""What the server tells its user: on stderr, and in serve.log, which several servers share.

The process: streams taken, log and lock laid out, requests served, left when it is told to.
"""

import asyncio
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple

from ubp.core.model import Progress
from ubp.core.running import registered_server
from ubp.output.wording import printable
from ubp.server.scheduler import Scheduler
from ubp.server.tools.tool import Tool
from ubp.server.transport import Streams, claim_streams
from ubp.workspace import Workspace

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


LOG = logging.getLogger(__name__)

# Whoever sends a signal kills what is still there some seconds later; what takes longer than this
# is the reading of a new repository, and what was read until then is saved.
SECONDS_TO_FINISH = 5.0

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class ServeOptions(NamedTuple):
    """What a server offers: these tools, answering in records and text, or in text alone."""

    tools: Sequence[Tool]
    is_structured: bool = True


def serve_repository(
    directory: str,
    offer: ServeOptions,
    *,
    environment: Mapping[str, str],
    level: int = logging.INFO,
) -> None:
    """Serve the repository around a directory until the client leaves or a signal comes.

    Raises:
        RepositoryError: no repository that can be read.
        ConfigError: `.ubp/config.json` cannot be used.
    """
    streams = claim_streams()
    root, data_dir = _find(directory, environment)
    set_up_log(data_dir, level)
    office = Scheduler(partial(_open, root, environment))
    with registered_server(data_dir):
        asyncio.run(_serve(streams, office, offer))
        office.close()
    LOG.info("left")


def _find(directory: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """The root (bare: the git directory), from which agents' paths are; and UBP's folder."""
    with Workspace.open(directory, environment=environment) as workspace:
        repository = workspace.session.repository
        return repository.root or repository.git_dir, repository.data_dir


def _open(root: str, environment: Mapping[str, str], progress: Progress) -> Workspace:
    return Workspace.open(root, environment=environment, warn=_warn, progress=progress)


@cache
def _warn(sentence: str) -> None:
    """Say once what each opening finds again."""
    LOG.warning("%s", sentence)


async def _serve(streams: Streams, office: Scheduler, offer: ServeOptions) -> None:
    # The library takes 0.7 s of CPU to import; what it prints meanwhile must not reach the client.
    from ubp.server.protocol import create_server
    from ubp.server.transport import StdioTransport

    server = create_server(office, offer.tools, is_structured=offer.is_structured)
    wire = StdioTransport(streams)
    _on_signals(partial(wire.end, SECONDS_TO_FINISH))
    wire.start()
    office.start()
    LOG.info("serving %d tools", len(offer.tools))
    if os.isatty(streams.source):
        LOG.info("agents' clients start this themselves (`ubp init` prints how); Ctrl-C ends it")
    keeping = asyncio.create_task(_keep_ready(wire.has_spoken, office))
    await server.run(wire.messages, wire, server.create_initialization_options())
    keeping.cancel()
    wire.flush()


async def _keep_ready(has_spoken: asyncio.Event, office: Scheduler) -> None:
    """Once the client has its first answer, which shall not wait for anything else."""
    await has_spoken.wait()
    await office.keep_ready()


def _on_signals(leave: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def obey(name: str) -> None:
        LOG.info("told to leave by %s", name)
        leave()

    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is None:
            continue
        try:
            loop.add_signal_handler(number, obey, name)
        except NotImplementedError:  # Windows
            signal.signal(number, partial(_obey_soon, loop, obey, name))


def _obey_soon(
    loop: asyncio.AbstractEventLoop, obey: Callable[[str], None], name: str, *_: object
) -> None:
    loop.call_soon_threadsafe(obey, name)

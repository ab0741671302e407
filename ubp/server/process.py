"""The server process: its streams, its log on stderr and in a shared serve.log, and its end."""

import asyncio
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache, partial
from typing import NamedTuple

from ubp.core.errors import RepositoryError
from ubp.core.model import Progress
from ubp.core.running import registered_server
from ubp.output.wording import printable
from ubp.server.scheduler import Scheduler
from ubp.server.streams import Streams, claim_streams
from ubp.server.tools.tool import AnyTool
from ubp.workspace import Workspace

LOG = logging.getLogger(__name__)

# Supervisors kill a process some seconds after the signal. Only indexing a new repository takes
# longer, and what was indexed until then is saved.
SECONDS_TO_FINISH = 5.0
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

LOG_NAME = "serve.log"
# At most two files of this size: a week of warnings, some hours of --verbose.
MAX_LOG_BYTES = 1 << 20


class ServeOptions(NamedTuple):
    """The tools of a server; `is_structured`: answers are records, too, not text alone."""

    tools: Sequence[AnyTool]
    is_structured: bool = False


def serve_repository(
    directory: str,
    options: ServeOptions,
    *,
    environment: Mapping[str, str],
    level: int = logging.INFO,
) -> None:
    """Serve the repository around a directory until the client disconnects or a signal comes.

    Clients start servers wherever they are: where there is no readable repository, every answer
    says so, until there is one.

    Raises:
        ConfigError: `.ubp/config.json` cannot be used.
    """
    streams = claim_streams()
    try:
        root, data_dir = _locate(directory, environment)
    except RepositoryError as error:
        root, data_dir = directory, ""
        set_up_log(data_dir, level)
        LOG.warning("%s Every answer says so.", error.message)
    else:
        set_up_log(data_dir, level)
    scheduler = Scheduler(partial(_open, root, environment))
    with registered_server(data_dir) if data_dir else nullcontext():
        asyncio.run(_serve(streams, scheduler, options))
        scheduler.close()
    LOG.info("stopped")


def _locate(directory: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the root (bare: the git directory), and UBP's data directory."""
    with Workspace.open(directory, environment=environment) as workspace:
        repository = workspace.session.repository
        return repository.root or repository.git_dir, repository.data_dir


def _open(root: str, environment: Mapping[str, str], progress: Progress) -> Workspace:
    return Workspace.open(root, environment=environment, warn=_warn, progress=progress)


@cache
def _warn(sentence: str) -> None:
    """Log a warning once, though each opening of a workspace repeats it."""
    LOG.warning("%s", sentence)


async def _serve(streams: Streams, scheduler: Scheduler, options: ServeOptions) -> None:
    # Importing the library takes 0.7 s of CPU; what it prints must not reach the client.
    from ubp.server.protocol import create_server
    from ubp.server.transport import StdioTransport

    server = create_server(scheduler, options.tools, is_structured=options.is_structured)
    transport = StdioTransport(streams)
    _handle_signals(partial(transport.end, SECONDS_TO_FINISH))
    transport.start()
    scheduler.start()
    LOG.info("serving %d tools", len(options.tools))
    if os.isatty(streams.source):
        LOG.info("MCP clients start this server (`ubp init` prints how); Ctrl-C stops it")
    indexing = asyncio.create_task(_keep_ready(transport.has_answered, scheduler))
    await server.run(transport.messages, transport, server.create_initialization_options())
    indexing.cancel()
    transport.flush()


async def _keep_ready(has_answered: asyncio.Event, scheduler: Scheduler) -> None:
    """Index after the first answer, which must not wait for it."""
    await has_answered.wait()
    await scheduler.keep_ready()


def _handle_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def handle(name: str) -> None:
        LOG.info("received %s, stopping", name)
        stop()

    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is None:
            continue
        try:
            loop.add_signal_handler(number, handle, name)
        except NotImplementedError:  # Windows
            signal.signal(number, partial(_schedule, loop, handle, name))


def _schedule(
    loop: asyncio.AbstractEventLoop, handle: Callable[[str], None], name: str, *_: object
) -> None:
    loop.call_soon_threadsafe(handle, name)


def set_up_log(data_dir: str, level: int) -> None:
    """Log from this level on to stderr and to the file in this directory ("": stderr alone)."""
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [logging.StreamHandler(sys.stderr)]
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

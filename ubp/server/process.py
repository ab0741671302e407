"""The server process: its streams, its log, and its end."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from typing import NamedTuple

from ubp.core.errors import GitMissingError, RepositoryError
from ubp.core.model import Progress
from ubp.core.running import registered_server
from ubp.git.index_copy import IndexCopy
from ubp.index.collections import parse_reference
from ubp.index.open_collection import locate_version
from ubp.server.log import set_up_log
from ubp.server.loopback import HttpOptions, address_of, listen_on_loopback
from ubp.server.memory import use_one_heap
from ubp.server.repositories import Repositories, ServedRepository, short_names
from ubp.server.scheduler import Scheduler
from ubp.server.streams import Streams, claim_streams
from ubp.server.tools.tool import AnyTool
from ubp.workspace import Workspace

LOG = logging.getLogger(__name__)

# Supervisors kill a process some seconds after the signal. Only indexing a new repository takes
# longer, and what was indexed until then is saved.
SECONDS_TO_FINISH = 5.0
# Workers collect all garbage between calls, so that Python has no reason to do it within one.
NO_FULL_COLLECTION = 1_000_000
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class ServeOptions(NamedTuple):
    """The tools of a server; `is_structured`: answers are records, too, not text alone.

    `http`: serve several clients on a port instead of one on stdin and stdout.
    """

    tools: Sequence[AnyTool]
    is_structured: bool = False
    http: HttpOptions | None = None


def serve_repositories(
    directories: Sequence[str],
    options: ServeOptions,
    *,
    default_directory: str = os.curdir,
    environment: Mapping[str, str],
    level: int = logging.INFO,
) -> None:
    """Serve the repositories around these directories, by default the one around another.

    The server ends when a signal comes, and on stdin and stdout when the client disconnects.
    Clients start servers wherever they are: where there is no readable repository, every answer
    says so, until there is one or an older client offers its folders. Tools that all read the same
    collection need none.

    Raises:
        CollectionError: there is no repository, nor the collection that all tools read.
        ConfigError: `.ubp/config.json` cannot be used.
        UsageError: the port is in use.
    """
    use_one_heap()
    gc.set_threshold(*gc.get_threshold()[:2], NO_FULL_COLLECTION)
    streams = None if options.http else claim_streams()
    listener = listen_on_loopback(options.http.port) if options.http else None
    places = [
        *dict.fromkeys(
            _locate(directory, environment) for directory in directories or [default_directory]
        )
    ]
    if not directories and places[0].why_unreadable and (name := _only_collection(options.tools)):
        reference = parse_reference(name)
        found = locate_version(reference.name, reference.version, places[0].root, environment)
        environment = found.environment
        places = [_locate(found.directory, environment)]
    set_up_log([place.data_dir for place in places], level)
    for place in places:
        if place.why_unreadable:
            LOG.warning("%s Every answer says so.", place.why_unreadable)
    is_nowhere = not directories and bool(places[0].why_unreadable) and streams is not None
    repositories = Repositories(
        _served(places, environment),
        options.tools,
        partial(_open_folders, environment=environment) if is_nowhere else None,
    )
    with ExitStack() as stack:
        for place in places:
            if place.data_dir:
                stack.enter_context(registered_server(place.data_dir))
        if streams is not None:
            asyncio.run(_serve_stdio(streams, repositories, options))
        elif options.http is not None and listener is not None:
            asyncio.run(_serve_http(listener, options.http, repositories, options))
        repositories.close()
    LOG.info("stopped")


class _Place(NamedTuple):
    """The root of a repository (bare: the git directory), and UBP's data directory.

    Where there is no readable repository, the directory itself, and the reason.
    """

    root: str
    data_dir: str = ""
    collections: tuple[str, ...] = ()
    why_unreadable: str = ""
    languages: tuple[str, ...] = ()


def _only_collection(tools: Sequence[AnyTool]) -> str:
    """Return the collection that all tools read, "" if one of them reads the repository."""
    names = {tool.default_collection for tool in tools}
    return names.pop() if len(names) == 1 else ""


def _locate(directory: str, environment: Mapping[str, str]) -> _Place:
    try:
        with Workspace.open(directory, environment=environment) as workspace:
            repository = workspace.session.repository
            settings = workspace.session.config.collections
            return _Place(
                repository.root or repository.git_dir,
                repository.data_dir,
                tuple(setting.name for setting in settings),
                languages=tuple(
                    dict.fromkeys(setting.language for setting in settings if setting.language)
                ),
            )
    except GitMissingError:
        raise
    except RepositoryError as error:
        return _Place(os.path.abspath(directory), why_unreadable=error.message)


def _served(
    places: Sequence[_Place], environment: Mapping[str, str]
) -> tuple[ServedRepository, ...]:
    names = short_names([place.root for place in places])
    schedulers = (Scheduler(partial(_open, place.root, environment)) for place in places)
    return tuple(
        ServedRepository(name, scheduler, place.collections, place.languages)
        for name, scheduler, place in zip(names, schedulers, places, strict=True)
    )


def _open_folders(
    folders: Sequence[str], environment: Mapping[str, str]
) -> tuple[ServedRepository, ...]:
    """Return the repositories around the folders of a client; other folders are left out."""
    places = dict.fromkeys(_locate(folder, environment) for folder in folders)
    found = [place for place in places if not place.why_unreadable]
    if found:
        LOG.info("serving the client's folders: %s", ", ".join(place.root for place in found))
    return _served(found, environment)


def _open(root: str, environment: Mapping[str, str], progress: Progress) -> Workspace:
    workspace = Workspace.open(root, environment=environment, warn=_warn, progress=progress)
    workspace.session.read_worktree = IndexCopy().read_worktree
    return workspace


@cache
def _warn(sentence: str) -> None:
    """Log a warning once, though each opening of a workspace repeats it."""
    LOG.warning("%s", sentence)


async def _serve_stdio(streams: Streams, repositories: Repositories, options: ServeOptions) -> None:
    # Importing the library takes 0.7 s of CPU; what it prints must not reach the client.
    from ubp.server.protocol import create_server
    from ubp.server.subscriptions import Subscriptions
    from ubp.server.transport import StdioTransport

    subscriptions = Subscriptions(repositories)
    server = create_server(repositories, subscriptions, is_structured=options.is_structured)
    transport = StdioTransport(streams, subscriptions.close)
    _handle_signals(partial(transport.end, SECONDS_TO_FINISH))
    transport.start()
    repositories.start()
    LOG.info("serving %d tools", len(options.tools))
    if os.isatty(streams.source):
        LOG.info("MCP clients start this server (`ubp init` prints how); Ctrl-C stops it")
    preparing = asyncio.create_task(_prepare(transport.has_answered, repositories))
    await server.run(transport.messages, transport, server.create_initialization_options())
    preparing.cancel()
    repositories.stop_preparing()
    transport.flush()


async def _prepare(has_answered: asyncio.Event, repositories: Repositories) -> None:
    """Index after the first answer, which must not wait for it."""
    await has_answered.wait()
    repositories.prepare()


async def _serve_http(
    listener: socket.socket, http: HttpOptions, repositories: Repositories, options: ServeOptions
) -> None:
    from ubp.server.http import HttpServer
    from ubp.server.protocol import create_server
    from ubp.server.subscriptions import Subscriptions

    subscriptions = Subscriptions(repositories)
    server = create_server(repositories, subscriptions, is_structured=options.is_structured)
    http_server = HttpServer(server, http.token, SECONDS_TO_FINISH)

    def end() -> None:
        subscriptions.close()
        http_server.end()

    _handle_signals(end)
    repositories.start()
    repositories.prepare()
    address = address_of(listener)
    LOG.info("serving %d tools at %s", len(options.tools), address)
    # Not in the log, which others may read; and whatever its level is.
    header = f"Authorization: Bearer {http.shown_token}"
    sys.stderr.write(f"Serving at {address}\nClients must send the header {header}\n")
    sys.stderr.flush()
    await http_server.serve(listener)
    repositories.stop_preparing()


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

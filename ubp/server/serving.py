"""The process: streams taken, log and lock laid out, requests served, left when it is told to."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from ubp.running import told_as_running
from ubp.seams import Progress
from ubp.server.log import set_up_log
from ubp.server.office import Office
from ubp.server.streams import Streams, take_streams
from ubp.tools.tool import Tool
from ubp.workspace import Workspace

LOG = logging.getLogger(__name__)

# Whoever sends a signal kills what is still there some seconds later; what takes longer than this
# is the reading of a new repository, and what was read until then is saved.
SECONDS_TO_FINISH = 5.0

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Offer(NamedTuple):
    """What a server offers: these tools, answering in records and text, or in text alone."""

    tools: Sequence[Tool]
    is_structured: bool = True


def serve_repository(
    directory: str, offer: Offer, *, environment: Mapping[str, str], level: int = logging.INFO
) -> None:
    """Serve the repository around a directory until the client leaves or a signal comes.

    Raises:
        RepositoryError: no repository that can be read.
        ConfigError: `.ubp/config.json` cannot be used.
    """
    streams = take_streams()
    root, data_dir = _find(directory, environment)
    set_up_log(data_dir, level)
    office = Office(partial(_open, root, environment))
    with told_as_running(data_dir):
        asyncio.run(_serve(streams, office, offer))
        office.close()
    LOG.info("left")


def _find(directory: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """The root (bare: the git directory), from which agents' paths are; and UBP's folder."""
    with Workspace.open(directory, environment=environment) as workspace:
        repository = workspace.repository
        return repository.root or repository.git_dir, repository.data_dir


def _open(root: str, environment: Mapping[str, str], progress: Progress) -> Workspace:
    return Workspace.open(root, environment=environment, warn=_warn, progress=progress)


@cache
def _warn(sentence: str) -> None:
    """Say once what each opening finds again."""
    LOG.warning("%s", sentence)


async def _serve(streams: Streams, office: Office, offer: Offer) -> None:
    # The library takes 0.7 s of CPU to import; what it prints meanwhile must not reach the client.
    from ubp.server.protocol import create_server
    from ubp.server.wire import Wire

    server = create_server(office, offer.tools, is_structured=offer.is_structured)
    wire = Wire(streams)
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


async def _keep_ready(has_spoken: asyncio.Event, office: Office) -> None:
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

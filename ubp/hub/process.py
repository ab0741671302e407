"""The hub's processes: the server, with a database of its own where it is tried out."""

import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from types import FrameType

from ubp.core.errors import HubError, UsageError
from ubp.hub.api import Hub
from ubp.hub.application import HubServer
from ubp.hub.audit import make_partition
from ubp.hub.config import HubConfig
from ubp.hub.database import Database, DatabaseDownError, check_migrated
from ubp.hub.embedded import run_postgres
from ubp.hub.models import HubModel
from ubp.hub.worker import Worker
from ubp.server.loopback import HOST, new_token

TOKEN_FILE = "development-token"  # noqa: S105  # a name
DEFAULT_PORT = 8232
# For the texts that are being read; those of a model's server take long.
SECONDS_TO_END_WORK = 60

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hub listens."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Sources:
    """What a hub works with: addresses of its database and of a replica, "" for none; a model."""

    database: str
    replica: str = ""
    model: HubModel = field(default_factory=HubModel)


def serve_hub(
    sources: Sources, config: HubConfig, place: Place, say: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        HubError: the database cannot be reached, or its tables are not those of this program.
        UsageError: the port is in use.
    """
    with (
        Database.open(sources.database, replica=sources.replica) as database,
        listen(place) as listener,
    ):
        with database.connection() as connection:
            check_migrated(connection)
            make_partition(connection, "event")
            make_partition(connection, "audit")
        _serve(Hub(database, config, model=sources.model), listener, say)


def serve_embedded(folder: str, model: HubModel, port: int, say: Callable[[str], None]) -> None:
    """Serve a hub of one machine, with a PostgreSQL and a token in a folder.

    Raises:
        HubError: PostgreSQL cannot be started.
        UsageError: the port is in use.
    """
    os.makedirs(folder, exist_ok=True)
    with listen(Place(HOST, port)) as listener, run_postgres(folder) as address:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        config = HubConfig(url=url, development_token=_development_token(folder))
        with Database.open(address) as database:
            database.migrate()
            with _working(Worker(database, config, model)):
                _serve(Hub(database, config, model=model), listener, say)


def _serve(hub: Hub, listener: socket.socket, say: Callable[[str], None]) -> None:
    server = HubServer(hub)

    def end(_: int, __: FrameType | None) -> None:
        server.end()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    host, port = listener.getsockname()[:2]
    say(f"ready http://{host}:{port}")
    server.serve(listener)


def run_worker(address: str, config: HubConfig, model: HubModel, *, once: bool) -> bool:
    """Work until SIGINT or SIGTERM, or `once`; return whether all of it succeeded.

    Raises:
        HubError: the database cannot be reached, or its tables are not those of this program.
    """
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    with Database.open(address) as database:
        with database.connection() as connection:
            check_migrated(connection)
        worker = Worker(database, config, model)

        def end(_: int, __: FrameType | None) -> None:
            worker.end()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        succeeded = worker.work()
        while not once and worker.wait():
            _try_to_work(worker)
    return succeeded


@contextmanager
def _working(worker: Worker) -> Iterator[None]:
    """Let a worker work in a thread of its own, which has ended on leaving."""
    thread = Thread(target=_work_on, args=[worker], name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.end()
        thread.join(SECONDS_TO_END_WORK)


def _work_on(worker: Worker) -> None:
    """Work until the worker is ended, whatever fails: nothing starts the thread again."""
    while True:
        try:
            _try_to_work(worker)
        except Exception:
            LOG.exception("The worker failed; it goes on.")
        if not worker.wait():
            return


def _try_to_work(worker: Worker) -> None:
    try:
        worker.work()
    except DatabaseDownError as error:
        LOG.warning("%s", error.message)


@contextmanager
def listen(place: Place) -> Iterator[socket.socket]:
    """Listen on a port.

    Raises:
        UsageError: it is in use, or may not be used.
    """
    try:
        listener = socket.create_server((place.host, place.port), backlog=128)
    except OSError as error:
        raise UsageError(
            f"Cannot listen on {place.host}:{place.port}.",
            cause=f"{error.strerror or error}.",
            hint="Choose another port with --port.",
        ) from error
    with listener:
        yield listener


def _development_token(folder: str) -> str:
    """Return the token of a hub that is tried out; a new one is written where there is none."""
    path = os.path.join(folder, TOKEN_FILE)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(new_token() + "\n")
    except FileExistsError:
        pass
    with open(path, encoding="ascii") as file:
        token = file.read().strip()
    if not token:
        raise HubError(f"{path} is empty.", hint="Delete it, and a new token is written.")
    return token

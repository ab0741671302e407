"""Servers as processes of their own, spoken to over their stdin and stdout."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ubp.server.protocol import create_server
from ubp.server.repositories import Repositories, ServedRepository
from ubp.server.subscriptions import Subscriptions

OWN_TOOLS = str(Path(__file__).with_name("own_tools.py"))
SECONDS_TO_WAIT = 30


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def module_environment(isolate):
    """What `isolated_environment` is to a test, for what a module's tests share."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        yield dict(os.environ)


@pytest.fixture(scope="module")
def shared_repository(module_environment, repository_in, tmp_path_factory):  # noqa: ARG001  # in it
    """A repository that a module's tests read."""
    return repository_in(tmp_path_factory.mktemp("shared") / "project")


class Line:
    """A client that sends the given lines one by one."""

    def __init__(self, *command, cwd, env=None, is_heard=True):
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.errors = b""
        self._heard = queue.Queue()
        self._threads = [threading.Thread(target=self._read)]
        self._threads += [threading.Thread(target=self._listen)] if is_heard else []
        for thread in self._threads:
            thread.start()

    def send(self, *messages):
        """Send messages, or lines as they are."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None: there will be none."""
        line = self._heard.get(timeout=SECONDS_TO_WAIT)
        return None if line is None else json.loads(line)

    def ask(self, number, method, /, **params):
        """Send a request and wait for what comes next."""
        self.send(request(number, method, **params))
        return self.receive()

    def open(self):
        """Shake hands."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        answer = self.ask(0, "initialize", clientInfo={"name": "line", "version": "1"}, **params)
        assert answer, self.errors.decode()
        return answer

    def leave(self):
        """Close the input, and return the remaining output and the exit status."""
        self.process.stdin.close()
        said = []
        while (message := self.receive()) is not None:
            said.append(message)
        return said, self.wait()

    def wait(self):
        status = self.process.wait(SECONDS_TO_WAIT)
        for thread in self._threads:
            thread.join(SECONDS_TO_WAIT)
        return status

    def _listen(self):
        for line in self.process.stdout:
            self._heard.put(line)
        self._heard.put(None)

    def _read(self):
        self.errors = self.process.stderr.read()


def request(number, method, /, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture(scope="session")
def make_request():
    return request


@pytest.fixture
def server_of():
    """The server of a scheduler: `server_of(scheduler, tools)`."""

    def create(scheduler, tools, **options):
        repositories = Repositories([ServedRepository("project", scheduler)], tools)
        return create_server(repositories, Subscriptions(repositories), **options)

    return create


@pytest.fixture(scope="module")
def connect(module_environment):
    """Start a server: `connect(root)` with tools made for tests, `connect(root, "ubp", ...)`."""
    lines = []

    def start(root, *tokens, environment=None, **options):
        command = [sys.executable, OWN_TOOLS] if not tokens else [sys.executable, "-m", *tokens]
        env = {**module_environment, **(environment or {})}
        lines.append(Line(*command, cwd=root, env=env, **options))
        return lines[-1]

    yield start
    for line in lines:
        line.process.kill()
        line.process.stdin.close()
        line.wait()
        line.process.stdout.close()
        line.process.stderr.close()

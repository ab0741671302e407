"""Processes that are killed: the client, the hub, the worker and PostgreSQL's backends.

`test_failures.py` kills pushes in one process; here each is one of its own, and speaks HTTP.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Self

import psycopg
import pytest

from tests.hub.conftest import token_issuer
from tests.hub.test_failures import KILL_BACKENDS
from ubp.board.read import read_board
from ubp.hub.config import HubConfig
from ubp.hub.maintenance import collect_garbage, find_faults
from ubp.hub.read_board import read_stored_board
from ubp.workspace import Workspace

POINTS = 40
NAME, MAIN = "github.com/acme/api", "refs/heads/main"
# For each line on stdin, a child does what it says; the number of its process is printed.
PROCESSES = """
import json, os, signal, sys
from ubp.answers.hub.push import PushRequest
from ubp.hub import process
from ubp.hub.config import read_config
from ubp.hub.models import HubModel
from ubp.workspace import Workspace

address, config = sys.argv[1:]
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
process.SECONDS_BETWEEN_LOOKS = 0.01


def run(kind, given):
    if kind == "hub":
        place = process.Place("127.0.0.1", given["port"])
        sources = process.Sources(address)
        process.serve_hub(sources, read_config(config), place, lambda line: None)
    elif kind == "worker":
        process.run_worker(address, read_config(config), HubModel(), once=False)
    else:
        environment = {**os.environ, **given["environment"]}
        with Workspace.open(given["root"], environment=environment) as workspace:
            workspace.ask(PushRequest(to=given["to"], repository=given["name"], soft=True))


for line in sys.stdin:
    kind, given = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        try:
            run(kind, given)
        finally:
            os._exit(0)
    print(child, flush=True)
"""


class Processes:
    """A hub, its worker and pushes, each a process."""

    def __init__(self, address, folder, issuer) -> None:
        self.issuer = issuer
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = folder / "hub.json"
        github = {"kind": "github", "issuer": issuer.url, "keys": f"{issuer.url}/keys"}
        issuers = [{**github, "forge": "github.com", "owners": ["acme"]}]
        config.write_text(json.dumps({"url": self.url, "issuers": issuers}))
        self._starter = subprocess.Popen(
            [sys.executable, "-c", PROCESSES, address, config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        os.killpg(self._starter.pid, signal.SIGKILL)
        self._starter.communicate()

    def start(self, kind, **given) -> int:
        self._starter.stdin.write(json.dumps([kind, given]) + "\n")
        return int(self._starter.stdout.readline())

    def start_hub(self) -> int:
        pid = self.start("hub", port=self.port)
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=10):
                    return pid
            except urllib.error.HTTPError as error:
                error.close()
                return pid
            except OSError:
                assert is_running(pid)
                time.sleep(0.01)

    def push(self, repository, commit, run) -> int:
        token = self.issuer.sign(
            aud=self.url,
            repository="acme/api",
            repository_id="1",
            ref=MAIN,
            ref_protected="true",
            sha=commit,
            run_id=str(run),
            run_attempt="1",
            event_name="push",
        )
        environment = {
            "UBP_HUB_TOKEN": token,
            "GITHUB_RUN_ID": str(run),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_REF": MAIN,
        }
        root = str(repository.root)
        return self.start("push", to=self.url, root=root, name=NAME, environment=environment)


def is_running(pid) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(pid) -> None:
    while is_running(pid):
        time.sleep(0.01)


def kill(pid) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_for(pid)


def stored(database):
    with database.connection() as connection:
        assert list(find_faults(connection)) == []
        return read_stored_board(connection, "*", NAME, MAIN)


def board(repository):
    with Workspace.open(str(repository.root)) as workspace:
        return read_board(workspace.session, "HEAD")


@pytest.mark.slow
def test_killed_processes_leave_the_old_or_the_new_board(
    repository, database, database_address, tmp_path
):
    choose = random.Random(34)
    with (
        token_issuer() as issuer,
        psycopg.connect(database_address, autocommit=True) as killer,
        Processes(database_address, tmp_path, issuer) as processes,
    ):
        hub, worker = processes.start_hub(), processes.start("worker")
        for number in range(60):
            repository.write(f"src/{number}.py", f"def f():\n    return {number}\n")
            repository.page(f"docs/{number}.md", f"src/{number}.py#f", body="# A\n")
        commit = repository.commit()
        began = time.monotonic()
        wait_for(processes.push(repository, commit, 1))
        seconds = time.monotonic() - began
        old = board(repository)
        assert stored(database) == old
        outcomes = set()
        for point in range(POINTS):
            for number in choose.sample(range(60), 20):
                repository.write(f"src/{number}.py", f"def f():\n    return {point}, {number}\n")
            commit = repository.commit()
            new = board(repository)
            client = processes.push(repository, commit, 2 * point + 2)
            time.sleep(choose.random() * seconds)
            victim = ("client", "hub", "worker", "backends")[point % 4]
            if victim == "client":
                kill(client) if is_running(client) else None
            elif victim == "hub":
                kill(hub)
                hub = processes.start_hub()
            elif victim == "worker":
                kill(worker)
                worker = processes.start("worker")
            else:
                killer.execute(KILL_BACKENDS)
            wait_for(client)
            found = stored(database)
            assert found in {old, new}, victim
            outcomes.add((victim, found == new))
            wait_for(processes.push(repository, commit, 2 * point + 3))
            assert stored(database) == new
            old = new
    assert {victim for victim, _ in outcomes} == {"client", "hub", "worker", "backends"}
    assert ("client", False) in outcomes
    with database.connection() as connection:
        collect_garbage(connection, HubConfig("http://127.0.0.1:1"), upload_hours=0)
        assert connection.execute("select count(*) from upload").fetchone() == (0,)

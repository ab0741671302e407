"""A hub that is tried out: one command each for the hub, the push and the comparison."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import psycopg
import pytest

from ubp.core.errors import HubError
from ubp.hub import process
from ubp.hub.embedded import run_postgres

ROOT = Path(__file__).resolve().parent.parent.parent


def ubp(repository, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ubp", *arguments],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder():
    """A folder that PostgreSQL's own user may enter."""
    path = tempfile.mkdtemp(prefix="ubp-")
    yield path
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def running(folder):
    """Run a hub of one machine, and yield its address."""
    command = ("hub", "up", "--embedded", "--data", folder, "--port", "0")
    with subprocess.Popen(
        [sys.executable, "-m", "ubp", *command], stdout=subprocess.PIPE, text=True
    ) as process:
        word, url = process.stdout.readline().split()
        assert word == "ready"
        try:
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
        assert process.returncode == 0


def test_hub_of_one_machine_answers_a_push_and_starts_again(repository, folder):
    repository.page("docs/a.md", "src/a.py")
    repository.write("src/a.py", "def f():\n    return 1\n")
    repository.git("remote", "add", "origin", "git@github.com:acme/api.git")
    repository.commit()
    for expected in ("pushed 2 files", "the hub has it already"):
        with running(folder) as url:
            token = os.path.join(folder, "development-token")
            assert stat.S_IMODE(os.stat(token).st_mode) == 0o600
            there = ("--to", url, "--token-file", token)
            status, out = ubp(repository, "push", *there)
            assert (status, expected in out) == (0, True), out
            status, out = ubp(repository, "hub", "diff", *there)
            assert (status, out) == (0, "The hub has what this clone has.\n")
    assert not os.path.exists(os.path.join(folder, "postgresql", "postmaster.pid"))


def test_hub_of_one_machine_reads_its_texts_again_after_an_upgrade(repository, folder):
    repository.write("docs/a.md", "# Tokens\n\nA token expires.\n")
    repository.git("remote", "add", "origin", "git@github.com:acme/api.git")
    repository.commit()
    token = ("--token-file", os.path.join(folder, "development-token"))
    with running(folder) as url:
        status, out = ubp(repository, "push", "--texts", "--to", url, *token)
        assert (status, "1 text" in out) == (0, True), out
    with run_postgres(folder) as address, psycopg.connect(address) as connection:
        connection.execute("update text set format = format - 1")
    with running(folder) as url:
        end, out = time.monotonic() + 60, ""
        while "docs/a.md" not in out and time.monotonic() < end:
            _, out = ubp(repository, "search", "token", "--hub", url, *token)
    assert "github.com/acme/api:docs/a.md:1" in out


class Failing:
    """A worker whose first look fails, and whose second one lasts until it is ended."""

    def __init__(self):
        self.looks, self.is_looking, self.is_ended = 0, Event(), Event()
        self.has_ended_itself = False

    def work(self):
        self.looks += 1
        if self.looks == 1:
            raise ValueError("no text")
        self.is_looking.set()
        self.has_ended_itself = self.is_ended.wait(60)

    def wait(self):
        return not self.is_ended.is_set()

    def end(self):
        self.is_ended.set()


def test_worker_of_a_hub_of_one_machine_goes_on_after_errors_and_ends_before_the_hub(caplog):
    worker = Failing()
    with process._working(worker):
        assert worker.is_looking.wait(60)
    assert worker.has_ended_itself
    (record,) = caplog.records
    assert (record.message, record.exc_info[0]) == ("The worker failed; it goes on.", ValueError)


def test_second_hub_on_the_same_data_is_refused_and_the_first_one_goes_on(folder):
    with run_postgres(folder) as address:
        with pytest.raises(HubError, match="in use"), run_postgres(folder):
            pass
        with psycopg.connect(address) as connection:
            assert connection.execute("select 1").fetchone() == (1,)


def test_postgresql_of_a_hub_that_was_killed_is_taken_over_and_ended(folder):
    program = (
        "import os, sys\n"
        "from ubp.hub.embedded import run_postgres\n"
        "with run_postgres(sys.argv[1]):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, folder], check=False)
    pid_file = os.path.join(folder, "postgresql", "postmaster.pid")
    assert os.path.exists(pid_file)
    with run_postgres(folder) as address, psycopg.connect(address) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    end = time.monotonic() + 30
    while os.path.exists(pid_file) and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(pid_file)


def test_compose_file_fits_its_schema():
    done = subprocess.run(
        [
            Path(sys.executable).parent / "check-jsonschema",
            "--builtin-schema",
            "vendor.compose-spec",
            ROOT / "deploy" / "compose.yaml",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_push_imports_nothing_but_the_base_package(repository):
    """Neither PostgreSQL's library nor HTTP clients of other extras are loaded by a push."""
    repository.write("a.md", "# A\n")
    repository.commit()
    program = (
        "import sys\n"
        "from ubp.__main__ import main\n"
        "status = main(['push', '--to', 'http://127.0.0.1:9', '--repository',"
        " 'github.com/acme/api', '--soft'])\n"
        "heavy = {'psycopg', 'psycopg_pool', 'jwt', 'mcp', 'httpx2', 'starlette', 'numpy'}\n"
        "print(status, sorted(heavy & set(sys.modules)))\n"
    )
    environment = {**os.environ, "UBP_HUB_TOKEN": "a-token"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repository.root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 []"

"""A hub that is tried out: one command each for the hub, the push and the comparison."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

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


def test_hub_of_one_machine_answers_a_push_and_starts_again(repository, folder):
    repository.page("docs/a.md", "src/a.py")
    repository.write("src/a.py", "def f():\n    return 1\n")
    repository.git("remote", "add", "origin", "git@github.com:acme/api.git")
    repository.commit()
    command = ("hub", "up", "--embedded", "--data", folder, "--port", "0")
    for expected in ("pushed 2 files", "the hub has it already"):
        with subprocess.Popen(
            [sys.executable, "-m", "ubp", *command], stdout=subprocess.PIPE, text=True
        ) as process:
            word, url = process.stdout.readline().split()
            assert word == "ready"
            token = os.path.join(folder, "development-token")
            assert stat.S_IMODE(os.stat(token).st_mode) == 0o600
            there = ("--to", url, "--token-file", token)
            status, out = ubp(repository, "push", *there)
            assert (status, expected in out) == (0, True), out
            status, out = ubp(repository, "hub", "diff", *there)
            assert (status, out) == (0, "The hub has what this clone has.\n")
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            assert process.returncode == 0
    assert not os.path.exists(os.path.join(folder, "postgresql", "postmaster.pid"))


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

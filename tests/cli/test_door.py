"""However a command ends: three lines, the right status, and a trace only on request."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ubp.cli import stale as module

SCRIPTS = Path(sys.executable).parent

DEFECT = """Error: UBP failed: KeyError: 'it'
  Cause: This is a bug in UBP, not in your repository.
  Hint: Run the command again with --verbose, and report its output together with that of \
`ubp version`.
"""


REFUSED = """Error: /somewhere: Permission denied.
  Cause: The operating system reported an error.
  Hint: Check file permissions and free disk space; run with --verbose for a stack trace.
"""

NO_GIT = """Error: Git was not found.
  Cause: PATH contains no executable named git.
  Hint: Install git 2.30 or newer, or add its folder to PATH.
"""

SLOW = """
import sys, time
import ubp.cli.stale as module
from ubp.__main__ import run

def run_stale(*_):
    print("on", flush=True)
    time.sleep(60)

module.run_stale = run_stale
sys.argv = ["ubp", "stale"]
run()
"""


@pytest.fixture
def broken(monkeypatch):
    """`ubp stale` raises the given exception."""

    def break_with(error):
        def open_workspace(*_, **__):
            raise error

        monkeypatch.setattr(module, "open_workspace", open_workspace)

    return break_with


def test_defect_is_reported_in_three_lines(broken, repository, ubp):
    broken(KeyError("it"))
    assert ubp(repository, "stale", "--all") == (2, "", DEFECT)


def test_trace_is_shown_only_on_request(broken, repository, ubp):
    broken(KeyError("it"))
    status, out, err = ubp(repository, "stale", "--verbose")
    assert (status, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(DEFECT)


def test_error_with_json_is_an_object(broken, repository, ubp):
    broken(KeyError("it"))
    status, out, err = ubp(repository, "stale", "--json")
    assert (status, err) == (2, "")
    message, cause, hint = DEFECT.splitlines()
    assert json.loads(out) == {
        "schema_version": 1,
        "error": {
            "message": message.removeprefix("Error: "),
            "cause": cause.removeprefix("  Cause: "),
            "hint": hint.removeprefix("  Hint: "),
        },
    }


def test_refusal_by_the_system_is_not_a_defect(broken, repository, ubp):
    broken(PermissionError(13, "Permission denied", "/somewhere"))
    assert ubp(repository, "stale") == (2, "", REFUSED)


@pytest.mark.parametrize("command", [("stale",), ("check",), ("search", "page"), ("serve",)])
def test_command_without_git_on_path_says_what_to_install(command, drifted, spawn, tmp_path):
    done = spawn(drifted, *command, environment={"PATH": str(tmp_path / "none")})
    assert (done.returncode, done.stdout, done.stderr) == (2, "", NO_GIT)


def test_interrupt_exits_with_130(broken, repository, ubp):
    broken(KeyboardInterrupt())
    assert ubp(repository, "stale") == (130, "", "")
    assert ubp(repository, "stale", "--diff") == (130, "", "")


@pytest.fixture
def shell(drifted):
    """Run a line of shell in a repository with a stale page."""

    def run(line):
        path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["sh", "-c", line],
            cwd=drifted.root,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_control_c_prints_no_trace():
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"on\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == 130


@pytest.mark.skipif(os.name == "nt", reason="POSIX shell")
@pytest.mark.parametrize(
    "command", ["ubp stale --all", "ubp stale --all --diff", "ubp --help", "ubp -V"]
)
@pytest.mark.parametrize("reader", ["true", "head -n 1 > /dev/null"])
def test_reader_that_leaves_early_changes_nothing(command, reader, drifted, shell):
    for number in range(1000):  # more than fits into a pipe
        drifted.page(f"docs/page-{number}-with-a-name-of-some-length.md", "src/a.py")
    done = shell(f"({command}; echo status $? >&2) | {reader}")
    assert done.stderr == "status 0\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX shell")
@pytest.mark.parametrize("command", ["ubp stale --exit-code", "ubp stale --json --exit-code"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_change_nothing(command, closed, shell):
    done = shell(f"{command} --alarms any {closed}")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_an_error(drifted, spawn):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = spawn(drifted, "stale", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: No space left on device.\n")
    assert "Exception ignored" not in done.stderr

"""What only POSIX systems have, and the places where UBP has a counterpart for Windows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MISSING = re.compile(r'^(\S+?):\d+: error: Module has no attribute "(\w+)"', re.MULTILINE)
# Each name beside what Windows does in its place; a type checker sees only `sys.platform`.
COUNTERPARTS = {
    # `call_limited` returns before: without limits.
    "ubp/core/child.py": {
        *("fork", "poll", "POLLIN", "getpagesize", "getrlimit", "getrusage", "setrlimit"),
        *("RLIMIT_AS", "RLIMIT_CORE", "RLIMIT_CPU", "RUSAGE_SELF"),
    },
    # `fcntl` cannot be imported: `_lock_on_windows`.
    "ubp/core/running.py": {"flock", "LOCK_EX", "LOCK_NB"},
    # `hasattr(os, "posix_spawn")`: `_run_subprocess`.
    "ubp/git/command.py": {
        *("posix_spawn", "POSIX_SPAWN_DUP2", "RLIMIT_DATA"),
        *("poll", "POLLIN", "POLLOUT", "set_blocking"),
    },
    # `hasattr(os, "geteuid")`: nobody is root.
    "ubp/hub/embedded.py": {"chown"},
    # `hasattr(select, "poll")`: it is not known who reads.
    "ubp/server/transport.py": {"POLLERR", "POLLHUP"},
}


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "known"), [("win32", COUNTERPARTS), ("darwin", {})])
def test_only_calls_with_a_counterpart_are_missing(platform, known):
    command = [sys.executable, "-m", "mypy", "--platform", platform, "ubp"]
    cache = f"--cache-dir=.mypy_cache/{platform}"
    done = subprocess.run([*command, cache], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Success" in done.stdout or "Found" in done.stdout, done.stdout + done.stderr
    found = {}
    for path, name in MISSING.findall(done.stdout):
        found.setdefault(path.replace(os.sep, "/"), set()).add(name)
    assert found == known

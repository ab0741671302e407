"""The command line, called in this process; whoever needs another process starts one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from ubp.__main__ import main

SCRIPTS = Path(sys.executable).parent


class Answer(NamedTuple):
    """What a command said."""

    status: int
    out: str
    err: str

    @property
    def record(self):
        return json.loads(self.out)


@pytest.fixture
def ubp(capsys):
    """Run a command in this process: `ubp(repository, "stale", "--json")`."""

    def run(repository, *tokens):
        capsys.readouterr()
        status = main(["-C", str(repository.root), *tokens])
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture
def spawn():
    """Start `ubp` as a process of its own and wait for it."""

    def run(repository, *tokens, environment=None, **options):
        return subprocess.run(
            [SCRIPTS / "ubp", *tokens],
            cwd=repository.root,
            env={**os.environ, **(environment or {})},
            check=False,
            **{"capture_output": True, "text": True, **options},
        )

    return run


@pytest.fixture
def at(monkeypatch):
    """Set UBP's clock so many days after the repository's last commit."""

    def set_clock(repository, days=0):
        monkeypatch.setenv("UBP_NOW", str(repository.clock + days * 86_400))

    return set_clock


@pytest.fixture
def drifted(repository, at):
    """A repository with a page whose source was modified ten days ago, and a fresh page."""
    repository.write("src/a.py", "1\n")
    repository.write("src/b.py", "1\n")
    repository.page("docs/a.md", "src/a.py", title="A")
    repository.page("docs/b.md", "src/b.py")
    repository.write("README.md", "# Read me\n")
    repository.commit("Begin")
    repository.write("src/a.py", "2\n")
    repository.commit("Change a")
    at(repository, days=10)
    return repository

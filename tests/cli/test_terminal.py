"""Colours and progress: for terminals, and nowhere else."""

import io
import os
import re
import sys

import pytest

from ubp.cli.terminal import Options, Terminal
from ubp.core.errors import UsageError


class Screen(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal():
    def make(*, is_screen=True, environment=None, **options):
        stream = Screen if is_screen else io.StringIO
        return Terminal(
            Options(**options), stream(), stream(), {"TERM": "xterm", **(environment or {})}
        )

    return make


@pytest.mark.parametrize(
    ("is_screen", "environment", "no_color", "has_colour"),
    [
        (True, {}, False, True),
        (False, {}, False, False),
        (True, {}, True, False),
        (True, {"NO_COLOR": "1"}, False, False),
        (True, {"NO_COLOR": ""}, False, True),
        (True, {"TERM": "dumb"}, False, False),
        (False, {"FORCE_COLOR": "1"}, False, True),
        (False, {"FORCE_COLOR": "1"}, True, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colours_are_used_only_where_visible(
    is_screen, environment, no_color, has_colour, terminal
):
    made = terminal(is_screen=is_screen, environment=environment, no_color=no_color)
    assert made.style.is_on == has_colour
    made.report(UsageError("Wrong."))
    assert made._stderr.getvalue() == (
        "\x1b[31mError:\x1b[0m Wrong.\n" if has_colour else "Error: Wrong.\n"
    )


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances on request."""
    now = [0.0]
    monkeypatch.setattr("ubp.cli.terminal.time.monotonic", lambda: now[0])
    return now


def test_progress_is_one_line_that_is_removed_before_the_answer(clock, terminal):
    made = terminal()
    for done in range(1, 1001):
        clock[0] += 1 / 32
        made.progress("Reading pages", done, 1000)
    drawn = made._stderr.getvalue()
    empty = "-" * 20
    assert drawn.startswith(f"\rReading pages: [{empty}] 10/1000\rReading pages: [{empty}] 14/1000")
    assert f"\rReading pages: [{'#' * 10}{'-' * 10}] 502/1000\r" in drawn
    assert drawn.count("\r") == 248
    assert "\n" not in drawn
    made.write("answer\n")
    last = f"Reading pages: [{'#' * 19}-] 998/1000"
    assert made._stderr.getvalue().endswith(f"\r{last}\r{' ' * len(last)}\r")
    assert made._stdout.getvalue() == "answer\n"


@pytest.mark.parametrize("options", [{"is_screen": False}, {"quiet": True}])
def test_progress_is_shown_only_on_a_terminal(options, clock, terminal):
    made = terminal(**options)
    clock[0] += 10
    made.progress("Reading pages", 1, 2)
    assert made._stderr.getvalue() == ""


def test_short_work_shows_no_progress(clock, terminal):
    made = terminal()
    clock[0] += 0.2
    made.progress("Reading pages", 1, 2)
    assert made._stderr.getvalue() == ""


def test_work_of_unknown_length_has_no_bar(clock, terminal):
    made = terminal()
    clock[0] += 10
    made.progress("Reading history", 7, 0)
    assert made._stderr.getvalue() == "\rReading history: 7"


def test_json_is_indented_for_a_terminal_only(terminal):
    made = terminal()
    made.json({"a": [1]})
    assert made._stdout.getvalue() == '{\n  "a": [\n    1\n  ]\n}\n'
    made = terminal(is_screen=False)
    made.json({"a": [1]})
    assert made._stdout.getvalue() == '{"a": [1]}\n'


def test_quiet_suppresses_warnings(terminal):
    made = terminal(is_screen=False)
    made.warn("Something\x1b[31m odd.")
    assert made._stderr.getvalue() == "Warning: Something\\e[31m odd.\n"
    made = terminal(quiet=True)
    made.warn("Something odd.")
    assert made._stderr.getvalue() == ""


def test_stream_that_cannot_encode_a_character_escapes_it():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    made = Terminal(Options(), stream, io.StringIO(), {})
    made.write("日本 \udcff\n")
    made.flush()
    assert raw.getvalue() == b"\\u65e5\\u672c \\udcff\n"


def test_json_is_utf8_whatever_the_locale():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252", newline="\n")
    made = Terminal(Options(json=True), stream, io.StringIO(), {})
    made.json({"a": "日本 \udcff"})
    made.flush()
    assert raw.getvalue() == '{"a": "日本 \\udcff"}\n'.encode()


def test_errors_of_several_lines_stay_together(terminal):
    made = terminal(is_screen=False)
    made.report(UsageError("One.", cause="First\nsecond\x07", hint="Do."))
    assert made._stderr.getvalue() == (
        "Error: One.\n  Cause: First\n    second\\x07\n  Hint: Do.\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
def test_real_terminal_gets_colours_and_links(drifted, monkeypatch):
    import pty

    seen = bytearray()

    def read(descriptor):
        data = os.read(descriptor, 1024)
        seen.extend(data)
        return data

    monkeypatch.setenv("TERM", "xterm")
    status = pty.spawn(
        [
            sys.executable,
            "-m",
            "ubp",
            "-C",
            str(drifted.root),
            "stale",
            "--exit-code",
            "--alarms",
            "any",
        ],
        read,
    )
    assert os.waitstatus_to_exitcode(status) == 1
    shown = re.sub(rb"\x1b\]8;;(.*?)\x1b\\", rb"", bytes(seen))
    assert b"\x1b[1mdocs/a.md:4\x1b[0m  \x1b[31mstale\x1b[0m" in shown
    assert f"{drifted.root}/docs/a.md\x1b\\docs/a.md:4\x1b]8;;".encode() in seen

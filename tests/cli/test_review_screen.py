"""The full-screen view in a real pseudo-terminal: what is shown, and what never reaches it."""

import os
import re
import select
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyte
import pytest

from ubp.cli import decide

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")

UBP = Path(sys.executable).parent / "ubp"
SECONDS = 60  # until a screen that never comes is an error
COLOR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|[34]8)(?:;\d+)*m")

HOSTILE = "Call `login()`. \x1b]0;EVIL\x07 \x9b31m \u202e [red]markup[/] @click=app.bell"
PAGE = f"# 認証の使い方\n\nセッションは `login()` で始まります。\n\n{HOSTILE}\n"


class Session:
    """A program in a pseudo-terminal of 80 columns and 24 lines."""

    def __init__(self, words, directory, environment):
        import fcntl
        import pty
        import termios

        self.screen = pyte.Screen(80, 24)
        self.raw = bytearray()
        self._stream = pyte.ByteStream(self.screen)
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(directory)
            os.execve(words[0], words, {**os.environ, "TERM": "xterm-256color", **environment})
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    @property
    def lines(self):
        rows = (self.screen.buffer[row] for row in range(24))
        return ["".join(row[column].data for column in range(80)).rstrip() for row in rows]

    def wait_for(self, text):
        """Read until a text is on the screen."""
        deadline = time.monotonic() + SECONDS
        while text not in "\n".join(self.lines):
            assert time.monotonic() < deadline, "\n".join(self.lines)
            assert self._read(), "\n".join(self.lines)

    def press(self, keys):
        os.write(self._terminal, keys.encode())

    def end(self):
        """Read until the program ends, and return its status."""
        while self._read():
            pass
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def _read(self):
        ready, _, _ = select.select([self._terminal], [], [], SECONDS)
        data = b""
        if ready:
            with suppress(OSError):  # Linux, when the program has ended
                data = os.read(self._terminal, 65_536)
        self.raw += data
        self._stream.feed(data)
        return bool(data)


@pytest.fixture
def project(repository):
    """A page with hostile text and a hostile name, and a staged change of its source."""
    repository.write("src/auth.py", "def login():\n    pass\n")
    repository.page("docs/e\x1b[31mvil.md", "src/auth.py", body=PAGE)
    repository.commit()
    repository.write("src/auth.py", "def sign_in():  # \x1b]0;EVIL\x07\n    pass\n")
    repository.git("add", "src/auth.py")
    return repository


@pytest.fixture
def session(project):
    """Start `ubp review --staged -i`."""
    sessions = []

    def start(**environment):
        words = [str(UBP), "review", "--staged", "-i"]
        sessions.append(Session(words, project.root, environment))
        sessions[-1].wait_for("q quit")
        return sessions[-1]

    yield start
    for started in sessions:
        started.close()


def test_view_shows_list_page_change_and_keys_on_80_by_24(session):
    view = session()
    view.wait_for("sign_in")
    title, *_, keys = view.lines
    assert title == "Cases of the change  1 of 1"
    assert keys == "a page is right  r wrong alarm  e edit  s skip  ? help  q quit"
    shown = "\n".join(view.lines)
    assert "認証の使い方" in shown
    assert "The change" in shown
    assert "-def login():" in shown
    view.press("\r")
    view.press("a")
    view.wait_for("1 decided")
    view.press("u")
    view.wait_for("Cases of the change  1 of 1\n")
    view.press("q")
    assert view.end() == 0
    assert b"0 cases settled, 1 case left for later." in view.raw


def test_texts_of_documents_reach_the_terminal_escaped_and_without_markup(session):
    view = session()
    view.press("\t ")  # to the end of the page
    view.wait_for("[red]markup[/]")
    view.wait_for("@click=app.bell")
    shown = "\n".join(view.lines)
    assert "docs/e\\e[31mvil.md" in shown
    assert "\\e]0;EVIL\\x07" in shown
    assert "\\u202e" in shown
    view.press("q")
    assert view.end() == 0
    for bytes_ in (b"]0;EVIL\x07", b"\x1b[31mvil", "\u202e".encode(), "\x9b".encode()):
        assert bytes_ not in view.raw
    assert COLOR.search(view.raw)


def test_view_without_colors_prints_none(session):
    view = session(NO_COLOR="1")
    view.wait_for("sign_in")
    assert view.lines[1].startswith("> docs/e")
    view.press("q")
    assert view.end() == 0
    assert not COLOR.search(view.raw)


def test_edit_opens_the_editor_and_is_written_when_the_view_is_left(session, project):
    view = session(GIT_EDITOR="sed -i s/login/sign_in/")
    view.press("e")
    view.wait_for("edited")
    assert "login" in next((project.root / "docs").iterdir()).read_text()
    view.press("q")
    view.wait_for("Apply what you decided (edited: 1)?")
    view.press("y")
    assert view.end() == 0
    assert b"1 case settled, 0 cases left for later." in view.raw
    assert "login" not in next((project.root / "docs").iterdir()).read_text()


def test_page_that_was_edited_meanwhile_is_not_overwritten(session, project):
    view = session(GIT_EDITOR="sed -i s/login/sign_in/")
    view.press("e")
    view.wait_for("edited")
    page = next((project.root / "docs").iterdir())
    page.write_text("# Mine\n")
    view.press("q")
    view.wait_for("Apply what you decided (edited: 1)?")
    view.press("y")
    assert view.end() == 2
    assert b"has changed meanwhile; your edit was not written." in view.raw
    assert page.read_text() == "# Mine\n"


def test_editor_that_fails_leaves_the_view_as_it_is(session):
    view = session(GIT_EDITOR="false")
    view.press("e")
    view.wait_for("The editor failed: false.")
    view.press("xx")  # the second is one too many
    view.wait_for("q quit")
    view.press("q")
    assert view.end() == 0


@pytest.mark.parametrize("word", ["proposals", "bind", "review"])
@pytest.mark.parametrize("missing", ["textual", "cursor"])
def test_view_that_cannot_be_shown_names_what_is_missing(
    word, missing, repository, dialogue, monkeypatch
):
    repository.write("a.md", "# A\n")
    repository.commit()
    reported = []
    monkeypatch.setattr("ubp.cli.terminal.Terminal.report", lambda _, error: reported.append(error))
    if missing == "textual":
        monkeypatch.setattr(decide, "find_spec", lambda _: None)
        dialogue(repository, [word, "-i"], (), status=2)
        assert reported[0].message == "--interactive requires the extra `tui`."
        assert "ubp[tui]" in reported[0].hint or "[tui]" in reported[0].hint
    else:
        dialogue(repository, [word, "-i"], (), status=2, term="dumb")
        assert reported[0].cause == "TERM is dumb."
        assert reported[0].hint.startswith("Without it: ubp ")

"""Texts on a terminal: wrapped below their indentation, with links, and in the user's pager."""

import io
import re
from pathlib import Path

import pytest

from ubp.cli.display import show_in_pager, show_links, wrap
from ubp.cli.terminal import Options, Terminal

LINK = re.compile(r"\x1b\]8;[^;]*;(.*?)\x1b\\(.*?)\x1b\]8;;\x1b\\")


class Screen(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch, tmp_path):
    """A terminal of 40 columns and 24 lines, in a directory with one page."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A\n")

    def make(**environment):
        settings = {
            "GIT_PAGER": "cat",
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            **environment,
        }
        screen = Terminal(Options(cwd=str(tmp_path)), Screen(), io.StringIO(), settings)
        screen.stdin = Screen()
        return screen

    return make


def printed(terminal):
    return terminal._stdout.getvalue()


def test_long_line_is_wrapped_at_words_below_its_indentation():
    text = "  src/a.py was modified, and this page still names what it defined before.\nshort\n"
    assert wrap(text, 40) == (
        "  src/a.py was modified, and this page\n    still names what it defined before.\nshort\n"
    )
    assert wrap(text, 200) == text
    assert wrap(text, 20) == text


def test_wide_characters_count_twice():
    lines = wrap("使い方を説明するページが古くなっています。\n" * 2, 40).splitlines()
    assert lines == ["使い方を説明するページが古くなっていま", "  す。"] * 2


def test_colors_survive_the_wrap():
    text = "\x1b[31mError\x1b[0m " + "word " * 12 + "\x1b[1mend\x1b[0m\n"
    wrapped = wrap(text, 40)
    assert wrapped.startswith("\x1b[31mError\x1b[0m word")
    assert wrapped.endswith("\x1b[1mend\x1b[0m\n")
    assert len(wrapped.splitlines()) == 2


def test_files_and_addresses_are_links_and_other_names_are_not(terminal):
    directory = terminal().directory
    shown = show_links(
        "\x1b[1mdocs/a.md\x1b[0m:12  docs/none.md 1.2 https://example.com/a.\n", directory
    )
    assert [(Path(address).name, text) for address, text in LINK.findall(shown)] == [
        ("a.md", "docs/a.md"),
        ("a", "https://example.com/a"),
    ]
    assert LINK.sub(r"\2", shown) == (
        "\x1b[1mdocs/a.md\x1b[0m:12  docs/none.md 1.2 https://example.com/a.\n"
    )


def test_links_take_no_room():
    text = "see https://example.com/a/rather/long/address\n"
    wrapped = wrap(show_links(text, "/"), 60)
    assert wrapped.count("\n") == 1


def test_long_text_is_shown_by_the_pager_of_the_user_and_of_no_repository(monkeypatch, tmp_path):
    for name in ("user", "repository"):
        (tmp_path / name).write_text(f"[core]\n\tpager = cat > {tmp_path}/{name}.txt\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / "repository").rename(tmp_path / ".git/config")
    text = "line\n" * 30
    environment = {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "user"),
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    monkeypatch.setenv("LINES", "24")
    assert show_in_pager(text, environment, str(tmp_path))
    assert (tmp_path / "user.txt").read_text() == text
    assert not (tmp_path / "repository.txt").exists()
    assert not show_in_pager("line\n" * 5, environment, str(tmp_path))
    assert show_in_pager(text, {**environment, "GIT_PAGER": f"tee {tmp_path}/own.txt"}, "/")
    assert (tmp_path / "own.txt").read_text() == text
    assert not show_in_pager(text, {**environment, "GIT_PAGER": "/nowhere/pager"}, "/")


def test_terminal_wraps_and_links_for_people(terminal):
    screen = terminal()
    screen.show("docs/a.md lists a source that was modified three years ago.\n")
    assert LINK.sub(r"\2", printed(screen)) == (
        "docs/a.md lists a source that was\n  modified three years ago.\n"
    )
    assert LINK.search(printed(screen))


@pytest.mark.parametrize(
    "environment", [{"GIT_INDEX_FILE": "x"}, {"PRE_COMMIT": "1"}, {"TERM": "dumb"}]
)
def test_hooks_and_dumb_terminals_get_the_text_as_it_is(terminal, environment):
    screen = terminal(**environment)
    text = "docs/a.md lists a source that was modified three years ago.\n" * 40
    screen.show(text)
    assert printed(screen) == text


def test_pipes_and_no_color_get_no_links(terminal):
    text = "docs/a.md lists a source that was modified three years ago.\n"
    screen = terminal(NO_COLOR="1")
    screen.show(text)
    assert printed(screen) == "docs/a.md lists a source that was\n  modified three years ago.\n"
    pipe = Terminal(Options(), io.StringIO(), io.StringIO(), {})
    pipe.show(text)
    assert printed(pipe) == text


def test_command_is_not_broken_so_that_it_can_be_copied():
    command = "\x1b[36mubp bind docs/a/rather/long/name/of/a/page.md\x1b[0m"
    assert wrap(f"List its sources: {command}\n", 60) == (
        "List its sources:\n  \x1b[36mubp bind docs/a/rather/long/name/of/a/page.md\x1b[0m\n"
    )
    # Longer than the terminal, which then wraps it itself.
    assert command in wrap(f"Now: {command}\n", 40)


def test_line_of_a_page_keeps_its_mark_where_it_is_wrapped():
    assert wrap("  | A sentence of a page that is rather long.\n", 40) == (
        "  | A sentence of a page that is\n  | rather long.\n"
    )

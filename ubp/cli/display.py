"""Texts for people at a terminal: wrapped below their indentation, with links, and paged.

Hooks do not load this module. Rich is loaded only where a line is too long.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from shutil import get_terminal_size
from socket import gethostname
from urllib.parse import quote

from ubp.core.errors import UbpError
from ubp.frame.wording import text_width
from ubp.git.command import run_git

# Narrower terminals are left to wrap by themselves: there is no room for an indentation.
MIN_WIDTH = 40
HANGING = 2
# Of so many different names it is looked up whether they are files.
MAX_NAMES = 500
NOT_FOUND = 127  # what a shell answers for a command that does not exist

_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m)")
_LINKED = re.compile(
    r"(?P<address>https?://[^\s<>\"'`)\]]*[^\s<>\"'`)\].,;:])"
    r"|(?<![\w./-])(?P<path>\w[\w@.+/-]*\.\w+)(?::\d+)*(?![\w/])"
)
# What can be typed is cyan; a joint takes the place of its spaces while lines are wrapped.
_COMMAND = re.compile(r"\x1b\[36m[^\x1b]*(?:\x1b\]8;[^\x1b]*\x1b\\[^\x1b]*)*\x1b\[0m")
_JOINT = "\ue000"
_QUOTED = re.compile(r" *\| ")
_LINK = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\")


def show_links(text: str, directory: str) -> str:
    """Return a text in which web addresses, and files of the directory, can be clicked (OSC 8)."""
    is_file: dict[str, bool] = {}

    def link(found: re.Match[str]) -> str:
        address, path = found["address"], found["path"]
        if path is not None:
            absolute = os.path.abspath(os.path.join(directory, path))
            if path not in is_file and len(is_file) < MAX_NAMES:
                is_file[path] = os.path.isfile(absolute)
            if not is_file.get(path):
                return found[0]
            address = f"file://{gethostname()}{quote(absolute)}"
        return f"\x1b]8;;{address}\x1b\\{found[0]}\x1b]8;;\x1b\\"

    parts = _ESCAPE.split(text)
    return "".join(
        part if number % 2 else _LINKED.sub(link, part) for number, part in enumerate(parts)
    )


def wrap(text: str, width: int) -> str:
    """Return a text whose lines fit into so many columns, their parts below each other."""
    if width < MIN_WIDTH:
        return text
    lines = text.split("\n")
    if all(_width(line) <= width for line in lines):
        return text
    return "\n".join(
        part
        for line in lines
        for part in ([line] if _width(line) <= width else _wrap_line(line, width))
    )


def fit(text: str, columns: int) -> str:
    """Return the beginning of a text that is as wide as so many columns, with an ellipsis."""
    if text_width(text) <= columns:
        return text
    width, length = 1, 0  # of the ellipsis
    while length < len(text) and (width := width + text_width(text[length])) <= columns:
        length += 1
    return text[:length] + "…" if columns > 0 else ""


def fit_end(text: str, columns: int) -> str:
    """Return the end of a text that is as wide as so many columns, after an ellipsis."""
    return fit(text[::-1], columns)[::-1]


def _width(line: str) -> int:
    return text_width(_LINK.sub("", _ESCAPE.sub("", line)))


def _wrap_line(line: str, width: int) -> Iterator[str]:
    """Yield a line in parts, all but the first indented by two columns more.

    A command stays in one part, so that it can be copied.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(
        force_terminal=True, color_system="standard", highlight=False, legacy_windows=False
    )
    commands = [] if _JOINT in line else _COMMAND.findall(line)
    content = Text.from_ansi(_COMMAND.sub(_join_words, line) if commands else line)
    indent = len(content.plain) - len(content.plain.lstrip(" "))
    indent = indent if indent < width // 2 else 0
    room = width - indent - HANGING
    is_long = any(_width(command) > room for command in commands)
    parts = content[indent:].wrap(console, room, overflow="ignore" if is_long else "fold")
    margin = " " * (indent + HANGING)
    if quoted := _QUOTED.match(content.plain):  # a line of a page
        margin = quoted[0]
    for number, part in enumerate(parts):
        part.rstrip()
        with console.capture() as captured:
            console.print(part, end="", soft_wrap=True)
        shown = captured.get().replace(_JOINT, " ") if commands else captured.get()
        yield (margin if number else " " * indent) + shown


def _join_words(command: re.Match[str]) -> str:
    return command[0].replace(" ", _JOINT)


def show_in_pager(text: str, environment: Mapping[str, str], directory: str) -> bool:
    """Show a text that is longer than the screen in the user's pager; return whether that was done.

    It is the one of git: GIT_PAGER, `core.pager` (such as delta), PAGER, else less. A repository's
    own configuration names none: it may be somebody else's.
    """
    if text.count("\n") < get_terminal_size().lines:
        return False
    pager = _find_pager(environment, directory)
    if pager in {"", "cat"}:
        return False
    # As git does: quit if one screen is enough, keep colors, leave the text on the screen.
    settings = {"LESS": "FRX", "LV": "-c", **environment}
    try:
        shown = subprocess.run(  # noqa: S602  # the user's own command, with arguments
            pager, shell=True, env=settings, input=text.encode("utf-8", "replace"), check=False
        )
    except OSError:
        return False
    return shown.returncode != NOT_FOUND


def _find_pager(environment: Mapping[str, str], directory: str) -> str:
    if "GIT_PAGER" in environment:
        return environment["GIT_PAGER"]
    for scope in ("--global", "--system"):
        try:
            found = run_git(
                ["config", scope, "--get", "core.pager"],
                cwd=directory,
                environment=environment,
                ok=(0, 1),
            )
        except UbpError:  # there is no such file
            continue
        if found.strip():
            return found.decode("utf-8", "replace").strip()
    return environment.get("PAGER", "less")

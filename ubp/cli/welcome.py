"""`ubp` alone: after the help, one line on this repository."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.terminal import Terminal
from ubp.errors import UbpError
from ubp.render.text.welcome import welcome_text


def welcome(terminal: Terminal) -> int:
    """Say how the repository around here stands, or why nobody can tell."""
    try:
        with open_workspace(terminal) as workspace:
            report = workspace.stale()
    except UbpError as error:
        terminal.write(f"Here: {error.message}\n")
    else:
        terminal.write(welcome_text(report, terminal.style))
    return CLEAN

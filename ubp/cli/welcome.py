"""`ubp` alone: after the help, one line on this repository."""

from ubp.cli.door import CLEAN
from ubp.cli.terminal import Terminal
from ubp.errors import UbpError
from ubp.render.wording import printable


def welcome(terminal: Terminal) -> int:
    """Say how the repository around here stands, or why nobody can tell."""
    from ubp.cli.opening import open_workspace
    from ubp.render.records import stale_record
    from ubp.render.text.welcome import welcome_text

    try:
        with open_workspace(terminal) as workspace:
            report = workspace.stale()
    except UbpError as error:
        if terminal.options.json:
            raise
        terminal.write(f"Here: {printable(error.message)}\n")
        return CLEAN
    if terminal.options.json:
        terminal.record(stale_record(report))
    else:
        terminal.write(welcome_text(report, terminal.style))
    return CLEAN

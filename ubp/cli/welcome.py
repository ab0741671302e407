"""`ubp` without a command."""

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError
from ubp.frame.wording import printable
from ubp.index.session import Target


def welcome(terminal: Terminal) -> int:
    """Print one line about the repository at the working directory, or why there is none."""
    from ubp.answers.staleness.stale import report_stale, welcome_text
    from ubp.answers.staleness.stale_record import stale_record

    try:
        with open_workspace(terminal) as workspace:
            report = report_stale(workspace.session, Target())
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

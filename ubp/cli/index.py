"""`ubp status`; and `ubp` without a command."""

from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError
from ubp.frame.wording import printable
from ubp.output.text.index import status_text


def status(*, check: bool = False, key: Keys = None, terminal: Terminal) -> int:
    """Run `ubp status`.

    Args:
        check: Exit with 1 on stale pages, broken links or unreadable front matter; with 2 if a page
            cannot be verified or the index cannot be built.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal, keys=key or ()) as workspace:
        result = workspace.status(finds_broken=check)
    if terminal.options.json:
        from ubp.output.records.setup import status_record

        terminal.record(status_record(result))
    elif not terminal.options.quiet:
        terminal.write(status_text(result, terminal.style))
    if not check:
        return CLEAN
    if result.summary.stale or result.unparsed or result.links.broken:
        return FINDINGS
    return FAILED if result.summary.unknown else CLEAN


def welcome(terminal: Terminal) -> int:
    """Print one line about the repository at the working directory, or why there is none."""
    from ubp.answers.staleness.stale import welcome_text
    from ubp.answers.staleness.stale_record import stale_record

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

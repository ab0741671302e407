"""`ubp` without a command: the state of this repository, and the next step."""

from collections.abc import Callable, Iterator
from dataclasses import astuple
from itertools import islice

from ubp.answers.edits.list_proposals import ListProposalsRequest
from ubp.answers.staleness.status import StatusRecord, StatusRequest
from ubp.cli.open_workspace import open_workspace
from ubp.cli.terminal import Terminal
from ubp.core.errors import UbpError
from ubp.frame.wording import Style, count, printable
from ubp.staleness.model import Summary
from ubp.staleness.wording import counted_levels

MAX_STEPS = 3


def welcome(terminal: Terminal, print_help: Callable[[], None]) -> None:
    """Print the state of the repository at the working directory; where there is none, the help.

    Raises:
        UbpError: there is none, or it cannot be read, and JSON is asked for.
    """
    try:
        with open_workspace(terminal) as workspace:
            status = workspace.ask(StatusRequest(check=True))
            proposals = len(workspace.ask(ListProposalsRequest()).proposals)
    except UbpError as error:
        if terminal.options.json:
            raise
        print_help()
        terminal.write(f"Here: {printable(error.message)}\n")
        return
    if terminal.options.json:
        terminal.record(status)
    else:
        terminal.write("\n".join(_text(status, proposals, terminal.style)) + "\n")


def _text(status: StatusRecord, proposals: int, style: Style) -> Iterator[str]:
    """Yield what there is, and the next steps, at most ten lines."""
    yield style.bold(printable(status.root or "A bare repository"))
    for name, words in _rows(status, proposals, style):
        yield f"  {name + ':':<13}{words}"
    steps = [
        *islice(_steps(status, proposals), MAX_STEPS - 1),
        ("ubp --help", "lists all commands"),
    ]
    width = max(len(command) for command, _ in steps)
    yield "Next:"
    for command, effect in steps:
        yield f"  {style.cyan(command.ljust(width))}  {effect}"


def _rows(status: StatusRecord, proposals: int, style: Style) -> Iterator[tuple[str, str]]:
    summary = status.summary
    unparsed = count(len(status.unparsed), "page") + " with front matter problems"
    problems = style.yellow(f", {unparsed}") if status.unparsed else ""
    yield "Pages", f"{summary.documents}{problems}" if summary.documents else "none"
    if summary.bound:
        yield "Sources", f"listed by {count(summary.bound, 'page')}"
        levels = counted_levels(Summary(**summary._asdict()))
        yield "Freshness", style.yellow(levels) if summary.stale else levels
    elif summary.documents:
        yield "Sources", "no page lists any yet, so none can be verified"
    lost = _lost_links(status)
    verb = "leads" if lost == 1 else "lead"
    nowhere = style.red(f", {lost} {verb} nowhere") if lost else ""
    yield "Links", f"{sum(astuple(status.links))}{nowhere}"
    if proposals:
        yield "Proposals", style.yellow(f"{proposals} to review")


def _steps(status: StatusRecord, proposals: int) -> Iterator[tuple[str, str]]:
    """Yield commands with what they do, the most useful first."""
    summary = status.summary
    if _lost_links(status) or status.unparsed:
        yield "ubp check", "shows what is broken, with lines and fixes"
    if summary.stale or summary.possibly_stale or summary.unknown:
        yield "ubp stale", "shows what outdated them, with commits and authors"
    if proposals:
        yield "ubp proposals -i", "reviews what agents propose"
    if summary.documents and not summary.bound:
        yield "ubp bind", "proposes the sources that each page describes"
    if summary.documents:
        yield "ubp review", "shows what your changes mean for the pages"
    else:
        yield "ubp init", "writes a configuration, to say where pages are"


def _lost_links(status: StatusRecord) -> int:
    """Return how many links lead to no page, file or heading."""
    return (status.broken_links or 0) + (status.missing_anchors or 0)

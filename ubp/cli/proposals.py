"""`ubp proposals`: the commands with dialogues, decisions or files; others are in the table."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.edits.decide import DecisionsRecord
from ubp.answers.edits.list_proposals import LIST_PROPOSALS, ListProposalsRequest
from ubp.answers.edits.show_proposal import SHOW_PROPOSAL, ShowProposalRequest, review_record
from ubp.cli.decide import require_screen
from ubp.cli.decide_proposals import (
    accept_proposal,
    decide_proposals,
    open_numbers,
    reject_proposal,
)
from ubp.cli.editor import edit_files
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import check_folder, open_in_browser, write_html
from ubp.cli.parameters import HtmlFile
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.core.shell import ubp_command
from ubp.edits.proposals import number_of
from ubp.edits.review import review, revise
from ubp.index.session import Session

Number = Annotated[str, Parameter(metavar="ID")]
Text = Annotated[str | None, Parameter(metavar="TEXT")]


def list_all(
    *,
    interactive: Annotated[bool, Parameter(name=["--interactive", "-i"])] = False,
    terminal: Terminal,
) -> int:
    """List the proposals that wait for review.

    Args:
        interactive: Show them one by one on the whole screen, and decide by keys.
        terminal: Where the answer goes.
    """
    if not interactive:
        return print_answer(LIST_PROPOSALS, ListProposalsRequest(), terminal)
    require_screen(terminal, ubp_command("proposals", "show", "ID"))
    with open_workspace(terminal) as workspace:
        return decide_proposals(workspace.session, terminal)


def show(
    proposal: Number,
    /,
    *,
    html: HtmlFile = None,
    open_: Annotated[bool, Parameter(name="--open", negative="")] = False,
    terminal: Terminal,
) -> int:
    """Run `ubp proposals show`.

    Args:
        proposal: The number of the proposal.
        html: Write its pages before and after, as readers see them, to a self-contained HTML
            file (.ubp/proposal-ID.html).
        open_: Write the HTML file and open it in a browser.
        terminal: Where the answer goes.
    """
    number = _number(proposal)
    if html is None and not open_:
        return print_answer(SHOW_PROPOSAL, ShowProposalRequest(number), terminal)
    from ubp.output.html.proposal import proposal_html

    file = html[0] if html else None
    if file is not None:
        check_folder(file, terminal)
    with open_workspace(terminal) as workspace:
        session = workspace.session
        reviewed = review(session, number)
    if terminal.options.json:
        terminal.record(review_record(reviewed))
    page = proposal_html(reviewed, session.config.keys)
    name = f"proposal-{number}.html"
    file = write_html(file, name, page, session.repository.config_dir, terminal)
    if open_:
        open_in_browser(file, terminal)
    return CLEAN


def accept(
    proposals: Annotated[list[str] | None, Parameter(metavar="ID")] = None,
    /,
    *,
    at: Annotated[str | None, Parameter(metavar="COMMIT")] = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    terminal: Terminal,
) -> int:
    """Run `ubp proposals accept`.

    Args:
        proposals: The numbers of the proposals.
        at: The last edit that you have seen: nothing is accepted if the proposal has a later
            one.
        all_: Accept all open proposals, the oldest first.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        session = workspace.session
        numbers = _numbers(proposals, session, is_all=all_, verb="accept")
        if at is not None and (all_ or len(numbers) != 1):
            raise UsageError("--at requires a single proposal.")
        records = [accept_proposal(number, at, session, terminal) for number in numbers]
    return _print_decisions(records, terminal)


def reject(
    proposals: Annotated[list[str] | None, Parameter(metavar="ID")] = None,
    /,
    *,
    reason: Text = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    terminal: Terminal,
) -> int:
    """Run `ubp proposals reject`.

    Args:
        proposals: The numbers of the proposals.
        reason: Why, for the log.
        all_: Reject all open proposals.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        session = workspace.session
        numbers = _numbers(proposals, session, is_all=all_, verb="reject")
        records = [reject_proposal(number, reason or "", session, terminal) for number in numbers]
    return _print_decisions(records, terminal)


def edit(
    proposal: Number,
    page: Annotated[str | None, Parameter(metavar="PAGE")] = None,
    /,
    *,
    terminal: Terminal,
) -> int:
    """Run `ubp proposals edit`.

    Args:
        proposal: The number of the proposal.
        page: The page, if the proposal has several.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        session, number = workspace.session, _number(proposal)
        changes = {change.page: change for change in review(session, number).changes}
        if page is None and len(changes) > 1:
            raise UsageError(
                f"Proposal {proposal} has several pages.", hint=f"Name one of {', '.join(changes)}."
            )
        chosen = FilePath(page or next(iter(changes)))
        if chosen not in changes:
            raise UsageError(
                f"Proposal {proposal} does not change {chosen}.",
                cause=f"Its pages: {', '.join(changes)}.",
            )
        before = {chosen: changes[chosen].after or b""}
        revise(session, number, chosen, edit_files(session.repository, before)[chosen])
    if terminal.options.quiet and not terminal.options.json:
        return CLEAN
    return print_answer(SHOW_PROPOSAL, ShowProposalRequest(number), terminal)


def _number(proposal: str) -> int:
    number = number_of(proposal)
    if number is None:
        raise UsageError(
            f"{proposal!r} is not the number of a proposal.", hint="List them: ubp proposals"
        )
    return number


def _numbers(
    proposals: Sequence[str] | None, session: Session, *, is_all: bool, verb: str
) -> list[int]:
    if bool(proposals) == is_all:
        raise UsageError(
            "Expected either proposals or --all.",
            hint=f"Specify one: {ubp_command('proposals', verb, '3')}; `ubp proposals` lists them.",
        )
    return open_numbers(session) if is_all else list(map(_number, proposals or ()))


def _print_decisions(records: Sequence[DecisionsRecord], terminal: Terminal) -> int:
    if terminal.options.json:
        decisions = tuple(decision for record in records for decision in record.decisions)
        terminal.record(DecisionsRecord(decisions=decisions))
    return CLEAN

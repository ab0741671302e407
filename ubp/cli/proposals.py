"""`ubp proposals`: the commands with dialogues, decisions or files; others are in the table."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from ubp.answers.edits.decide import ACCEPT, REJECT, AcceptRequest, DecisionsRecord, RejectRequest
from ubp.answers.edits.list_proposals import LIST_PROPOSALS, ListProposalsRequest
from ubp.answers.edits.show_proposal import SHOW_PROPOSAL, ShowProposalRequest, review_record
from ubp.cli.bind_session import ask, choose
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import check_folder, open_in_browser, write_html
from ubp.cli.parameters import HtmlFile
from ubp.cli.print_answer import print_answer
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.core.shell import ubp_command
from ubp.edits.proposals import list_proposals, number_of
from ubp.edits.review import review, revise
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.index.session import Session

ACCEPTED, REJECTED, SKIP, QUIT = "accept", "reject", "skip", "quit"

Number = Annotated[str, Parameter(metavar="ID")]
Text = Annotated[str | None, Parameter(metavar="TEXT")]


def list_all(
    *,
    interactive: Annotated[bool, Parameter(name=["--interactive", "-i"])] = False,
    terminal: Terminal,
) -> int:
    """List the proposals that wait for review.

    Args:
        interactive: Show them one by one, and ask what to do.
        terminal: Where the answer goes.
    """
    if not interactive:
        return print_answer(LIST_PROPOSALS, ListProposalsRequest(), terminal)
    if not terminal.is_interactive():
        raise UsageError("--interactive requires a terminal.", hint="Run `ubp proposals show ID`.")
    with open_workspace(terminal) as workspace:
        _review_each(workspace.session, terminal)
    return CLEAN


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
        records = [_accept(number, at, session, terminal) for number in numbers]
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
        records = [_reject(number, reason or "", session, terminal) for number in numbers]
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
        revise(session, number, chosen, _edited(changes[chosen].after or b"", chosen, session))
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
    return _open_numbers(session) if is_all else list(map(_number, proposals or ()))


def _open_numbers(session: Session) -> list[int]:
    return [proposal.id for proposal in list_proposals(session.repository)]


def _accept(number: int, at: str | None, session: Session, terminal: Terminal) -> DecisionsRecord:
    """Accept a proposal, and print that before the next one is tried."""
    record = ACCEPT.run(session, AcceptRequest((number,), at))
    if not (terminal.options.json or terminal.options.quiet):
        terminal.write(joined(ACCEPT.text(record, Writer(terminal.style))))
        if number in _open_numbers(session):
            terminal.write(
                f"It has a later edit: {ubp_command('proposals', 'show', str(number))}\n"
            )
    return record


def _reject(number: int, reason: str, session: Session, terminal: Terminal) -> DecisionsRecord:
    record = REJECT.run(session, RejectRequest((number,), reason))
    if not (terminal.options.json or terminal.options.quiet):
        terminal.write(joined(REJECT.text(record, Writer(terminal.style))))
    return record


def _print_decisions(records: Sequence[DecisionsRecord], terminal: Terminal) -> int:
    if terminal.options.json:
        decisions = tuple(decision for record in records for decision in record.decisions)
        terminal.record(DecisionsRecord(decisions=decisions))
    return CLEAN


def _review_each(session: Session, terminal: Terminal) -> None:
    for number in _open_numbers(session):
        reviewed = review(session, number)
        writer = Writer(terminal.style)
        terminal.write(joined(SHOW_PROPOSAL.text(review_record(reviewed), writer)))
        choice = choose(terminal, f"Proposal {number}?", (ACCEPTED, REJECTED, SKIP, QUIT), SKIP)
        if choice == QUIT:
            break
        if choice == ACCEPTED:
            _accept(number, reviewed.proposal.tip, session, terminal)
        elif choice == REJECTED:
            _reject(number, ask(terminal, "Reason", "not needed"), session, terminal)


def _edited(text: bytes, page: FilePath, session: Session) -> bytes:
    """Return a text as the user's editor leaves it, started as git starts it."""
    repository = session.repository
    editor = os.fsdecode(repository.run("var", "GIT_EDITOR")).strip()
    suffix = f"-{os.path.basename(page)}"
    with tempfile.NamedTemporaryFile(prefix="ubp-", suffix=suffix) as file:
        file.write(text)
        file.flush()
        command = ["sh", "-c", f'{editor} "$@"', editor, file.name]
        done = subprocess.run(command, env=dict(repository.environment), check=False)  # noqa: S603  # the user's own
        if done.returncode:
            raise UsageError(f"The editor failed: {editor}.", hint="Set core.editor or $EDITOR.")
        with open(file.name, "rb") as edited:
            return edited.read()

"""`ubp proposals`: review the edits that agents propose."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from ubp.cli.bind_session import ask, choose
from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import check_folder, open_in_browser, write_html
from ubp.cli.parameters import HtmlFile
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, ObjectId
from ubp.core.shell import ubp_command
from ubp.edits.model import LogEntry
from ubp.output.records.proposals import (
    DecisionsRecord,
    PullRequestRecord,
    decision_record,
    log_record,
    proposals_record,
    review_record,
)
from ubp.output.text.proposals import (
    accepted_text,
    log_text,
    proposals_text,
    pull_request_text,
    rejected_text,
    review_text,
)
from ubp.workspace import Workspace

ACCEPT, REJECT, SKIP, QUIT = "accept", "reject", "skip", "quit"

APP = App(name="proposals", help_epilogue="Example:\n  ubp proposals show 3")

Number = Annotated[int, Parameter(metavar="ID")]
Text = Annotated[str | None, Parameter(metavar="TEXT")]


@APP.default
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
    with open_workspace(terminal) as workspace:
        proposals = workspace.proposals()
        if interactive:
            return _review_each([proposal.id for proposal in proposals], workspace, terminal)
    if terminal.options.json:
        terminal.record(proposals_record(proposals))
    else:
        terminal.write(proposals_text(proposals, terminal.style))
    return CLEAN


@APP.command(name="show", help_epilogue="Example:\n  ubp proposals show 3 --html review.html")
def show(
    proposal: Number,
    /,
    *,
    html: HtmlFile = None,
    open_: Annotated[bool, Parameter(name="--open", negative="")] = False,
    terminal: Terminal,
) -> int:
    """Show a proposal: who made it and why, its effect on findings and staleness, and its diff.

    Args:
        proposal: The number of the proposal.
        html: Write its pages before and after, as readers see them, to a self-contained HTML
            file (.ubp/proposal-ID.html).
        open_: Write the HTML file and open it in a browser.
        terminal: Where the answer goes.
    """
    file = html[0] if html else None
    if file is not None:
        check_folder(file, terminal)
    with open_workspace(terminal) as workspace:
        review = workspace.review(proposal)
        session = workspace.session
    if terminal.options.json:
        terminal.record(review_record(review))
    if html is not None or open_:
        from ubp.output.html.proposal import proposal_html

        page = proposal_html(review, session.config.keys)
        name = f"proposal-{proposal}.html"
        file = write_html(file, name, page, session.repository.config_dir, terminal)
        if open_:
            open_in_browser(file, terminal)
    elif not terminal.options.json:
        terminal.write(review_text(review, terminal.style))
    return CLEAN


@APP.command(name="accept", help_epilogue="Example:\n  ubp proposals accept 3")
def accept(
    proposals: Annotated[list[int] | None, Parameter(metavar="ID")] = None,
    /,
    *,
    at: Annotated[str | None, Parameter(metavar="COMMIT")] = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    terminal: Terminal,
) -> int:
    """Merge proposals into the current branch, each as one commit made by git, with your hooks.

    Args:
        proposals: The numbers of the proposals.
        at: The last edit that you have seen: nothing is accepted if the proposal has a later
            one.
        all_: Accept all open proposals, the oldest first.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        decisions = []
        numbers = _numbers(proposals, workspace, is_all=all_, verb="accept")
        if at is not None and (all_ or len(numbers) != 1):
            raise UsageError("--at requires a single proposal.")
        for number in numbers:
            commit = _accept(number, at, workspace, terminal)
            decisions.append(decision_record(number, "accepted", commit))
    if terminal.options.json:
        terminal.record(DecisionsRecord(decisions=tuple(decisions)))
    return CLEAN


@APP.command(
    name="reject", help_epilogue="Example:\n  ubp proposals reject 3 --reason 'not what it does'"
)
def reject(
    proposals: Annotated[list[int] | None, Parameter(metavar="ID")] = None,
    /,
    *,
    reason: Text = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    terminal: Terminal,
) -> int:
    """Reject proposals. The log keeps them, with the reason.

    Args:
        proposals: The numbers of the proposals.
        reason: Why, for the log.
        all_: Reject all open proposals.
        terminal: Where the answer goes.
    """
    if not (reason or "").strip():
        raise UsageError("A rejection needs a reason.", hint="Add --reason TEXT.")
    with open_workspace(terminal) as workspace:
        decisions = []
        for number in _numbers(proposals, workspace, is_all=all_, verb="reject"):
            workspace.reject_proposal(number, reason or "")
            decisions.append(decision_record(number, "rejected"))
            if not (terminal.options.json or terminal.options.quiet):
                terminal.write(rejected_text(number))
    if terminal.options.json:
        terminal.record(DecisionsRecord(decisions=tuple(decisions)))
    return CLEAN


@APP.command(name="edit", help_epilogue="Example:\n  ubp proposals edit 3 docs/auth.md")
def edit(
    proposal: Number,
    page: Annotated[str | None, Parameter(metavar="PAGE")] = None,
    /,
    *,
    terminal: Terminal,
) -> int:
    """Revise a page of a proposal in your editor, before you accept it.

    Args:
        proposal: The number of the proposal.
        page: The page, if the proposal has several.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        review = workspace.review(proposal)
        pages = [change.page for change in review.changes]
        if page is None and len(pages) > 1:
            raise UsageError(
                f"Proposal {proposal} has several pages.", hint=f"Name one of {', '.join(pages)}."
            )
        chosen = FilePath(page or pages[0])
        change = next((change for change in review.changes if change.page == chosen), None)
        if change is None:
            raise UsageError(
                f"Proposal {proposal} does not change {chosen}.",
                cause=f"Its pages: {', '.join(pages)}.",
            )
        text = _edited(change.after or b"", chosen, workspace)
        workspace.revise_proposal(proposal, chosen, text)
        review = workspace.review(proposal)
    if terminal.options.json:
        terminal.record(review_record(review))
    elif not terminal.options.quiet:
        terminal.write(review_text(review, terminal.style))
    return CLEAN


@APP.command(name="pr", help_epilogue="Example:\n  ubp proposals pr 3 | sh")
def pull_request(
    proposal: Number,
    /,
    *,
    remote: Annotated[str, Parameter(metavar="NAME")] = "origin",
    terminal: Terminal,
) -> int:
    """Print the commands that push a proposal and open a pull request, for a review on the forge.

    Args:
        proposal: The number of the proposal.
        remote: The remote to push to.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal) as workspace:
        review = workspace.review(proposal)
    text = pull_request_text(review.proposal, remote)
    if terminal.options.json:
        terminal.record(PullRequestRecord(id=proposal, commands=tuple(text.splitlines())))
    else:
        terminal.write(text)
    return CLEAN


@APP.command(name="log", help_epilogue="Example:\n  ubp proposals log --page docs/auth.md")
def log(
    *,
    client: Text = None,
    page: Annotated[str | None, Parameter(metavar="PAGE")] = None,
    since: Annotated[str | None, Parameter(metavar="DATE")] = None,
    terminal: Terminal,
) -> int:
    """Show what was proposed, accepted, rejected and withdrawn, the latest first.

    Args:
        client: Only proposals of programs whose name contains this.
        page: Only proposals that change this page.
        since: Only what happened on or after this day (UTC), as 2026-11-08.
        terminal: Where the answer goes.
    """
    earliest = _day(since) if since else 0

    def is_wanted(entry: LogEntry) -> bool:
        is_client = client is None or client.casefold() in entry.client.casefold()
        return is_client and (page is None or page in entry.pages) and entry.when >= earliest

    with open_workspace(terminal) as workspace:
        entries = [entry for entry in workspace.proposal_log() if is_wanted(entry)]
    if terminal.options.json:
        terminal.record(log_record(entries))
    else:
        terminal.write(log_text(entries, terminal.style))
    return CLEAN


def _numbers(
    proposals: Sequence[int] | None, workspace: Workspace, *, is_all: bool, verb: str
) -> list[int]:
    if bool(proposals) == is_all:
        raise UsageError(
            "Expected either proposals or --all.",
            hint=f"Specify one: {ubp_command('proposals', verb, '3')}; `ubp proposals` lists them.",
        )
    return [proposal.id for proposal in workspace.proposals()] if is_all else list(proposals or ())


def _accept(number: int, at: str | None, workspace: Workspace, terminal: Terminal) -> ObjectId:
    commit = workspace.accept_proposal(number, at)
    if not (terminal.options.json or terminal.options.quiet):
        is_open = any(proposal.id == number for proposal in workspace.proposals())
        terminal.write(accepted_text(number, commit, is_open=is_open))
    return commit


def _review_each(numbers: Sequence[int], workspace: Workspace, terminal: Terminal) -> int:
    if not terminal.is_interactive():
        raise UsageError("--interactive requires a terminal.", hint="Run `ubp proposals show ID`.")
    for number in numbers:
        review = workspace.review(number)
        terminal.write(review_text(review, terminal.style))
        choice = choose(terminal, f"Proposal {number}?", (ACCEPT, REJECT, SKIP, QUIT), SKIP)
        if choice == QUIT:
            break
        if choice == ACCEPT:
            _accept(number, review.proposal.tip, workspace, terminal)
        elif choice == REJECT:
            workspace.reject_proposal(number, ask(terminal, "Reason", "not needed"))
            terminal.write(rejected_text(number))
    return CLEAN


def _edited(text: bytes, page: FilePath, workspace: Workspace) -> bytes:
    """Return a text as the user's editor leaves it, started as git starts it."""
    repository = workspace.session.repository
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


def _day(text: str) -> int:
    from datetime import UTC, datetime

    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise UsageError(f"Invalid --since: {text}.", hint="Write it as 2026-11-08.") from error

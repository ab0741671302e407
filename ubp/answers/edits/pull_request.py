"""`ubp proposals pr`: the commands that make a pull request of a proposal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.proposal import ProposalId
from ubp.core.shell import join
from ubp.edits.proposals import branch_of, find_proposal
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Option
from ubp.frame.writer import Writer
from ubp.index.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestRecord:
    """How a proposal becomes a pull request."""

    id: ProposalId
    commands: Annotated[tuple[str, ...], "commands that push its branch and open a pull request"]


@dataclass(frozen=True, slots=True)
class PullRequestRequest(Request[PullRequestRecord]):
    """The proposal, and the remote of its pull request."""

    proposal: Annotated[
        int,
        "its number",
        Option(
            "The number of the proposal.",
            metavar="ID",
            is_argument=True,
            missing="the number of a proposal",
            hint="Specify one: ubp proposals pr 3; `ubp proposals` lists them.",
        ),
    ]
    remote: Annotated[
        str, "remote to push to", Option("The remote to push to.", metavar="NAME")
    ] = "origin"


def run(session: Session, request: PullRequestRequest) -> PullRequestRecord:
    """Return the commands.

    Raises:
        UsageError: there is no open proposal with this number.
    """
    proposal = find_proposal(session.repository, request.proposal)
    branch = branch_of(proposal.id)
    reason = proposal.edits[-1].reason or proposal.title
    push = ["git", "push", request.remote, f"{branch}:{branch}"]
    create = ["gh", "pr", "create", "--head", branch, "--title", proposal.title, "--body", reason]
    return PullRequestRecord(id=proposal.id, commands=(join(push), join(create)))


def text(record: PullRequestRecord, _: Writer) -> Iterator[str]:
    """Yield the commands as a shell reads them."""
    yield from record.commands


PULL_REQUEST = Answer(
    request=PullRequestRequest, record=PullRequestRecord, run=run, text=text, has_facts=False
)

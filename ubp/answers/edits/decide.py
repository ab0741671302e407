"""`ubp proposals accept`, `ubp proposals reject`, `ubp_withdraw_proposal`: how proposals end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.edit import Reason, known_agent
from ubp.answers.edits.proposal import ProposalId
from ubp.edits.model import Event
from ubp.edits.review import accept, reject, withdraw
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller
from ubp.frame.fields import GitId, Keyword
from ubp.frame.wording import SHORT_ID
from ubp.frame.writer import Writer
from ubp.index.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """The end of a proposal."""

    id: ProposalId
    event: Annotated[Event, "accepted, rejected or withdrawn"]
    commit: Annotated[GitId | None, "commit that an accepted proposal became"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsRecord:
    """The ends of several proposals."""

    decisions: Annotated[tuple[DecisionRecord, ...], "decisions, in the order they were made"]


@dataclass(frozen=True, slots=True)
class AcceptRequest(Request[DecisionsRecord]):
    """The proposals to accept, each as one commit, in this order."""

    proposals: Annotated[tuple[int, ...], "their numbers"]
    at: Annotated[str, "last edit that was reviewed: a later one is not accepted"] | None = None


@dataclass(frozen=True, slots=True)
class RejectRequest(Request[DecisionsRecord]):
    """The proposals to reject, and why."""

    proposals: Annotated[tuple[int, ...], "their numbers"]
    reason: Annotated[str, "why, for the log"]


@dataclass(frozen=True, slots=True)
class WithdrawProposalRequest(Request[DecisionRecord]):
    """The proposal to withdraw.

    The server fills in `agent`; programs set it.
    """

    proposal: Annotated[int, "its number", Keyword("minimum", 1)]
    reason: Reason
    agent: Caller = None


def run_accept(session: Session, request: AcceptRequest) -> DecisionsRecord:
    """Merge the proposals into the current branch, each as one commit, in this order.

    Raises:
        UsageError: one is not open, has a later edit, or the work tree is not ready for it.
        RepositoryError: one conflicts with the branch, or a hook refused its commit.
    """
    return DecisionsRecord(
        decisions=tuple(
            DecisionRecord(id=id_, event="accepted", commit=accept(session, id_, request.at))
            for id_ in request.proposals
        )
    )


def run_reject(session: Session, request: RejectRequest) -> DecisionsRecord:
    """Reject the proposals; the log keeps them.

    Raises:
        UsageError: there is no reason, or one is not open.
    """
    for id_ in request.proposals:
        reject(session, id_, request.reason)
    decisions = (DecisionRecord(id=id_, event="rejected") for id_ in request.proposals)
    return DecisionsRecord(decisions=tuple(decisions))


def run_withdraw(session: Session, request: WithdrawProposalRequest) -> DecisionRecord:
    """Withdraw a proposal of the agent's own session.

    Raises:
        UsageError: it is not open, or another session's.
    """
    withdraw(session, request.proposal, known_agent(request.agent), request.reason)
    return DecisionRecord(id=request.proposal, event="withdrawn")


def text(record: DecisionsRecord, _: Writer) -> Iterator[str]:
    """Yield which commit each proposal became, or where it can be found."""
    for decision in record.decisions:
        if decision.commit is not None:
            yield f"Accepted proposal {decision.id} as {decision.commit[:SHORT_ID]}."
        else:
            yield f"Rejected proposal {decision.id}; `ubp proposals log` keeps it."


def withdrawn_text(record: DecisionRecord, _: Writer) -> Iterator[str]:
    """Yield how a proposal ended."""
    yield f"Proposal {record.id} is {record.event}; the log keeps it."


ACCEPT = Answer(
    request=AcceptRequest, record=DecisionsRecord, run=run_accept, text=text, has_facts=False
)

REJECT = Answer(
    request=RejectRequest, record=DecisionsRecord, run=run_reject, text=text, has_facts=False
)

WITHDRAW_PROPOSAL = Answer(
    request=WithdrawProposalRequest,
    record=DecisionRecord,
    run=run_withdraw,
    text=withdrawn_text,
    budgets=(),
    tool=ToolTraits(
        title="Withdraw a proposal",
        description="Withdraw a proposal that you made in this session. Its log entry stays.",
        writes=True,
    ),
)

"""`ubp proposals` and `ubp_list_proposals`: the proposals that wait for review."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.proposal import ProposalRecord, proposal_record
from ubp.core.shell import ubp_command
from ubp.edits.proposals import list_proposals
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens
from ubp.frame.wording import clock_of, count
from ubp.frame.writer import Writer
from ubp.index.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalsRecord:
    """The proposals that wait for review."""

    proposals: Annotated[tuple[ProposalRecord, ...], "open proposals, oldest first"]


@dataclass(frozen=True, slots=True)
class ListProposalsRequest(Request[ProposalsRecord]):
    """Which proposals to list: all that are open."""

    max_tokens: MaxTokens | None = None


def run(session: Session, _: ListProposalsRequest) -> ProposalsRecord:
    """Return the open proposals."""
    proposals = list_proposals(session.repository)
    return ProposalsRecord(proposals=tuple(map(proposal_record, proposals)))


def text(record: ProposalsRecord, write: Writer) -> Iterator[str]:
    """Yield the open proposals, for people with the next command."""
    proposals, number = record.proposals, count(len(record.proposals), "open proposal")
    if write.is_agent:
        yield f"{number}. {write.notice()}"
        for proposal in proposals:
            client, session = write.quote(proposal.client), write.name(proposal.session)
            who = f"{client} (session {session}), {proposal.updated_at}"
            reason = write.quote(proposal.edits[-1].reason)
            yield f"{proposal.id}: {write.title(proposal.title)} by {who}: {reason}"
        return
    if not proposals:
        yield "No open proposals."
        return
    for proposal in proposals:
        who = f"{write.quote(proposal.client)}, {clock_of(proposal.updated_at)} UTC"
        title = f"{write.style.bold(str(proposal.id))}  {write.title(proposal.title)}"
        yield f"{title}  {write.style.dim(who)}"
        if reason := proposal.edits[-1].reason:
            yield f"   {write.quote(reason.splitlines()[0])}"
    yield ""
    yield f"{number}."
    command = ubp_command("proposals", "show", str(proposals[0].id))
    yield f"Next: {write.style.cyan(command)}"


LIST_PROPOSALS = Answer(
    request=ListProposalsRequest,
    record=ProposalsRecord,
    run=run,
    text=text,
    has_facts=False,
    tool=ToolTraits(
        title="List open proposals",
        description=(
            "List the proposals that wait for review, with their pages, sessions and reasons."
        ),
    ),
)

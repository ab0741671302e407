"""`ubp_list_proposals`: the proposals that wait for review."""

from dataclasses import dataclass

from ubp.frame.arguments import MaxTokens
from ubp.output.agent.proposals import proposals_text
from ubp.output.records.proposals import ProposalsRecord, proposals_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ListProposalsRequest:
    """Which proposals to list: all that are open."""

    max_tokens: MaxTokens | None = None


def run(workspace: Workspace, _: ListProposalsRequest) -> ProposalsRecord:
    """Return the record of the open proposals."""
    return proposals_record(workspace.proposals())


LIST_PROPOSALS = Tool(
    name="ubp_list_proposals",
    title="List open proposals",
    description="List the proposals that wait for review, with their pages, sessions and reasons.",
    request=ListProposalsRequest,
    record=ProposalsRecord,
    run=run,
    text=proposals_text,
)

"""`ubp_withdraw_proposal`: take a proposal of the session back."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.fields import Keyword
from ubp.output.agent.proposals import decision_text
from ubp.output.records.proposals import DecisionRecord, decision_record
from ubp.server.tools.edit.proposing import Reason, agent_of
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WithdrawProposalRequest:
    """The proposal to withdraw."""

    proposal: Annotated[int, "its number", Keyword("minimum", 1)]
    reason: Reason


def run(workspace: Workspace, request: WithdrawProposalRequest) -> DecisionRecord:
    """Withdraw the proposal and return how it ended."""
    workspace.withdraw_proposal(request.proposal, agent_of(workspace), request.reason)
    return decision_record(request.proposal, "withdrawn")


WITHDRAW_PROPOSAL = Tool(
    name="ubp_withdraw_proposal",
    title="Withdraw a proposal",
    description="Withdraw a proposal that you made in this session. Its log entry stays.",
    request=WithdrawProposalRequest,
    record=DecisionRecord,
    run=run,
    text=decision_text,
    budgets=(),
    writes=True,
)

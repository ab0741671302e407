"""`ubp_acknowledge`: propose to mark a page as still accurate."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import FilePath
from ubp.edits.changes import acknowledge
from ubp.output.agent.proposals import edit_text
from ubp.output.records.proposals import EditRecord
from ubp.server.tools.edit.proposing import Path, ProposalNumber, Reason, propose
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class AcknowledgeRequest:
    """The page that is still accurate."""

    filepath: Path
    reason: Reason
    source_path: Annotated[str, "only this source"] | None = None
    proposal: ProposalNumber | None = None


def run(workspace: Workspace, request: AcknowledgeRequest) -> EditRecord:
    """Propose the pins and return what they do."""
    page = FilePath(request.filepath)
    change = acknowledge(workspace.session, page, request.source_path, request.reason)
    return propose(workspace, "acknowledge", request, change)


ACKNOWLEDGE = Tool(
    name="ubp_acknowledge",
    title="Propose to acknowledge a page",
    description=(
        "Propose to mark a stale page as reviewed and still accurate, by pinning its sources as "
        "they are now. Only after reading the page and what changed; a person reviews it."
    ),
    request=AcknowledgeRequest,
    record=EditRecord,
    run=run,
    text=edit_text,
    budgets=(),
    writes=True,
)

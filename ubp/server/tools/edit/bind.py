"""`ubp_bind`: propose the sources that a page describes."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import FilePath
from ubp.edits.changes import bind
from ubp.output.agent.proposals import edit_text
from ubp.output.records.proposals import EditRecord
from ubp.server.tools.edit.proposing import Path, ProposalNumber, Reason, propose
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class BindRequest:
    """The page, and the sources that it describes."""

    filepath: Path
    sources: Annotated[tuple[str, ...], "files that the page describes"]
    reason: Reason
    proposal: ProposalNumber | None = None


def run(workspace: Workspace, request: BindRequest) -> EditRecord:
    """Propose the references and return what they do."""
    page = FilePath(request.filepath)
    change = bind(workspace.session, page, request.sources)
    return propose(workspace, "bind", request, change)


BIND = Tool(
    name="ubp_bind",
    title="Propose sources of a page",
    description=(
        "Propose to list sources in a page's front matter, so that the page is reported as stale "
        "when they change. A person reviews it."
    ),
    request=BindRequest,
    record=EditRecord,
    run=run,
    text=edit_text,
    budgets=(),
    writes=True,
)

"""`ubp_create_page`: propose a new page."""

from dataclasses import dataclass
from typing import Annotated

from ubp.edits.changes import create
from ubp.output.agent.proposals import edit_text
from ubp.output.records.proposals import EditRecord
from ubp.server.tools.edit.proposing import (
    AllowFindings,
    Content,
    Path,
    ProposalNumber,
    Reason,
    propose,
)
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CreatePageRequest:
    """The page to create."""

    filepath: Path
    content: Content
    reason: Reason
    doc_type: Annotated[str, "for the front matter, e.g. spec"] | None = None
    source_refs: Annotated[tuple[str, ...], "files that the page describes"] = ()
    proposal: ProposalNumber | None = None
    allow_findings: AllowFindings = False


def run(workspace: Workspace, request: CreatePageRequest) -> EditRecord:
    """Propose the page and return what it does."""
    change = create(workspace.session, request.content, request.doc_type, request.source_refs)
    return propose(workspace, "create", request, change, allow_findings=request.allow_findings)


CREATE_PAGE = Tool(
    name="ubp_create_page",
    title="Propose a new page",
    description=(
        "Propose a new documentation page. It becomes a commit on a branch of its own, which a "
        "person reviews; no file of the user changes. Links are checked first."
    ),
    request=CreatePageRequest,
    record=EditRecord,
    run=run,
    text=edit_text,
    budgets=(),
    writes=True,
)

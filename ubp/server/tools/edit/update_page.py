"""`ubp_update_page`: propose a change of a page."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.errors import BadArgumentError
from ubp.edits.changes import append, replace, replace_section
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
class UpdatePageRequest:
    """The page to change, and how."""

    filepath: Path
    reason: Reason
    expected_blob: Annotated[str, "blob id of the text you read; nothing is lost meanwhile"]
    content: Annotated[Content, "the new page, or with section its new text"] | None = None
    section: Annotated[str, "replace this section: id or heading"] | None = None
    append: Annotated[Content, "add this at the end instead"] | None = None
    proposal: ProposalNumber | None = None
    allow_findings: AllowFindings = False


def run(workspace: Workspace, request: UpdatePageRequest) -> EditRecord:
    """Propose the change and return what it does."""
    if (request.content is None) == (request.append is None):
        raise BadArgumentError("content", "Pass exactly one of `content` and `append`.")
    if request.append is not None:
        if request.section is not None:
            raise BadArgumentError("section", "`section` requires `content`.")
        change = append(request.append)
    elif request.section is not None:
        change = replace_section(request.content or "", request.section)
    else:
        change = replace(workspace.session, request.content or "")
    return propose(
        workspace,
        "update",
        request,
        change,
        expected_blob=request.expected_blob,
        allow_findings=request.allow_findings,
    )


UPDATE_PAGE = Tool(
    name="ubp_update_page",
    title="Propose a change of a page",
    description=(
        "Propose a change of a documentation page: its whole text, one section, or an addition. "
        "It becomes a commit on a branch, which a person reviews; no file of the user changes. "
        "Front matter stays as it is unless content has its own. Links are checked first."
    ),
    request=UpdatePageRequest,
    record=EditRecord,
    run=run,
    text=edit_text,
    budgets=(),
    writes=True,
)

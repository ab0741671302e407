"""`ubp_update_page`: propose a change of a page."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.edit import (
    AllowFindings,
    Content,
    EditRecord,
    Path,
    ProposalNumber,
    Reason,
    propose,
    text,
)
from ubp.core.errors import BadArgumentError
from ubp.edits.changes import append, replace, replace_section
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller
from ubp.index.session import Session


@dataclass(frozen=True, slots=True)
class UpdatePageRequest(Request[EditRecord]):
    """The page to change, and how.

    The server fills in `agent`; programs set it.
    """

    filepath: Path
    reason: Reason
    expected_blob: Annotated[str, "blob id of the text you read"]
    content: Annotated[Content, "the new page, or with section its new text"] | None = None
    section: Annotated[str, "replace this section: id or heading"] | None = None
    append: Annotated[Content, "add this at the end instead"] | None = None
    reviewed: (
        Annotated[bool, "renew the pins; by default if you were shown what changed"] | None
    ) = None
    proposal: ProposalNumber | None = None
    allow_findings: AllowFindings = False
    agent: Caller = None


def run(session: Session, request: UpdatePageRequest) -> EditRecord:
    """Propose the change and return what it does; `propose` says what errors it raises."""
    if (request.content is None) == (request.append is None):
        raise BadArgumentError("content", "Pass exactly one of `content` and `append`.")
    if request.append is not None:
        if request.section is not None:
            raise BadArgumentError("section", "`section` requires `content`.")
        change = append(request.append)
    elif request.section is not None:
        change = replace_section(request.content or "", request.section)
    else:
        change = replace(session, request.content or "")
    return propose(
        session,
        "update",
        request,
        change,
        expected_blob=request.expected_blob,
        allow_findings=request.allow_findings,
        reviewed=request.reviewed,
    )


UPDATE_PAGE = Answer(
    request=UpdatePageRequest,
    record=EditRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Propose a change of a page",
        description=(
            "Propose a change of a documentation page: its whole text, one section, or an "
            "addition. It becomes a commit on a branch, which a person reviews; no file of the "
            "user changes. Front matter stays as it is unless content has its own. Links are "
            "checked first."
        ),
        writes=True,
    ),
)

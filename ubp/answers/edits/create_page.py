"""`ubp_create_page`: propose a new page."""

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
from ubp.edits.changes import create
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller
from ubp.index.session import Session


@dataclass(frozen=True, slots=True)
class CreatePageRequest(Request[EditRecord]):
    """The page to create.

    The server fills in `agent`; programs set it.
    """

    filepath: Path
    content: Content
    reason: Reason
    doc_type: Annotated[str, "for the front matter, e.g. spec"] | None = None
    source_refs: Annotated[tuple[str, ...], "files that the page describes"] = ()
    proposal: ProposalNumber | None = None
    allow_findings: AllowFindings = False
    agent: Caller = None


def run(session: Session, request: CreatePageRequest) -> EditRecord:
    """Propose the page and return what it does; `propose` says what errors it raises."""
    change = create(session, request.content, request.doc_type, request.source_refs)
    return propose(session, "create", request, change, allow_findings=request.allow_findings)


CREATE_PAGE = Answer(
    request=CreatePageRequest,
    record=EditRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Propose a new page",
        description=(
            "Propose a new documentation page. It becomes a commit on a branch of its own, which a "
            "person reviews; no file of the user changes. Links are checked first."
        ),
        writes=True,
    ),
)

"""`ubp_acknowledge`: propose to mark a page as still accurate."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.edits.edit import (
    EditRecord,
    Path,
    ProposalNumber,
    Reason,
    propose,
    text,
)
from ubp.core.model import FilePath
from ubp.edits.changes import acknowledge
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller
from ubp.index.session import Session


@dataclass(frozen=True, slots=True)
class ProposeAcknowledgementRequest(Request[EditRecord]):
    """The page that is still accurate.

    The server fills in `agent`; programs set it.
    """

    filepath: Path
    reason: Reason
    source_path: Annotated[str, "only this source"] | None = None
    proposal: ProposalNumber | None = None
    agent: Caller = None


def run(session: Session, request: ProposeAcknowledgementRequest) -> EditRecord:
    """Propose the pins and return what they do; `propose` says what errors it raises."""
    page = FilePath(request.filepath)
    change = acknowledge(session, page, request.source_path, request.reason)
    return propose(session, "acknowledge", request, change)


ACKNOWLEDGE = Answer(
    request=ProposeAcknowledgementRequest,
    record=EditRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Propose to acknowledge a page",
        description=(
            "Propose to mark a stale page as reviewed and still accurate, by pinning its sources "
            "as they are now. Only after reading the page and what changed; a person reviews it."
        ),
        writes=True,
    ),
)

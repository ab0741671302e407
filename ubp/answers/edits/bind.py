"""`ubp_bind`: propose the sources that a page describes."""

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
from ubp.edits.changes import bind
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller
from ubp.index.session import Session


@dataclass(frozen=True, slots=True)
class ProposeSourcesRequest(Request[EditRecord]):
    """The page, and the sources that it describes.

    The server fills in `agent`; programs set it.
    """

    filepath: Path
    sources: Annotated[tuple[str, ...], "files that the page describes"]
    reason: Reason
    proposal: ProposalNumber | None = None
    agent: Caller = None


def run(session: Session, request: ProposeSourcesRequest) -> EditRecord:
    """Propose the references and return what they do; `propose` says what errors it raises."""
    change = bind(session, FilePath(request.filepath), request.sources)
    return propose(session, "bind", request, change)


BIND = Answer(
    request=ProposeSourcesRequest,
    record=EditRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="Propose sources of a page",
        description=(
            "Propose to list sources in a page's front matter, so that the page is reported as "
            "stale when they change. A person reviews it."
        ),
        writes=True,
    ),
)

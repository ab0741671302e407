"""What the tools that propose edits have in common."""

from typing import Annotated, Protocol

from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.edits.model import Action, Agent
from ubp.edits.propose import Change, EditRequest
from ubp.frame.fields import Keyword
from ubp.output.records.proposals import EditRecord, edit_record
from ubp.workspace import Workspace

MAX_REASON_CHARACTERS = 2_000
MAX_CONTENT_CHARACTERS = 8_000_000

Path = Annotated[str, "repository-relative path of the page"]
Reason = Annotated[str, "why, for the reviewer", Keyword("maxLength", MAX_REASON_CHARACTERS)]
Content = Annotated[str, "Markdown", Keyword("maxLength", MAX_CONTENT_CHARACTERS)]
ProposalNumber = Annotated[int, "add the edit to this proposal of yours", Keyword("minimum", 1)]
AllowFindings = Annotated[bool, "propose it even if it breaks links"]


class PageRequest(Protocol):
    """What the requests of all these tools have in common."""

    @property
    def filepath(self) -> str:
        """The page."""

    @property
    def reason(self) -> str:
        """Why, for the reviewer."""

    @property
    def proposal(self) -> int | None:
        """The proposal that the edit is added to."""


def propose(  # noqa: PLR0913  # an edit in full
    workspace: Workspace,
    action: Action,
    request: PageRequest,
    change: Change,
    *,
    expected_blob: str | None = None,
    allow_findings: bool = False,
) -> EditRecord:
    """Propose an edit of the agent that calls, and return its record."""
    edit = EditRequest(
        agent_of(workspace),
        action,
        FilePath(request.filepath),
        change,
        request.reason,
        expected_blob,
        request.proposal,
        allow_findings,
    )
    return edit_record(workspace.propose(edit))


def agent_of(workspace: Workspace) -> Agent:
    """Return the agent that calls.

    Raises:
        UsageError: nobody said who it is.
    """
    if workspace.agent is None:
        raise UsageError("Proposals are made through the server: ubp serve --toolsets +edit")
    return workspace.agent

"""`ubp_get_impact`: the pages to review when something changes."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import MaxTokens, Ref, between
from ubp.output.agent.pages import impact_text
from ubp.output.records.pages import ImpactRecord, impact_record
from ubp.server.tools.tool import Tool
from ubp.workspace import IMPACT_DEPTH, MAX_IMPACT_DEPTH, MAX_IMPACTED, Workspace

MAX_RESULTS = 1_000


@dataclass(frozen=True, slots=True)
class ImpactRequest:
    """What changes, and how far to follow what depends on it."""

    path: Annotated[str, "page, file, folder or src/a.py#login; may be deleted"]
    depth: Annotated[int, *between(1, MAX_IMPACT_DEPTH), "maximum chain length"] = IMPACT_DEPTH
    limit: Annotated[int, *between(1, MAX_RESULTS)] = MAX_IMPACTED
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: ImpactRequest) -> ImpactRecord:
    """Return the record of the pages that depend on a page, a source file or a folder."""
    impact = workspace.impact(
        request.path, depth=request.depth, limit=request.limit, ref=request.ref
    )
    return impact_record(impact)


GET_IMPACT = Tool(
    name="ubp_get_impact",
    title="Find pages that depend on a file",
    description=(
        "Find documentation pages that depend on a page, source file or folder: pages that list "
        "it as a source, then pages that link to those, each with the chain of references. Use it "
        "before or after changing, moving or deleting a file to find the pages to update."
    ),
    request=ImpactRequest,
    record=ImpactRecord,
    run=run,
    text=impact_text,
    items="impacted",
)

"""`ubp_get_impact`: the pages to review when something changes."""

from collections.abc import Mapping
from typing import Any

from ubp.output.agent.pages import impact_text
from ubp.output.records.pages import ImpactRecord, impact_record
from ubp.server.tools.arguments import MAX_TOKENS, REF, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.tool import Tool
from ubp.workspace import MAX_IMPACTED, Workspace

DEPTH, MAX_IMPACT_DEPTH = 3, 5
MAX_RESULTS = 1_000


def run(workspace: Workspace, given: Mapping[str, Any]) -> ImpactRecord:
    """Return the record of the pages that depend on a page, a source file or a folder."""
    impact = workspace.impact(
        given["path"], depth=given["depth"], limit=given["limit"], ref=given.get("ref")
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
    input_schema=object_schema(
        "path",
        path=string("page, source file or folder; may be deleted"),
        depth=number(1, MAX_IMPACT_DEPTH, DEPTH, "maximum chain length"),
        limit=number(1, MAX_RESULTS, MAX_IMPACTED),
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=ImpactRecord,
    run=run,
    text=impact_text,
    items="impacted",
)

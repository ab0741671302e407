"""`trends`: what a period's notes are about, against the period before."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.errors import BadArgumentError
from ubp.notes.note import parse_date
from ubp.notes.trends import Period, find_trends
from ubp.output.agent.notes import trends_text
from ubp.output.records.notes import TrendsRecord, trends_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TrendsRequest:
    """A period, and perhaps a category."""

    period: Annotated[Period, "its length"] = "1w"
    category: Annotated[str, "count only this category"] = ""
    until: Annotated[str, "its last day, by default today"] = ""


def run(workspace: Workspace, request: TrendsRequest) -> TrendsRecord:
    """Return the record of the trends."""
    session = workspace.session
    until = parse_date(request.until)
    if request.until and until is None:
        raise BadArgumentError("until", "`until` is not a date.", hint="Write it as 2026-01-31.")
    found = find_trends(session, session.view(), request.period, request.category, until)
    return trends_record(found)


TRENDS = Tool(
    name="trends",
    title="Show trends of notes",
    description=(
        "Show which tags, categories and names the user's bookmarks and notes of a period are "
        "about, against the period before, and which tools are new."
    ),
    request=TrendsRequest,
    record=TrendsRecord,
    run=run,
    text=trends_text,
    budgets=(),
    reads_collections=True,
)

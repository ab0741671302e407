"""`ubp_suggest_links`: similar pages that are not linked."""

from collections.abc import Mapping
from typing import Any

from ubp.output.agent.pages import suggestions_text
from ubp.output.records.suggestions import SuggestionsRecord, suggestions_record
from ubp.server.tools.arguments import MAX_TOKENS, REF, fraction, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.tool import Tool
from ubp.workspace import MAX_SUGGESTED, MIN_SCORE, Workspace

MAX_RESULTS = 50


def run(workspace: Workspace, given: Mapping[str, Any]) -> SuggestionsRecord:
    """Return the record of the best pairs of all pages, or of one page with the others."""
    suggestions = workspace.suggest_links(
        given.get("filepath"),
        min_score=given["min_score"],
        limit=given["limit"],
        ref=given.get("ref"),
    )
    return suggestions_record(suggestions)


SUGGEST_LINKS = Tool(
    name="ubp_suggest_links",
    title="Suggest links between pages",
    description=(
        "Find pairs of documentation pages that are similar in meaning but not linked, with the "
        "matching sections and shared terms. Use it after writing a page; read both sections "
        "before adding a link."
    ),
    input_schema=object_schema(
        filepath=string("a page; omit to compare all pages"),
        min_score=fraction(MIN_SCORE, "minimum similarity"),
        limit=number(1, MAX_RESULTS, MAX_SUGGESTED),
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=SuggestionsRecord,
    run=run,
    text=suggestions_text,
    items="suggestions",
)

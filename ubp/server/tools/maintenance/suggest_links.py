"""`ubp_suggest_links`: similar pages that are not linked."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import MaxTokens, Ref, between
from ubp.frame.fields import Fraction
from ubp.output.agent.pages import suggestions_text
from ubp.output.records.suggestions import SuggestionsRecord, suggestions_record
from ubp.server.tools.tool import Tool
from ubp.workspace import MAX_SUGGESTED, MIN_SCORE, Workspace

MAX_RESULTS = 50


@dataclass(frozen=True, slots=True)
class SuggestLinksRequest:
    """The page to find links for, and how similar the others must be."""

    filepath: Annotated[str, "a page; omit to compare all pages"] | None = None
    min_score: Annotated[Fraction, "minimum similarity"] = MIN_SCORE
    limit: Annotated[int, *between(1, MAX_RESULTS)] = MAX_SUGGESTED
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: SuggestLinksRequest) -> SuggestionsRecord:
    """Return the record of the best pairs of all pages, or of one page with the others."""
    suggestions = workspace.suggest_links(
        request.filepath, min_score=request.min_score, limit=request.limit, ref=request.ref
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
    request=SuggestLinksRequest,
    record=SuggestionsRecord,
    run=run,
    text=suggestions_text,
    items="suggestions",
    reads_collections=True,
)

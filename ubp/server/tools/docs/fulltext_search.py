"""`ubp_fulltext_search`: sections that contain words or phrases."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import DocTypes, MaxTokens, Query, Ref, between
from ubp.output.agent.search import fulltext_text
from ubp.output.records.search import SectionsRecord, sections_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

MAX_RESULTS = 50


@dataclass(frozen=True, slots=True)
class FulltextRequest:
    """The words to find, and how many sections to return."""

    query: Query
    limit: Annotated[int, *between(1, MAX_RESULTS)] = 10
    doc_type: DocTypes = ()
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: FulltextRequest) -> SectionsRecord:
    """Return the record of the best sections by their words alone."""
    answer = workspace.search_sections(
        request.query, limit=request.limit, doc_types=request.doc_type, ref=request.ref
    )
    return sections_record(answer)


FULLTEXT_SEARCH = Tool(
    name="ubp_fulltext_search",
    title="Find words in the documentation",
    description=(
        "Find sections of the documentation that contain exact words or phrases, such as an error "
        "message or an identifier, with file and line. Use it when you know the wording; use "
        "ubp_search for a question or topic and grep for code."
    ),
    request=FulltextRequest,
    record=SectionsRecord,
    run=run,
    text=fulltext_text,
    items="results",
    reads_collections=True,
)

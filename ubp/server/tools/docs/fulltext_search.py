"""`ubp_fulltext_search`: sections that contain words or phrases."""

from collections.abc import Mapping
from typing import Any

from ubp.output.agent.search import fulltext_text
from ubp.output.records.search import SectionsRecord, sections_record
from ubp.server.tools.arguments import (
    DOC_TYPE,
    MAX_TOKENS,
    QUERY,
    REF,
    array_of,
    number,
    object_schema,
)
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

MAX_RESULTS = 50


def run(workspace: Workspace, given: Mapping[str, Any]) -> SectionsRecord:
    """Return the record of the best sections by their words alone."""
    answer = workspace.search_sections(
        given["query"],
        limit=given["limit"],
        doc_types=array_of(given.get("doc_type")),
        ref=given.get("ref"),
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
    input_schema=object_schema(
        "query",
        query=QUERY,
        limit=number(1, MAX_RESULTS, 10),
        doc_type=DOC_TYPE,
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=SectionsRecord,
    run=run,
    text=fulltext_text,
    items="results",
)

"""`ubp_fulltext_search`: the sections that hold words, whatever they mean."""

from collections.abc import Mapping
from typing import Any

from ubp.render.compact.fulltext_search import text
from ubp.render.search_records import sections_record
from ubp.tools.parameters import QUERY, REF, number, takes
from ubp.tools.tool import Record, Tool
from ubp.workspace import Workspace

MOST = 50


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """The best sections by their words alone."""
    answer = workspace.search_sections(given["query"], limit=given["limit"], ref=given.get("ref"))
    return sections_record(answer)


TOOL = Tool(
    name="ubp_fulltext_search",
    title="Find words in the documentation",
    description=(
        "Sections of the documentation that hold exact words or phrases (an error message, an "
        "identifier, Japanese too), with file and line. Use it where the wording is known; for a "
        "question or a topic use ubp_search. It does not read code."
    ),
    input_schema=takes("query", query=QUERY, limit=number(1, MOST, 10), ref=REF),
    shape="search-fulltext",
    run=run,
    text=text,
)

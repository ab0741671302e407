"""`ubp_fulltext_search`: the sections that hold words, whatever they mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from ubp.render.compact.fulltext_search import text
from ubp.render.search_records import sections_record
from ubp.search.answers import SectionAnswer
from ubp.tools.parameters import DOC_TYPE, QUERY, REF, number, several, takes
from ubp.tools.tool import Record, Tool
from ubp.workspace import Workspace

MOST = 50


def run(
    workspace: Workspace,
    given: Mapping[str, Any],
    *,
    has_content: bool = True,
    tags: Sequence[str] = (),
) -> Record:
    """The best sections by their words alone."""
    return sections_record(find(workspace, given, tags=tags), has_content=has_content)


def find(
    workspace: Workspace, given: Mapping[str, Any], *, tags: Sequence[str] = ()
) -> SectionAnswer:
    """The same as values, of pages that have all these tags."""
    return workspace.search_sections(
        given["query"],
        limit=given["limit"],
        doc_types=several(given.get("doc_type")),
        tags=tags,
        ref=given.get("ref"),
    )


TOOL = Tool(
    name="ubp_fulltext_search",
    title="Find words in the documentation",
    description=(
        "Sections of the documentation that hold exact words or phrases (an error message, an "
        "identifier, Japanese too), with file and line. Use it where the wording is known; for a "
        "question or a topic use ubp_search. It does not read code."
    ),
    input_schema=takes("query", query=QUERY, limit=number(1, MOST, 10), doc_type=DOC_TYPE, ref=REF),
    shape="search-fulltext",
    run=run,
    text=text,
)

"""`ubp_list_pages`: the list of pages, sorted and filtered."""

from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.frame.arguments import DocTypes, MaxTokens, Ref, Tags, between
from ubp.output.agent.pages import list_text
from ubp.output.records.pages import PagesRecord, pages_record
from ubp.search.list_pages import SortKey
from ubp.server.tools.tool import Tool
from ubp.workspace import LIST_LIMIT, Workspace

MAX_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class ListPagesRequest:
    """Which pages to list, in which order, and where to go on."""

    doc_type: DocTypes = ()
    tags: Tags = ()
    sort: SortKey = "title"
    order: Literal["asc", "desc"] = "asc"
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIST_LIMIT
    cursor: Annotated[str, "next_cursor of the previous response"] | None = None
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: ListPagesRequest) -> PagesRecord:
    """Return the record of the requested pages, with the cursor of the rest."""
    pages = workspace.pages(
        doc_types=request.doc_type,
        tags=request.tags,
        sort=request.sort,
        is_descending=request.order == "desc",
        limit=request.limit,
        after=request.cursor,
        ref=request.ref,
    )
    return pages_record(pages)


LIST_PAGES = Tool(
    name="ubp_list_pages",
    title="List documentation pages",
    description=(
        "List documentation pages with type, staleness and link counts, filtered and sorted. Use "
        "it to see which pages exist or changed most recently; use ubp_search to find a topic."
    ),
    request=ListPagesRequest,
    record=PagesRecord,
    run=run,
    text=list_text,
    items="pages",
    reads_collections=True,
)

"""`ubp_list_pages`: the list of pages, sorted and filtered."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from ubp.output.agent.pages import list_text
from ubp.output.records.pages import PagesRecord, pages_record
from ubp.search.list_pages import PageList, SortKey
from ubp.server.tools.arguments import DocTypes, MaxTokens, Ref, Tags, between
from ubp.server.tools.tool import Tool, read_cursor, write_cursor
from ubp.workspace import Workspace

LIST_LIMIT, MAX_LIMIT = 200, 1000
DATE_SORTS = ("updated_at", "created_at")


class ListRequest(NamedTuple):
    """Which pages to list, in which order, and where to go on; `cursor` None: from the start."""

    doc_types: tuple[str, ...]
    tags: tuple[str, ...]
    sort: SortKey
    order: Literal["asc", "desc"]
    limit: int
    cursor: str | None
    ref: str | None


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
    wanted = ListRequest(
        request.doc_type,
        request.tags,
        request.sort,
        request.order,
        request.limit,
        request.cursor,
        request.ref,
    )
    listed = read_list(workspace, wanted)
    return pages_record(listed, next_cursor(listed, wanted))


def read_list(workspace: Workspace, request: ListRequest, *, is_dated: bool = True) -> PageList:
    """Return the pages as values; without `is_dated` dates are looked up only for sorting."""
    kind = int if request.sort in DATE_SORTS else str
    cursor = request.cursor
    return workspace.pages(
        doc_types=request.doc_types,
        tags=request.tags,
        sort=request.sort,
        is_descending=request.order == "desc",
        is_dated=is_dated or request.sort == "updated_at",
        limit=request.limit,
        after=read_cursor(_list_query(request), cursor, kind) if cursor else None,
        ref=request.ref,
    )


def next_cursor(listed: PageList, request: ListRequest) -> str | None:
    """Return the cursor of the rest of a list; None at its end."""
    return write_cursor(_list_query(request), listed.next) if listed.next else None


def _list_query(request: ListRequest) -> list[object]:
    return [request.doc_types, request.tags, request.sort, request.order, request.ref]


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

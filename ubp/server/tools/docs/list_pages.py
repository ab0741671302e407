"""`ubp_list_pages`: the list of pages, sorted and filtered."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ubp.output.agent.pages import list_text
from ubp.output.records.pages import PagesRecord, pages_record
from ubp.search.list_pages import PageList, SortKey
from ubp.server.tools.arguments import (
    DOC_TYPE,
    MAX_TOKENS,
    REF,
    TAGS,
    array_of,
    choice,
    number,
    object_schema,
)
from ubp.server.tools.arguments import text as string
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


def run(workspace: Workspace, given: Mapping[str, Any]) -> PagesRecord:
    """Return the record of the requested pages, with the cursor of the rest."""
    request = ListRequest(
        array_of(given.get("doc_type")),
        array_of(given.get("tags")),
        given["sort"],
        given["order"],
        given["limit"],
        given.get("cursor"),
        given.get("ref"),
    )
    listed = read_list(workspace, request)
    return pages_record(listed, next_cursor(listed, request))


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
    input_schema=object_schema(
        doc_type=DOC_TYPE,
        tags=TAGS,
        sort=choice("title", "updated_at", "created_at", "filepath"),
        order=choice("asc", "desc"),
        limit=number(1, MAX_LIMIT, LIST_LIMIT),
        cursor=string("next_cursor of the previous response"),
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=PagesRecord,
    run=run,
    text=list_text,
    items="pages",
)

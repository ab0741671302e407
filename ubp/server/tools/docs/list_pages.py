"""`ubp_list_pages`: the list of pages, sorted and filtered."""

from collections.abc import Mapping
from typing import Any

from ubp.output.agent.pages import list_text
from ubp.output.records.pages import pages_record
from ubp.search.list_pages import PageList
from ubp.server.tools.arguments import DOC_TYPE, REF, TAGS, array_of, choice, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.tool import Record, Tool, read_cursor, write_cursor
from ubp.workspace import Workspace

LIST_LIMIT, MAX_LIMIT = 200, 1000
DATE_SORTS = ("updated_at", "created_at")


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """Return the record of the requested pages, with the cursor of the rest."""
    listed = read_list(workspace, given)
    return {**pages_record(listed), "next_cursor": next_cursor(listed, given)}


def read_list(workspace: Workspace, given: Mapping[str, Any], *, is_dated: bool = True) -> PageList:
    """Return the pages as values; without `is_dated` dates are looked up only for sorting."""
    kind = int if given["sort"] in DATE_SORTS else str
    cursor = given.get("cursor")
    return workspace.pages(
        doc_types=array_of(given.get("doc_type")),
        tags=array_of(given.get("tags")),
        sort=given["sort"],
        is_descending=given["order"] == "desc",
        is_dated=is_dated or given["sort"] == "updated_at",
        limit=given["limit"],
        after=read_cursor(_list_query(given), cursor, kind) if cursor else None,
        ref=given.get("ref"),
    )


def next_cursor(listed: PageList, given: Mapping[str, Any]) -> str | None:
    """Return the cursor of the rest of a list; None at its end."""
    return write_cursor(_list_query(given), listed.next) if listed.next else None


def _list_query(given: Mapping[str, Any]) -> list[Any]:
    doc_types, tags = array_of(given.get("doc_type")), array_of(given.get("tags"))
    return [doc_types, tags, given["sort"], given["order"], given.get("ref")]


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
        ref=REF,
    ),
    shape="list-pages",
    run=run,
    text=list_text,
)

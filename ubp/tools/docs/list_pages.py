"""`ubp_list_pages`: which pages there are."""

from collections.abc import Mapping
from typing import Any

from ubp.reading import PageList
from ubp.render.compact.list_pages import text
from ubp.render.page_records import pages_record
from ubp.tools.cursor import read_cursor, write_cursor
from ubp.tools.parameters import DOC_TYPE, REF, TAGS, choice, number, several, takes
from ubp.tools.parameters import text as string
from ubp.tools.tool import Record, Tool
from ubp.workspace import Workspace

LIMIT, MOST = 200, 1000
DATED = ("updated_at", "created_at")


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """The pages that are asked for, in order, and where the list goes on."""
    listed = read_list(workspace, given)
    return {**pages_record(listed), "next_cursor": next_cursor(listed, given)}


def read_list(workspace: Workspace, given: Mapping[str, Any], *, is_dated: bool = True) -> PageList:
    """The same as values; without `is_dated` history is asked only where it decides the order."""
    kind = int if given["sort"] in DATED else str
    cursor = given.get("cursor")
    return workspace.pages(
        doc_types=several(given.get("doc_type")),
        tags=several(given.get("tags")),
        sort=given["sort"],
        is_descending=given["order"] == "desc",
        is_dated=is_dated or given["sort"] == "updated_at",
        limit=given["limit"],
        after=read_cursor(_question(given), cursor, kind) if cursor else None,
        ref=given.get("ref"),
    )


def next_cursor(listed: PageList, given: Mapping[str, Any]) -> str | None:
    """What is to be given for the rest of a list; None: that was all."""
    return write_cursor(_question(given), listed.next) if listed.next else None


def _question(given: Mapping[str, Any]) -> list[Any]:
    types, tags = several(given.get("doc_type")), several(given.get("tags"))
    return [types, tags, given["sort"], given["order"], given.get("ref")]


TOOL = Tool(
    name="ubp_list_pages",
    title="List the documentation's pages",
    description=(
        "All documentation pages with type, staleness and link counts, sorted and filtered. Use it "
        "to see what there is or what changed last; to find something use ubp_search."
    ),
    input_schema=takes(
        doc_type=DOC_TYPE,
        tags=TAGS,
        sort=choice("title", "updated_at", "created_at", "filepath"),
        order=choice("asc", "desc"),
        limit=number(1, MOST, LIMIT),
        cursor=string("next_cursor of the answer before"),
        ref=REF,
    ),
    shape="list-pages",
    run=run,
    text=text,
)

"""`ubp_search`: ranked pages for a question, each with the reason and its staleness."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.output.agent.search import search_text
from ubp.output.records.encoding import Json
from ubp.output.records.search import SearchRecord, search_record
from ubp.search.run import FoundPages
from ubp.server.tools.arguments import (
    DOC_TYPE,
    LINK_TYPE,
    MAX_TOKENS,
    QUERY,
    REF,
    TAGS,
    array_of,
    choice,
    flag,
    number,
    object_schema,
)
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

LIMIT, MAX_LIMIT = 10, 20
DEPTH, MAX_DEPTH = 2, 3


def run(
    workspace: Workspace,
    given: Mapping[str, Any],
    *,
    has_content: bool = True,
    is_explained: bool = False,
) -> SearchRecord:
    """Return the record of the best pages by keywords, meaning and links."""
    pages = find(workspace, given)
    return search_record(pages, has_content=has_content, is_explained=is_explained)


def find(workspace: Workspace, given: Mapping[str, Any], *, is_dated: bool = True) -> FoundPages:
    """Return the pages as values; without `is_dated` their dates are not looked up in history."""
    return workspace.search(
        given["query"],
        mode=given["mode"],
        limit=given["limit"],
        doc_types=array_of(given.get("doc_type")),
        tags=array_of(given.get("tags")),
        link_types=given.get("link_types") or (),
        depth=given["depth"],
        include_linked=given["include_linked"],
        is_dated=is_dated,
        ref=given.get("ref"),
    )


def fit_search(record: Json, limit: TokenLimit) -> None:
    """Drop context of the last results first, then results."""
    limit.drop(record, _removable_parts(record, limit))


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    results = record["results"]
    for key in ("linked_pages", "stale_refs"):
        for result in reversed(results):
            yield limit.clear(result, key)
    for result in reversed(results):
        while len(result["sections"]) > 1:
            yield result["sections"].pop()
    while len(results) > 1:
        yield _drop_last_result(record)
    for section in [section for result in results for section in result["sections"]]:
        yield limit.clear(section, "content")
    while results:
        yield _drop_last_result(record)


def _drop_last_result(record: Json) -> Json:
    result: Json = record["results"].pop()
    record["truncated_count"] = record.get("truncated_count", 0) + 1
    return result


SEARCH = Tool(
    name="ubp_search",
    title="Search the documentation",
    description=(
        "Search the project documentation by question or topic. Returns pages, best match first, "
        "each with the reason for the match, its best passage and line numbers, linked pages, and "
        'whether the page is stale. Use it before grep for "how" and "why" questions; use '
        "ubp_fulltext_search for exact strings and grep for code."
    ),
    input_schema=object_schema(
        "query",
        query=QUERY,
        limit=number(1, MAX_LIMIT, LIMIT),
        mode=choice(
            "hybrid",
            "fulltext",
            "semantic",
            description="hybrid combines keywords, meaning and links",
        ),
        doc_type=DOC_TYPE,
        tags=TAGS,
        include_linked=flag("list linked pages with each result", default=True),
        depth=number(1, MAX_DEPTH, DEPTH, "hops when ranking by links"),
        link_types=LINK_TYPE,
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=SearchRecord,
    run=run,
    text=search_text,
    fit=fit_search,
)

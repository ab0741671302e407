"""`ubp_get_context`: a page and summaries of linked pages."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.errors import BadArgumentError
from ubp.output.agent.pages import context_text
from ubp.output.records.encoding import Json
from ubp.output.records.pages import ContextRecord, context_record
from ubp.search.context import PageContext
from ubp.server.tools.arguments import FILEPATH, LINK_TYPE, MAX_TOKENS, REF, number, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Tool
from ubp.workspace import MAX_SIZE, Workspace

DEPTH, MAX_DEPTH = 2, 3
MAX_CONTEXT_SIZE = 500_000


def run(workspace: Workspace, given: Mapping[str, Any]) -> ContextRecord:
    """Return the record of the page and its surroundings, as much as fits."""
    if ("filepath" in given) == ("id" in given):
        raise BadArgumentError("filepath", "Pass exactly one of `filepath` and `id`.")
    return context_record(find(workspace, given))


def find(workspace: Workspace, given: Mapping[str, Any]) -> PageContext:
    """Return the page and its surroundings as values."""
    return workspace.context(
        given.get("filepath") or given["id"],
        depth=given["depth"],
        link_types=given.get("link_types") or (),
        max_size=given["max_size"],
        max_tokens=given.get("max_tokens"),
        ref=given.get("ref"),
    )


def fit_context(record: Json, limit: TokenLimit) -> None:
    """Drop headings, then related pages, then text of the page itself.

    The outline takes half of the budget at most: the text is worth more.
    """
    center, related = record["center"], record["related"]
    if not limit.drop(record, _drop_related(record, related, limit)):
        content = center["content"]
        center["full_size"] = center.get("full_size") or len(content)
        frame = {**record, "center": {**center, "content": ""}}
        limit._replace(most=limit.most // 2).drop(frame, _drop_outline(center))
        limit.truncate(record, center, "content")
        _mark_cut(center, content)
        limit.drop(record, _drop_outline(center))
    texts = [text for page in related for text in _texts(page)]
    record["total_size"] = len(center["content"]) + sum(map(len, texts))


def _drop_related(record: Json, related: list[Json], limit: TokenLimit) -> Iterator[Any]:
    for page in reversed(related):
        yield [limit.clear(page, "headings"), limit.clear(page, "hidden_headings")]
    while related:
        record["truncated_count"] += 1
        yield related.pop()


def _mark_cut(center: Json, content: str) -> None:
    """Mark the sections that end after the last line that is left."""
    lines = center["content"].count("\n") + 1
    is_whole = center["content"] == content
    for section in center["sections"]:
        first = center["sections"][0]["line_start"]
        if not is_whole and section["line_end"] - first >= lines:
            section["is_cut"] = True


def _drop_outline(center: Json) -> Iterator[Any]:
    while center["sections"]:
        yield center["sections"].pop()


def _texts(page: Json) -> Iterator[str]:
    yield from (page.get(key) or "" for key in ("filepath", "title", "link_context", "summary"))
    yield from page.get("headings", [])


GET_CONTEXT = Tool(
    name="ubp_get_context",
    title="Read a page and summaries of linked pages",
    description=(
        "Read one documentation page in full plus summaries of the pages linked with it (first "
        "sentences, headings, link type, staleness), up to depth hops away. Use it on the best "
        "result of ubp_search; use ubp_get_page for the page alone."
    ),
    input_schema=object_schema(
        filepath=FILEPATH,
        id=string("doc_id of the page, instead of filepath"),
        depth=number(1, MAX_DEPTH, DEPTH),
        link_types=LINK_TYPE,
        max_size=number(1, MAX_CONTEXT_SIZE, MAX_SIZE, "in characters"),
        max_tokens=MAX_TOKENS,
        ref=REF,
    ),
    record=ContextRecord,
    run=run,
    text=context_text,
    fit=fit_context,
)

"""`ubp_get_context`: a page and summaries of linked pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.core.errors import BadArgumentError
from ubp.frame.arguments import (
    IdArgument,
    LinkTypes,
    MaxTokens,
    PageArgument,
    Ref,
    between,
)
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.pages import context_text
from ubp.output.records.pages import ContextRecord, context_record
from ubp.server.tools.tool import Tool
from ubp.workspace import DEPTH, MAX_DEPTH, MAX_SIZE, Workspace

MAX_CONTEXT_SIZE = 500_000


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A page, and how much of its surroundings to return."""

    filepath: PageArgument | None = None
    id: IdArgument | None = None
    depth: Annotated[int, *between(1, MAX_DEPTH)] = DEPTH
    link_types: LinkTypes = ()
    max_size: Annotated[int, *between(1, MAX_CONTEXT_SIZE), "in characters"] = MAX_SIZE
    max_tokens: MaxTokens | None = None
    ref: Ref | None = None


def run(workspace: Workspace, request: ContextRequest) -> ContextRecord:
    """Return the record of the page and its surroundings, as much as fits."""
    page = request.filepath or request.id
    if page is None or (request.filepath and request.id):
        raise BadArgumentError("filepath", "Pass exactly one of `filepath` and `id`.")
    context = workspace.context(
        page,
        depth=request.depth,
        link_types=request.link_types,
        max_size=request.max_size,
        max_tokens=request.max_tokens,
        ref=request.ref,
    )
    return context_record(context)


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
    request=ContextRequest,
    record=ContextRecord,
    run=run,
    text=context_text,
    fit=fit_context,
    reads_collections=True,
)

"""`ubp_search`: ranked pages for a question, each with the reason and its staleness."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.output.agent.search import search_text
from ubp.output.records.encoding import Json
from ubp.output.records.search import SearchRecord, search_record
from ubp.search.pages import Mode
from ubp.server.tools.arguments import (
    DocTypes,
    LinkTypes,
    MaxTokens,
    Query,
    Ref,
    Tags,
    between,
)
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Tool
from ubp.workspace import DEPTH, MAX_DEPTH, Workspace

LIMIT, MAX_LIMIT = 10, 20
# benchmarks/agent_answers.py measures how often so many tokens contain the answer.
SEARCH_TOKENS = 1_000
LINES_SHARE = 0.4  # of a budget, for places and headings: texts are worth more
# So many best sections come before the passages of the other results.
WHOLE_RESULTS = 3
MIN_EXTRACT = 60  # less of a section says less than its best passage
EXTRACT_KEYS = ("text", "text_start", "text_end")
PASSAGE_KEYS = ("content", "highlights")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question or topic, which pages may answer it, and how they are ranked."""

    query: Query
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIMIT
    mode: Annotated[Mode, "hybrid combines keywords, meaning and links"] = "hybrid"
    doc_type: DocTypes = ()
    tags: Tags = ()
    include_linked: Annotated[bool, "list linked pages with each result"] = False
    depth: Annotated[int, *between(1, MAX_DEPTH), "hops when ranking by links"] = DEPTH
    link_types: LinkTypes = ()
    verbose: Annotated[bool, "add ids, scores and reasons"] = False
    max_tokens: MaxTokens = SEARCH_TOKENS
    ref: Ref | None = None


def run(workspace: Workspace, request: SearchRequest) -> SearchRecord:
    """Return the record of the best pages by keywords, meaning and links."""
    pages = workspace.search(
        request.query,
        mode=request.mode,
        limit=request.limit,
        doc_types=request.doc_type,
        tags=request.tags,
        link_types=request.link_types,
        depth=request.depth,
        include_linked=request.include_linked,
        ref=request.ref,
    )
    return search_record(pages, is_verbose=request.verbose)


def fit_search(record: Json, limit: TokenLimit) -> None:
    """Keep a line for each result, then the best sections whole, then passages, while they fit."""
    if limit.excess(record) <= 0:
        return
    results = record["results"]
    bests = [result["sections"][0] for result in results if result["sections"]]
    extracts = [{key: limit.clear(best, key) for key in EXTRACT_KEYS} for best in bests]
    passages = [{key: limit.clear(best, key) for key in PASSAGE_KEYS} for best in bests]
    if not limit.drop(record, _removable_parts(record, limit)):
        return
    lines = limit._replace(most=int(limit.most * LINES_SHARE))
    lines.drop(record, _last_results(record, 1))
    bests = bests[: len(results)]
    firsts = slice(None, WHOLE_RESULTS)
    for best, extract, passage in zip(bests[firsts], extracts, passages, strict=False):
        _restore(record, limit, best, extract) or _restore(record, limit, best, passage)
    for best, passage in zip(bests, passages, strict=False):
        if not best.get("text"):
            _restore(record, limit, best, passage)
    for best, extract in zip(bests, extracts, strict=False):
        if not best.get("text"):
            _restore(record, limit, best, extract)


def _restore(record: Json, limit: TokenLimit, part: Json, removed: Json) -> bool:
    """Give a section its text back, or as much of it as fits, and return whether any did."""
    before = {key: part.get(key) for key in removed}
    part.update({key: value for key, value in removed.items() if value is not None})
    if part.get("text"):
        if limit.excess(record) > 0:
            part["text_end"] = part["line_end"] - 1  # the answer says that it is cut
        limit.truncate(record, part, "text")
        part["text_end"] = part["text_start"] + part["text"].count("\n")
        is_enough = part["text"] == removed["text"] or limit.weigh(part["text"]) >= MIN_EXTRACT
    else:
        is_enough = limit.excess(record) <= 0
    if not is_enough:
        for key, value in before.items():
            part[key] = value
            if value is None and limit.is_lean:
                del part[key]
    return is_enough


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    results = record["results"]
    for key in ("linked_pages", "stale_refs"):
        for result in reversed(results):
            yield limit.clear(result, key)
    for result in reversed(results):
        while len(result["sections"]) > 1:
            yield result["sections"].pop()
    yield from _last_results(record, 0)


def _last_results(record: Json, kept: int) -> Iterator[Any]:
    while len(record["results"]) > kept:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield record["results"].pop()


SEARCH = Tool(
    name="ubp_search",
    title="Search the documentation",
    description=(
        "Search the project documentation by question or topic. Returns pages, best match first: "
        "the best sections whole, then passages, with lines and staleness. Use it before grep for "
        '"how" and "why" questions; use ubp_fulltext_search for exact strings and grep for code.'
    ),
    request=SearchRequest,
    record=SearchRecord,
    run=run,
    text=search_text,
    fit=fit_search,
    reads_collections=True,
)

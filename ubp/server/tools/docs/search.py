"""`ubp_search`: ranked pages for a question, each with the reason and its staleness."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

from ubp.frame.arguments import (
    DocTypes,
    LinkTypes,
    MaxTokens,
    Query,
    Ref,
    Tags,
    between,
)
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.search import search_text
from ubp.output.records.search import SearchRecord, search_record
from ubp.search.pages import Mode
from ubp.search.run import own_path
from ubp.search.suggest_links import is_boilerplate
from ubp.server.tools.tool import Tool
from ubp.workspace import DEPTH, MAX_DEPTH, Workspace

LIMIT, MAX_LIMIT = 10, 20
# benchmarks/agents/agent_answers.py measures how often so many tokens contain the answer.
SEARCH_TOKENS = 1_000
# Of a budget, for places and headings. Texts of all pages' best sections follow in the order of
# their scores: the key term was in 0.84 of 75 responses (benchmarks/agents/agent_answers.py), with
# the three best pages' best sections, and 0.4 for the lines, in 0.73. Changelogs and the like come
# last, since they say what changed and not how things are: 0.85, and the answering section of 115
# questions about specifications is in 88 responses instead of 81.
LINES_SHARE = 0.25
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


def run(workspace: Workspace, request: SearchRequest, *, is_dated: bool = True) -> SearchRecord:
    """Return the record of the best pages by keywords, meaning and links.

    Without `is_dated` the dates of their last changes are left out. Until they are known, each
    search walks through history, over 26,000 pages for 2 s.
    """
    pages = workspace.search(
        request.query,
        mode=request.mode,
        limit=request.limit,
        doc_types=request.doc_type,
        tags=request.tags,
        link_types=request.link_types,
        depth=request.depth,
        include_linked=request.include_linked,
        is_dated=is_dated,
        ref=request.ref,
    )
    return search_record(pages, is_verbose=request.verbose)


class Removed(NamedTuple):
    """A text, taken from a section of a result, to be given back if there is room."""

    result: Json
    section: Json
    text: Json


def fit_search(record: Json, limit: TokenLimit) -> None:
    """Keep a line for each result, then the best sections' texts, then passages, while they fit."""
    if limit.excess(record) <= 0:
        return
    results = record["results"]
    texts = [
        Removed(result, section, {key: limit.clear(section, key) for key in EXTRACT_KEYS})
        for result in results
        for section in result["sections"]
    ]
    bests = [result["sections"][0] for result in results if result["sections"]]
    passages = [{key: limit.clear(best, key) for key in PASSAGE_KEYS} for best in bests]
    for result in results:
        del result["sections"][1:]
    if not limit.drop(record, _removable_parts(record, limit)):
        return
    lines = limit._replace(most=int(limit.most * LINES_SHARE))
    lines.drop(record, _last_results(record, 1))
    kept = {id(result) for result in results}
    texts = [text for text in texts if text.text["text"] and id(text.result) in kept]
    room = -limit.excess(record)
    for removed in sorted(texts, key=_order_of_texts):
        if room < MIN_EXTRACT:
            break
        room = _restore_text(record, limit, removed, room)
    for best, passage in zip(bests[: len(results)], passages, strict=False):
        if not best.get("text"):
            room = _restore_passage(record, limit, best, passage, room)


def _order_of_texts(removed: Removed) -> tuple[bool, float]:
    result = removed.result
    path = own_path(result["filepath"], result.get("collection") or "")
    return is_boilerplate(path), -removed.section["score"]


def _restore_text(record: Json, limit: TokenLimit, removed: Removed, room: int) -> int:
    """Give a section its text back, or as much of it as fits; return the room that is left."""
    section, sections = removed.section, removed.result["sections"]
    if section is not sections[0]:
        sections.append(section)
    section |= removed.text
    is_whole = limit.excess(record) <= 0
    if not is_whole:
        section["text_end"] = section["line_end"] - 1  # the answer says that it is cut
        limit.truncate(record, section, "text")
    section["text_end"] = section["text_start"] + section["text"].count("\n")
    if not is_whole and limit.weigh(section["text"]) < MIN_EXTRACT:
        for key in EXTRACT_KEYS:
            limit.clear(section, key)
        if section is not sections[0]:
            sections.pop()
        return room
    return -limit.excess(record)


def _restore_passage(record: Json, limit: TokenLimit, best: Json, passage: Json, room: int) -> int:
    """Give a section its passage back if it fits; return the room that is left."""
    if not passage["content"] or limit.measure(passage["content"]) > room:
        return room
    before = {key: best.get(key) for key in passage}
    best.update({key: value for key, value in passage.items() if value is not None})
    excess = limit.excess(record)
    if excess <= 0:
        return -excess
    for key, value in before.items():
        best[key] = value
        if value is None and limit.is_lean:
            del best[key]
    return room


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    results = record["results"]
    for key in ("linked_pages", "stale_refs"):
        for result in reversed(results):
            yield limit.clear(result, key)
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
    run_for_text=partial(run, is_dated=False),
    text=search_text,
    fit=fit_search,
    reads_collections=True,
)

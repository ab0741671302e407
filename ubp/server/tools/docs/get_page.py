"""`ubp_get_page`: one page with its text, links and staleness."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.errors import BadArgumentError
from ubp.core.text import truncate_page
from ubp.output.agent.pages import page_text
from ubp.output.records.encoding import Json, to_json
from ubp.output.records.pages import PageRecord, page_record
from ubp.server.tools.arguments import FILEPATH, MAX_TOKENS, REF, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

# Claude Code refuses answers of more than 25,000 tokens.
PAGE_TOKENS = 20_000
PAGE_ARGUMENTS = ("filepath", "id", "title")


def run(workspace: Workspace, given: Mapping[str, Any]) -> PageRecord:
    """Return the record of the page, which is named by path, id or title."""
    given_names = [name for name in PAGE_ARGUMENTS if name in given]
    if len(given_names) != 1:
        raise BadArgumentError(
            "filepath",
            "Pass exactly one of `filepath`, `id` and `title`.",
            cause=f"Received {' and '.join(given_names)}."
            if given_names
            else "Received none of them.",
        )
    path, title = given.get("filepath", given.get("id")), given.get("title")
    return page_record(workspace.page(path, title=title, ref=given.get("ref"), has_created=True))


def fit_page(record: Json, limit: TokenLimit) -> None:
    """Drop repeated texts, then what surrounds the text, then the end of the text."""
    ends = list(_section_ends(record))
    if limit.drop(record, _drop_section_texts(record, limit)):
        return
    frame = {**record, "content": ""}
    limit._replace(most=limit.most // 2).drop(frame, _drop_surroundings(record, limit))
    room = limit.most - limit.measure(to_json({**frame, "truncated_count": len(ends)}))
    kept = truncate_page(record["content"], lambda text: limit.weigh(text) <= room)
    record["content"] = kept
    record["truncated_count"] = sum(end > len(kept) for end in ends)


def _section_ends(record: Json) -> Iterator[int]:
    """Yield where each section ends in the page's content."""
    end = 0
    for section in record["sections"]:
        text = section.get("content", "")
        end = record["content"].find(text, end) + len(text)
        yield end


def _drop_section_texts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    """Drop the texts of the sections: the page's content has them, too."""
    for section in reversed(record["sections"]):
        yield limit.clear(section, "content")


def _drop_surroundings(record: Json, limit: TokenLimit) -> Iterator[Any]:
    """Drop what surrounds the text, the least important parts first."""
    link_lists = [record.get("backlinks", []), record.get("outlinks", [])]
    for link in reversed([link for links in link_lists for link in links]):
        yield limit.clear(link, "link_context")
    for items in (*link_lists, record["sections"]):
        while items:
            yield items.pop()
    for reference in record.get("stale_refs", []):
        yield limit.clear(reference, "commits")


GET_PAGE = Tool(
    name="ubp_get_page",
    title="Read a page",
    description=(
        "Read one documentation page: its Markdown, outgoing and incoming links, and whether its "
        "sources changed since it was written (if so, trust the code). Use it "
        "instead of opening the file; use ubp_get_context to see the linked pages as well."
    ),
    input_schema=object_schema(
        filepath=FILEPATH,
        id=string("doc_id of the page, instead of filepath"),
        title=string("unique part of the title, instead of filepath"),
        ref=REF,
        max_tokens={**MAX_TOKENS, "default": PAGE_TOKENS},
    ),
    record=PageRecord,
    run=run,
    text=page_text,
    fit=fit_page,
)

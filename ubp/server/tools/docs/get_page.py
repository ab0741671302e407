"""`ubp_get_page`: a page to read, and whether it can be trusted."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.errors import BadArgumentError
from ubp.core.text import truncate_page
from ubp.output.agent.pages import page_text
from ubp.output.records.pages import page_record
from ubp.output.records.staleness import to_json
from ubp.server.tools.arguments import FILEPATH, MAX_TOKENS, REF, object_schema
from ubp.server.tools.arguments import text as string
from ubp.server.tools.budget import TokenLimit
from ubp.server.tools.tool import Record, Tool
from ubp.workspace import Workspace

NAMES = ("filepath", "id", "title")


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """The page that is named in one of three ways."""
    named = [name for name in NAMES if name in given]
    if len(named) != 1:
        raise BadArgumentError(
            "filepath",
            "Name the page by one of `filepath`, `id` and `title`.",
            cause=f"Given are {' and '.join(named)}." if named else "None of them is given.",
        )
    path, title = given.get("filepath", given.get("id")), given.get("title")
    return page_record(workspace.page(path, title=title, ref=given.get("ref"), has_created=True))


def fit(record: Record, limit: TokenLimit) -> None:
    """Tell each thing once, then less of what stands around the text, then less of the text."""
    ends = list(_section_ends(record))
    if limit.drop(record, _repetitions(record)):
        return
    frame = {**record, "content": ""}
    limit._replace(most=limit.most // 2).drop(frame, _surroundings(record))
    room = limit.most - limit.measure(to_json({**frame, "truncated_count": len(ends)}))
    kept = truncate_page(record["content"], lambda text: limit.weigh(text) <= room)
    record["content"] = kept
    record["truncated_count"] = sum(end > len(kept) for end in ends)


def _section_ends(record: Record) -> Iterator[int]:
    """Where each section ends in the page's content."""
    end = 0
    for section in record["sections"]:
        text = section.get("content", "")
        end = record["content"].find(text, end) + len(text)
        yield end


def _repetitions(record: Record) -> Iterator[Any]:
    """The texts of the sections stand in the page's content, too."""
    for section in reversed(record["sections"]):
        yield section.pop("content", "")


def _surroundings(record: Record) -> Iterator[Any]:
    """What stands around the text, the least important first."""
    both = [record.get("backlinks", []), record.get("outlinks", [])]
    for one in reversed([link for links in both for link in links]):
        yield one.pop("link_context", "")
    for found in (*both, record["sections"]):
        while found:
            yield found.pop()
    for one in record.get("stale_refs", []):
        yield one.pop("commits", [])


GET_PAGE = Tool(
    name="ubp_get_page",
    title="Read a page",
    description=(
        "One documentation page: its Markdown, links out and back, and whether its sources changed "
        "since it was written (then trust the code, not the page). Use it instead of opening the "
        "file; to read a page with those around it use ubp_get_context."
    ),
    input_schema=object_schema(
        filepath=FILEPATH,
        id=string("doc_id instead of filepath"),
        title=string("unique part of the title instead of filepath"),
        ref=REF,
        max_tokens=MAX_TOKENS,
    ),
    shape="get-page",
    run=run,
    text=page_text,
    fit=fit,
)

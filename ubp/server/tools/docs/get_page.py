"""`ubp_get_page`: one page with its text, links and staleness, or a part of it."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.core.errors import BadArgumentError
from ubp.frame.arguments import (
    MAX_SHOWN_CHARACTERS,
    IdArgument,
    MaxTokens,
    PageArgument,
    Ref,
)
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.pages import page_text
from ubp.output.records.pages import PageRecord, page_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

# Claude Code refuses answers of more than 25,000 tokens.
PAGE_TOKENS = 20_000
MAX_LINES = 1 << 31
MAX_DIGITS = 12
_LINES = re.compile(r"([0-9]{1,9})\s*(-\s*([0-9]{1,9})?)?")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page, named by path, id or title, and which part of it to return."""

    filepath: PageArgument | None = None
    id: IdArgument | None = None
    title: Annotated[str, "unique part of the title"] | None = None
    section: Annotated[str, "heading, its anchor, or a section_id"] | None = None
    lines: Annotated[str, "e.g. 40-80"] | None = None
    continue_: Annotated[str, "where the previous response ends, as it says"] | None = None
    ref: Ref | None = None
    max_tokens: MaxTokens = PAGE_TOKENS


def run(workspace: Workspace, request: PageRequest) -> PageRecord:
    """Return the record of the page, or of a part of it."""
    names = {"filepath": request.filepath, "id": request.id, "title": request.title}
    given_names = [name for name, value in names.items() if value is not None]
    path, section = request.filepath or request.id, request.section or ""
    if not given_names and section:  # a section_id contains the page's id
        path, section = section, ""
    elif len(given_names) != 1:
        raise BadArgumentError(
            "filepath",
            "Pass exactly one of `filepath`, `id` and `title`.",
            cause=f"Received {' and '.join(given_names)}."
            if given_names
            else "Received none of them.",
        )
    if section and request.title is not None:
        raise BadArgumentError("section", "`section` requires `filepath` or `id`.")
    name = section.rpartition("#")[2]
    page = workspace.page(
        f"{path}#{name}" if name else path,
        title=request.title,
        lines=_read_lines(request.lines) if request.lines else None,
        ref=request.ref,
        has_created=True,
    )
    rest = request.continue_
    return page_record(page, _read_continuation(rest, page.page.content) if rest else 0)


def _read_lines(lines: str) -> tuple[int, int]:
    match = _LINES.fullmatch(lines.strip())
    first = int(match[1]) if match else 0
    last = int(match[3] or (MAX_LINES if match[2] else first)) if match else 0
    if not 1 <= first <= last:
        raise BadArgumentError(
            "lines",
            f"Invalid `lines`: {lines[:MAX_SHOWN_CHARACTERS]}.",
            hint="Write 40, 40-80 or 40- (from line 1).",
        )
    return first, last


def _read_continuation(continuation: str, content: str) -> int:
    """Return where the text continues: a continuation has the size and checksum of the rest."""
    size = continuation.partition("@")[0]
    start = len(content) - int(size) if size.isdecimal() and len(size) < MAX_DIGITS else -1
    if start < 0 or _continuation(content[start:]) != continuation:
        raise BadArgumentError(
            "continue",
            f"Invalid `continue`: {continuation[:MAX_SHOWN_CHARACTERS]}.",
            cause="The page has changed since, or the other arguments are different.",
            hint="Repeat the arguments of the call that returned it, or omit it to start again.",
        )
    return start


def _continuation(rest: str) -> str:
    return f"{len(rest)}@{zlib.crc32(rest.encode('utf-8', 'surrogatepass')):08x}"


def fit_page(record: Json, limit: TokenLimit) -> None:
    """Drop repeated texts, then what surrounds the text, then the end of the text."""
    if limit.drop(record, _drop_section_texts(record, limit)):
        return
    content = record["content"]
    ends = [section["line_end"] for section in record["sections"]]
    frame = {**record, "content": "", "continuation": _continuation(content)}
    limit._replace(most=limit.most // 2).drop(frame, _drop_surroundings(record, limit))
    record |= {"continuation": _continuation(content), "truncated_count": len(ends)}
    limit.truncate(record, record, "content")
    rest = content[len(record["content"]) :].lstrip("\n")
    record["continuation"] = _continuation(rest)
    line_end = record["line_start"] + record["content"].rstrip("\n").count("\n")
    record["truncated_count"] = sum(end > line_end for end in ends)


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
        "Read one documentation page, or a section or lines of it: Markdown, links, and whether "
        "its sources changed since it was written (if so, trust the code). Use it "
        "instead of opening the file; use ubp_get_context to see the linked pages as well."
    ),
    request=PageRequest,
    record=PageRecord,
    run=run,
    text=page_text,
    fit=fit_page,
    reads_collections=True,
)

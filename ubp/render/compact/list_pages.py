"""A list of pages for agents: a line a page."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.compact.head import dates, page_line, staleness
from ubp.render.wording import count, printable


def text(record: Mapping[str, Any]) -> str:
    """The pages, how many there are, and where the list goes on."""
    pages = record["pages"]
    shown = count(record["total"], "page")
    if len(pages) < record["total"]:
        shown = f"{len(pages)} of {shown}"
    lines = [f"{shown}. ({record['content_notice']})"]
    lines += [f"{page_line(page)} ({', '.join(_facts(page))})" for page in pages]
    if record.get("next_cursor"):
        lines.append(f"More: cursor {record['next_cursor']}")
    return "\n".join(lines) + "\n"


def _facts(page: Mapping[str, Any]) -> Iterator[str]:
    yield printable(page["doc_type"])
    if page["staleness"] != "untracked":
        yield staleness(page)
    yield f"{page['outgoing_link_count']} out"
    yield f"{page['incoming_link_count']} in"
    yield from dates(page)

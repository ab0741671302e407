"""Sections that hold words, for agents: a place and a snippet each."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.wording import count, printable


def text(record: Mapping[str, Any]) -> str:
    """The places, the best first."""
    results = record["results"]
    if not results:
        return "Nothing holds these words. Try fewer or other words, or ubp_search.\n"
    found = count(record["total_found"], "section")
    lines = [f"{len(results)} of {found}. ({record['content_notice']})"]
    for result in results:
        lines += _result(result)
    return "\n".join(lines) + "\n"


def _result(result: Mapping[str, Any]) -> Iterator[str]:
    heading = result.get("section_heading")
    place = f"{printable(result['filepath'])}:{result['line']}"
    yield f"{place} {printable(heading or result['title'])}"
    if result.get("snippet"):
        yield f"  {printable(result['snippet'])}"

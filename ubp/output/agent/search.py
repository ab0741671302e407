"""Texts of search results for agents: pages, or sections that contain words.

Ten pages take at most 4,000 characters in the median (benchmarks/agent_effort.py measures it), so
only the best ones show their passage whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.model import QUIET_LEVELS
from ubp.core.text import summarize
from ubp.output.agent.pages import name, notice, page_line, quoted, stale_refs
from ubp.output.wording import ARROWS, count, printable

Record = Mapping[str, Any]

# The first results show their passage whole, the others at most so many characters of it.
WHOLE_RESULTS = 3
PASSAGE_CHARACTERS = 110


def fulltext_text(record: Record) -> str:
    """Return the places of the sections, best first."""
    results = record["results"]
    if not results:
        return "No section contains these words. Try fewer or different words, or ubp_search.\n"
    found = count(record["total_found"], "section")
    lines = [f"{len(results)} of {found}. {notice(record)}"]
    for result in results:
        lines += _section_result(result)
    return "\n".join(lines) + "\n"


def _section_result(result: Record) -> Iterator[str]:
    heading = result.get("section_heading")
    place = f"{name(result['filepath'])}:{result['line']}"
    yield f"{place} {quoted(heading or result['title'])}"
    if result.get("snippet"):
        yield f"  {quoted(result['snippet'])}"


def search_text(record: Record) -> str:
    """Return the pages, best first."""
    results = record["results"]
    if not results and not record.get("truncated_count"):
        return "No results. Try different words, or ubp_list_pages.\n"
    lines = [f"{_summary(record)} {notice(record)}"]
    for number, result in enumerate(results, 1):
        lines += _page_result(number, result)
    if record.get("truncated_count"):
        more = count(record["truncated_count"], "more page")
        lines.append(f"[{more}: use a larger limit or max_tokens]")
    return "\n".join(lines) + "\n"


def _summary(record: Record) -> str:
    total = count(record["total_found"], "page")
    found = f"{len(record['results'])} of {total}"
    if record["search_type"] == "fulltext_fallback":
        return f"{found}, keyword and link search only: {printable(record['fallback']['reason'])}"
    return f"{found}."


def _page_result(number: int, result: Record) -> Iterator[str]:
    is_whole = number <= WHOLE_RESULTS
    yield f"{number}. {page_line(result)}{_staleness(result)}"
    best, *others = result["sections"] or [{}]
    if "content" not in best or result["relevance_reason"] != "direct_match" or is_whole:
        yield f"  {printable(result['relevance_text'])}"
    if best.get("content"):
        passage = best["content"] if is_whole else summarize(best["content"], PASSAGE_CHARACTERS)
        yield f"  {_place(best)}: {quoted(passage or best['content'][:PASSAGE_CHARACTERS])}"
    if others and is_whole:
        yield f"  Also {', '.join(map(_place, others))}"
    if result.get("linked_pages"):
        shown = result["linked_pages"] if is_whole else result["linked_pages"][:1]
        yield f"  {', '.join(map(_linked, shown))}"


def _staleness(result: Record) -> str:
    if result["staleness"] in QUIET_LEVELS:
        return ""
    refs = f": {stale_refs(result['stale_refs'])}" if result.get("stale_refs") else ""
    return f" ({result['staleness']}{refs})"


def _place(section: Record) -> str:
    lines = f"{section['line_start']}-{section['line_end']}"
    heading = section.get("heading")
    return f"{quoted(heading)} {lines}" if heading else f"lines {lines}"


def _linked(page: Record) -> str:
    link_type = "" if page["link_type"] == "references" else f" ({page['link_type']})"
    return f"{ARROWS[page['direction']]} {name(page['filepath'])}{link_type}"

"""Sections that hold words, for agents: a place and a snippet each.

Pages that answer a query, for agents: why, where, what stands there, a few lines each.

Ten of them take at most 4,000 characters in the median (benchmarks/agent_effort.py measures it), so
only the best ones show their passage whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.model import QUIET_LEVELS
from ubp.core.text import summarize
from ubp.output.agent.pages import name, notice, page_line, quoted, stale_refs
from ubp.output.wording import ARROWS, count, printable


def fulltext_text(record: Mapping[str, Any]) -> str:
    """The places, the best first."""
    results = record["results"]
    if not results:
        return "Nothing holds these words. Try fewer or other words, or ubp_search.\n"
    found = count(record["total_found"], "section")
    lines = [f"{len(results)} of {found}. {notice(record)}"]
    for result in results:
        lines += _result(result)
    return "\n".join(lines) + "\n"


def _result(result: Mapping[str, Any]) -> Iterator[str]:
    heading = result.get("section_heading")
    place = f"{name(result['filepath'])}:{result['line']}"
    yield f"{place} {quoted(heading or result['title'])}"
    if result.get("snippet"):
        yield f"  {quoted(result['snippet'])}"


Record = Mapping[str, Any]

# So many results show all that their record holds; the others in this many characters.
WHOLE_SECTION = 3
PASSAGE = 110
FALLBACK_NOTES = "fulltext_fallback"


def search_text(record: Record) -> str:
    """The pages, the best first."""
    results = record["results"]
    if not results and not record.get("truncated_count"):
        return "Nothing was found. Try other words, or ubp_list_pages.\n"
    lines = [f"{_summary(record)} {notice(record)}"]
    for number, result in enumerate(results, 1):
        lines += _page_result(number, result)
    if record.get("truncated_count"):
        more = count(record["truncated_count"], "more page")
        lines.append(f"[{more}: ask with a larger limit or max_tokens]")
    return "\n".join(lines) + "\n"


def _summary(record: Record) -> str:
    total = count(record["total_found"], "page")
    found = f"{len(record['results'])} of {total}"
    if record["search_type"] == FALLBACK_NOTES:
        return f"{found}, by words and links only: {printable(record['fallback']['reason'])}"
    return f"{found}."


def _page_result(number: int, result: Record) -> Iterator[str]:
    is_whole = number <= WHOLE_SECTION
    yield f"{number}. {page_line(result)}{_facts(result)}"
    best, *others = result["sections"] or [{}]
    if "content" not in best or result["relevance_reason"] != "direct_match" or is_whole:
        yield f"  {printable(result['relevance_text'])}"
    if best.get("content"):
        passage = best["content"] if is_whole else summarize(best["content"], PASSAGE)
        yield f"  {_place(best)}: {quoted(passage or best['content'][:PASSAGE])}"
    if others and is_whole:
        yield f"  Also {', '.join(map(_place, others))}"
    if result.get("linked_pages"):
        shown = result["linked_pages"] if is_whole else result["linked_pages"][:1]
        yield f"  {', '.join(map(_linked, shown))}"


def _facts(result: Record) -> str:
    facts = []
    if result["staleness"] not in QUIET_LEVELS:
        refs = f": {stale_refs(result['stale_refs'])}" if result.get("stale_refs") else ""
        facts.append(f"{result['staleness']}{refs}")
    return f" ({'; '.join(facts)})" if facts else ""


def _place(section: Record) -> str:
    lines = f"{section['line_start']}-{section['line_end']}"
    heading = section.get("heading")
    return f"{quoted(heading)} {lines}" if heading else f"lines {lines}"


def _linked(one: Record) -> str:
    kind = "" if one["link_type"] == "references" else f" ({one['link_type']})"
    return f"{ARROWS[one['direction']]} {name(one['filepath'])}{kind}"

"""Texts of search results for agents: pages with their best sections, or sections with words."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.model import QUIET_LEVELS
from ubp.output.agent.pages import (
    day,
    fenced,
    name,
    new_marker,
    notice,
    quoted,
    stale_refs,
    unreadable_line,
)
from ubp.output.wording import ARROWS, count, printable

Record = Mapping[str, Any]


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
    """Return the pages, best first: sections whole, passages, or one line each."""
    results = record["results"]
    if not results and not record.get("truncated_count"):
        return "No results. Try different words, or ubp_list_pages.\n"
    bests = [result["sections"][0] if result["sections"] else {} for result in results]
    texts = [best["text"] for best in bests if best.get("text")]
    marker = new_marker(*texts) if texts else ""
    lines = [f"{_summary(record)} {notice(record, marker)}"]
    if record["is_weak"]:
        lines.append(f"Probably no page answers this: the best score is {results[0]['score']:.2f}.")
    for result, best in zip(results, bests, strict=True):
        lines += _page_result(result, best, marker)
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


def _page_result(result: Record, best: Record, marker: str) -> Iterator[str]:
    """Yield `path:lines > headings [stale since …]`, and what there is of the best section."""
    headings = best.get("heading_path") or [result["title"]]
    place = _place(result, best.get("line_start", 1), best.get("line_end", 1))
    yield f"{place} > {' > '.join(map(quoted, headings))}{_staleness(result)}"
    yield from unreadable_line(result, "  ")
    if result.get("doc_id"):
        yield from _verbose(result, best)
    if text := best.get("text"):
        yield from fenced(text, marker)
        if best["text_start"] > best["line_start"] or best["text_end"] < best["line_end"]:
            shown = f"lines {best['text_start']}-{best['text_end']} shown"
            whole = f"{best['line_start']}-{best['line_end']}"
            yield f'[{shown}; all of them: ubp_get_page(filepath, lines="{whole}")]'
    elif passage := best.get("content"):
        yield f"  {quoted(passage)}"
    if translations := result.get("translations"):
        yield f"  Also as {', '.join(map(name, translations))}"
    if result.get("linked_pages"):
        yield f"  {', '.join(map(_linked, result['linked_pages']))}"


def _verbose(result: Record, best: Record) -> Iterator[str]:
    breakdown = result.get("score_breakdown") or {}
    scores = "".join(f", {name} {score:.2f}" for name, score in breakdown.items() if score)
    yield f"  {printable(result['relevance_text'])} Score {result['score']:.2f}{scores}."
    yield f"  id {best.get('section_id') or result['doc_id']}"
    if result.get("stale_refs"):
        yield f"  {stale_refs(result['stale_refs'])}"
    if others := result["sections"][1:]:
        yield f"  Also {', '.join(map(_section, others))}"


def _place(result: Record, start: int, end: int) -> str:
    return f"{name(result['filepath'])}:{start}-{end}"


def _staleness(result: Record) -> str:
    if result["staleness"] in QUIET_LEVELS:
        return ""
    dates = [ref["since"] for ref in result.get("stale_refs", ()) if ref.get("since")]
    return f" [{result['staleness']}{f' since {day(min(dates))}' if dates else ''}]"


def _section(section: Record) -> str:
    lines = f"{section['line_start']}-{section['line_end']}"
    heading = section.get("heading")
    return f"{quoted(heading)} {lines}" if heading else f"lines {lines}"


def _linked(page: Record) -> str:
    link_type = "" if page["link_type"] == "references" else f" ({page['link_type']})"
    return f"{ARROWS[page['direction']]} {name(page['filepath'])}{link_type}"

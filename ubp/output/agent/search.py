"""Texts of search results for agents: pages with their best sections, or sections with words."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.core.model import QUIET_LEVELS
from ubp.frame.quoting import fenced, name, new_marker, quoted, title
from ubp.frame.wording import ARROWS, count, printable
from ubp.output.agent.pages import day, notice, repeated, stale_refs, unreadable_line

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
    yield f"{place} {title(heading or result['title'])}"
    if result.get("snippet"):
        yield f"  {quoted(result['snippet'])}"


def search_text(record: Record) -> str:
    """Return the pages, best first: sections whole, passages, or one line each."""
    results = record["results"]
    if not results and not record.get("truncated_count"):
        return "No results. Try different words, or ubp_list_pages.\n"
    texts = [
        section["text"]
        for result in results
        for section in result["sections"]
        if section.get("text")
    ]
    marker = new_marker(*texts) if texts else ""
    lines = [f"{_summary(record)} {notice(record, marker)}"]
    if record["is_weak"]:
        best = f": the best score is {results[0]['score']:.2f}" if results else ""
        lines.append(f"Probably no page answers this{best}.")
    for result in results:
        lines += _page_result(result, marker)
    if any(_is_cut(section) for result in results for section in result["sections"]):
        call = f'ubp_get_page(filepath, lines="FIRST-LAST"{repeated(record)})'
        lines.append(f"[a whole section: {call}]")
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


def _page_result(result: Record, marker: str) -> Iterator[str]:
    """Yield `path:lines > headings [stale since …]`, and what there is of the best sections."""
    best, *others = result["sections"] or [{}]
    headings = best.get("heading_path") or [result["title"]]
    place = _place(result, best.get("line_start", 1), best.get("line_end", 1))
    path = " > ".join(map(title, headings))
    yield f"{place} > {path}{_staleness(result)}{_shown_lines(best)}"
    yield from unreadable_line(result, "  ")
    if result.get("doc_id"):
        yield from _verbose(result, best)
    if text := best.get("text"):
        yield from fenced(text, marker)
    elif passage := best.get("content"):
        yield f"  {quoted(passage)}"
    for section in others:
        if section.get("text"):
            yield f"{_section(section)}{_shown_lines(section)}"
            yield from fenced(section["text"], marker)
    if translations := result.get("translations"):
        yield f"  Also as {', '.join(map(name, translations))}"
    if result.get("linked_pages"):
        yield f"  {', '.join(map(_linked, result['linked_pages']))}"


def _shown_lines(section: Record) -> str:
    return f", lines {section['text_start']}-{section['text_end']}:" if _is_cut(section) else ""


def _is_cut(section: Record) -> bool:
    """Return whether a section's text is only a part of it."""
    return bool(section.get("text")) and (
        section["text_start"] > section["line_start"] or section["text_end"] < section["line_end"]
    )


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
    return f"{lines} > {title(heading)}" if heading else lines


def _linked(page: Record) -> str:
    link_type = "" if page["link_type"] == "references" else f" ({page['link_type']})"
    return f"{ARROWS[page['direction']]} {name(page['filepath'])}{link_type}"

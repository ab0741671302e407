"""A page and those around it for agents: the page whole, the others in short."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.compact.head import cut_line, page_line, stale_refs, staleness
from ubp.render.wording import count, printable, printable_line

Record = Mapping[str, Any]


def text(record: Record) -> str:
    """The page, then a few lines for each page around it."""
    center, related = record["center"], record["related"]
    lines = [page_line(center), f"{printable(center['doc_type'])}, {staleness(center)}"]
    if center.get("stale_refs"):
        lines.append(f"Sources: {stale_refs(center['stale_refs'])}")
    lines += [f"({record['content_notice']})", ""]
    lines += [printable_line(line) for line in center["content"].splitlines()]
    if "full_size" in center:
        lines.append(f"[the page has {center['full_size']} characters: ubp_get_page reads on]")
    if related:
        lines += ["", f"Around it, {count(len(related), 'page')} (-> linked from here, <- links):"]
    for one in related:
        lines += _related(one)
    lines += cut_line(record["truncated_count"], "page", "ask for less depth or more room")
    return "\n".join(lines) + "\n"


def _related(one: Record) -> Iterator[str]:
    arrow = "->" if one["direction"] == "outlink" else "<-"
    facts = [one["link_type"]]
    if one.get("via"):
        facts.append(f"via {printable(one['via'])}")
    if one["staleness"] not in {"fresh", "untracked"}:
        facts.append(one["staleness"])
    yield f"{arrow} {page_line(one)} ({', '.join(facts)})"
    if one.get("summary"):
        yield f"   {printable(one['summary'])}"
    if one.get("headings"):
        more = f", and {one['hidden_headings']} more" if one.get("hidden_headings") else ""
        yield f"   Sections: {', '.join(map(printable, one['headings']))}{more}"

"""Texts about documents for agents: one page, lists, context, graph, impact, suggested links.

They are written from records, one line a page where possible. What documents contain is quoted or
enclosed by a marker.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ubp.core.model import QUIET_LEVELS
from ubp.core.text import summarize
from ubp.frame.quoting import fenced, label, name, new_marker, quoted, title
from ubp.frame.wording import ARROWS, count
from ubp.staleness.wording import LEVEL_WORDS, describe_noted

Record = Mapping[str, Any]

# The key under which a text finds the arguments that say what its answer is about.
REPEATED = "repeated_arguments"

# The passages of ten pairs take 4,000 characters; the record has longer ones.
PASSAGE_CHARACTERS = 110
DAY = len("2026-11-08")


def notice(record: Record, marker: str = "") -> str:
    """Return the notice about content, with the marker that delimits it if there is one.

    It is in the first line of a text, before anything that a document could have written.
    """
    sentence = str(record["content_notice"])
    return f"({sentence.rstrip('.')}; delimited by {marker}.)" if marker else f"({sentence})"


def page_line(page: Record) -> str:
    """Return a page's path and title: `docs/auth.md: "Authentication"`."""
    return f"{name(page['filepath'])}: {title(page['title'])}"


def day(time: str) -> str:
    """Return the day of a time in ISO 8601."""
    return time[:DAY]


def unreadable_line(page: Record, indent: str = "") -> Iterator[str]:
    """Yield why a page's text cannot be read, if so."""
    if page.get("unreadable"):
        yield f"{indent}{page['unreadable']}"


def dates(page: Record) -> Iterator[str]:
    """Yield when a page was created and changed, as far as the record says."""
    if page.get("created_at"):
        yield f"created {day(page['created_at'])}"
    if page.get("updated_at"):
        yield f"changed {day(page['updated_at'])}"
    if page.get("uncommitted"):
        yield "uncommitted changes"


def staleness(page: Record) -> str:
    """Return the level as records write it; `untracked` is spelled out."""
    level = str(page.get("staleness", "untracked"))
    return LEVEL_WORDS["untracked"] if level == "untracked" else level


def stale_refs(refs: Iterable[Record]) -> str:
    """Return `src/auth.py modified since 2026-11-08`, for each reference."""
    return "; ".join(map(stale_ref, refs))


def stale_ref(ref: Record) -> str:
    """Return a source and what happened to it: `src/auth.py modified since 2026-11-08`."""
    when = f" since {day(ref['since'])}" if ref.get("since") else ""
    moved_to = name(ref["moved_to"]) if ref.get("moved_to") else None
    fragment = str(ref.get("fragment") or "")
    tail = fragment if fragment.startswith("#") else ""
    source = name(str(ref["source_path"]).removesuffix(tail) + tail)
    unfetched = str(ref.get("unfetched") or "")
    words = describe_noted(ref["verdict"], ref.get("note"), when, moved_to, unfetched=unfetched)
    return f"{source} {words}"


def repeated(record: Record) -> str:
    """Return the arguments that further calls about an answer repeat: `, repository="web"`."""
    return "".join(f", {key}={quoted(value)}" for key, value in record.get(REPEATED, {}).items())


def cut_line(number: int, noun: str, advice: str) -> Iterator[str]:
    """Yield what was omitted, and how to get it."""
    if number:
        yield f"[{count(number, noun)} omitted: {advice}]"


def context_text(record: Record) -> str:
    """Return the page, then a few lines for each linked page."""
    center, related = record["center"], record["related"]
    content = center["content"]
    marker = new_marker(content) if content else ""
    lines = [
        notice(record, marker),
        page_line(center),
        f"{label(center['doc_type'])}, {staleness(center)}",
    ]
    if center.get("stale_refs"):
        lines.append(f"Sources: {stale_refs(center['stale_refs'])}")
    lines += unreadable_line(center)
    lines += fenced(content, marker) if content else ()
    if "full_size" in center:
        lines.append(
            f"[truncated; the full page has {center['full_size']} characters: "
            f"use ubp_get_page(filepath{repeated(record)})]"
        )
    if related:
        lines.append(f"Linked pages: {len(related)} (-> outgoing, <- incoming)")
    for page in related:
        lines += _related(page)
    lines += cut_line(record["truncated_count"], "page", "use a smaller depth or a larger budget")
    return "\n".join(lines) + "\n"


def _related(page: Record) -> Iterator[str]:
    facts = [page["link_type"]]
    if page.get("via"):
        facts.append(f"via {name(page['via'])}")
    if page["staleness"] not in QUIET_LEVELS:
        facts.append(page["staleness"])
    yield f"{ARROWS[page['direction']]} {page_line(page)} ({', '.join(facts)})"
    yield from unreadable_line(page, "   ")
    if page.get("summary"):
        yield f"   {quoted(page['summary'])}"
    if page.get("headings"):
        more = f", and {page['hidden_headings']} more" if page.get("hidden_headings") else ""
        yield f"   Sections: {', '.join(map(title, page['headings']))}{more}"


def graph_text(record: Record) -> str:
    """Return each page with the pages that it links to."""
    nodes, edges = record["nodes"], record["edges"]
    paths = {node["id"]: name(node["filepath"]) for node in nodes}
    targets: dict[str, list[str]] = {node["id"]: [] for node in nodes}
    for edge in edges:
        targets[edge["source"]].append(_target(paths[edge["target"]], edge["type"]))
    pages = count(record["total_nodes"], "page")
    lines = [f"{pages}, {count(len(edges), 'link')} shown. {notice(record)}"]
    for node in nodes:
        lines.append(f"{page_line(node)}{_node_facts(node)}")
        if targets[node["id"]]:
            lines.append(f"  -> {', '.join(targets[node['id']])}")
    lines += cut_line(
        record["truncated_count"], "page", "use a larger limit, or center on one page"
    )
    return "\n".join(lines) + "\n"


def _target(path: str, link_type: str) -> str:
    return path if link_type == "references" else f"{path} ({link_type})"


def _node_facts(node: Record) -> str:
    facts = []
    if "depth" in node:
        facts.append(count(node["depth"], "hop") + " away" if node["depth"] else "center")
    if node["staleness"] not in QUIET_LEVELS:
        facts.append(node["staleness"])
    return f" ({', '.join(facts)})" if facts else ""


def suggestions_text(record: Record) -> str:
    """Return the pairs, best first, then those with the same text."""
    pairs, duplicates = record["suggestions"], record.get("duplicates", [])
    lines = [f"{_pair_count(len(pairs))} {notice(record)}"]
    for pair in pairs:
        lines += _pair(pair)
    if duplicates:
        lines.append("Duplicate text, not suggested as links:")
        lines += [f"  {_place(pair['first'])} and {_place(pair['second'])}" for pair in duplicates]
    if pending := record.get("pending_sections"):
        lines.append(f"[{count(pending, 'section')} could not be compared]")
    return "\n".join(lines) + "\n"


def _pair_count(number: int) -> str:
    if number == 0:
        return "No unlinked pages are this similar. Use a lower min_score to see more."
    verb = "is" if number == 1 else "are"
    return f"{count(number, 'pair')} of similar pages {verb} not linked."


def _pair(pair: Record) -> Iterator[str]:
    terms = ", ".join(map(name, pair.get("shared_terms", [])))
    yield f"{pair['score']:.2f}{f' shared terms: {terms}' if terms else ''}"
    for part in (pair["first"], pair["second"]):
        stale = "" if part["staleness"] in QUIET_LEVELS else f" ({part['staleness']})"
        yield f"  {_place(part)} {' > '.join(map(title, part['heading_path']))}{stale}"
        if part.get("content"):
            passage = (
                summarize(part["content"], PASSAGE_CHARACTERS)
                or part["content"][:PASSAGE_CHARACTERS]
            )
            yield f"    {quoted(passage)}"


def _place(part: Record) -> str:
    return f"{name(part['filepath'])}:{part['line_start']}-{part['line_end']}"

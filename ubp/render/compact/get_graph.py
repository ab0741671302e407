"""Pages and their links for agents: a line a page, with the pages that it leads to."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.compact.head import cut_line, page_line
from ubp.render.wording import count, printable

Record = Mapping[str, Any]


def text(record: Record) -> str:
    """Each page with where its links lead."""
    nodes, edges = record["nodes"], record["edges"]
    paths = {node["id"]: printable(node["filepath"]) for node in nodes}
    out: dict[str, list[str]] = {node["id"]: [] for node in nodes}
    for edge in edges:
        out[edge["source"]].append(_aim(paths[edge["target"]], edge["type"]))
    pages = count(record["total_nodes"], "page")
    lines = [f"{pages}, {count(len(edges), 'link')} shown. ({record['content_notice']})"]
    for node in nodes:
        lines.append(f"{page_line(node)}{_facts(node)}")
        if out[node["id"]]:
            lines.append(f"  -> {', '.join(out[node['id']])}")
    lines += cut_line(record["truncated_count"], "page", "ask for the graph around one page")
    return "\n".join(lines) + "\n"


def _aim(path: str, link_type: str) -> str:
    return path if link_type == "references" else f"{path} ({link_type})"


def _facts(node: Record) -> str:
    facts = list(_told(node))
    return f" ({', '.join(facts)})" if facts else ""


def _told(node: Record) -> Iterator[str]:
    if "depth" in node:
        yield count(node["depth"], "link") + " away" if node["depth"] else "center"
    if node["staleness"] not in {"fresh", "untracked"}:
        yield node["staleness"]

"""A page for agents: a head of a few lines, then its Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.compact.head import cut_line, dates, links, page_line, staleness
from ubp.render.wording import printable, printable_line


def text(record: Mapping[str, Any]) -> str:
    """The page with what is known about it, and its text."""
    lines = [page_line(record), ", ".join(_facts(record))]
    lines += _sources(record)
    lines += links("Links", record.get("outlinks", []))
    lines += links("Linked from", record.get("backlinks", []))
    lines += [f"({record['content_notice']})", ""]
    lines += [printable_line(line) for line in record.get("content", "").splitlines()]
    lines += cut_line(record.get("truncated_count", 0), "section", "ask with a larger max_tokens")
    return "\n".join(lines) + "\n"


def _facts(record: Mapping[str, Any]) -> Iterator[str]:
    yield printable(record["doc_type"])
    if record.get("tags"):
        yield "tags " + " ".join(map(printable, record["tags"]))
    yield staleness(record)
    yield from dates(record)


def _sources(record: Mapping[str, Any]) -> Iterator[str]:
    for one in record.get("stale_refs", []):
        yield f"Source {printable(one['source_path'])}: {printable(one['reason'])}"
        for commit in one.get("commits", []):
            yield f"  {commit['id'][:10]} {commit['date'][:10]} {printable(commit['subject'])}"

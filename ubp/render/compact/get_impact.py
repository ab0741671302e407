"""What depends on something, for agents: a line a page, with the chain that leads to it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.render.compact.head import cut_line, page_line
from ubp.render.wording import count, printable

Record = Mapping[str, Any]


def text(record: Record) -> str:
    """The pages, those first that must be looked at first."""
    path = printable(record["path"]) or "the repository"
    lines = [
        f"{count(record['total'], 'page')} to look at for {path}. ({record['content_notice']})"
    ]
    if not record["exists"]:
        lines.append(f"Nothing stands at {path} now.")
    for one in record["impacted"]:
        lines += _impacted(one)
    lines += cut_line(record["truncated_count"], "page", "ask with a larger limit or less depth")
    return "\n".join(lines) + "\n"


def _impacted(one: Record) -> Iterator[str]:
    stale = "" if one["staleness"] in {"fresh", "untracked"} else f" ({one['staleness']})"
    yield f"{page_line(one)}{stale}"
    yield f"  {'; '.join(_step(step) for step in one['chain'])}"


def _step(step: Record) -> str:
    place = f"{printable(step['filepath'])}:{step['line']}"
    target = f" {printable(step['target'])}" if step.get("target") else ""
    if "source_path" in step:
        moved = f", now {printable(step['moved_to'])}" if step.get("moved_to") else ""
        return f"{place} describes {printable(step['source_path'])}{moved}"
    return f"{place} {step['link_type']}{target}"

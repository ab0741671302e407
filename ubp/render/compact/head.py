"""What all compact texts write alike: names, dates, links, what became of sources."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ubp.render.wording import count, printable

Record = Mapping[str, Any]

# A page with more links is a list of links: its text has them.
MOST_LINKS = 12
DAY = len("2026-11-08")


def page_line(page: Record) -> str:
    """`docs/auth.md: Authentication`."""
    return f"{printable(page['filepath'])}: {printable(page['title'])}"


def day(moment: str) -> str:
    """The day of a moment."""
    return moment[:DAY]


def dates(page: Record) -> Iterator[str]:
    """When a page was created and changed, as far as it is told."""
    if page.get("created_at"):
        yield f"created {day(page['created_at'])}"
    if page.get("updated_at"):
        yield f"changed {day(page['updated_at'])}"
    if page.get("uncommitted"):
        yield "edited since, not committed"


def staleness(page: Record) -> str:
    """The level, in the words of records."""
    level = str(page.get("staleness", "untracked"))
    return "names no sources" if level == "untracked" else level


def stale_refs(refs: Iterable[Record]) -> str:
    """`src/auth.py modified since 2026-11-08`, each."""
    return "; ".join(_stale_ref(one) for one in refs)


def links(title: str, found: list[Record]) -> Iterator[str]:
    """One line: where links lead, or where they come from."""
    if found:
        shown = ", ".join(dict.fromkeys(_link(one) for one in found[:MOST_LINKS]))
        more = f", and {count(len(found) - MOST_LINKS, 'more')}" if found[MOST_LINKS:] else ""
        yield f"{title}: {shown}{more}"


def cut_line(number: int, noun: str, advice: str) -> Iterator[str]:
    """What was left out, and how to get it."""
    if number:
        yield f"[{count(number, noun)} left out: {advice}]"


def _stale_ref(one: Record) -> str:
    since = f" since {day(one['since'])}" if one.get("since") else ""
    return f"{printable(one['source_path'])} {one['verdict']}{since}"


def _link(one: Record) -> str:
    kind = "" if one["link_type"] == "references" else f" ({one['link_type']})"
    if one.get("filepath") is None:
        return f"{printable(one['target'])}{kind} (no such page)"
    return f"{printable(one['filepath'])}{kind}"

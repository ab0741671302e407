"""Lines about documents for agents, which are written from the JSON objects of records."""

from collections.abc import Iterator, Mapping
from typing import Any

from ubp.frame.quoting import name, title
from ubp.frame.wording import count
from ubp.staleness.wording import LEVEL_WORDS, describe_noted

Record = Mapping[str, Any]

# The key under which a text finds the arguments that say what its answer is about.
REPEATED = "repeated_arguments"

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


def staleness(page: Record) -> str:
    """Return the level as records write it; `untracked` is spelled out."""
    level = str(page.get("staleness", "untracked"))
    return LEVEL_WORDS["untracked"] if level == "untracked" else level


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


def cut_line(number: int, noun: str, advice: str) -> Iterator[str]:
    """Yield what was omitted, and how to get it."""
    if number:
        yield f"[{count(number, noun)} omitted: {advice}]"

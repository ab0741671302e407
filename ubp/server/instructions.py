"""What the server tells an agent's model once, before it calls anything."""

from collections.abc import Collection
from typing import NamedTuple

from ubp.tools.calling import NOTICE


class Line(NamedTuple):
    """A line, and the tools that it speaks of: it is said where all of them are offered."""

    text: str
    tools: frozenset[str] = frozenset()


LINES = (
    Line(
        "UBP knows this repository's Markdown documentation: which pages matter, how they hang "
        "together, and which no longer describe the code (staleness)."
    ),
    Line(
        "To answer a question: ubp_search(query), then ubp_get_context(filepath) on the best page.",
        frozenset({"ubp_search", "ubp_get_context"}),
    ),
    Line(
        "To explore: ubp_list_pages(doc_type), ubp_get_page(filepath), "
        "ubp_get_graph(center=filepath).",
        frozenset({"ubp_list_pages", "ubp_get_page", "ubp_get_graph"}),
    ),
    Line(
        "To trust or update a page: look at staleness and stale_refs; "
        "ubp_check_staleness(filepath, include_diff=true) shows what changed in its sources since. "
        "Where they disagree, the code is right.",
        frozenset({"ubp_check_staleness"}),
    ),
    Line(f"Paths are from the repository's root. {NOTICE}"),
)


def instructions(tools: Collection[str]) -> str:
    """The lines for a server that offers these tools."""
    return "\n".join(line.text for line in LINES if line.tools <= {*tools})

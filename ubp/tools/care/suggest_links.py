"""`ubp_suggest_links`: pages that are close in meaning and do not know of each other."""

from collections.abc import Mapping
from typing import Any

from ubp.relating import MIN_SCORE, MOST_SUGGESTED
from ubp.render.compact.suggest_links import text
from ubp.render.suggestion_records import suggestions_record
from ubp.tools.parameters import REF, number, share, takes
from ubp.tools.parameters import text as string
from ubp.tools.tool import Record, Tool
from ubp.workspace import Workspace

MOST = 50


def run(workspace: Workspace, given: Mapping[str, Any]) -> Record:
    """The best pairs of all pages, or of one page with the others."""
    found = workspace.suggest_links(
        given.get("filepath"),
        min_score=given["min_score"],
        limit=given["limit"],
        ref=given.get("ref"),
    )
    return suggestions_record(found)


TOOL = Tool(
    name="ubp_suggest_links",
    title="Suggest links between pages",
    description=(
        "Pairs of documentation pages that are close in meaning and not linked: both sections, a "
        "score, the words they share. Use it after writing a page, to link it; read both sections "
        "before you add a link."
    ),
    input_schema=takes(
        filepath=string("a page; none: all pairs"),
        min_score=share(MIN_SCORE, "lower shows more, less sure"),
        limit=number(1, MOST, MOST_SUGGESTED),
        ref=REF,
    ),
    shape="suggest-links",
    run=run,
    text=text,
)

"""`ubp suggest-links`: pairs of similar pages that are not linked."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Number, Revision, check_range
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.text.suggestions import suggestions_text
from ubp.server.tools.maintenance.suggest_links import SUGGEST_LINKS
from ubp.server.tools.tool import call_tool
from ubp.workspace import MAX_SUGGESTED, MIN_SCORE


def suggest_links(
    page: str | None = None,
    *,
    min_score: Annotated[float, Parameter(metavar="N")] = MIN_SCORE,
    limit: Number = MAX_SUGGESTED,
    ref: Revision = None,
    terminal: Terminal,
) -> int:
    """Run `ubp suggest-links`.

    Args:
        page: Only pairs with this page: its path, the unique end of that, or its `doc_id`.
        min_score: How sure, from 0 to 1: of pairs from 0.8 on four in five are worth a link (0.8).
        limit: Show so many pairs at most (10).
        ref: The pages of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    check_range("--limit", limit)
    if not 0 <= min_score <= 1:
        raise UsageError(
            f"--min-score is {min_score:g}.",
            cause="0.8 and more: four pairs in five are worth a link; 0.5: three in five.",
            hint="Take a number from 0 to 1.",
        )
    with open_workspace(terminal) as workspace:
        if terminal.options.json:
            arguments = {"filepath": page, "min_score": min_score, "limit": limit, "ref": ref}
            terminal.record(call_tool(SUGGEST_LINKS, workspace, arguments, is_typed=True).record)
            return CLEAN
        suggestions = workspace.suggest_links(page, min_score=min_score, limit=limit, ref=ref)
    terminal.write(suggestions_text(suggestions, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN

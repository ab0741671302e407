"""`ubp impact`: what depends on a page or a source."""

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import FAR, check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.relating import MOST_IMPACTED
from ubp.render.text.related import impact_text
from ubp.tools.calling import call
from ubp.tools.care.get_impact import MAX_DEPTH, TOOL


def impact(
    path: str | None = None,
    *,
    depth: int = 3,
    limit: int = MOST_IMPACTED,
    ref: str | None = None,
    terminal: Terminal,
) -> int:
    """Tell which pages depend on a page or a source, and through what.

    Args:
        path: A page, a file or a folder; it need not exist any more.
        depth: Tell of pages so many steps away, 1 to 5 (3 where nothing is said).
        limit: Tell of so many pages at most (100).
        ref: The pages of this revision instead of the work tree's.
        terminal: Where the answer goes.
    """
    if path is None:
        raise UsageError(
            "Which page or file?",
            cause="`ubp impact` tells what depends on it.",
            hint="Name it: ubp impact src/auth.py",
        )
    check_range("--depth", depth, MAX_DEPTH, why=FAR)
    check_range("--limit", limit)
    with open_workspace(terminal) as workspace:
        if terminal.options.json:
            given = {"path": path, "depth": depth, "limit": limit, "ref": ref}
            terminal.record(call(TOOL, workspace, given, is_typed=True).record)
            return CLEAN
        found = workspace.impact(path, depth=depth, limit=limit, ref=ref)
    terminal.write(impact_text(found, terminal.style, is_quiet=terminal.options.quiet))
    return CLEAN

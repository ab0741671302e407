"""`ubp coverage`: which sources no page describes."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.door import CLEAN
from ubp.cli.opening import open_workspace
from ubp.cli.ranges import check_range
from ubp.cli.terminal import Terminal
from ubp.errors import UsageError
from ubp.render.text.coverage import coverage_text

MOST_GAPS = 20
MOST_DAYS = 100_000  # nearly four times as long as there have been dates in commits


def coverage(
    *paths: str,
    days: float | None = None,
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = MOST_GAPS,
    ref: str | None = None,
    key: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Tell which source files and directories no page describes, what changes most first.

    Args:
        paths: Only these files, folders or globs; all where none is named.
        days: Count the changes of so many days before the last commit (365).
        limit: Show so many lines at most (20).
        ref: This revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    check_range("--limit", limit)
    if days is not None and not 0 < days <= MOST_DAYS:
        raise UsageError(f"--days is {days:g}.", hint="Take a number above 0, up to 100000.")
    with open_workspace(terminal, keys=key or ()) as workspace:
        found = workspace.coverage(paths, days=days, ref=ref)
    if terminal.options.json:
        from ubp.render.coverage_records import coverage_record

        terminal.record(coverage_record(found, limit))
    else:
        is_quiet = terminal.options.quiet
        terminal.write(coverage_text(found, terminal.style, limit=limit, is_quiet=is_quiet))
    return CLEAN

"""`ubp ack`, which pins reviewed pages, and `ubp affected`, which finds the pages of some files."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys, Revision
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.output.records.staleness import acknowledge_record, affected_record
from ubp.output.text.stale import acknowledge_text, affected_text


def ack(  # noqa: PLR0913  # the command's options
    *paths: str,
    all_: bool = False,
    staged: bool = False,
    history: bool = False,
    reason: Annotated[str | None, Parameter(metavar="TEXT")] = None,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp ack`.

    Args:
        paths: Pages, folders or globs.
        all_: Every page that is not fresh.
        staged: Pin what is staged, and stage the pins; only they are staged.
        history: Pin what each page described by its history, so that no debt is lost.
        reason: Why it is still true; kept beside the pin until the next one.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal, keys=key or ()) as workspace:
        results = workspace.acknowledge(
            paths, every=all_, staged=staged, from_history=history, reason=reason
        )
        prefix = workspace.session.repository.prefix
    has_skipped = any(result.skipped for result in results)
    if terminal.options.json:
        terminal.record(acknowledge_record(results))
    elif has_skipped or not terminal.options.quiet:
        terminal.write(acknowledge_text(results, prefix, terminal.style, is_staged=staged))
    return FINDINGS if has_skipped else CLEAN


def affected(*paths: str, ref: Revision = None, key: Keys = None, terminal: Terminal) -> int:
    """Run `ubp affected`.

    Args:
        paths: Files, folders or globs.
        ref: Ask this revision instead of the work tree.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        terminal: Where the answer goes.
    """
    if not paths:
        raise UsageError(
            "Which files?",
            cause="`ubp affected` tells which pages describe some files.",
            hint="Name them: ubp affected src/auth.py",
        )
    with open_workspace(terminal, keys=key or ()) as workspace:
        pages = workspace.affected(paths, ref=ref)
    if terminal.options.json:
        terminal.record(affected_record(pages))
    else:
        is_quiet = terminal.options.quiet
        terminal.write(affected_text(pages, paths, terminal.style, is_quiet=is_quiet))
    return CLEAN

"""`ubp ack`, which pins reviewed pages."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.error_handler import CLEAN, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Keys, Revision
from ubp.cli.terminal import Terminal
from ubp.output.text.stale import acknowledge_text


def ack(  # noqa: PLR0913  # the command's options
    *paths: str,
    all_: bool = False,
    staged: bool = False,
    amend: bool = False,
    base: Revision = None,
    history: bool = False,
    at: Revision = None,
    reason: Annotated[str | None, Parameter(metavar="TEXT")] = None,
    diff: bool = False,
    translations: bool = False,
    key: Keys = None,
    terminal: Terminal,
) -> int:
    """Run `ubp ack`.

    Args:
        paths: Pages, directories or globs.
        all_: Acknowledge every page that is not fresh.
        staged: Pin what the staged changes make stale, and stage the pins (nothing else is staged).
        amend: With --staged, pin what the commit that replaces HEAD makes stale.
        base: Pin only what the commits since the merge base with this revision make stale.
        history: Pin the sources as of the last change of each page's text (not of its front
            matter), so that existing drift is kept.
        at: Pin the sources as of this revision.
        reason: Why the page is still accurate; stored with the pin until the next one.
        diff: Show what is acknowledged: how each source changed since its baseline.
        translations: Also acknowledge the translations in directories and globs, or with --all
            everywhere, as up to date with their originals; a page that is named always is.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        terminal: Where the answer goes.
    """
    with open_workspace(terminal, keys=key or ()) as workspace:
        results = workspace.acknowledge(
            paths,
            every=all_,
            staged=staged,
            amend=amend,
            base=base,
            from_history=history,
            at=at,
            reason=reason,
            has_diffs=diff,
            has_translations=translations,
        )
        prefix = workspace.session.repository.prefix
    has_skipped = any(result.skipped for result in results)
    if terminal.options.json:
        from ubp.output.records.references import acknowledge_record

        terminal.record(acknowledge_record(results))
    elif has_skipped or not terminal.options.quiet:
        is_change = staged or base is not None
        text = acknowledge_text(
            results, prefix, terminal.style, is_change=is_change, is_staged=staged
        )
        terminal.write(text)
    return FINDINGS if has_skipped else CLEAN

"""The options of `ubp stale` for cyclopts; `ubp.cli.fast_path` reads a hook's without it."""

from typing import Annotated

from ubp.cli.parameters import (
    ALARMS,
    FORMAT,
    LEVEL,
    Keys,
    OptionalDecimal,
    OptionalNumber,
    OutputFiles,
    Revision,
)
from ubp.cli.stale import run_stale
from ubp.cli.stale_options import FailOn, StaleOptions
from ubp.cli.terminal import Format, Terminal
from ubp.core.model import Alarms


def stale(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
    amend: bool = False,
    base: Revision = None,
    ref: Revision = None,
    since: Revision = None,
    days: OptionalDecimal = None,
    key: Keys = None,
    all_: bool = False,
    exit_code: bool = False,
    fail_on: Annotated[FailOn | None, LEVEL] = None,
    alarms: Annotated[Alarms | None, ALARMS] = None,
    max_cases: OptionalNumber = None,
    diff: bool = False,
    translations: bool = False,
    format_: Annotated[Format | None, FORMAT] = None,
    output_file: OutputFiles = None,
    terminal: Terminal,
) -> int:
    """Run `ubp stale`.

    Args:
        paths: Pages, directories or globs; by default all pages.
        staged: Check the staged changes, as a hook does; report only pages they make stale.
        amend: With --staged, check the commit that replaces HEAD (`git commit --amend`).
        base: Check all changes since the merge base with this revision, as for a pull request.
        ref: Check this revision instead of the work tree.
        since: Compare levels with this revision: pages that became stale or fresh, new and removed.
        days: Days of drift after which a page is stale, not just possibly stale.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        all_: List all pages: also fresh pages, pages without sources, and older staleness.
        exit_code: Exit with 1 if a page is stale.
        fail_on: Exit with 1 if a page has this level or a worse one; never: not for any page.
        alarms: Which pages fail: any that drifted; named, the default unless configured: those
            that name what changed, or list a missing source; judged: of a change, those of named
            that the language model of UBP_REVIEW_URL does not find accurate.
        max_cases: With --alarms judged, ask about at most this many pages (10).
        diff: Show how each source changed since its baseline (text, json, markdown).
        translations: Count the translations of each language instead: fresh, stale, missing, and
            orphaned; list those of the given paths, or with --all or --diff all that are stale.
        format_: Output format.
        output_file: Also write the output to a file, e.g. sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.
    """
    options = StaleOptions(
        paths=paths,
        staged=staged,
        amend=amend,
        base=base,
        ref=ref,
        since=since,
        days=days,
        keys=tuple(key or ()),
        every=all_,
        exit_code=exit_code,
        fail_on=fail_on,
        alarms=alarms,
        max_cases=max_cases,
        diff=diff,
        translations=translations,
        format=format_,
        output_files=tuple(output_file or ()),
    )
    return run_stale(options, terminal)

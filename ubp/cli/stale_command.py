"""The options of `ubp stale` for cyclopts; `ubp.cli.fast_path` reads a hook's without it."""

from typing import Annotated

from ubp.cli.parameters import (
    FORMAT,
    LEVEL,
    Keys,
    OptionalDecimal,
    OutputFiles,
    Revision,
)
from ubp.cli.stale import FailOn, StaleOptions, run_stale
from ubp.cli.terminal import Format, Terminal


def stale(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
    base: Revision = None,
    ref: Revision = None,
    since: Revision = None,
    days: OptionalDecimal = None,
    key: Keys = None,
    all_: bool = False,
    exit_code: bool = False,
    fail_on: Annotated[FailOn | None, LEVEL] = None,
    diff: bool = False,
    format_: Annotated[Format | None, FORMAT] = None,
    output_file: OutputFiles = None,
    terminal: Terminal,
) -> int:
    """Run `ubp stale`.

    Args:
        paths: Pages, folders or globs to look at; all pages where none is given.
        staged: Judge the commit in the making, as a hook does: only what it leaves behind.
        base: Judge everything since the merge base with this revision, as for a pull request.
        ref: Judge this revision instead of the work tree.
        since: Compare levels with those at this revision: became stale, became fresh, new, gone.
        days: Drift of this age makes a page stale, younger drift possibly stale.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        all_: Tell of every page: fresh ones, those without sources, and what was stale before.
        exit_code: Exit 1 when a page is stale.
        fail_on: Exit 1 on this level or a worse one.
        diff: Show what changed in each source since the page described it (text, json, markdown).
        format_: How the answer is printed: for people, programs, a CI service.
        output_file: Write the answer to a file too, as in sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.
    """
    options = StaleOptions(
        paths=paths,
        staged=staged,
        base=base,
        ref=ref,
        since=since,
        days=days,
        keys=tuple(key or ()),
        every=all_,
        exit_code=exit_code,
        fail_on=fail_on,
        diff=diff,
        format=format_,
        output_files=tuple(output_file or ()),
    )
    return run_stale(options, terminal)

"""The options of `ubp check` for cyclopts; `ubp.cli.fast_path` reads a hook's without it."""

from typing import Annotated

from cyclopts import Parameter

from ubp.cli.parameters import (
    ALARMS,
    FORMAT,
    LEVEL,
    Keys,
    OptionalNumber,
    OutputFiles,
    Revision,
)
from ubp.cli.run_check import CheckOptions, FailOn, run_check
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.core.model import Alarms


def check(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
    amend: bool = False,
    base: Revision = None,
    ref: Revision = None,
    pre_push: bool = False,
    rule: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    key: Keys = None,
    fail_on: Annotated[FailOn, LEVEL] = "error",
    alarms: Annotated[Alarms | None, ALARMS] = None,
    max_cases: OptionalNumber = None,
    fix: bool = False,
    dry_run: bool = False,
    statistics: bool = False,
    unconfirmed: bool = False,
    explain_site: bool = False,
    format_: Annotated[Format | None, FORMAT] = None,
    output_file: OutputFiles = None,
    terminal: Terminal,
) -> int:
    """Run `ubp check`.

    Args:
        paths: Pages, directories or globs; by default all pages.
        staged: Check the staged changes, as a hook does; report only findings they introduce.
        amend: With --staged, check the commit that replaces HEAD (`git commit --amend`).
        base: Check all changes since the merge base with this revision, as for a pull request.
        ref: Check this revision instead of the work tree.
        pre_push: Check the commits being pushed; outside a hook, those not yet upstream.
        rule: Run only this rule, even if it is off; repeatable.
        key: Front matter key that lists sources, instead of the configured keys; repeatable.
        fail_on: Exit with 1 on findings of this severity or higher; never: on none.
        alarms: Which stale pages are errors: any that drifted; named, the default unless
            configured: those that name what changed, or list a missing source; judged: of a
            change, those of named that the language model of UBP_REVIEW_URL does not find accurate.
        max_cases: With --alarms judged, ask about at most this many pages (10).
        fix: Fix moved sources, and broken links with a single possible target.
        dry_run: With --fix, show the changes as a diff; write nothing.
        statistics: Show how many findings each rule has, instead of the findings.
        unconfirmed: Also report, as warnings, links that lead nowhere by UBP's rules though
            nothing else shows that they are broken.
        explain_site: Instead, show which sites were found, and by which rules their links are
            checked.
        format_: Output format.
        output_file: Also write the output to a file, e.g. sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.

    Raises:
        UsageError: the options contradict each other.
    """
    if explain_site:
        if (
            paths
            or rule
            or staged
            or base
            or pre_push
            or fix
            or statistics
            or unconfirmed
            or format_ not in {None, "text", "json"}
        ):
            raise UsageError(
                "--explain-site cannot be combined with paths and options of a check.",
                cause="It shows the sites of a whole revision.",
                hint="Use `ubp check --explain-site`, with --ref or --json.",
            )
        return _explain_site(ref, format_, terminal)
    options = CheckOptions(
        paths=paths,
        staged=staged,
        amend=amend,
        base=base,
        ref=ref,
        pre_push=pre_push,
        rules=tuple(rule or ()),
        keys=tuple(key or ()),
        fail_on=fail_on,
        alarms=alarms,
        max_cases=max_cases,
        fix=fix,
        dry_run=dry_run,
        unconfirmed=unconfirmed,
        format=format_,
        output_files=tuple(output_file or ()),
        statistics=statistics,
    )
    return run_check(options, terminal)


def _explain_site(ref: str | None, format_: Format | None, terminal: Terminal) -> int:
    from ubp.answers.checks.explain_site import EXPLAIN_SITE, ExplainSiteRequest
    from ubp.cli.print_answer import print_answer

    if format_ == "json":
        terminal.set(terminal.options._replace(json=True))
    return print_answer(EXPLAIN_SITE, ExplainSiteRequest(ref), terminal)

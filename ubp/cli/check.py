"""`ubp check`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ubp import __version__
from ubp.answers.checks.check import check_record, text
from ubp.checks.finding import CheckReport
from ubp.checks.run import check_target
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.hooks import judge, judge_push
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import Answer, read_outputs
from ubp.cli.parameters import FORMAT, LEVEL, Keys, OutputFiles, Revision
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.frame.wording import joined
from ubp.frame.writer import Writer
from ubp.index.session import Target
from ubp.output.ci.outcome import Outcome
from ubp.staleness.model import is_certain

FailOn = Literal["warning", "error", "named", "never"]


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
    fix: bool = False,
    dry_run: bool = False,
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
        fail_on: Exit with 1 on findings of this severity or higher; named: also, but for stale
            pages only if they name what changed; never: on none.
        fix: Fix moved sources, and broken links with a single possible target.
        dry_run: With --fix, show the changes as a diff; write nothing.
        format_: Output format.
        output_file: Also write the output to a file, e.g. sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.
    """
    has_target = staged or bool(base or ref)
    _check_options(fix=fix, dry_run=dry_run, has_target=has_target, pre_push=pre_push)
    outputs = read_outputs(format_, output_file or (), terminal)
    keys, rules = tuple(key or ()), tuple(rule or ())
    with open_workspace(terminal, keys=keys) as workspace:
        session = workspace.session
        if pre_push:
            judged = judge_push(workspace, terminal.environment)
        else:
            judged = judge(workspace, Target(ref, staged, base, amend), terminal.environment)
        fixes = None
        if fix:
            from ubp.checks.fix import fix_findings  # loads the Markdown parser

            fixes = fix_findings(session, paths, rules, is_dry=dry_run)
            report = fixes.check
        else:
            is_named = fail_on == "named"
            report = check_target(session, judged.target, paths, rules, has_evidence=is_named)
        change = judged.words(workspace, report.snapshot)
        writer = Writer(
            is_quiet=terminal.options.quiet,
            prefix=session.repository.prefix,
            keys=keys,
            change=change,
        )
        status = exit_status(report, fail_on, is_hook=judged.is_hook)
        record = check_record(report, fixes)
        answer = Answer(
            text=lambda style: joined(text(record, writer._replace(style=style))),
            record=lambda: record,
            outcome=lambda: Outcome("check", report, status, __version__, change=change, keys=keys),
        )
        outputs.deliver(answer, workspace, terminal)
    return status


def exit_status(report: CheckReport, fail_on: FailOn, *, is_hook: bool = False) -> int:
    """Return 1 for findings that fail, else 2 where a reference is unknown, else 0.

    In a hook what is unknown is only a warning.
    """
    severities = {"warning": ("error", "warning"), "never": ()}.get(fail_on, ("error",))
    failing = [finding for finding in report.findings if finding.severity in severities]
    has_unread = False
    if fail_on == "named":
        has_unread = any(finding.drift and finding.drift.is_unread for finding in failing)
        failing = [finding for finding in failing if not finding.drift or is_certain(finding.drift)]
    if failing:
        return FINDINGS
    return FAILED if (report.unverified or has_unread) and not is_hook else CLEAN


def _check_options(*, fix: bool, dry_run: bool, has_target: bool, pre_push: bool) -> None:
    if pre_push and (has_target or fix):
        raise UsageError(
            "--pre-push cannot be combined with --staged, --base, --ref or --fix.",
            cause="The push determines the commits to check.",
            hint="To check another range: ubp check --base REV --ref REV",
        )
    if dry_run and not fix:
        raise UsageError("--dry-run requires --fix.", hint="Use both: ubp check --fix --dry-run")
    if fix and has_target:
        raise UsageError(
            "--fix cannot be combined with --staged, --base or --ref.",
            cause="--fix works on the files of the work tree.",
            hint="Remove the other option, then `git add` the fixed pages.",
        )

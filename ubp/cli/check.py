"""`ubp check`: what is wrong in the pages, and what of it can be put right."""

from functools import partial
from typing import Literal

from ubp import __version__
from ubp.check.report import CheckReport
from ubp.cli.door import CLEAN, FAILED, FINDINGS
from ubp.cli.opening import open_workspace
from ubp.cli.outputs import Answer, read_outputs
from ubp.cli.pushing import find_push
from ubp.cli.terminal import Format, Terminal
from ubp.errors import UsageError
from ubp.render.check_records import check_record, fix_record
from ubp.render.outcome import Outcome
from ubp.render.text.check import Telling, check_text, fix_text
from ubp.workspace import Workspace

FailOn = Literal["warning", "error", "never"]


def check(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
    base: str | None = None,
    ref: str | None = None,
    pre_push: bool = False,
    rule: list[str] | None = None,
    key: list[str] | None = None,
    fail_on: FailOn = "error",
    fix: bool = False,
    dry_run: bool = False,
    format_: Format | None = None,
    output_file: list[str] | None = None,
    terminal: Terminal,
) -> int:
    """Tell what is wrong in the pages: stale ones, broken links, front matter that cannot be read.

    Args:
        paths: Pages, folders or globs to look at; all pages where none is given.
        staged: Judge the commit in the making, as a hook does: only what it brings.
        base: Judge everything since the merge base with this revision, as for a pull request.
        ref: Judge this revision instead of the work tree.
        pre_push: Judge what a push brings, as a hook does; by hand, what the upstream lacks.
        rule: A rule to check, instead of those that are not off; repeatable.
        key: A front matter key that names sources, instead of the configured ones; repeatable.
        fail_on: Exit 1 on findings of this severity or a worse one.
        fix: Rewrite moved sources, and broken links with a single possible target.
        dry_run: With --fix, show what would be written and write nothing.
        format_: How the answer is printed: for people, programs, a CI service.
        output_file: Write the answer to a file too, as in sarif=ubp.sarif; repeatable.
        terminal: Where the answer goes.
    """
    elsewhere = staged or bool(base or ref)
    _check_options(is_fixing=fix, is_dry=dry_run, is_elsewhere=elsewhere, is_pushing=pre_push)
    outputs = read_outputs(format_, output_file or (), terminal)
    with open_workspace(terminal, keys=key or ()) as workspace:
        if pre_push:
            base, ref = find_push(workspace, terminal.environment)
        if fix:
            done = workspace.fix(paths, rules=rule or (), is_dry=dry_run)
            report, text, record = done.check, partial(fix_text, done), partial(fix_record, done)
        else:
            report = workspace.check(paths, ref=ref, staged=staged, base=base, rules=rule or ())
            text, record = partial(check_text, report), partial(check_record, report)
        telling = _telling(workspace, terminal, base)
        status = exit_status(report, fail_on)
        outcome = Outcome("check", report, status, __version__, base=base, keys=tuple(key or ()))
        answer = Answer(lambda style: text(telling._replace(style=style)), record, lambda: outcome)
        outputs.deliver(answer, workspace, terminal)
    return status


def exit_status(report: CheckReport, fail_on: FailOn) -> int:
    """1 on findings that fail, 2 where something is unknown; a finding wins over an unknown."""
    failing = report.count("error") if fail_on != "never" else 0
    if fail_on == "warning":
        failing += report.count("warning")
    if failing:
        return FINDINGS
    return FAILED if report.unverified else CLEAN


def _check_options(*, is_fixing: bool, is_dry: bool, is_elsewhere: bool, is_pushing: bool) -> None:
    if is_pushing and (is_elsewhere or is_fixing):
        raise UsageError(
            "--pre-push cannot be combined with --staged, --base, --ref or --fix.",
            cause="The push tells what is judged.",
            hint="For a range of your own: ubp check --base REV --ref REV",
        )
    if is_dry and not is_fixing:
        raise UsageError(
            "--dry-run says how --fix would go.", hint="Write both: ubp check --fix --dry-run"
        )
    if is_fixing and is_elsewhere:
        raise UsageError(
            "--fix cannot be combined with --staged, --base or --ref.",
            cause="It writes files of the work tree, so it looks at the work tree.",
            hint="Take the other option away; then `git add` what was written.",
        )


def _telling(workspace: Workspace, terminal: Terminal, base: str | None) -> Telling:
    return Telling(
        terminal.style,
        is_quiet=terminal.options.quiet,
        base=base,
        prefix=workspace.repository.prefix,
    )

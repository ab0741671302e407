"""What a push brings: pre-commit's variables tell, and without them what is here.

`ubp check`: what is wrong in the pages, and what of it can be put right.

`ubp debt`: old findings that a repository accepts, so that only new ones fail.

`ubp explain`: a rule's manual.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal, NamedTuple

from cyclopts import Parameter

from ubp import __version__
from ubp.checks.finding import CheckReport
from ubp.checks.registry import RULES, find_rules
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import Answer, read_outputs
from ubp.cli.parameters import FORMAT, LEVEL, Keys, OutputFiles, Revision
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import RevisionNotFoundError, UsageError
from ubp.core.model import DEBT_FILE
from ubp.core.setup_files import write_debt_file
from ubp.output.ci.outcome import Outcome
from ubp.output.records.check import check_record, debt_record, fix_record, rules_record
from ubp.output.text.check import (
    CheckTextOptions,
    check_text,
    debt_text,
    fix_text,
    manuals_text,
    rules_text,
)
from ubp.workspace import Workspace

# What a push by hand would be compared with, the best known first.
REMOTES = ("@{upstream}", "origin/HEAD")


class Push(NamedTuple):
    """What is pushed, and what the remote has of it; `base` None: nothing, all of it is judged."""

    base: str | None
    ref: str


def find_push(workspace: Workspace, environment: Mapping[str, str]) -> Push:
    """What the push brings that is under way, or would be if this were one.

    pre-commit names both ends of a push, and neither where a history is pushed from its root on:
    then the whole state counts. By hand it is what the upstream lacks, else the remote's default
    branch; with neither, the whole state again. So it is where what the remote has is unrelated.

    Raises:
        RevisionNotFoundError: there are no commits.
        HistoryTooShortError: a shallow clone ends before both ends meet.
    """
    start, end = (environment.get(f"PRE_COMMIT_{name}_REF") for name in ("FROM", "TO"))
    if start and end:
        return _related(workspace, start, end)
    if environment.get("PRE_COMMIT_REMOTE_NAME"):  # a push after all: of a root
        return Push(None, environment.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD")
    known = next((name for name in REMOTES if _is_known(workspace, name)), None)
    return _related(workspace, known, "HEAD") if known else Push(None, "HEAD")


def _related(workspace: Workspace, start: str, end: str) -> Push:
    repository = workspace.session.repository
    ends = repository.resolve(start), repository.resolve(end)
    try:
        repository.merge_base(*ends)
    except RevisionNotFoundError:
        return Push(None, end)
    return Push(start, end)


def _is_known(workspace: Workspace, revision: str) -> bool:
    try:
        workspace.session.repository.resolve(revision)
    except RevisionNotFoundError:
        return False
    return True


FailOn = Literal["warning", "error", "never"]


def check(  # noqa: PLR0913  # the command's options
    *paths: str,
    staged: bool = False,
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


def _telling(workspace: Workspace, terminal: Terminal, base: str | None) -> CheckTextOptions:
    return CheckTextOptions(
        terminal.style,
        is_quiet=terminal.options.quiet,
        base=base,
        prefix=workspace.session.repository.prefix,
    )


def debt(*, prune: bool = False, terminal: Terminal) -> int:
    """Run `ubp debt`.

    Args:
        prune: Take out of the file what was put right since.
        terminal: Where the answer goes.
    """
    is_unseen = False
    with open_workspace(terminal) as workspace:
        root = workspace.session.repository.root
        if root is None:
            raise UsageError(
                "A bare repository has no place for a debt file.",
                cause="It has no work tree.",
                hint="Run `ubp debt` in a clone, and commit what it writes.",
            )
        done = workspace.accept(is_pruning=prune)
        if done.text is not None:
            write_debt_file(root, done.text)
            is_unseen = workspace.session.view().entry(DEBT_FILE) is None
    if terminal.options.json:
        terminal.record(debt_record(done))
    elif not terminal.options.quiet:
        terminal.write(debt_text(done, terminal.style, is_pruning=prune, is_unseen=is_unseen))
    is_settled = done.obsolete and done.text is None
    return FINDINGS if done.new or is_settled else CLEAN


def explain(*rules: str, terminal: Terminal) -> int:
    """Run `ubp explain`.

    Args:
        rules: Names of rules.
        terminal: Where the answer goes.
    """
    chosen = find_rules(rules) if rules else RULES
    if terminal.options.json:
        terminal.record(rules_record(chosen))
    elif rules:
        terminal.write(manuals_text(chosen, terminal.style))
    else:
        terminal.write(rules_text(chosen, terminal.style))
    return CLEAN

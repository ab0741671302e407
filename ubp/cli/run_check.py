"""What `ubp check` does; a hook's call comes here without cyclopts, which takes 70 ms to import."""

from typing import Literal, NamedTuple

from ubp.answers.checks.check import SourceLines, check_record, statistics_text, text
from ubp.checks.finding import CheckReport, Finding
from ubp.checks.run import check_target
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.hooks import judge, judge_push
from ubp.cli.open_workspace import open_alarm_judge, open_workspace, reject_unjudged
from ubp.cli.outputs import Answer, read_outputs
from ubp.cli.terminal import Format, Terminal
from ubp.core.errors import UsageError
from ubp.core.model import Alarms
from ubp.core.version import __version__
from ubp.frame.wording import Style, joined
from ubp.frame.writer import Writer
from ubp.index.session import Target
from ubp.index.view import View
from ubp.output.ci.outcome import Outcome

FailOn = Literal["warning", "error", "never"]


class CheckOptions(NamedTuple):
    """The options of `ubp check`; `ubp.cli.check` describes them."""

    paths: tuple[str, ...] = ()
    staged: bool = False
    amend: bool = False
    base: str | None = None
    ref: str | None = None
    pre_push: bool = False
    rules: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    fail_on: FailOn = "error"
    alarms: Alarms | None = None
    max_cases: int | None = None
    fix: bool = False
    dry_run: bool = False
    unconfirmed: bool = False
    format: Format | None = None
    output_files: tuple[str, ...] = ()
    statistics: bool = False


def run_check(options: CheckOptions, terminal: Terminal) -> int:
    """Print the findings and return the exit status.

    Raises:
        UsageError: the options contradict each other.
    """
    _check_options(options, is_json=terminal.options.json)
    outputs = read_outputs(options.format, options.output_files, terminal)
    keys, rules = options.keys, options.rules
    with open_workspace(terminal, keys=keys, alarms=options.alarms) as workspace:
        session = workspace.session
        if options.pre_push:
            judged = judge_push(workspace, terminal.environment)
        else:
            target = Target(options.ref, options.staged, options.base, options.amend)
            judged = judge(workspace, target, terminal.environment)
        fixes = alarm_judge = None
        if options.fix:
            from ubp.checks.fix import fix_findings  # loads the Markdown parser

            fixes = fix_findings(session, options.paths, rules, is_dry=options.dry_run)
            report = fixes.check
        else:
            alarm_judge = open_alarm_judge(session, judged.target, options.max_cases)
            report = check_target(
                session,
                judged.target,
                options.paths,
                rules,
                has_evidence=True,
                judge=alarm_judge,
                lists_unconfirmed=options.unconfirmed,
            )
        change = judged.words(workspace, report.snapshot)
        writer = Writer(
            is_quiet=terminal.options.quiet,
            prefix=session.repository.prefix,
            keys=keys,
            change=change,
        )
        status = exit_status(report, options.fail_on, is_hook=judged.is_hook)
        cost = alarm_judge.record if alarm_judge else None
        record = check_record(report, fixes, cost)
        lines: SourceLines = {}
        if terminal.is_read_by_a_person() and report.findings:
            lines = _source_lines(session.view_of(report.snapshot), report, terminal)

        def answer_text(style: Style) -> str:
            write = writer._replace(style=style)
            if options.statistics:
                return joined(statistics_text(record, write))
            return joined(text(record, write, lines))

        answer = Answer(
            text=answer_text,
            record=lambda: record,
            outcome=lambda: Outcome(
                "check", report, status, __version__, change=change, keys=keys, judge=cost
            ),
        )
        outputs.deliver(answer, workspace, terminal)
    return status


def _source_lines(view: View, report: CheckReport, terminal: Terminal) -> SourceLines:
    from shutil import get_terminal_size

    from ubp.cli.source_lines import find_source_lines

    return find_source_lines(report.findings, view, get_terminal_size().columns, terminal.style)


def exit_status(report: CheckReport, fail_on: FailOn, *, is_hook: bool = False) -> int:
    """Return 1 for findings that fail, else 2 where a reference is unknown, else 0.

    In a hook what is unknown is only a warning.
    """
    severities = {"warning": ("error", "warning"), "never": ()}.get(fail_on, ("error",))
    failing = [finding for finding in report.findings if finding.severity in severities]
    unread: list[Finding] = []
    if report.alarms != "any":
        unread = [finding for finding in failing if finding.drift and finding.drift.is_unread]
    if len(failing) > len(unread):
        return FINDINGS
    return FAILED if (report.unverified or unread) and not is_hook else CLEAN


def _check_options(options: CheckOptions, *, is_json: bool) -> None:
    has_target = options.staged or bool(options.base or options.ref)
    if options.pre_push and (has_target or options.fix):
        raise UsageError(
            "--pre-push cannot be combined with --staged, --base, --ref or --fix.",
            cause="The push determines the commits to check.",
            hint="To check another range: ubp check --base REV --ref REV",
        )
    reject_unjudged(
        options.alarms,
        options.max_cases,
        is_change=options.staged or bool(options.base) or options.pre_push,
    )
    is_text = options.format in {None, "text"} and not is_json
    if options.statistics and (options.fix or not is_text):
        raise UsageError(
            "--statistics cannot be combined with --fix, --format or --json.",
            cause="It counts the findings in a text; other formats list them.",
            hint="With --json, count the findings by their rule.",
        )
    if options.dry_run and not options.fix:
        raise UsageError("--dry-run requires --fix.", hint="Use both: ubp check --fix --dry-run")
    if options.fix and options.unconfirmed:
        raise UsageError(
            "--unconfirmed cannot be combined with --fix.",
            cause="Only what is surely broken is fixed.",
            hint="To see the others: ubp check --unconfirmed",
        )
    if options.fix and has_target:
        raise UsageError(
            "--fix cannot be combined with --staged, --base or --ref.",
            cause="--fix works on the files of the work tree.",
            hint="Remove the other option, then `git add` the fixed pages.",
        )

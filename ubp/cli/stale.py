"""`ubp stale`: which pages no longer describe their sources. A hook loads this module."""

from functools import partial

from ubp.answers.staleness.stale import (
    StaleTextOptions,
    diff_report,
    find_example,
    find_probably_stale,
    find_relaxed,
    report_stale,
    stale_text,
)
from ubp.cli.error_handler import FINDINGS
from ubp.cli.hooks import is_run_by_git, judge
from ubp.cli.open_workspace import open_alarm_judge, open_workspace, reject_unjudged
from ubp.cli.stale_options import StaleOptions, exit_status
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.version import __version__
from ubp.frame.records import judge_sentences
from ubp.index.session import Target
from ubp.staleness.model import visible_pages, visible_references


def run_stale(options: StaleOptions, terminal: Terminal) -> int:
    """Print the stale pages and return the exit status.

    Raises:
        UsageError: the options contradict each other or are out of range.
    """
    if options.days is not None and not 0 <= options.days < float("inf"):
        raise UsageError(f"Invalid --days: {options.days:g}.", hint="Must be 0 or more.")
    reject_unjudged(
        options.alarms, options.max_cases, is_change=options.staged or bool(options.base)
    )
    if options.since is not None:
        return _compare(options, options.since, terminal)
    if options.translations:
        from ubp.cli.translations import run_translations

        return run_translations(options, terminal)
    outputs = None
    if options.format is not None or options.output_files:
        from ubp.cli.outputs import read_outputs

        outputs = read_outputs(options.format, options.output_files, terminal)
    with open_workspace(
        terminal, keys=options.keys, days=options.days, alarms=options.alarms
    ) as workspace:
        target = Target(options.ref, options.staged, options.base, options.amend)
        judged = judge(workspace, target, terminal.environment)
        alarm_judge = open_alarm_judge(workspace.session, judged.target, options.max_cases)
        report = report_stale(
            workspace.session,
            judged.target,
            options.paths,
            every=options.every,
            has_evidence=True,
            judge=alarm_judge,
        )
        # A hook that judges the whole state fails as for a change.
        fails = options.exit_code or judged.is_hook
        fail_on = options.fail_on or ("stale" if fails else None)
        status = exit_status(report, fail_on, is_hook=judged.is_hook)
        change = judged.words(workspace, report.snapshot)
        has_base = judged.target.base is not None
        session, paths = workspace.session, options.paths
        relaxed = (
            find_relaxed(session, report, judged.target, paths, alarm_judge) if has_base else ()
        )
        cost = alarm_judge.record if alarm_judge else None
        if fail_on != "never" and any(finding.severity == "error" for finding in relaxed):
            status = FINDINGS
        diffs = {}
        if options.diff:
            visible = report._replace(pages=visible_pages(report, every=options.every))
            diffs = {
                (assessment.page.filepath, reference): diff
                for assessment, reference, diff in diff_report(session, visible)
                if reference in visible_references(assessment, every=options.every)
            }
        text_options = StaleTextOptions(
            style=terminal.style,
            quiet=terminal.options.quiet,
            prefix=workspace.session.repository.prefix,
            key=workspace.session.config.keys[0],
            example=None if report.summary.bound else find_example(session, report, paths),
            every=options.every,
            change=change,
            keys=options.keys,
            diffs=diffs,
            relaxed=relaxed,
            judge=tuple(judge_sentences(cost)),
        )

        is_asked = _is_for_a_reader(options, terminal)
        probable = partial(
            find_probably_stale, session, report, judged.target, paths, is_asked=is_asked
        )

        def record() -> object:
            from ubp.answers.staleness.stale_record import stale_record

            return stale_record(
                report,
                every=options.every,
                diffs=diffs,
                relaxed=relaxed,
                judge=cost,
                probable=probable(),
            )

        if outputs:
            from ubp.checks.from_staleness import stale_findings
            from ubp.cli.outputs import Answer
            from ubp.output.ci.outcome import Outcome

            answer = Answer(
                text=lambda style: stale_text(report, text_options._replace(style=style)),
                record=record,
                outcome=lambda: Outcome(
                    command="stale",
                    report=stale_findings(report, every=options.every, relaxed=relaxed),
                    exit_status=status,
                    version=__version__,
                    summary=report.summary,
                    change=change,
                    keys=options.keys,
                    diffs=diffs,
                    judge=cost,
                ),
            )
            outputs.deliver(answer, workspace, terminal)
        elif terminal.options.json:
            terminal.record(record())
        else:
            terminal.show(stale_text(report, text_options._replace(probable=probable())))
    return status


def _is_for_a_reader(options: StaleOptions, terminal: Terminal) -> bool:
    """Return whether somebody reads the answer, and neither a hook nor an exit status decides.

    `--staged` is what hooks ask, also those that nobody recognizes; `ubp review` says more.
    """
    decides = options.staged or options.exit_code or options.fail_on is not None
    return not (decides or terminal.options.quiet or is_run_by_git(terminal.environment))


def _compare(options: StaleOptions, revision: str, terminal: Terminal) -> int:
    from ubp.cli.since import ComparisonOptions, print_comparison

    excluded = {
        "--staged": options.staged,
        "--amend": options.amend,
        "--base": options.base,
        "--diff": options.diff,
        "--all": options.every,
        "--exit-code": options.exit_code,
        "--fail-on": options.fail_on,
        "--alarms": options.alarms,
        "--output-file": options.output_files,
        "--translations": options.translations,
    }
    comparison = ComparisonOptions(
        revision, options.ref, options.paths, options.keys, options.days, options.format
    )
    return print_comparison(comparison, excluded, terminal)

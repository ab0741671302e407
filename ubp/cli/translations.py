"""`ubp stale --translations`: which translations are up to date with their originals."""

from functools import partial

from ubp.answers.staleness.stale import diff_report, report_stale
from ubp.answers.staleness.translations import (
    TranslationTextOptions,
    count_translations,
    propose_missing_rules,
    translations_record,
    translations_text,
)
from ubp.checks.from_staleness import translations_check
from ubp.cli.error_handler import CLEAN, FAILED, FINDINGS
from ubp.cli.open_workspace import open_workspace
from ubp.cli.outputs import Answer, read_outputs
from ubp.cli.stale_options import FAILING, StaleOptions
from ubp.cli.terminal import Terminal
from ubp.core.errors import UsageError
from ubp.core.version import __version__
from ubp.index.session import Session, Target
from ubp.output.ci.outcome import Outcome
from ubp.staleness.model import StaleReport
from ubp.staleness.translation_rules import rules_text


def run_translations(options: StaleOptions, terminal: Terminal) -> int:
    """Print the counts of each language, and the translations, and return the exit status.

    Raises:
        UsageError: the configuration has no rules for translations, or options contradict it.
    """
    if options.alarms:
        raise UsageError(
            "--translations cannot be combined with --alarms.",
            cause="Translations are compared with their originals as a whole.",
            hint="Use --fail-on stale.",
        )
    outputs = read_outputs(options.format, options.output_files, terminal)
    with open_workspace(terminal, keys=options.keys, days=options.days) as workspace:
        session = workspace.session
        if not session.config.translations:
            raise _no_rules(session)
        target = Target(options.ref, options.staged, options.base, options.amend)
        report = report_stale(session, target, options.paths)
        languages = count_translations(session, report, is_narrowed=bool(options.paths))
        is_listed = bool(options.paths or options.diff or options.every or target.is_change)
        listed = report.translations if options.every else report.outdated_translations
        diffs = {}
        if options.diff:
            diffs = {
                (assessment.page.filepath, reference): diff
                for assessment, reference, diff in diff_report(
                    session, report._replace(pages=listed)
                )
            }
        status = _exit_status(report, options)
        text_options = TranslationTextOptions(
            terminal.style, session.repository.prefix, is_listed, diffs
        )
        text = partial(translations_text, report, languages, listed)
        answer = Answer(
            text=lambda style: text(text_options._replace(style=style)),
            record=lambda: translations_record(report, languages, listed, diffs),
            outcome=lambda: Outcome(
                command="stale",
                report=translations_check(report),
                exit_status=status,
                version=__version__,
                summary=report.summary,
                keys=options.keys,
                diffs=diffs,
            ),
        )
        outputs.deliver(answer, workspace, terminal)
    return status


def _no_rules(session: Session) -> UsageError:
    """Return the error for a configuration without rules; its hint has those that fit."""
    proposed = propose_missing_rules(session)
    if proposed:
        hint = f"Add to .ubp/config.json: {rules_text(proposed)}"
    else:
        hint = (
            'Add a rule to .ubp/config.json: "translations": '
            '[{"page": "docs/{lang}/{path}", "source": "docs/en/{path}"}]'
        )
    return UsageError(
        "No rules for translations.",
        cause='The configuration has no "translations", which say what is the original of a page.',
        hint=hint,
    )


def _exit_status(report: StaleReport, options: StaleOptions) -> int:
    """Return 1 if a translation has a level that fails, else 2 if one is unknown, else 0."""
    fail_on = options.fail_on or ("stale" if options.exit_code else None)
    levels = FAILING[fail_on] if fail_on else ()
    if report.is_change and report.translation_severity == "error" and fail_on != "never":
        levels = FAILING["possibly_stale"]
    if any(page.level in levels for page in report.outdated_translations):
        return FINDINGS
    is_unknown = any(page.level == "unknown" for page in report.translations)
    return FAILED if is_unknown else CLEAN

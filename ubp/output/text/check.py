"""Texts about findings for people: `ubp check`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.checks.finding import CheckReport, Finding, FixReport
from ubp.checks.gate import not_understood_sentences
from ubp.core.model import DEBT_FILE, FilePath
from ubp.core.shell import ubp_command
from ubp.frame.wording import (
    ChangeWords,
    Style,
    count,
    not_checked_sentences,
    printable,
    severity_counts,
    suppression_note,
)
from ubp.output.text.common import acknowledge_command
from ubp.staleness.wording import unknown_remedies

# The languages in which documentation is written first, by preference.
ORIGINALS = {"": 0, "en": 1}
MAX_TRANSLATIONS = 3  # of a page with the same finding


class CheckTextOptions(NamedTuple):
    """How a report is shown: style, findings only, how the change is named.

    `prefix` is the directory, from the root, where commands are typed, `keys` the front matter keys
    given on the command line.
    """

    style: Style
    is_quiet: bool = False
    change: ChangeWords = ChangeWords()
    prefix: FilePath = FilePath("")
    keys: tuple[str, ...] = ()


def check_text(report: CheckReport, options: CheckTextOptions) -> str:
    """Return the whole text; with `is_quiet` only the findings."""
    if options.is_quiet:
        findings = (line for finding in report.findings for line in _finding(finding, options))
        return "".join(f"{line}\n" for line in findings)
    lines: list[str] = []
    for finding, translations in _by_family(report.findings):
        lines += _finding(finding, options)
        if translations:
            lines.append(options.style.dim(f"  {_other_places(translations)}"))
    if lines:
        lines.append("")
    lines += [
        _summary(report, options),
        *not_checked_sentences(report.not_checked),
        *map(printable, not_understood_sentences(report.not_understood)),
        *_debts(report, options),
        *_steps(report, options),
    ]
    return "\n".join(lines) + "\n"


def fix_text(result: FixReport, options: CheckTextOptions) -> str:
    """Return what was rewritten or, in a dry run, the diff; then what is left to do."""
    if options.is_quiet:
        return result.diff if result.is_dry else check_text(result.check, options)
    lines = (
        list(options.style.diff(result.diff)) if result.is_dry else list(_fixed(result, options))
    )
    for skipped in result.skipped:
        place = options.style.bold(printable(skipped.filepath))
        lines.append(f"{place}  {options.style.yellow('skipped')}: {printable(skipped.reason)}")
    pages = len({fixed.finding.filepath for fixed in result.fixed})
    verb = "would be fixed" if result.is_dry else "fixed"
    lines += [f"{count(len(result.fixed), 'finding')} {verb} in {count(pages, 'page')}.", ""]
    if result.is_dry:
        return "\n".join(lines[:-1]) + "\n"
    return "\n".join(lines) + "\n" + check_text(result.check, options)


def _other_places(translations: Sequence[Finding]) -> str:
    shown = [printable(f"{f.filepath}:{f.line}") for f in translations[:MAX_TRANSLATIONS]]
    rest = len(translations) - len(shown)
    more = f", and {count(rest, 'more translation')} (--quiet lists all)" if rest else ""
    return f"Also in {', '.join(shown)}{more}"


def _by_family(
    findings: Sequence[Finding],
) -> Iterator[tuple[Finding, Sequence[Finding]]]:
    """Yield the findings, each with the same one in the translations of its page.

    The page whose path names no language, or English, stands for its translations.
    """
    from ubp.core.languages import language_of, without_language  # not where nothing is found

    families: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        page = without_language(finding.filepath)
        key = (page, finding.rule, finding.severity, finding.message, str(finding.occurrence))
        families.setdefault(key, []).append(finding)
    for family in families.values():
        first = min(family, key=lambda f: ORIGINALS.get(language_of(f.filepath), len(ORIGINALS)))
        yield first, [finding for finding in family if finding is not first]


def _finding(finding: Finding, options: CheckTextOptions) -> Iterator[str]:
    style = options.style
    column = f":{finding.column}" if finding.column else ""
    place = style.bold(printable(f"{finding.filepath}:{finding.line}{column}"))
    severity = style.red("error") if finding.severity == "error" else style.yellow("warning")
    yield f"{place}  {severity}  {finding.rule}: {printable(finding.message)}"
    if finding.hint and not options.is_quiet:
        yield f"  {printable(finding.hint)}"


def _summary(report: CheckReport, options: CheckTextOptions) -> str:
    style = options.style
    pages = count(report.documents, "page")
    ignored = suppression_note(len(report.ignored) - report.accepted, report.accepted)
    unknown = _unknown(report)
    if not report.findings:
        if not report.documents:
            return style.yellow("No pages found; nothing to check.")
        outcome = "No new findings" if report.is_change else "No findings"
        text = f"{outcome} in {pages}{ignored}{unknown}."
        return style.yellow(text) if unknown else style.green(text)
    counts = ", ".join(severity_counts(report.count("error"), report.count("warning")))
    affected = len({finding.filepath for finding in report.findings})
    subject = f"{options.change.subject()} introduces " if report.is_change else ""
    return f"{subject}{counts} in {affected} of {pages}{ignored}{unknown}."


def _debts(report: CheckReport, options: CheckTextOptions) -> Iterator[str]:
    """Yield what a change touches without failing for it."""
    if report.already_stale:
        yield options.change.already_stale(len(report.already_stale), options.keys)
    if report.obsolete_debts:
        obsolete = count(len(report.obsolete_debts), "line")
        command = options.style.cyan(ubp_command("debt", "--prune"))
        yield f"This change fixes what {obsolete} of {DEBT_FILE} accepted: {command}"


def _unknown(report: CheckReport) -> str:
    if not report.unverified:
        return ""
    sources = count(report.unverified, "source")
    return f"; {sources} could not be verified because {report.unknown_cause}"


def _steps(report: CheckReport, options: CheckTextOptions) -> Iterator[str]:
    steps = []
    stale_pages = dict.fromkeys(
        finding.filepath for finding in report.findings if finding.rule == "stale-doc"
    )
    if report.fixable:
        steps.append(
            (ubp_command("check", "--fix", keys=options.keys), f"fixes {report.fixable} of them")
        )
    rules = Counter(finding.rule for finding in report.findings)
    if rules:
        (rule, _), *_ = rules.most_common(1)
        steps.append((ubp_command("explain", rule), "explains the rule and how to ignore it"))
    if stale_pages and report.is_change and not options.change.ref:
        pages = list(stale_pages)
        command = acknowledge_command(
            pages,
            options.change,
            prefix=options.prefix,
            keys=options.keys,
            has_older=not stale_pages.keys().isdisjoint(report.behind),
        )
        steps.append((command, "if still accurate"))
    elif stale_pages:
        selection = options.change.options if report.is_change else ()
        command = ubp_command("stale", *selection, keys=options.keys)
        steps.append((command, "shows the commits and authors"))
    steps += unknown_remedies(finding.drift for finding in report.unknown if finding.drift)
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {options.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"
    if report.is_change and stale_pages and options.change.note:
        yield options.change.note


def _fixed(result: FixReport, options: CheckTextOptions) -> Iterator[str]:
    for fixed in result.fixed:
        place = options.style.bold(printable(f"{fixed.finding.filepath}:{fixed.finding.line}"))
        after = options.style.green(printable(fixed.after))
        yield f"{place}  {printable(fixed.before)} -> {after}"

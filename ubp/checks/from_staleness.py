"""What `ubp stale` tells, as findings: every format is made from the same value.

What `ubp stale` tells, less what the debt file accepts.
"""

from collections.abc import Iterator

from ubp.checks.debt import Debts, find_obsolete
from ubp.checks.finding import CheckReport, Finding, Severity, number
from ubp.checks.registry import VERIFYING
from ubp.checks.rules import bad_front_matter, missing_source, obsolete_debt, stale_doc
from ubp.core.model import Assessment, ReferenceVerdict
from ubp.staleness.model import StaleReport

RULES = (stale_doc.NAME, missing_source.NAME, bad_front_matter.NAME, obsolete_debt.NAME)


def stale_findings(report: StaleReport, *, every: bool = False) -> CheckReport:
    """The references that need a word, as findings of the rules that know them.

    Of a state, references of level `stale` are errors and younger drift is a warning, which is what
    `ubp stale` fails on; of a change, everything that it brings is an error. With `every` the old
    debts of a change are told too, as notes.
    """
    told = number(one for page in report.pages for one in reported_references(page, report))
    notes = [one for one in told if one.severity == "note"]
    debts = [one for one in notes if one.drift and one.drift.verdict != "unknown"]
    return CheckReport(
        snapshot=report.snapshot,
        findings=(
            *(obsolete_debt.obsolete_finding(debt) for debt in report.settled),
            *(one for one in told if one.severity != "note"),
        ),
        ignored=(),
        documents=report.summary.documents,
        unknown=tuple(one for one in notes if one.drift and one.drift.verdict == "unknown"),
        rules=RULES,
        is_change=report.is_change,
        debts=tuple(debts) if every else (),
    )


def reported_references(one: Assessment, report: StaleReport) -> list[Finding]:
    """The findings of one page."""
    path = one.page.filepath
    problems = () if report.is_change else one.page.facts.problems
    """The findings of one page, in the order of its lines."""
    return [
        *(bad_front_matter.problem_finding(path, p)._replace(severity="warning") for p in problems),
        *_answered(one, report),
    ]


def _answered(one: Assessment, report: StaleReport) -> Iterator[Finding]:
    path = one.page.filepath
    for answer in one.references:
        if answer.verdict in stale_doc.DRIFTED:
            found = stale_doc.drift_finding(path, answer, is_change=report.is_change)
        elif answer.verdict in missing_source.MISSING:
            found = missing_source.missing_finding(path, answer)
        elif answer.verdict == "unknown":
            found = stale_doc.unknown_finding(path, answer)
        else:
            continue
        yield found._replace(severity=_severity(answer, report))


def _severity(answer: ReferenceVerdict, report: StaleReport) -> Severity:
    if answer.verdict == "unknown" or answer.is_debt:
        return "note"
    return "error" if report.is_change or answer.level == "stale" else "warning"


def accept_debts(report: StaleReport, debts: Debts, *, is_whole: bool) -> StaleReport:
    """Mark the references that the debt file accepts; levels stay what they are.

    `is_whole`: the report is about every page, so that what is missing there is settled.
    """
    told = number(one for page in report.pages for one in reported_references(page, report))
    old = {(one.filepath, one.about) for one in told if one.drift and debts.accept(one)}
    settled = find_obsolete(debts, told, VERIFYING) if is_whole else []
    pages = tuple(
        Assessment(
            one.page,
            one.level,
            tuple(
                answer._replace(is_debt=True) if (one.page.filepath, answer) in old else answer
                for answer in one.references
            ),
        )
        for one in report.pages
    )
    return report._replace(pages=pages, accepted=len(old), settled=tuple(settled))

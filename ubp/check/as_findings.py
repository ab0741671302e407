"""What `ubp stale` tells, as findings: every format is made from the same value."""

from collections.abc import Iterator

from ubp.check.finding import Finding, Severity
from ubp.check.fingerprint import number
from ubp.check.report import CheckReport
from ubp.check.rules import bad_front_matter, missing_source, obsolete_debt, stale_doc
from ubp.model import Assessment, ReferenceVerdict
from ubp.staleness.report import StaleReport

RULES = (stale_doc.NAME, missing_source.NAME, bad_front_matter.NAME, obsolete_debt.NAME)


def as_findings(report: StaleReport, *, every: bool = False) -> CheckReport:
    """The references that need a word, as findings of the rules that know them.

    Of a state, references of level `stale` are errors and younger drift is a warning, which is what
    `ubp stale` fails on; of a change, everything that it brings is an error. With `every` the old
    debts of a change are told too, as notes.
    """
    told = number(one for page in report.pages for one in references_told(page, report))
    notes = [one for one in told if one.severity == "note"]
    debts = [one for one in notes if one.drift and one.drift.verdict != "unknown"]
    return CheckReport(
        snapshot=report.snapshot,
        findings=(
            *(obsolete_debt.settled(debt) for debt in report.settled),
            *(one for one in told if one.severity != "note"),
        ),
        ignored=(),
        documents=report.summary.documents,
        unknown=tuple(one for one in notes if one.drift and one.drift.verdict == "unknown"),
        rules=RULES,
        is_change=report.is_change,
        debts=tuple(debts) if every else (),
    )


def references_told(one: Assessment, report: StaleReport) -> list[Finding]:
    """The findings of one page."""
    path = one.page.filepath
    problems = () if report.is_change else one.page.facts.problems
    """The findings of one page, in the order of its lines."""
    return [
        *(bad_front_matter.problem_found(path, p)._replace(severity="warning") for p in problems),
        *_answered(one, report),
    ]


def _answered(one: Assessment, report: StaleReport) -> Iterator[Finding]:
    path = one.page.filepath
    for answer in one.references:
        if answer.verdict in stale_doc.DRIFTED:
            found = stale_doc.drift_found(path, answer, is_change=report.is_change)
        elif answer.verdict in missing_source.GONE:
            found = missing_source.gone_found(path, answer)
        elif answer.verdict == "unknown":
            found = stale_doc.doubt_found(path, answer)
        else:
            continue
        yield found._replace(severity=_severity(answer, report))


def _severity(answer: ReferenceVerdict, report: StaleReport) -> Severity:
    if answer.verdict == "unknown" or answer.is_debt:
        return "note"
    return "error" if report.is_change or answer.level == "stale" else "warning"

"""A staleness report as findings, which all formats are made from, and debts applied to one."""

from collections.abc import Sequence

from ubp.checks.debt import Debts, find_obsolete
from ubp.checks.finding import CheckReport, Finding, Severity, number
from ubp.checks.registry import VERIFYING
from ubp.checks.rules import (
    bad_front_matter,
    missing_source,
    obsolete_debt,
    relaxed_check,
    stale_doc,
    stale_translation,
)
from ubp.core.model import Assessment, ReferenceVerdict
from ubp.staleness.model import StaleReport

RULES = (
    stale_doc.NAME,
    missing_source.NAME,
    bad_front_matter.NAME,
    obsolete_debt.NAME,
    relaxed_check.NAME,
    stale_translation.NAME,
)


def stale_findings(
    report: StaleReport, *, every: bool = False, relaxed: Sequence[Finding] = ()
) -> CheckReport:
    """Return the references that are not fresh as findings of their rules.

    Of a state, references of level `stale` are errors; younger drift, and what is not an alarm, is
    a warning. Of a change, every alarm that it introduces is an error, pages without one are
    `noted`, and `relaxed` are findings of its relaxed-check. With
    `every`, older drift of a change is reported too, as notes in `debts`.
    """
    findings = _number_findings(report)
    notes = [finding for finding in findings if finding.severity == "note"]
    translations = translation_findings(report) if report.is_change else ()
    debts = [
        finding
        for finding in notes
        if finding.drift and finding.drift.verdict != "unknown" and not finding.drift.is_noted
    ]
    return CheckReport(
        snapshot=report.snapshot,
        findings=(
            *(obsolete_debt.obsolete_finding(debt) for debt in report.obsolete_debts),
            *(finding for finding in findings if finding.severity != "note"),
            *relaxed,
            *translations,
        ),
        ignored=(),
        documents=report.summary.documents,
        unknown=tuple(
            finding
            for finding in notes
            if finding.drift and finding.drift.verdict == "unknown" and not finding.drift.is_debt
        ),
        rules=RULES,
        is_change=report.is_change,
        debts=tuple(debts) if every else (),
        behind=tuple(dict.fromkeys(finding.filepath for finding in debts))
        if report.is_change
        else (),
        noted=tuple(assessment.page.filepath for assessment in report.noted),
        denied=report.denied,
        alarms=report.alarms,
    )


def translation_findings(report: StaleReport) -> tuple[Finding, ...]:
    """Return the translations that are not fresh; of a change those that it makes so."""
    if report.translation_severity == "off":
        return ()
    return tuple(
        stale_translation.translation_finding(
            assessment.page.filepath, verdict, is_change=report.is_change
        )._replace(severity=report.translation_severity)
        for assessment in report.outdated_translations
        for verdict in assessment.references
    )


def translations_check(report: StaleReport) -> CheckReport:
    """Return the translations of a report as findings, and nothing else."""
    return CheckReport(
        snapshot=report.snapshot,
        findings=translation_findings(report),
        ignored=(),
        documents=len(report.translations),
        unknown=(),
        rules=(stale_translation.NAME,),
        is_change=report.is_change,
    )


def accept_debts(report: StaleReport, debts: Debts, *, is_whole: bool) -> StaleReport:
    """Mark the references that the debt file accepts; their levels do not change.

    `is_whole`: the report is about every page, so that debts without a finding are obsolete.
    """
    findings = _number_findings(report)
    accepted = {
        (finding.filepath, finding.about)
        for finding in findings
        if finding.drift and debts.accepts(finding)
    }
    obsolete = find_obsolete(debts, findings, VERIFYING) if is_whole else []
    pages = tuple(
        Assessment(
            assessment.page,
            assessment.level,
            tuple(
                verdict._replace(is_debt=True)
                if (assessment.page.filepath, verdict) in accepted
                else verdict
                for verdict in assessment.references
            ),
        )
        for assessment in report.pages
    )
    return report._replace(pages=pages, accepted=len(accepted), obsolete_debts=tuple(obsolete))


def _number_findings(report: StaleReport) -> list[Finding]:
    return number(
        finding for assessment in report.pages for finding in _page_findings(assessment, report)
    )


def _page_findings(assessment: Assessment, report: StaleReport) -> list[Finding]:
    path = assessment.page.filepath
    findings = []
    if not report.is_change:
        for problem in assessment.page.facts.problems:
            finding = bad_front_matter.problem_finding(path, problem)
            findings.append(finding._replace(severity="warning"))
    for verdict in assessment.references:
        if verdict.verdict in stale_doc.DRIFTED:
            finding = stale_doc.drift_finding(path, verdict, is_change=report.is_change)
        elif verdict.verdict in missing_source.MISSING:
            finding = missing_source.missing_finding(path, verdict)
        elif verdict.verdict == "unknown":
            finding = stale_doc.unknown_finding(path, verdict)
        else:
            continue
        findings.append(finding._replace(severity=_severity(verdict, report)))
    return findings


def _severity(verdict: ReferenceVerdict, report: StaleReport) -> Severity:
    if verdict.verdict == "unknown" or verdict.is_debt:
        return "note"
    if verdict.is_noted:
        return "note" if report.is_change else "warning"
    return "error" if report.is_change or verdict.level == "stale" else "warning"

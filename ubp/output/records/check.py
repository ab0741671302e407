"""Records of findings, debt and rules: schemas/check.json, debt.json and explain.json."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ubp.checks.accept import AcceptedFindings
from ubp.checks.finding import CheckReport, Finding, FixReport, fingerprint
from ubp.checks.registry import Rule
from ubp.core.model import DEBT_FILE
from ubp.core.paths import doc_id

Record = dict[str, Any]


def check_record(report: CheckReport) -> Record:
    """Return the record of `ubp check`."""
    return {
        "findings": [finding_record(finding) for finding in report.findings],
        "summary": {
            "documents": report.documents,
            "errors": report.count("error"),
            "warnings": report.count("warning"),
            "fixable": report.fixable,
            "ignored": len(report.ignored) - report.accepted,
            "accepted": report.accepted,
            "unverified": report.unverified,
        },
        "ignored": dict(sorted(_by_rule(report, is_accepted=False).items())),
        "accepted": dict(sorted(_by_rule(report, is_accepted=True).items())),
        "rules": list(report.rules),
        "not_checked": [item._asdict() for item in report.not_checked],
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "is_change": report.is_change,
    }


def _by_rule(report: CheckReport, *, is_accepted: bool) -> Counter[str]:
    return Counter(finding.rule for finding in report.ignored if finding.is_accepted == is_accepted)


def fix_record(result: FixReport) -> Record:
    """Return the record of `ubp check --fix`."""
    return {
        **check_record(result.check),
        "fix": {
            "is_dry_run": result.is_dry,
            "fixed": [
                {**finding_record(fixed.finding), "before": fixed.before, "after": fixed.after}
                for fixed in result.fixed
            ],
            "left": [skipped._asdict() for skipped in result.skipped],
            "diff": result.diff,
        },
    }


def debt_record(result: AcceptedFindings) -> Record:
    """Return the record of `ubp debt`."""
    return {
        "path": DEBT_FILE,
        "is_written": result.text is not None,
        "accepted": result.accepted,
        "new": result.new,
        "settled": result.obsolete,
    }


def rules_record(rules: Sequence[Rule]) -> Record:
    """Return the record of `ubp explain`."""
    return {
        "rules": [
            {
                "rule": rule.name,
                "severity": rule.severity,
                "summary": rule.summary,
                "manual": rule.manual,
            }
            for rule in rules
        ]
    }


def finding_record(finding: Finding) -> Record:
    """Return a finding, its place, and its hint."""
    return {
        "doc_id": doc_id(finding.filepath),
        "filepath": finding.filepath,
        "line": finding.line,
        "column": finding.column,
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint or None,
        "related": finding.related,
        "is_fixable": finding.fix is not None,
        "fingerprint": fingerprint(finding),
    }

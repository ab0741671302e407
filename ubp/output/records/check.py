"""Findings and rules as records: schemas/check.json and schemas/explain.json."""

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
    """`ubp check`: schemas/check.json."""
    return {
        "findings": [finding_record(one) for one in report.findings],
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
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "is_change": report.is_change,
    }


def _by_rule(report: CheckReport, *, is_accepted: bool) -> Counter[str]:
    return Counter(one.rule for one in report.ignored if one.is_accepted == is_accepted)


def fix_record(done: FixReport) -> Record:
    """`ubp check --fix`: schemas/check.json, with what was put right."""
    return {
        **check_record(done.check),
        "fix": {
            "is_dry_run": done.is_dry,
            "fixed": [
                {**finding_record(one.finding), "before": one.before, "after": one.after}
                for one in done.fixed
            ],
            "left": [one._asdict() for one in done.skipped],
            "diff": done.diff,
        },
    }


def debt_record(done: AcceptedFindings) -> Record:
    """`ubp debt`: schemas/debt.json."""
    return {
        "path": DEBT_FILE,
        "is_written": done.text is not None,
        "accepted": done.accepted,
        "new": done.new,
        "settled": done.obsolete,
    }


def rules_record(rules: Sequence[Rule]) -> Record:
    """`ubp explain`: schemas/explain.json."""
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


def finding_record(one: Finding) -> Record:
    """What was found, where, and how it is put right."""
    return {
        "doc_id": doc_id(one.filepath),
        "filepath": one.filepath,
        "line": one.line,
        "column": one.column,
        "rule": one.rule,
        "severity": one.severity,
        "message": one.message,
        "hint": one.hint or None,
        "related": one.related,
        "is_fixable": one.fix is not None,
        "fingerprint": fingerprint(one),
    }

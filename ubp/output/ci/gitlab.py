"""GitLab's code quality report: the list that `artifacts: reports: codequality` names."""

from collections.abc import Mapping
from typing import Any

from ubp.checks.finding import Finding, Severity, fingerprint
from ubp.output.ci.outcome import Outcome, machine_json, result_path
from ubp.output.wording import printable

SEVERITIES: Mapping[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def gitlab_text(outcome: Outcome) -> str:
    """What counts, old debts that were asked for, and doubts; GitLab compares it with the target's.

    It knows a finding again by its fingerprint, so a moved line brings and takes away none.
    """
    report = outcome.report
    return machine_json([_issue(one) for one in (*report.findings, *report.debts, *report.unknown)])


def _issue(one: Finding) -> dict[str, Any]:
    return {
        "description": " ".join(printable(part) for part in (one.message, one.hint) if part),
        "check_name": one.rule,
        "fingerprint": fingerprint(one),
        "severity": SEVERITIES[one.severity],
        "location": {"path": result_path(one.filepath), "lines": {"begin": one.line}},
    }

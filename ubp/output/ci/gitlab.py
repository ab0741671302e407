"""GitLab's code quality report: the list that `artifacts: reports: codequality` names."""

from collections.abc import Mapping
from typing import Any

from ubp.checks.finding import Finding, Severity, fingerprint
from ubp.frame.wording import printable
from ubp.output.ci.outcome import Outcome, machine_json, result_path

SEVERITIES: Mapping[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def gitlab_text(outcome: Outcome) -> str:
    """Return findings, requested old debts, and unverified sources, as a list of issues.

    GitLab compares it with the target branch's by fingerprints, so a moved line is not a new
    finding.
    """
    report = outcome.report
    return machine_json(
        [_issue(finding) for finding in (*report.findings, *report.debts, *report.unknown)]
    )


def _issue(finding: Finding) -> dict[str, Any]:
    return {
        "description": " ".join(
            printable(part) for part in (finding.message, finding.hint) if part
        ),
        "check_name": finding.rule,
        "fingerprint": fingerprint(finding),
        "severity": SEVERITIES[finding.severity],
        "location": {"path": result_path(finding.filepath), "lines": {"begin": finding.line}},
    }

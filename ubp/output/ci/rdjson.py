"""Reviewdog's diagnostic format, `reviewdog -f=rdjson`: comments on a pull request anywhere.

Its columns count bytes of UTF-8. Reviewdog before 0.18 refuses a report with an unknown field, so
places in sources, which came later, are left out. Pages that a change makes stale are not in its
diff: `-filter-mode=nofilter` shows them all the same.
"""

from collections.abc import Mapping
from typing import Any

from ubp.checks.finding import Finding, LinkFix, Region, Severity
from ubp.frame.wording import printable
from ubp.output.ci.outcome import (
    Outcome,
    commit_lines,
    is_text,
    machine_json,
    resolving_commands,
    result_path,
)

SEVERITIES: Mapping[Severity, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def rdjson_text(outcome: Outcome) -> str:
    """Return a DiagnosticResult with findings, requested old debts, and unverified sources."""
    report = outcome.report
    findings = (*report.findings, *report.debts, *report.unknown)
    return machine_json(
        {
            "source": {"name": "ubp"},
            "diagnostics": [_diagnostic(finding, outcome) for finding in findings],
        }
    )


def _diagnostic(finding: Finding, outcome: Outcome) -> dict[str, Any]:
    position = _range(finding.region) if finding.region else {"start": {"line": finding.line}}
    diagnostic: dict[str, Any] = {
        "message": _message(finding, outcome),
        "location": {"path": result_path(finding.filepath), "range": position},
        "severity": SEVERITIES[finding.severity],
        "code": {"value": finding.rule},
    }
    if isinstance(finding.fix, LinkFix) and finding.fix.region and is_text(finding.fix.text):
        suggestion = {"range": _range(finding.fix.region), "text": finding.fix.text}
        diagnostic["suggestions"] = [suggestion]
    return diagnostic


def _range(region: Region) -> dict[str, Any]:
    return {
        "start": {"line": region.line, "column": region.byte_column},
        "end": {"line": region.end_line, "column": region.end_byte_column},
    }


def _message(finding: Finding, outcome: Outcome) -> str:
    lines = [printable(finding.message), *commit_lines(finding.drift)]
    lines += [printable(finding.hint)] if finding.hint else []
    return "\n".join([*lines, *resolving_commands((finding,), outcome)])

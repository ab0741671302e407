"""Reviewdog's diagnostic format, `reviewdog -f=rdjson`: comments on a pull request anywhere.

Its columns count bytes of UTF-8. Reviewdog before 0.18 refuses a report with a field that it does
not know, so that places in sources, which came later, are left out. Pages that a change leaves
behind are not in the change's diff: `-filter-mode=nofilter` shows them all the same.
"""

from collections.abc import Mapping
from typing import Any

from ubp.checks.finding import Finding, LinkFix, Region, Severity
from ubp.output.ci.outcome import (
    Outcome,
    commit_lines,
    is_text,
    machine_json,
    resolving_commands,
    result_path,
)
from ubp.output.wording import printable

SEVERITIES: Mapping[Severity, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def rdjson_text(outcome: Outcome) -> str:
    """A DiagnosticResult with what counts, old debts that were asked for, and doubts."""
    report = outcome.report
    told = (*report.findings, *report.debts, *report.unknown)
    return machine_json(
        {"source": {"name": "ubp"}, "diagnostics": [_diagnostic(one, outcome) for one in told]}
    )


def _diagnostic(one: Finding, outcome: Outcome) -> dict[str, Any]:
    where = _range(one.region) if one.region else {"start": {"line": one.line}}
    diagnostic: dict[str, Any] = {
        "message": _message(one, outcome),
        "location": {"path": result_path(one.filepath), "range": where},
        "severity": SEVERITIES[one.severity],
        "code": {"value": one.rule},
    }
    if isinstance(one.fix, LinkFix) and one.fix.region and is_text(one.fix.text):
        suggestion = {"range": _range(one.fix.region), "text": one.fix.text}
        diagnostic["suggestions"] = [suggestion]
    return diagnostic


def _range(region: Region) -> dict[str, Any]:
    return {
        "start": {"line": region.line, "column": region.byte_column},
        "end": {"line": region.end_line, "column": region.end_byte_column},
    }


def _message(one: Finding, outcome: Outcome) -> str:
    lines = [printable(one.message), *commit_lines(one.drift)]
    lines += [printable(one.hint)] if one.hint else []
    return "\n".join([*lines, *resolving_commands((one,), outcome)])

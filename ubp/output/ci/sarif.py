"""SARIF 2.1.0 (OASIS): findings as code scanning and editors read them.

Ignored findings are included, with their `suppressions`; GitHub shows such results as open alerts
all the same, so remove them before an upload to it. The fingerprint has a key of its own:
`primaryLocationLineHash` is for GitHub to compute, and its action warns of any other value.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ubp.checks.finding import (
    Finding,
    LinkFix,
    Region,
    Severity,
    SourcePlace,
    Suppression,
    fingerprint,
)
from ubp.checks.registry import Rule, find_rules
from ubp.core.model import FilePath
from ubp.frame.wording import count, printable
from ubp.output.ci.outcome import (
    Outcome,
    commit_lines,
    is_text,
    machine_json,
    resolving_commands,
    result_uri,
)

Object = dict[str, Any]

VERSION = "2.1.0"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
FINGERPRINT = "ubpFinding/v1"
LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
# A rule that is off but requested by name finds warnings.
RULE_LEVELS = {"error": "error", "warning": "warning", "off": "warning"}
SUPPRESSIONS = {"comment": "inSource", "configuration": "external", "debt": "external"}
# An undetermined run did not succeed, so that its missing alerts are not closed.
UNDETERMINED = 2


def sarif_text(outcome: Outcome) -> str:
    """Return a log of one run."""
    return machine_json({"$schema": SCHEMA, "version": VERSION, "runs": [_run(outcome)]})


def _run(outcome: Outcome) -> Object:
    report = outcome.report
    run = {
        "tool": {
            "driver": {
                "name": "ubp",
                "version": outcome.version,
                "rules": [_rule(rule) for rule in find_rules(report.rules)],
            }
        },
        # One category for each command, so that an upload of `check` keeps the alerts of `stale`.
        "automationDetails": {"id": f"ubp-{outcome.command}/"},
        "invocations": [_invocation(outcome)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The repository's root."}}},
        "results": [
            *(_result(finding, "new", outcome) for finding in (*report.findings, *report.ignored)),
            *(_result(finding, "unchanged", outcome) for finding in report.debts),
        ],
    }
    return {**run, **_version_control(outcome)}


def _rule(rule: Rule) -> Object:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.manual, "markdown": rule.manual},
        "defaultConfiguration": {
            "level": RULE_LEVELS[rule.severity],
            "enabled": rule.severity != "off",
        },
        "properties": {"tags": ["documentation"]},
    }


def _invocation(outcome: Outcome) -> Object:
    invocation: Object = {
        "executionSuccessful": outcome.exit_status != UNDETERMINED,
        "exitCode": outcome.exit_status,
    }
    if outcome.report.unknown:
        sources = count(outcome.report.unverified, "source")
        text = f"{sources} could not be verified because {outcome.report.unknown_cause}."
        locations = [
            _location(finding.filepath, _region(finding)) for finding in outcome.report.unknown
        ]
        invocation["toolExecutionNotifications"] = [
            {"level": "warning", "message": {"text": text}, "locations": locations}
        ]
    return invocation


def _version_control(outcome: Outcome) -> Object:
    provenance = outcome.provenance
    if provenance is None:
        return {}
    optional = {
        "revisionId": provenance.revision,
        "branch": provenance.branch and printable(provenance.branch),
    }
    details = {
        "repositoryUri": provenance.url,
        **{name: value for name, value in optional.items() if value},
        "mappedTo": {"uriBaseId": ROOT},
    }
    return {"versionControlProvenance": [details]}


def _result(finding: Finding, state: str, outcome: Outcome) -> Object:
    result = {
        "ruleId": finding.rule,
        "ruleIndex": outcome.report.rules.index(finding.rule),
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding, outcome)},
        "locations": [_location(finding.filepath, _region(finding))],
        "relatedLocations": [_related(finding, place) for place in finding.source_places],
        "partialFingerprints": {FINGERPRINT: fingerprint(finding)},
        "suppressions": [_suppression(finding.suppression)] if finding.suppression else [],
        "fixes": _fixes(finding),
    }
    if outcome.report.is_change:
        result["baselineState"] = state
    optional = ("relatedLocations", "fixes")
    return {key: value for key, value in result.items() if value or key not in optional}


def _message(finding: Finding, outcome: Outcome) -> str:
    lines = [printable(finding.message), *commit_lines(finding.drift)]
    lines += [printable(finding.hint)] if finding.hint else []
    commands = resolving_commands((finding,), outcome)
    # A space would make a command name another file: one that looks like a link is left out.
    complete = [command for command in commands if command == _without_links(command)]
    return "\n".join([*map(_without_links, lines), *complete])


def _without_links(text: str) -> str:
    """Return the text with `[text](target)` broken up, of which viewers make links (3.11.6)."""
    return text.replace("](", "] (")


def _location(path: FilePath, region: Object) -> Object:
    artifact = {"uri": result_uri(path), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _region(finding: Finding) -> Object:
    if finding.region:
        return _span(finding.region)
    return {
        "startLine": finding.line,
        **({"startColumn": finding.column} if finding.column else {}),
    }


def _span(region: Region) -> Object:
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def _related(finding: Finding, place: SourcePlace) -> Object:
    artifact = {"uri": result_uri(place.path), "uriBaseId": ROOT}
    region = {"region": {"startLine": place.line}} if place.line else {}
    is_moved = finding.drift is not None and finding.drift.moved_to == place.path
    message = "The source moved here." if is_moved else "The source changed here."
    return {
        "physicalLocation": {"artifactLocation": artifact, **region},
        "message": {"text": message},
    }


def _suppression(suppression: Suppression) -> Object:
    return {
        "kind": SUPPRESSIONS[suppression.kind],
        "status": "accepted",
        "justification": printable(suppression.justification),
    }


def _fixes(finding: Finding) -> Iterable[Object]:
    fix = finding.fix
    if not isinstance(fix, LinkFix) or fix.region is None or not is_text(fix.text):
        return []
    replacement = {"deletedRegion": _span(fix.region), "insertedContent": {"text": fix.text}}
    artifact = {"uri": result_uri(finding.filepath), "uriBaseId": ROOT}
    return [
        {
            "description": {"text": printable(f"Link to {fix.target}.")},
            "artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}],
        }
    ]

"""SARIF 2.1.0 (OASIS): findings as code scanning and editors read them.

What is ignored is told too, with its `suppressions`; GitHub shows such results as open alerts all
the same, so take them out before an upload to it. The fingerprint has a key of its own:
`primaryLocationLineHash` is GitHub's to compute, and its action warns of every other value.
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
from ubp.output.ci.outcome import (
    Outcome,
    commit_lines,
    is_text,
    machine_json,
    resolving_commands,
    result_uri,
)
from ubp.output.wording import count, printable

Object = dict[str, Any]

VERSION = "2.1.0"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
FINGERPRINT = "ubpFinding/v1"
LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
# A rule that was off and asked for by name finds warnings.
RULE_LEVELS = {"error": "error", "warning": "warning", "off": "warning"}
SUPPRESSIONS = {"comment": "inSource", "configuration": "external", "debt": "external"}
# Where nobody can tell, a run did not succeed: whoever follows alerts must not close any.
UNDETERMINED = 2


def sarif_text(outcome: Outcome) -> str:
    """A log of one run."""
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
        # One category a command, so that an upload of `check` leaves the alerts of `stale` alone.
        "automationDetails": {"id": f"ubp-{outcome.command}/"},
        "invocations": [_invocation(outcome)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The repository's root."}}},
        "results": [
            *(_result(one, "new", outcome) for one in (*report.findings, *report.ignored)),
            *(_result(one, "unchanged", outcome) for one in report.debts),
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
        text = f"{sources} could not be verified, because this clone is shallow."
        locations = [_location(one.filepath, _region(one)) for one in outcome.report.unknown]
        invocation["toolExecutionNotifications"] = [
            {"level": "warning", "message": {"text": text}, "locations": locations}
        ]
    return invocation


def _version_control(outcome: Outcome) -> Object:
    seen = outcome.provenance
    if seen is None:
        return {}
    known = {"revisionId": seen.revision, "branch": seen.branch and printable(seen.branch)}
    details = {
        "repositoryUri": seen.url,
        **{name: value for name, value in known.items() if value},
        "mappedTo": {"uriBaseId": ROOT},
    }
    return {"versionControlProvenance": [details]}


def _result(one: Finding, state: str, outcome: Outcome) -> Object:
    result = {
        "ruleId": one.rule,
        "ruleIndex": outcome.report.rules.index(one.rule),
        "level": LEVELS[one.severity],
        "message": {"text": _message(one, outcome)},
        "locations": [_location(one.filepath, _region(one))],
        "relatedLocations": [_related(one, place) for place in one.source_places],
        "partialFingerprints": {FINGERPRINT: fingerprint(one)},
        "suppressions": [_suppression(one.suppression)] if one.suppression else [],
        "fixes": _fixes(one),
    }
    if outcome.report.is_change:
        result["baselineState"] = state
    optional = ("relatedLocations", "fixes")
    return {key: value for key, value in result.items() if value or key not in optional}


def _message(one: Finding, outcome: Outcome) -> str:
    lines = [printable(one.message), *commit_lines(one.drift)]
    lines += [printable(one.hint)] if one.hint else []
    commands = resolving_commands((one,), outcome)
    # A command with a space more would name another file: one that looks like a link is left out.
    whole = [command for command in commands if command == _without_links(command)]
    return "\n".join([*map(_without_links, lines), *whole])


def _without_links(text: str) -> str:
    """Break `[text](target)`, which viewers of SARIF make a link of (3.11.6)."""
    return text.replace("](", "] (")


def _location(path: FilePath, region: Object) -> Object:
    artifact = {"uri": result_uri(path), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _region(one: Finding) -> Object:
    if one.region:
        return _span(one.region)
    return {"startLine": one.line, **({"startColumn": one.column} if one.column else {})}


def _span(region: Region) -> Object:
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def _related(one: Finding, place: SourcePlace) -> Object:
    artifact = {"uri": result_uri(place.path), "uriBaseId": ROOT}
    region = {"region": {"startLine": place.line}} if place.line else {}
    moved = one.drift is not None and one.drift.moved_to == place.path
    message = "The source is here now." if moved else "The source changed here."
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


def _fixes(one: Finding) -> Iterable[Object]:
    fix = one.fix
    if not isinstance(fix, LinkFix) or fix.region is None or not is_text(fix.text):
        return []
    replacement = {"deletedRegion": _span(fix.region), "insertedContent": {"text": fix.text}}
    artifact = {"uri": result_uri(one.filepath), "uriBaseId": ROOT}
    return [
        {
            "description": {"text": printable(f"Link to {fix.target}.")},
            "artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}],
        }
    ]

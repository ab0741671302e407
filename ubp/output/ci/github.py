"""Annotations of a pull request: the commands that a GitHub Actions runner reads from stdout.

The runner keeps ten annotations of each kind and step, and silently drops the rest. So the most
important ones come first, and one line counts those that are not shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ubp.checks.finding import Finding, Severity
from ubp.checks.registry import NAMES
from ubp.frame.records import judge_sentences
from ubp.frame.wording import count, denied_lines, printable
from ubp.output.ci.outcome import Outcome, commit_lines, resolving_commands
from ubp.staleness.wording import PIN_OF_OTHER_REPOSITORY, unknown_remedies

Kind = Literal["error", "warning", "notice"]

KINDS: Mapping[Severity, Kind] = {"error": "error", "warning": "warning", "note": "notice"}
# "10 warning annotations and 10 error annotations per step": GitHub Actions' documented limits.
MAX_PER_KIND = 10
# The runner cuts messages there (`_maxIssueMessageLength` in actions/runner).
MAX_MESSAGE_CHARACTERS = 4_096
MAX_REMEDIES = 5  # as many commands as anybody copies from an annotation


def github_text(outcome: Outcome) -> str:
    """Return a line for each annotation; empty where nothing was found."""
    shown, hidden = _choose([*outcome.report.findings, *outcome.report.debts], outcome)
    lines = [_unverified(outcome)] if outcome.report.unknown else []
    lines += [_annotation(finding, outcome) for finding in shown]
    lines += [_noted(outcome)] if outcome.report.noted else []
    if judged := _judged(outcome):
        lines.append(command("notice", "\n".join(judged), {"title": "judged"}))
    lines += [_hidden_count(hidden)] if hidden else []
    return "".join(f"{line}\n" for line in lines)


def command(kind: Kind, message: str, properties: Mapping[str, str | int | None]) -> str:
    """Return one command to the runner: `::error file=a.md,line=3::What is wrong.`."""
    pairs = [
        f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None
    ]
    head = f"{kind} {','.join(pairs)}" if pairs else kind
    return f"::{head}::{_data(message[:MAX_MESSAGE_CHARACTERS])}"


def _data(text: str) -> str:
    """Escape a message: line ends are kept, other control characters are not."""
    return "%0A".join(printable(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """Escape a property; a line end in a file's name is kept, so that GitHub finds the file."""
    lines = text.split("\r")
    return "%0D".join(_data(line) for line in lines).replace(":", "%3A").replace(",", "%2C")


def _choose(findings: Sequence[Finding], outcome: Outcome) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that become annotations, and those for which there is no room."""
    room: Counter[Kind] = Counter(dict.fromkeys(KINDS.values(), MAX_PER_KIND))
    if outcome.report.unknown:
        room["warning"] -= 1
    # For the line that counts the hidden ones, and those about pages without an alarm.
    room["notice"] -= 1 + bool(outcome.report.noted) + bool(_judged(outcome))
    shown: list[Finding] = []
    hidden: list[Finding] = []
    for finding in _by_importance(findings):
        kind = KINDS[finding.severity]
        room[kind] -= 1
        (shown if room[kind] >= 0 else hidden).append(finding)
    return shown, hidden


def _by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by rule, then each page once before any page twice, then by drift.

    The number of commits that a page is behind says more than their age.
    """
    seen: Counter[tuple[str, str]] = Counter()
    keyed = []
    for index, finding in enumerate(findings):
        seen[finding.rule, finding.filepath] += 1
        rank = list(KINDS).index(finding.severity), NAMES.index(finding.rule)
        distance = len(finding.drift.commits) if finding.drift else 0
        keyed.append(((*rank, seen[finding.rule, finding.filepath], -distance, index), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]


def _annotation(finding: Finding, outcome: Outcome) -> str:
    region = finding.region
    is_one_line = region is not None and region.line == region.end_line
    properties: dict[str, str | int | None] = {
        "file": finding.filepath,
        "line": finding.line,
        "endLine": region.end_line if region else None,
        "col": finding.column if region is None or is_one_line else None,
        "endColumn": region.end_column if region and is_one_line else None,
        "title": finding.rule,
    }
    return command(KINDS[finding.severity], "\n".join(_message(finding, outcome)), properties)


def _message(finding: Finding, outcome: Outcome) -> list[str]:
    """Return what is wrong, in which commits, and what to do; a line each."""
    lines = [printable(finding.message), *commit_lines(finding.drift)]
    lines += [printable(finding.hint)] if finding.hint else []
    for command in resolving_commands((finding,), outcome):
        longer = [*lines, f"  {command}"]
        if (
            len("\n".join(longer)) <= MAX_MESSAGE_CHARACTERS
        ):  # part of a command would be another command
            lines = longer
    return lines


def _unverified(outcome: Outcome) -> str:
    sources = count(outcome.report.unverified, "source")
    advice = "Fetch the history (fetch-depth: 0), or pin the pages that you reviewed."
    unknown = [finding.drift for finding in outcome.report.unknown if finding.drift]
    notes = {reference.note for reference in unknown}
    if notes == {"other_repository"}:
        advice = PIN_OF_OTHER_REPOSITORY
    elif notes <= {"no_parser", "no_collection"}:
        commands = [printable(remedy.command) for remedy in unknown_remedies(unknown)]
        advice = "\n".join(["Run first:", *commands[:MAX_REMEDIES]])
    message = f"{sources} could not be verified because {outcome.report.unknown_cause}.\n{advice}"
    return command("warning", message, {"title": "not verified"})


def _noted(outcome: Outcome) -> str:
    report = outcome.report
    failing = {finding.filepath for finding in report.findings if finding.drift}
    sentence = outcome.change.noted(report.noted, len(failing), outcome.keys)
    return command("notice", sentence, {"title": NAMES[0]})


def _judged(outcome: Outcome) -> list[str]:
    return [*denied_lines(outcome.report.denied), *judge_sentences(outcome.judge)]


def _hidden_count(hidden: Sequence[Finding]) -> str:
    kinds = Counter(KINDS[finding.severity] for finding in hidden)
    counts = [count(kinds[kind], f"more {kind}") for kind in KINDS.values() if kinds[kind]]
    return command("notice", f"{', '.join(counts)}.", {"title": "not shown"})

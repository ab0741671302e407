"""Annotations of a pull request: the commands that a GitHub Actions runner reads from stdout.

The runner keeps ten annotations of a step and kind, and drops the rest without a word. So what
matters most comes first, and one line counts what is not shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ubp.checks.finding import Finding, Severity
from ubp.checks.registry import NAMES
from ubp.output.ci.outcome import Outcome, commit_lines, resolving_commands
from ubp.output.wording import count, printable

Kind = Literal["error", "warning", "notice"]

KINDS: Mapping[Severity, Kind] = {"error": "error", "warning": "warning", "note": "notice"}
# "10 warning annotations and 10 error annotations per step": GitHub Actions' documented limits.
MAX_PER_KIND = 10
# The runner cuts messages there (`_maxIssueMessageLength` in actions/runner).
MAX_MESSAGE_CHARACTERS = 4_096


def github_text(outcome: Outcome) -> str:
    """A line for each annotation; empty where there is nothing to find."""
    shown, left = _choose([*outcome.report.findings, *outcome.report.debts], outcome)
    lines = [_doubt(outcome)] if outcome.report.unknown else []
    lines += [_annotation(one, outcome) for one in shown]
    lines += [_rest(left)] if left else []
    return "".join(f"{line}\n" for line in lines)


def command(kind: Kind, message: str, properties: Mapping[str, str | int | None]) -> str:
    """One command to the runner: `::error file=a.md,line=3::What is wrong.`."""
    named = [f"{name}={_property(str(v))}" for name, v in properties.items() if v is not None]
    head = f"{kind} {','.join(named)}" if named else kind
    return f"::{head}::{_data(message[:MAX_MESSAGE_CHARACTERS])}"


def _data(text: str) -> str:
    """Escape a message: line ends stay line ends, nothing else that a terminal obeys does."""
    return "%0A".join(printable(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    """Escape a property; a line end in a file's name is kept, or GitHub would not find the file."""
    lines = text.split("\r")
    return "%0D".join(_data(line) for line in lines).replace(":", "%3A").replace(",", "%2C")


def _choose(findings: Sequence[Finding], outcome: Outcome) -> tuple[list[Finding], list[Finding]]:
    """The findings that become annotations, and those for which there is no room."""
    room: Counter[Kind] = Counter(dict.fromkeys(KINDS.values(), MAX_PER_KIND))
    if outcome.report.unknown:
        room["warning"] -= 1
    room["notice"] -= 1  # for the line that counts the rest
    shown: list[Finding] = []
    left: list[Finding] = []
    for one in _by_importance(findings):
        kind = KINDS[one.severity]
        room[kind] -= 1
        (shown if room[kind] >= 0 else left).append(one)
    return shown, left


def _by_importance(findings: Iterable[Finding]) -> list[Finding]:
    """The rules' order first, then every page once before any page twice, then what drifted most.

    How many commits away a page is says more than how old they are.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ranked = []
    for place, one in enumerate(findings):
        seen[one.rule, one.filepath] += 1
        rank = list(KINDS).index(one.severity), NAMES.index(one.rule)
        distance = len(one.drift.commits) if one.drift else 0
        ranked.append(((*rank, seen[one.rule, one.filepath], -distance, place), one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _annotation(one: Finding, outcome: Outcome) -> str:
    region = one.region
    is_one_line = region is not None and region.line == region.end_line
    properties: dict[str, str | int | None] = {
        "file": one.filepath,
        "line": one.line,
        "endLine": region.end_line if region else None,
        "col": one.column if region is None or is_one_line else None,
        "endColumn": region.end_column if region and is_one_line else None,
        "title": one.rule,
    }
    return command(KINDS[one.severity], "\n".join(_message(one, outcome)), properties)


def _message(one: Finding, outcome: Outcome) -> list[str]:
    """What is wrong, in which commits, and what to do; a line each."""
    lines = [printable(one.message), *commit_lines(one.drift)]
    lines += [printable(one.hint)] if one.hint else []
    for typed in resolving_commands((one,), outcome):
        longer = [*lines, f"  {typed}"]
        if (
            len("\n".join(longer)) <= MAX_MESSAGE_CHARACTERS
        ):  # part of a command would be another command
            lines = longer
    return lines


def _doubt(outcome: Outcome) -> str:
    sources = count(outcome.report.unverified, "source")
    message = (
        f"{sources} could not be verified, because this clone is shallow.\n"
        "Fetch the history (fetch-depth: 0), or pin what was read."
    )
    return command("warning", message, {"title": "not verified"})


def _rest(left: Sequence[Finding]) -> str:
    kinds = Counter(KINDS[one.severity] for one in left)
    counts = [count(kinds[kind], f"more {kind}") for kind in KINDS.values() if kinds[kind]]
    return command("notice", f"{', '.join(counts)}.", {"title": "not shown here"})

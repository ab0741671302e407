"""The table of pages that drifted, one row each."""

from collections.abc import Sequence

from ubp.check.finding import Finding
from ubp.model import Commit, ReferenceVerdict
from ubp.render.commits import commit_text
from ubp.render.markdown_words import LONGEST_COMMIT, LONGEST_MESSAGE, code, place
from ubp.render.outcome import Outcome, resolving_commands
from ubp.render.text.advice import SHORT_ID
from ubp.render.text.levels import WORDS
from ubp.render.text.stale import MOST_COMMITS
from ubp.render.wording import age, count
from ubp.staleness.verdict import worst

HEADER = "| Page | Level | What drifted | In commits | Resolve |\n|---|---|---|---|---|\n"
# More sources of one page, and more commits, are counted.
MOST_SOURCES = 3


def row(findings: Sequence[Finding], outcome: Outcome) -> str:
    """The row of one page, made from its findings, which all know what became of a source."""
    drifts = [one.drift for one in findings if one.drift]
    commands = resolving_commands(tuple(findings), outcome)
    cells = (
        place(findings[0].filepath, None, outcome),
        "left behind" if outcome.report.is_change else WORDS[worst(d.level for d in drifts)],
        _capped([drift_words(drift, outcome) for drift in drifts], MOST_SOURCES, "source"),
        _capped([_commit(one) for one in _commits(drifts)], MOST_COMMITS, "commit"),
        "<br>".join(code(one, LONGEST_MESSAGE) for one in commands) or "edit the page",
    )
    return f"| {' | '.join(cells)} |\n"


def drift_words(drift: ReferenceVerdict, outcome: Outcome) -> str:
    """A source and what became of it: `src/a.py` modified 12 days ago."""
    match drift.verdict:
        case "not_found":
            return f"{code(drift.source_path)} never was there"
        case "unknown":
            return f"{code(drift.source_path)} could not be verified"
        case "moved":
            told = f"moved to {code(drift.moved_to or '')}"
        case "created":
            told = "came after the page"
        case verdict:
            told = verdict
    return f"{code(drift.source_path or '.')} {told}{_when(drift, outcome)}"


def _when(drift: ReferenceVerdict, outcome: Outcome) -> str:
    if drift.since is not None:
        return f" {age(drift.age_days or 0)}"
    if drift.age_days is None:
        return ""
    return " by this commit" if outcome.is_staged else ", not committed yet"


def _commits(drifts: Sequence[ReferenceVerdict]) -> list[Commit]:
    """The commits of all these drifts, oldest first."""
    unique = {one.id: one for drift in drifts for one in reversed(drift.commits)}
    return sorted(unique.values(), key=lambda one: one.date)


def _commit(one: Commit) -> str:
    # GitHub makes a link of the id, which it would not do in code.
    return f"{one.id[:SHORT_ID]} {code(commit_text(one), LONGEST_COMMIT)}"


def _capped(items: Sequence[str], most: int, noun: str) -> str:
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"and {count(len(items) - most, f'more {noun}')}")
    return "<br>".join(shown)

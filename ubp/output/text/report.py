"""Texts of `ubp stale --since` for people at a terminal."""

from collections.abc import Iterator, Sequence

from ubp.core.model import ReferenceVerdict
from ubp.frame.wording import Style, count, day, printable
from ubp.report.compare import OUTCOMES, Comparison, LevelChange, Outcome
from ubp.staleness.wording import (
    LEVEL_WORDS,
    describe_drift_time,
    describe_reference,
)

TITLES: dict[Outcome, str] = {
    "became_stale": "became stale",
    "still_stale": "still stale",
    "became_fresh": "became fresh",
    "new": "new",
    "gone": "removed",
    "unknown": "unknown",
    "still_fresh": "stayed fresh",
}


def describe_counts(comparison: Comparison) -> str:
    """Return how many pages changed in each way: `1 became stale, 2 new, 30 stayed fresh`."""
    counts = comparison.counts
    parts = [f"{counts[outcome]} {TITLES[outcome]}" for outcome in OUTCOMES if counts.get(outcome)]
    return ", ".join(parts) or "no page lists sources"


def describe_level_change(change: LevelChange) -> str:
    """Return what the title does not say: of a new page its level, for example."""
    if change.became == "new":
        sources = "now lists sources, " if change.then == "untracked" else ""
        return f"{sources}{LEVEL_WORDS[change.now or 'untracked']}"
    if change.became == "gone":
        sources = "no longer lists sources, " if change.now == "untracked" else ""
        return f"{sources}was {LEVEL_WORDS[change.then or 'untracked']}"
    if change.became == "unknown":
        return "the history of this clone is too short"
    return ""


def describe_drift(reference: ReferenceVerdict) -> str:
    """Return what happened to a source, and when that began."""
    return describe_reference(reference, describe_drift_time(reference))


def group_changes(changes: Sequence[LevelChange]) -> list[tuple[Outcome, list[LevelChange]]]:
    """Return the changes to list, by outcome; pages that stayed fresh are only counted."""
    grouped = [
        (outcome, [change for change in changes if change.became == outcome])
        for outcome in OUTCOMES
    ]
    return [
        (outcome, members) for outcome, members in grouped if members and outcome != "still_fresh"
    ]


def comparison_headline(comparison: Comparison, since: str) -> str:
    """Return how many pages were out of date at both ends."""
    levels = [(change.then, change.now) for change in comparison.changes]
    behind = [
        (sum(1 for pair in levels if pair[end] in {"stale", "possibly_stale"})) for end in (0, 1)
    ]
    bound = [sum(1 for pair in levels if pair[end] not in {None, "untracked"}) for end in (0, 1)]
    return (
        f"At {since}, {behind[0]} of {count(bound[0], 'page')} with sources"
        f" {'was' if behind[0] == 1 else 'were'} out of date;"
        f" now {behind[1]} of {bound[1]}."
    )


def comparison_text(
    comparison: Comparison, since: str, style: Style, *, is_quiet: bool = False
) -> str:
    """Return the whole text; with `is_quiet` only a line a page."""
    lines = []
    for _, changes in group_changes(comparison.changes):
        for change in changes:
            lines.append(_heading(change, style))
            if not is_quiet:
                lines += _sources(change)
    if is_quiet:
        return "".join(f"{line}\n" for line in lines)
    if lines:
        lines.append("")
    name = printable(since)
    lines.append(f"Since {name} ({day(comparison.date)}): {describe_counts(comparison)}.")
    if comparison.changes:
        lines.append(comparison_headline(comparison, name))
    if comparison.counts.get("unknown"):
        fetch = style.cyan("git fetch --unshallow")
        lines.append(f"{style.cyan('Hint:')} This clone is shallow. Fetch the history: {fetch}")
    return "\n".join(lines) + "\n"


def _heading(change: LevelChange, style: Style) -> str:
    paint = {"became_stale": style.red, "still_stale": style.yellow, "became_fresh": style.green}
    title = paint.get(change.became, style.bold)(TITLES[change.became])
    details = describe_level_change(change)
    origin = f" (was {printable(change.was_at)})" if change.was_at else ""
    path = style.bold(printable(change.page.filepath))
    return f"{path}  {title}{f': {details}' if details else ''}{origin}"


def _sources(change: LevelChange) -> Iterator[str]:
    for reference in change.drifted:
        yield f"  {printable(reference.name or '.')}  {printable(describe_drift(reference))}"

"""Texts of `ubp report` and `ubp stale --since` for people at a terminal."""

from collections.abc import Iterator, Sequence

from ubp.core.model import Level, ReferenceVerdict
from ubp.core.shell import ubp_command
from ubp.frame.wording import Style, count, day, printable
from ubp.output.text.review import coverage_sentence
from ubp.report.compare import OUTCOMES, Comparison, LevelChange, Outcome
from ubp.report.values import Levels, Report, StalePage
from ubp.staleness.wording import (
    BOUND_LEVELS,
    COUNTED_LEVEL_WORDS,
    LEVEL_WORDS,
    describe_drift_time,
    describe_reference,
)

BAR_WIDTH = 40
MAX_LISTED_PAGES = 10
SPARKS = "▁▂▃▄▅▆▇█"

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


def report_text(report: Report, style: Style, *, is_quiet: bool) -> str:
    """Return the report on one screen; quietly a line for each page that is not fresh."""
    pages = report.pages or ()
    if is_quiet:
        return "".join(f"{printable(page.path)}  {_level(page, style)}\n" for page in pages)
    levels = report.levels or Levels()
    lines = [style.bold(printable(report.name)) + f": {describe_levels(levels)}", ""]
    lines += list(_bars(levels, style))
    lines += _trend(report)
    if pages:
        lines += ["", "Review first:", *_pages(pages, style)]
    command = ubp_command("report", "--open", keys=report.keys)
    lines += ["", *_findings(report), f"Next: {style.cyan(command)}  opens the full report"]
    return "\n".join(lines) + "\n"


def describe_levels(levels: Levels) -> str:
    """Return how fresh the pages are, in one clause."""
    percent = levels.fresh_percent
    if not levels.bound:
        return "no page lists sources; nothing to verify"
    if percent is None:
        return f"{levels.unknown} of {levels.bound} pages could not be verified in this clone"
    bound = f"{count(levels.bound, 'page')} with sources"
    return f"{percent}% fresh, {levels.fresh} of {bound}"


def _bars(levels: Levels, style: Style) -> Iterator[str]:
    shown: tuple[Level, ...] = (*BOUND_LEVELS, "untracked")
    highest = max(levels)
    width = max(len(COUNTED_LEVEL_WORDS[level]) for level in shown)
    for level in shown:
        number = getattr(levels, level)
        if number:
            bar = "#" * max(1, number * BAR_WIDTH // highest)
            words = f"{COUNTED_LEVEL_WORDS[level]:<{width}}"
            yield f"  {words}  {number:>5}  {_paint(level, bar, style)}"


def _paint(level: Level, words: str, style: Style) -> str:
    match level:
        case "stale":
            return style.red(words)
        case "possibly_stale" | "unknown":
            return style.yellow(words)
        case "fresh":
            return style.green(words)
        case "untracked":
            return style.dim(words)


def _trend(report: Report) -> list[str]:
    """Return the share of fresh pages at each moment at which one could be verified."""
    percents = [
        (point.at, percent)
        for point in report.trend
        if (percent := point.levels.fresh_percent) is not None
    ]
    if len(percents) < 2:  # noqa: PLR2004 - one moment is no trend
        return []
    line = "".join(SPARKS[percent * (len(SPARKS) - 1) // 100] for _, percent in percents)
    (start, first), (_, last) = percents[0], percents[-1]
    return ["", f"Fresh since {day(start)}: {first}% {line} {last}%"]


def _pages(pages: tuple[StalePage, ...], style: Style) -> Iterator[str]:
    shown = pages[:MAX_LISTED_PAGES]
    for page in shown:
        facts = [count(page.changed, "line") + " changed"] if page.lines else []
        facts += [count(page.links_in, "link")] if page.links_in else []
        facts += [count(page.age_days, "day")] if page.age_days is not None else []
        details = style.dim(", ".join(facts))
        yield f"  {printable(page.path)}  {_level(page, style)}  {details}".rstrip()
    if len(pages) > len(shown):
        yield style.dim(f"  and {count(len(pages) - len(shown), 'more page')}")


def _level(page: StalePage, style: Style) -> str:
    level = page.assessment.level
    return _paint(level, LEVEL_WORDS[level], style)


def _findings(report: Report) -> Iterator[str]:
    if report.findings:
        yield f"ubp check reports {count(len(report.findings), 'other problem')}."
    if report.orphans:
        is_one = len(report.orphans) == 1
        predicate = (
            "is an orphan: no other page links to it"
            if is_one
            else "are orphans: no other page links to them"
        )
        yield f"{count(len(report.orphans), 'page')} {predicate}."
    if report.coverage and report.coverage.sources:
        yield coverage_sentence(report.coverage)

"""`ubp stale --since`: how the levels of pages changed since a revision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import Level, ReferenceVerdict
from ubp.core.paths import doc_id
from ubp.frame.fields import (
    Count,
    DocId,
    GitId,
    Moment,
    Title,
)
from ubp.frame.records import (
    SnapshotRecord,
    StaleRefRecord,
    snapshot_record,
    stale_ref,
    title_of,
)
from ubp.frame.wording import Style, count, day, moment, printable
from ubp.index.session import Session, Target
from ubp.report.compare import OUTCOMES, Comparison, LevelChange, Outcome, compare_levels
from ubp.staleness.state import open_context
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceRecord:
    """An earlier point in time; levels are as of that date."""

    commit: Annotated[GitId | None, "its commit"]
    date: Annotated[Moment, "commit date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomesRecord:
    """Number of pages per outcome."""

    became_stale: Annotated[Count, "fresh at the earlier time, stale or possibly stale now"]
    still_stale: Annotated[Count, "stale or possibly stale at both times"]
    became_fresh: Annotated[Count, "stale or possibly stale at the earlier time, fresh now"]
    new: Annotated[Count, "list sources now, but not at the earlier time"]
    gone: Annotated[Count, "listed sources at the earlier time, but not now"]
    unknown: Annotated[Count, "unknown, because this clone is shallow"]
    still_fresh: Annotated[Count, "fresh at both times"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChangeRecord:
    """A page whose level is compared with an earlier one."""

    doc_id: DocId
    filepath: Annotated[str, "path of the page from the root; the former path of a removed page"]
    title: Title
    became: Annotated[Outcome, "how its level changed"]
    was_at: Annotated[str | None, "its earlier path, if it moved"]
    staleness_then: Annotated[
        Level | None, "level at the earlier time; null if the page did not exist"
    ]
    staleness: Annotated[Level | None, "level now; null if the page no longer exists"]
    stale_refs: Annotated[tuple[StaleRefRecord, ...], "references that are out of date now"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """Pages whose level changed, or that are not fresh."""

    since: SinceRecord
    snapshot: SnapshotRecord
    is_shallow: Annotated[bool, "whether this clone is shallow"]
    summary: OutcomesRecord
    documents: Annotated[
        tuple[LevelChangeRecord, ...],
        "pages except those that stayed fresh, in the order of `became`, then by path",
    ]


def compare_since(
    session: Session, since: str, paths: Sequence[str] = (), *, ref: str | None = None
) -> Comparison:
    """Return how the levels of pages changed from a revision to now, or to `ref`.

    Raises:
        UsageError: a path matches no page in either state.
    """
    then, now = (open_context(session, session.view(Target(revision))) for revision in (since, ref))
    return compare_levels(then, now, paths)


def comparison_record(comparison: Comparison) -> ComparisonRecord:
    """Return the record of `ubp stale --since`; pages that stayed fresh are only counted."""
    counts = comparison.counts
    return ComparisonRecord(
        since=SinceRecord(commit=comparison.then.commit, date=moment(comparison.date)),
        snapshot=snapshot_record(comparison.now),
        is_shallow=comparison.is_shallow,
        summary=OutcomesRecord(**{outcome: counts.get(outcome, 0) for outcome in OUTCOMES}),
        documents=tuple(
            _level_change(change) for change in comparison.changes if change.became != "still_fresh"
        ),
    )


def _level_change(change: LevelChange) -> LevelChangeRecord:
    return LevelChangeRecord(
        doc_id=doc_id(change.page.filepath),
        filepath=change.page.filepath,
        title=title_of(change.page),
        became=change.became,
        was_at=change.was_at,
        staleness_then=change.then,
        staleness=change.now,
        stale_refs=tuple(map(stale_ref, change.drifted)),
    )


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

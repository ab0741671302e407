"""Records of `ubp stale --since`."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import Level
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
from ubp.frame.wording import moment
from ubp.report.compare import OUTCOMES, Comparison, LevelChange, Outcome


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

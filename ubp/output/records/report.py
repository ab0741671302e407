"""Records of `ubp report` and `ubp stale --since`."""

from dataclasses import dataclass
from typing import Annotated

from ubp.answers.checks.finding import FindingRecord, finding_record
from ubp.core.model import Level, Verdict
from ubp.core.paths import doc_id
from ubp.frame.fields import (
    Count,
    DocId,
    GitId,
    Line,
    Moment,
    PagePath,
    Percent,
    Title,
)
from ubp.frame.records import (
    CommitRecord,
    SnapshotRecord,
    StaleRefRecord,
    commit_record,
    moment_or_none,
    snapshot_record,
    stale_ref,
    title_of,
)
from ubp.frame.wording import moment
from ubp.output.records.bindings import (
    CoverageRecord,
    ReviewRecord,
    coverage_record,
    review_record,
)
from ubp.report.compare import OUTCOMES, Comparison, LevelChange, Outcome
from ubp.report.values import ChangedSource, Levels, OtherPage, Point, Report, StalePage

MAX_COMMITS = 20  # listed for each source; all are counted
MAX_GAPS = 50  # `ubp coverage` lists all
MAX_BINDINGS = 50  # `ubp bind --review` lists all


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsRecord:
    """Number of pages per level."""

    stale: Annotated[Count, "pages with a missing source, or drift older than the threshold"]
    possibly_stale: Annotated[Count, "pages whose drift is more recent than the threshold"]
    unknown: Annotated[Count, "pages that cannot be verified in this shallow or partial clone"]
    fresh: Annotated[Count, "pages whose sources have not drifted"]
    untracked: Annotated[Count, "number of pages that list no sources"]


FreshPercent = Annotated[
    Percent | None,
    "percentage of fresh pages among those that list sources, rounded down; null if most could not"
    " be verified",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRecord:
    """The pages below a directory."""

    path: Annotated[str, "path from the root; empty for the root"]
    is_rest: Annotated[
        bool, "whether it counts only files that are in no separately listed directory"
    ]
    levels: LevelsRecord
    fresh_percent: FreshPercent


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeRecord:
    """Pages by the age of their oldest drift."""

    from_days: Annotated[Count | None, "minimum age in days; null if unknown"]
    stale: Annotated[Count, "stale pages"]
    possibly_stale: Annotated[Count, "possibly stale pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointRecord:
    """The levels at a point in time."""

    commit: Annotated[GitId | None, "the commit; null for uncommitted changes"]
    at: Annotated[Moment, "time as of which it is assessed"]
    levels: LevelsRecord
    fresh_percent: FreshPercent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSourceRecord:
    """A reference that is not fresh, with what changed in its source."""

    source_path: Annotated[str, "path or glob of the source, from the root, with its #symbol"]
    line: Annotated[Line, "line of the reference in the page, from 1"]
    verdict: Annotated[Verdict, "verdict on the reference"]
    staleness: Annotated[Level, "the reference's level"]
    moved_to: Annotated[str | None, "current path, with its #symbol"]
    since: Annotated[Moment | None, "start of its drift; null if not committed or unknown"]
    age_days: Annotated[Count | None, "whole days since then; 0 if not committed; null if unknown"]
    added_lines: Annotated[Count | None, "number of lines added; null if unknown or hidden"]
    removed_lines: Annotated[Count | None, "number of lines removed; null if unknown or hidden"]
    commits: Annotated[tuple[CommitRecord, ...], "the drifting commits, newest first; at most 20"]
    commit_count: Annotated[Count, "total number"]
    diff: Annotated[str, "changes as a unified diff; empty if not shown"]
    cut_diff_lines: Annotated[Count, "number of lines omitted from it"]
    same_diff_as: Annotated[
        Count | None,
        "index, from 0 over all pages' sources, of the source with the same diff",
    ]
    missing_blobs: Annotated[tuple[GitId, ...], "ids of blobs missing from a partial clone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePageRecord:
    """A page that is not fresh, and how important it is."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    staleness: Annotated[Level, "the page's level"]
    incoming_link_count: Annotated[Count, "number of links from other pages"]
    added_lines: Annotated[Count, "lines added in its sources"]
    removed_lines: Annotated[Count, "lines removed in its sources"]
    changed_percent: Annotated[Percent, "percentage of its sources' lines that changed"]
    age_days: Annotated[Count | None, "days since the oldest drift; null if unknown"]
    weight: Annotated[Line, "(1 + changed lines) x (1 + links to it)"]
    sources: Annotated[tuple[ChangedSourceRecord, ...], "its references that are not fresh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPageRecord:
    """A page that is fresh or lists no sources."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    staleness: Annotated[Level, "the page's level: fresh or untracked"]
    incoming_link_count: Annotated[Count, "number of links from other pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanRecord:
    """A page that no other page links to."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "its first line with text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRecord:
    """How fresh the documentation is."""

    name: Annotated[str, "name of the repository: its directory's name"]
    generated_at: Annotated[Moment | None, "time of the report"]
    snapshot: SnapshotRecord
    threshold_days: Annotated[float | None, "number of days after which drift counts as stale"]
    is_shallow: Annotated[bool, "whether this clone is shallow"]
    documents: Annotated[Count, "number of pages"]
    levels: LevelsRecord
    fresh_percent: FreshPercent
    folders: Annotated[
        tuple[FolderRecord, ...], "levels by directory, as detailed as fits into a table"
    ]
    ages: Annotated[tuple[AgeRecord, ...], "pages by the age of their oldest drift"]
    trend: Annotated[
        tuple[PointRecord, ...], "levels at earlier commits, oldest first, ending with the present"
    ]
    pages: Annotated[tuple[StalePageRecord, ...], "pages that are not fresh, most important first"]
    others: Annotated[
        tuple[OtherPageRecord, ...],
        "pages that are fresh or list no sources, most linked first",
    ]
    findings: Annotated[
        tuple[FindingRecord, ...], "findings of `ubp check` other than sources and orphans"
    ]
    ignored: Annotated[Count, "number of ignored findings"]
    orphans: Annotated[tuple[OrphanRecord, ...], "pages that no other page links to"]
    coverage: Annotated[
        CoverageRecord | None,
        "sources that no page covers, the first 50; null if history cannot be read",
    ]
    review: Annotated[
        ReviewRecord | None,
        "the 50 worst bindings, compared with history; null if history cannot be read",
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


def report_record(report: Report) -> ReportRecord:
    """Return the record of `ubp report`."""
    levels = report.levels or Levels()
    return ReportRecord(
        name=report.name,
        generated_at=moment_or_none(report.now),
        snapshot=snapshot_record(report.snapshot),
        threshold_days=report.threshold_days,
        is_shallow=report.is_shallow,
        documents=report.documents,
        levels=_levels(levels),
        fresh_percent=levels.fresh_percent,
        folders=tuple(
            FolderRecord(
                path=folder.path,
                is_rest=folder.is_rest,
                levels=_levels(folder.levels),
                fresh_percent=folder.levels.fresh_percent,
            )
            for folder in report.folders
        ),
        ages=tuple(
            AgeRecord(from_days=group.days, stale=group.stale, possibly_stale=group.possibly_stale)
            for group in report.ages
        ),
        trend=tuple(map(_point, report.trend)),
        pages=tuple(map(_page, report.pages or ())),
        others=tuple(map(_other, report.others)),
        findings=tuple(map(finding_record, report.findings or ())),
        ignored=report.ignored,
        orphans=tuple(
            OrphanRecord(doc_id=doc_id(orphan.filepath), filepath=orphan.filepath, line=orphan.line)
            for orphan in report.orphans
        ),
        coverage=coverage_record(report.coverage, MAX_GAPS) if report.coverage else None,
        review=review_record(report.review, MAX_BINDINGS) if report.review else None,
    )


def _levels(levels: Levels) -> LevelsRecord:
    return LevelsRecord(**levels._asdict())


def _point(point: Point) -> PointRecord:
    return PointRecord(
        commit=point.commit,
        at=moment(point.at),
        levels=_levels(point.levels),
        fresh_percent=point.levels.fresh_percent,
    )


def _page(page: StalePage) -> StalePageRecord:
    document = page.assessment.page
    return StalePageRecord(
        doc_id=doc_id(document.filepath),
        filepath=document.filepath,
        title=title_of(document),
        staleness=page.assessment.level,
        incoming_link_count=page.links_in,
        added_lines=page.added,
        removed_lines=page.removed,
        changed_percent=page.changed_percent,
        age_days=page.age_days,
        weight=page.weight,
        sources=tuple(map(_source, page.sources)),
    )


def _source(source: ChangedSource) -> ChangedSourceRecord:
    reference = source.reference
    return ChangedSourceRecord(
        source_path=reference.name,
        line=reference.reference.line,
        verdict=reference.verdict,
        staleness=reference.level,
        moved_to=reference.new_name,
        since=moment_or_none(reference.since),
        age_days=reference.age_days,
        added_lines=source.added,
        removed_lines=source.removed,
        commits=tuple(map(commit_record, reference.commits[:MAX_COMMITS])),
        commit_count=len(reference.commits),
        diff=source.diff,
        cut_diff_lines=source.cut_lines,
        same_diff_as=source.same_as,
        missing_blobs=source.missing,
    )


def _other(other: OtherPage) -> OtherPageRecord:
    return OtherPageRecord(
        doc_id=doc_id(other.page.filepath),
        filepath=other.page.filepath,
        title=title_of(other.page),
        staleness=other.level,
        incoming_link_count=other.links_in,
    )

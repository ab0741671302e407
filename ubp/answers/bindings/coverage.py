"""The record of the sources that no page describes."""

from dataclasses import dataclass
from typing import Annotated

from ubp.bindings.coverage import Coverage
from ubp.frame.fields import Count, Keyword, Line, Moment, Percent
from ubp.frame.records import SnapshotRecord, moment_or_none, snapshot_record
from ubp.frame.wording import count


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRecord:
    """How many are described by a page."""

    total: Annotated[Count, "all of them"]
    described: Annotated[Count, "number covered by a page, by path, directory or glob"]
    described_percent: Annotated[Percent | None, "rounded down; null if there are none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecord:
    """A source that no page covers."""

    source_path: Annotated[str, "a file, or a directory without any described file (ends in /)"]
    files: Annotated[Line, "number of source files"]
    changes: Annotated[Count, "number of changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRecord:
    """Sources that no page covers."""

    snapshot: SnapshotRecord
    is_shallow: Annotated[
        bool, "whether this clone is shallow, so that older changes are not counted"
    ]
    days: Annotated[
        float,
        "number of days before the last commit in which changes are counted",
        Keyword("exclusiveMinimum", 0),
    ]
    since: Annotated[Moment | None, "start of the period; null if there is no commit"]
    files: Annotated[
        ShareRecord,
        "source files, without pages and hidden, ignored, binary, generated or lock files",
    ]
    changes: Annotated[
        ShareRecord, "number of changes; a commit counts once for each file that it changes"
    ]
    gaps: Annotated[
        tuple[GapRecord, ...], "sources that no page covers, most frequently changed first"
    ]
    gap_count: Annotated[Count, "number of gaps, including those that are not listed"]


def coverage_record(coverage: Coverage, limit: int) -> CoverageRecord:
    """Return the record of `ubp coverage` with the first `limit` gaps."""
    total = coverage.total
    return CoverageRecord(
        snapshot=snapshot_record(coverage.snapshot),
        is_shallow=coverage.is_shallow,
        days=coverage.days,
        since=moment_or_none(coverage.since),
        files=ShareRecord(
            total=total.files,
            described=total.described_files,
            described_percent=total.files_percent,
        ),
        changes=ShareRecord(
            total=total.changes,
            described=total.described_changes,
            described_percent=total.changes_percent,
        ),
        gaps=tuple(
            GapRecord(source_path=gap.path, files=gap.files, changes=gap.changes)
            for gap in coverage.gaps[:limit]
        ),
        gap_count=len(coverage.gaps),
    )


def coverage_sentence(coverage: CoverageRecord, bound: int) -> str:
    """Return the share of the sources that pages describe; `bound` pages list sources."""
    files, changes = coverage.files, coverage.changes
    if not files.total:
        return "No source files found."
    if not bound:
        return f"No page lists sources ({count(files.total, 'source file')} found)."
    verb = "describe" if bound > 1 else "describes"
    share = f"{files.described} of {count(files.total, 'source file')}"
    described = f"{count(bound, 'page')} {verb} {share} ({files.described_percent}%)"
    days = "the last day" if coverage.days == 1 else f"the last {coverage.days:g} days"
    if changes.described_percent is None:
        return f"{described}; no source file changed in {days}."
    return f"{described}, with {changes.described_percent}% of the changes in {days}."

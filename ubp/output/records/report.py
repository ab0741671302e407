"""Records of `ubp report` and `ubp stale --since`."""

from typing import Any

from ubp.core.model import Page
from ubp.core.paths import doc_id
from ubp.output.records.bindings import coverage_parts, review_record
from ubp.output.records.check import finding_record
from ubp.output.records.pages import moment_or_none, stale_ref
from ubp.output.records.staleness import commit_record
from ubp.output.wording import file_stem, moment
from ubp.report.compare import OUTCOMES, Comparison, LevelChange
from ubp.report.values import ChangedSource, Levels, OtherPage, Point, Report, StalePage

Record = dict[str, Any]

MAX_COMMITS = 20  # listed for each source; all are counted
MAX_GAPS = 50  # `ubp coverage` lists all
MAX_BINDINGS = 50  # `ubp bind --review` lists all


def comparison_record(comparison: Comparison) -> Record:
    """Return the record of `ubp stale --since`: schemas/stale-since.json.

    Pages that stayed fresh are only counted.
    """
    counts = comparison.counts
    return {
        "since": {"commit": comparison.then.commit, "date": moment(comparison.date)},
        "snapshot": {"kind": comparison.now.kind, "commit": comparison.now.commit},
        "is_shallow": comparison.is_shallow,
        "summary": {outcome: counts.get(outcome, 0) for outcome in OUTCOMES},
        "documents": [
            _level_change(change) for change in comparison.changes if change.became != "still_fresh"
        ],
    }


def _level_change(change: LevelChange) -> Record:
    return {
        "doc_id": doc_id(change.page.filepath),
        "filepath": change.page.filepath,
        "title": change.page.facts.title or file_stem(change.page.filepath),
        "became": change.became,
        "was_at": change.was_at,
        "staleness_then": change.then,
        "staleness": change.now,
        "stale_refs": [stale_ref(reference) for reference in change.drifted],
    }


def report_record(report: Report) -> Record:
    """Return the record of `ubp report`: schemas/report.json."""
    return {
        "name": report.name,
        "generated_at": moment_or_none(report.now),
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "threshold_days": report.threshold_days,
        "is_shallow": report.is_shallow,
        "documents": report.documents,
        **_levels(report.levels or Levels()),
        "folders": [
            {"path": folder.path, "is_rest": folder.is_rest, **_levels(folder.levels)}
            for folder in report.folders
        ],
        "ages": [
            {"from_days": group.days, "stale": group.stale, "possibly_stale": group.possibly_stale}
            for group in report.ages
        ],
        "trend": [_point(point) for point in report.trend],
        "pages": [_page(page) for page in report.pages or ()],
        "others": [_other(page) for page in report.others],
        "findings": [finding_record(finding) for finding in report.findings or ()],
        "ignored": report.ignored,
        "orphans": [
            {"doc_id": doc_id(orphan.filepath), "filepath": orphan.filepath, "line": orphan.line}
            for orphan in report.orphans
        ],
        "coverage": report.coverage and coverage_parts(report.coverage, MAX_GAPS),
        "review": report.review and review_record(report.review, MAX_BINDINGS),
    }


def _levels(levels: Levels) -> Record:
    return {"levels": levels._asdict(), "fresh_percent": levels.fresh_percent}


def _point(point: Point) -> Record:
    return {"commit": point.commit, "at": moment_or_none(point.at), **_levels(point.levels)}


def _page(page: StalePage) -> Record:
    return {
        **_identity(page.assessment.page),
        "staleness": page.assessment.level,
        "incoming_link_count": page.links_in,
        "added_lines": page.added,
        "removed_lines": page.removed,
        "changed_percent": page.changed_percent,
        "age_days": page.age_days,
        "weight": page.weight,
        "sources": [_source(source) for source in page.sources],
    }


def _source(source: ChangedSource) -> Record:
    reference = source.reference
    return {
        "source_path": reference.source_path,
        "line": reference.reference.line,
        "verdict": reference.verdict,
        "staleness": reference.level,
        "moved_to": reference.moved_to,
        "since": moment_or_none(reference.since),
        "age_days": reference.age_days,
        "added_lines": source.added,
        "removed_lines": source.removed,
        "commits": [commit_record(commit) for commit in reference.commits[:MAX_COMMITS]],
        "commit_count": len(reference.commits),
        "diff": source.diff,
        "cut_diff_lines": source.cut_lines,
        "same_diff_as": source.same_as,
        "missing_blobs": list(source.missing),
    }


def _other(other: OtherPage) -> Record:
    return {
        **_identity(other.page),
        "staleness": other.level,
        "incoming_link_count": other.links_in,
    }


def _identity(page: Page) -> Record:
    path = page.filepath
    return {
        "doc_id": doc_id(path),
        "filepath": path,
        "title": page.facts.title or file_stem(path),
    }

"""What became of pages since a revision, as a record.

Reports as records: schemas/report.json.
"""

from typing import Any

from ubp.core.model import Page
from ubp.core.paths import doc_id
from ubp.output.records.bindings import coverage_parts, review_record
from ubp.output.records.check import finding_record
from ubp.output.records.pages import moment_or_none
from ubp.output.records.staleness import commit_record
from ubp.output.wording import moment, stem
from ubp.report.compare import KINDS, Comparison, LevelChange
from ubp.report.values import ChangedSource, Levels, OtherPage, Point, Report, StalePage


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """`ubp stale --since`: schemas/stale-since.json. Pages that stayed fresh are only counted."""
    counts = comparison.counts
    return {
        "since": {"commit": comparison.then.commit, "date": moment(comparison.date)},
        "snapshot": {"kind": comparison.now.kind, "commit": comparison.now.commit},
        "is_shallow": comparison.is_shallow,
        "summary": {kind: counts.get(kind, 0) for kind in KINDS},
        "documents": [_passage(one) for one in comparison.passages if one.became != "still_fresh"],
    }


def _passage(one: LevelChange) -> dict[str, Any]:
    return {
        "doc_id": doc_id(one.page.filepath),
        "filepath": one.page.filepath,
        "title": one.page.facts.title or stem(one.page.filepath),
        "became": one.became,
        "was_at": one.was_at,
        "staleness_then": one.then,
        "staleness": one.now,
        "stale_refs": [
            {
                "source_path": answer.source_path,
                "verdict": answer.verdict,
                "since": None if answer.since is None else moment(answer.since),
            }
            for answer in one.drifted
        ],
    }


Record = dict[str, Any]

# The commits of a source that are told; how many there are is told too.
MAX_COMMITS = 20
MAX_GAPS = 50  # `ubp coverage` tells all
MAX_BINDINGS = 50  # `ubp bind --review` tells all


def report_record(report: Report) -> Record:
    """`ubp report`: schemas/report.json."""
    return {
        "name": report.name,
        "generated_at": moment_or_none(report.now),
        "snapshot": {"kind": report.snapshot.kind, "commit": report.snapshot.commit},
        "threshold_days": report.threshold_days,
        "is_shallow": report.is_shallow,
        "documents": report.documents,
        **_levels(report.levels or Levels()),
        "folders": [
            {"path": one.path, "is_rest": one.is_rest, **_levels(one.levels)}
            for one in report.folders
        ],
        "ages": [
            {"from_days": one.days, "stale": one.stale, "possibly_stale": one.possibly_stale}
            for one in report.ages
        ],
        "trend": [_point(one) for one in report.trend],
        "pages": [_page(one) for one in report.pages or ()],
        "others": [_other(one) for one in report.others],
        "findings": [finding_record(one) for one in report.findings or ()],
        "ignored": report.ignored,
        "orphans": [
            {"doc_id": doc_id(one.filepath), "filepath": one.filepath, "line": one.line}
            for one in report.orphans
        ],
        "coverage": report.coverage and coverage_parts(report.coverage, MAX_GAPS),
        "review": report.review and review_record(report.review, MAX_BINDINGS),
    }


def _levels(levels: Levels) -> Record:
    return {"levels": levels._asdict(), "fresh_percent": levels.fresh_percent}


def _point(point: Point) -> Record:
    return {"commit": point.commit, "at": moment_or_none(point.at), **_levels(point.levels)}


def _page(one: StalePage) -> Record:
    return {
        **_named(one.assessment.page),
        "staleness": one.assessment.level,
        "incoming_link_count": one.links_in,
        "added_lines": one.added,
        "removed_lines": one.removed,
        "changed_percent": one.changed_percent,
        "age_days": one.age_days,
        "weight": one.weight,
        "sources": [_source(source) for source in one.sources],
    }


def _source(source: ChangedSource) -> Record:
    answer = source.answer
    return {
        "source_path": answer.source_path,
        "line": answer.reference.line,
        "verdict": answer.verdict,
        "staleness": answer.level,
        "moved_to": answer.moved_to,
        "since": moment_or_none(answer.since),
        "age_days": answer.age_days,
        "added_lines": source.added,
        "removed_lines": source.removed,
        "commits": [commit_record(commit) for commit in answer.commits[:MAX_COMMITS]],
        "commit_count": len(answer.commits),
        "diff": source.diff,
        "cut_diff_lines": source.cut_lines,
        "same_diff_as": source.same_as,
        "missing_blobs": list(source.missing),
    }


def _other(one: OtherPage) -> Record:
    return {
        **_named(one.page),
        "staleness": one.level,
        "incoming_link_count": one.links_in,
    }


def _named(page: Page) -> Record:
    path = page.filepath
    return {
        "doc_id": doc_id(path),
        "filepath": path,
        "title": page.facts.title or stem(path),
    }

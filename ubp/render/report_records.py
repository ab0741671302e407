"""Reports as records: schemas/report.json."""

from typing import Any

from ubp.model import Page
from ubp.paths import doc_id
from ubp.render.check_records import finding_record
from ubp.render.coverage_records import coverage_parts
from ubp.render.page_parts import moment_or_none
from ubp.render.records import commit_record
from ubp.render.review_records import review_record
from ubp.render.wording import stem
from ubp.report.values import ChangedSource, Levels, OtherPage, Point, Report, StalePage

Record = dict[str, Any]

# The commits of a source that are told; how many there are is told too.
MOST_COMMITS = 20
MOST_GAPS = 50  # `ubp coverage` tells all
MOST_BINDINGS = 50  # `ubp bind --review` tells all


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
        "coverage": report.coverage and coverage_parts(report.coverage, MOST_GAPS),
        "review": report.review and review_record(report.review, MOST_BINDINGS),
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
        "commits": [commit_record(commit) for commit in answer.commits[:MOST_COMMITS]],
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

"""`ubp coverage`: the sources that no page describes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.bindings.coverage import DEFAULT_DAYS, Coverage, measure_coverage
from ubp.core.errors import UsageError
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import REVISION, Count, Keyword, Line, Moment, Option, Percent
from ubp.frame.records import SnapshotRecord, moment_or_none, snapshot_record
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.staleness.state import open_source_index

MAX_DAYS = 100_000  # nearly four times as long as there have been dates in commits


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
    bound: Annotated[Count, "number of pages that list sources"]
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


@dataclass(frozen=True, slots=True)
class CoverageRequest(Request[CoverageRecord]):
    """The sources to count, and the days before the last commit in which changes count."""

    paths: Annotated[
        tuple[str, ...],
        "files, directories or globs; none: the whole repository",
        Option("Files, directories or globs; by default the whole repository.", is_argument=True),
    ] = ()
    days: Annotated[
        float,
        Keyword("exclusiveMinimum", 0),
        Keyword("maximum", MAX_DAYS),
        Option(
            "Count changes of this many days before the last commit (365).",
            metavar="N",
        ),
    ] = DEFAULT_DAYS
    limit: Annotated[
        int,
        Keyword("minimum", 1),
        Option("Maximum number of lines (20).", name=("--limit", "-n"), metavar="N"),
    ] = 20
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: CoverageRequest) -> CoverageRecord:
    """Return which sources no page describes, by how much they changed.

    Raises:
        UsageError: `days` is out of range, or a path matches no source.
    """
    if not 0 < request.days <= MAX_DAYS:
        raise UsageError(
            f"Invalid --days: {request.days:g}.",
            hint=f"Must be greater than 0 and at most {MAX_DAYS}.",
        )
    view = session.view(Target(request.ref))
    is_described = open_source_index(session, view).is_described
    coverage = measure_coverage(session, view, is_described, request.paths, request.days)
    return coverage_record(coverage, request.limit)


def coverage_record(coverage: Coverage, limit: int) -> CoverageRecord:
    """Return the record of `ubp coverage` with the first `limit` gaps."""
    total = coverage.total
    return CoverageRecord(
        snapshot=snapshot_record(coverage.snapshot),
        is_shallow=coverage.is_shallow,
        days=coverage.days,
        since=moment_or_none(coverage.since),
        bound=coverage.bound,
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


def coverage_sentence(coverage: CoverageRecord) -> str:
    """Return the share of the sources that pages describe."""
    files, changes, bound = coverage.files, coverage.changes, coverage.bound
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


def text(record: CoverageRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each gap, and the share that is described; quietly only the paths."""
    if write.is_quiet:
        yield from (write.name(gap.source_path) for gap in record.gaps)
        return
    yield from _table(record.gaps, write)
    if more := record.gap_count - len(record.gaps):
        yield write.style.dim(f"and {count(more, 'more line')}: --limit {record.gap_count}")
    if record.gaps:
        yield ""
    yield coverage_sentence(record)
    if record.is_shallow:
        yield write.style.yellow("This clone is shallow: older changes are not counted.")
    if record.files.total and not record.bound:
        yield "Next:"
        yield f"  {write.style.cyan('ubp bind')}  proposes sources for each page"


def _table(gaps: tuple[GapRecord, ...], write: Writer) -> Iterator[str]:
    if not gaps:
        return
    changes_width = max(len("changes"), *(len(f"{gap.changes}") for gap in gaps))
    files_width = max(len("files"), *(len(f"{gap.files}") for gap in gaps))
    header = f"{'changes':>{changes_width}}  {'files':>{files_width}}  not described by any page"
    yield write.style.dim(header)
    for gap in gaps:
        numbers = f"{gap.changes:>{changes_width}}  {gap.files:>{files_width}}"
        yield f"{numbers}  {write.path(gap.source_path)}"


COVERAGE = Answer(
    request=CoverageRequest,
    record=CoverageRecord,
    run=run,
    text=text,
    reads_keys=True,
    has_facts=False,
)

"""`ubp report`: how fresh the documentation is, and the most urgent pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.bindings.coverage import CoverageRecord, coverage_record, coverage_sentence
from ubp.answers.bindings.review_bindings import ReviewRecord, review_record
from ubp.answers.checks.finding import FindingRecord, finding_record
from ubp.checks.run import check_options
from ubp.core.errors import UsageError
from ubp.core.model import Level, Verdict
from ubp.core.paths import doc_id
from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import Count, DocId, GitId, Line, Moment, PagePath, Percent, Title
from ubp.frame.records import (
    DAY,
    CommitRecord,
    SnapshotRecord,
    commit_record,
    moment_or_none,
    snapshot_record,
    title_of,
)
from ubp.frame.wording import Style, count, moment
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.report.build import build_report
from ubp.report.values import (
    ChangedSource,
    Levels,
    MonthOfAlarms,
    OtherPage,
    Point,
    Report,
    SettledAlarms,
    Span,
    StalePage,
    Topics,
)
from ubp.staleness.assess import assess
from ubp.staleness.state import build_stale_report, open_context
from ubp.staleness.wording import BOUND_LEVELS, COUNTED_LEVEL_WORDS, LEVEL_WORDS, time_span

MAX_COMMITS = 20  # listed for each source; all are counted
MAX_GAPS = 50  # `ubp coverage` lists all
MAX_BINDINGS = 50  # `ubp bind --review` lists all

BAR_WIDTH = 40
MAX_LISTED_PAGES = 10
MAX_MONTHS = 12
SPARKS = "▁▂▃▄▅▆▇█"


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
    from_pins: Annotated[
        Count,
        "number of these pages that listed no sources then: their level follows from the drift"
        " that is known today",
    ] = 0


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
class MonthOfAlarmsRecord:
    """The alarms that commits of a month settled."""

    month: Annotated[str, "the month, as in 2026-05, in UTC; empty for all months"]
    alarms: Annotated[Count, "alarms settled: a commit moved a pin in the page"]
    edited: Annotated[Count, "of these, those for which the commit also edited the page"]
    wrong: Annotated[Count, "wrong alarms: acknowledged without an edit of the page"]
    reasoned: Annotated[
        Count, "of the wrong ones, those with a reason in the commit's message (UBP-Reviewed)"
    ]
    precision: Annotated[
        Percent | None, "percentage that led to an edit, rounded down; null if there are no alarms"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedReferenceRecord:
    """A reference of a page, and what to list instead."""

    source_path: Annotated[str, "the source that the page lists"]
    instead: Annotated[tuple[str, ...], "sources to list instead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedPageRecord:
    """A page whose last three changes acknowledge an alarm without an edit."""

    doc_id: DocId
    filepath: PagePath
    proposals: Annotated[
        tuple[ProposedReferenceRecord, ...], "narrower references; empty if none is known"
    ]
    command: Annotated[str, "command that shows its bindings and what to list instead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledAlarmsRecord:
    """What became of alarms, from the commits of the main line.

    Alarms that nobody settled, and those about references without a pin, leave no trace.
    """

    months: Annotated[tuple[MonthOfAlarmsRecord, ...], "months with alarms, oldest first"]
    total: Annotated[MonthOfAlarmsRecord, "all months together"]
    repeated: Annotated[tuple[RepeatedPageRecord, ...], "pages that need a narrower reference"]
    versions: Annotated[Count, "page versions compared, at most 10,000, the newest"]
    unread: Annotated[Count, "page versions missing from a partial clone"]
    is_cut: Annotated[bool, "whether there are more than 10,000"]


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
    alarms: Annotated[
        SettledAlarmsRecord | None,
        "what became of alarms, by month; null if there are no commits or no page lists sources",
    ]


@dataclass(frozen=True, slots=True)
class ReportRequest(Request[ReportRecord]):
    """Which revision to report on, and how far back its trend goes."""

    commits: Annotated[int, "length of the trend in commits of the main line"] | None = None
    weeks: Annotated[int, "length of the trend in weeks; default: 12"] | None = None
    ref: Ref | None = None

    @property
    def span(self) -> Span | None:
        """The length of the trend; None: the default.

        Raises:
            UsageError: both lengths are given, or one is less than 1.
        """
        if self.commits is not None and self.weeks is not None:
            raise UsageError(
                "--commits cannot be combined with --weeks.", hint="Remove one of the two options."
            )
        for name, length in (("commits", self.commits), ("weeks", self.weeks)):
            if length is not None and length < 1:
                raise UsageError(f"Invalid --{name}: {length}.", hint="Must be at least 1.")
        if self.commits is not None:
            return Span("commits", self.commits)
        return None if self.weeks is None else Span("weeks", self.weeks)


def run(session: Session, request: ReportRequest) -> ReportRecord:
    """Return how fresh the documentation is: levels, ages, a trend, priorities.

    Raises:
        UsageError: the length of the trend is not valid.
    """
    return report_record(read_report(session, request))


def read_report(session: Session, request: ReportRequest, topics: Topics | None = None) -> Report:
    """Return the values of a report, of which pictures are made, too."""
    span = request.span
    context = open_context(session, session.view(Target(request.ref)))
    pages = context.view.pages()
    stale = build_stale_report(context, pages, assess(pages, context))
    options = check_options(session, context.view)
    return build_report(session, context, stale, options, span, topics=topics)


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
        alarms=_alarms(report, report.alarms) if report.alarms else None,
    )


def _alarms(report: Report, alarms: SettledAlarms) -> SettledAlarmsRecord:
    return SettledAlarmsRecord(
        months=tuple(map(_month, alarms.months)),
        total=_month(alarms.total),
        repeated=tuple(
            RepeatedPageRecord(
                doc_id=doc_id(page),
                filepath=page,
                proposals=tuple(
                    ProposedReferenceRecord(source_path=source, instead=instead)
                    for source, instead in report.narrower(page)
                ),
                command=report.review_command(page),
            )
            for page in alarms.repeated
        ),
        versions=alarms.versions,
        unread=alarms.unread,
        is_cut=alarms.is_cut,
    )


def _month(month: MonthOfAlarms) -> MonthOfAlarmsRecord:
    return MonthOfAlarmsRecord(
        month=month.month,
        alarms=month.alarms,
        edited=month.edited,
        wrong=month.acknowledged,
        reasoned=month.reasoned,
        precision=month.precision,
    )


def _levels(levels: Levels) -> LevelsRecord:
    return LevelsRecord(**levels._asdict())


def _point(point: Point) -> PointRecord:
    return PointRecord(
        commit=point.commit,
        at=moment(point.at),
        levels=_levels(point.levels),
        fresh_percent=point.levels.fresh_percent,
        from_pins=point.from_pins,
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


def text(record: ReportRecord, write: Writer) -> Iterator[str]:
    """Yield the report on one screen; quietly a line for each page that is not fresh."""
    style = write.style
    if write.is_quiet:
        for page in record.pages:
            yield f"{write.name(page.filepath)}  {_level(page.staleness, style)}"
        return
    yield f"{style.bold(write.name(record.name))}: {describe_levels(record)}"
    yield ""
    yield from _bars(record.levels, style)
    yield from _trend(record)
    if record.pages:
        yield ""
        yield "Review first:"
        yield from _pages(record.pages, write)
    yield from _settled(record, write)
    yield ""
    yield from _findings(record)
    command = ubp_command("report", "--open", keys=write.keys)
    yield f"Next: {style.cyan(command)}  opens the full report"


def describe_levels(record: ReportRecord) -> str:
    """Return how fresh the pages are, in one clause."""
    levels, bound = record.levels, _bound(record)
    if not bound:
        return "no page lists sources; nothing to verify"
    if record.fresh_percent is None:
        return f"{levels.unknown} of {bound} pages could not be verified in this clone"
    pages = f"{count(bound, 'page')} with sources"
    return f"{record.fresh_percent}% fresh, {levels.fresh} of {pages}"


def _bound(record: ReportRecord) -> int:
    return sum(getattr(record.levels, level) for level in BOUND_LEVELS)


def _bars(levels: LevelsRecord, style: Style) -> Iterator[str]:
    shown: tuple[Level, ...] = (*BOUND_LEVELS, "untracked")
    highest = max(getattr(levels, level) for level in shown)
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


def _level(level: Level, style: Style) -> str:
    return _paint(level, LEVEL_WORDS[level], style)


def _trend(record: ReportRecord) -> Iterator[str]:
    """Yield the share of fresh pages at each moment at which one could be verified."""
    percents = [
        (point.at[:DAY], point.fresh_percent)
        for point in record.trend
        if point.fresh_percent is not None
    ]
    if len(percents) < 2:  # noqa: PLR2004 - one moment is not a trend
        return
    line = "".join(SPARKS[percent * (len(SPARKS) - 1) // 100] for _, percent in percents)
    (start, first), (_, last) = percents[0], percents[-1]
    yield ""
    yield f"Fresh since {start}: {first}% {line} {last}%"


def _pages(pages: tuple[StalePageRecord, ...], write: Writer) -> Iterator[str]:
    shown, style = pages[:MAX_LISTED_PAGES], write.style
    for page in shown:
        changed, links = page.added_lines + page.removed_lines, page.incoming_link_count
        facts = [count(changed, "line") + " changed"] if changed else []
        facts += [count(links, "link")] if links else []
        facts += [time_span(page.age_days)] if page.age_days is not None else []
        details = style.dim(", ".join(facts))
        yield f"  {write.name(page.filepath)}  {_level(page.staleness, style)}  {details}".rstrip()
    if len(pages) > len(shown):
        yield style.dim(f"  and {count(len(pages) - len(shown), 'more page')}")


def _settled(record: ReportRecord, write: Writer) -> Iterator[str]:
    """Yield what became of the alarms of the last months, and pages with too wide references."""
    alarms = record.alarms
    if alarms is None or not alarms.total.alarms:
        return
    yield ""
    of_newest = f" (in the newest {alarms.versions:,} changes of pages)" if alarms.is_cut else ""
    yield f"Alarms settled{of_newest}:"
    for month in alarms.months[-MAX_MONTHS:]:
        yield f"  {month.month}  {_describe_month(month)}"
    if len(alarms.months) > 1:
        yield f"  all      {_describe_month(alarms.total)}"
    if alarms.unread:
        yield f"  {count(alarms.unread, 'page version')} missing from this clone not counted."
    for page in alarms.repeated[:MAX_LISTED_PAGES]:
        yield f"{write.name(page.filepath)} was acknowledged three times in a row without an edit."
        for proposal in page.proposals:
            instead = ", ".join(proposal.instead)
            yield f"  instead of {write.name(proposal.source_path)} list {write.name(instead)}"
        yield f"  {write.style.cyan(page.command)}"
    if len(alarms.repeated) > MAX_LISTED_PAGES:
        rest = count(len(alarms.repeated) - MAX_LISTED_PAGES, "more such page")
        yield write.style.dim(f"  and {rest}")


def _describe_month(month: MonthOfAlarmsRecord) -> str:
    reasons = f", {month.reasoned} with a reason" if month.reasoned else ""
    wrong = f"{month.wrong} acknowledged without an edit{reasons}"
    return f"{month.alarms:>4}: {month.edited} led to an edit ({month.precision}%), {wrong}"


def _findings(record: ReportRecord) -> Iterator[str]:
    if record.findings:
        yield f"ubp check reports {count(len(record.findings), 'other problem')}."
    if record.orphans:
        is_one = len(record.orphans) == 1
        predicate = (
            "is an orphan: no other page links to it"
            if is_one
            else "are orphans: no other page links to them"
        )
        yield f"{count(len(record.orphans), 'page')} {predicate}."
    if record.coverage and record.coverage.files.total:
        yield coverage_sentence(record.coverage)


REPORT = Answer(
    request=ReportRequest,
    record=ReportRecord,
    run=run,
    text=text,
    has_facts=False,
)

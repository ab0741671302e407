"""Build the report on a snapshot's documentation from the results of the other packages."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ubp.bindings.coverage import Coverage, measure_coverage
from ubp.bindings.review import BindingReview, review
from ubp.checks.registry import VERIFYING
from ubp.checks.run import CheckOptions, check_state, choose_rules
from ubp.core.errors import RepositoryError
from ubp.core.model import (
    QUIET_LEVELS,
    Assessment,
    FilePath,
    Level,
    ObjectId,
    ReferenceVerdict,
    Snapshot,
    SourceReference,
)
from ubp.core.text import shorten
from ubp.index.history import History
from ubp.index.session import Session
from ubp.index.view import build_view
from ubp.report.alarms import find_settled
from ubp.report.trend import SECONDS_PER_WEEK, InMemoryHistory, find_trend
from ubp.report.values import (
    AgeGroup,
    ChangedSource,
    Folder,
    Levels,
    OtherPage,
    Point,
    Report,
    SettledAlarms,
    Span,
    StalePage,
    Topics,
)
from ubp.search.graph import open_graph
from ubp.staleness.diff import diff_pages
from ubp.staleness.model import SourceDiff, StalenessContext, StaleReport
from ubp.staleness.ranking import rank_pages
from ubp.staleness.references import build_source_index

# A quarter of a year shows a tendency; thirteen points cost as much as the rest of a report.
DEFAULT_SPAN = Span("weeks", 12)
# How far back the trend of a project that has just begun to list sources goes: two years.
MAX_WEEKS = 104
SEVERITY: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh", "untracked")
# A table of so many rows is still read; deeper folders are counted in their parents' rows.
MAX_FOLDERS = 20
# A folder of fewer pages is not divided: the list of pages shows as much.
MIN_PAGES = 6
# The days from which each group of ages counts; drift younger than a week is possibly stale by
# default.
AGES = (0, 7, 30, 90, 180, 365)
# A report gives an idea of each change; `ubp stale --diff PAGE` shows the whole.
MAX_DIFF_LINES = 120
MAX_LINE_CHARACTERS = 400
# All diffs together with their sources: so a report of 1,000 stale pages of 3 sources each stays
# below 2 MB.
MAX_CHARACTERS = 1_500_000
SOURCE_CHARACTERS = 450
MIN_DIFF_CHARACTERS = 300_000

ORPHAN = "orphan-doc"

Diffs = Iterable[tuple[Assessment, ReferenceVerdict, SourceDiff]]


def build_report(  # noqa: PLR0913  # one of them named
    session: Session,
    context: StalenessContext,
    stale: StaleReport,
    options: CheckOptions,
    span: Span | None,
    *,
    topics: Topics | None = None,
) -> Report:
    """Build the report on a state; `stale` has an assessment of every page of its view."""
    heads = InMemoryHistory()
    history = History(session.repository, session.store, heads)

    def open_past(commit: ObjectId, now: int) -> StalenessContext:
        view = build_view(
            session.repository,
            session.store,
            session.config,
            Snapshot("commit", commit, {}),
            session.progress,
        )
        return context._replace(view=view, history=history, rules=context.rules._replace(now=now))

    links = open_graph(context.view).link_counts()
    links_in = {path: incoming for path, (_, incoming) in links.items()}
    diffs = diff_pages(stale.pages, context)
    pages = describe_pages(rank_pages(stale, context).pages, diffs, links_in)
    check = check_state(context, options._replace(rules=_rules(options)))
    levels = Levels.of_summary(stale.summary)
    now = int(session.clock())
    # The commit that the snapshot is, unless it differs from it.
    commit = None if stale.snapshot.changes else stale.snapshot.commit
    past = find_trend(
        context,
        span or DEFAULT_SPAN,
        open_past,
        heads,
        progress=session.progress,
        present=stale.pages,
    )
    longer = _span_of_drift(past, stale.pages, now) if span is None else None
    if longer is not None:
        past = find_trend(
            context, longer, open_past, heads, progress=session.progress, present=stale.pages
        )
    coverage, source_levels = _coverage(session, context, stale)
    return Report(
        name=session.repository.name,
        snapshot=stale.snapshot,
        now=now,
        documents=stale.summary.documents,
        threshold_days=stale.threshold_days,
        is_shallow=stale.is_shallow,
        levels=levels,
        folders=count_folders({page.page.filepath: page.level for page in stale.pages}),
        ages=group_ages(pages),
        trend=_since_bound((*past, Point(commit, now, levels))),
        span=longer or span or DEFAULT_SPAN,
        pages=pages,
        others=describe_others(stale.pages, links_in),
        findings=tuple(finding for finding in check.findings if finding.rule != ORPHAN),
        ignored=len(check.ignored),
        orphans=tuple(finding for finding in check.findings if finding.rule == ORPHAN),
        coverage=coverage,
        source_levels=source_levels,
        review=_review(context, stale),
        topics=topics,
        alarms=_settled(session, context),
    )


def _settled(session: Session, context: StalenessContext) -> SettledAlarms | None:
    """Return what became of alarms; None where history cannot be read."""
    bound = [page.filepath for page in context.view.bound_pages() if page.facts.references]
    with suppress(RepositoryError):
        return find_settled(bound, context, session.config.keys)
    return None


def _rules(options: CheckOptions) -> tuple[str, ...]:
    """Return the enabled rules but those on sources, which a report covers, and orphan-doc."""
    names = [rule.name for rule in choose_rules(options) if rule.name not in VERIFYING]
    return tuple(dict.fromkeys([*names, ORPHAN]))


def _since_bound(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return a trend from at most one point before the first page that named a source."""
    empty = next((n for n, point in enumerate(points) if point.levels.bound), len(points))
    return points[max(empty - 1, 0) :]


def _coverage(
    session: Session, context: StalenessContext, stale: StaleReport
) -> tuple[Coverage | None, dict[FilePath, Level]]:
    """Return which sources pages describe, and the worst level of the references to each.

    None: history cannot be read.
    """
    assessments = {page.page.filepath: page for page in stale.pages}
    sources = build_source_index(context.view, session.is_hidden, lambda _: assessments)
    levels = {
        (page.page.filepath, verdict.reference): verdict.level
        for page in stale.pages
        for verdict in page.references
    }
    coverage = None
    with suppress(RepositoryError):
        coverage = measure_coverage(session, context.view, sources.is_described)
    worst = {
        source.path: min(
            (
                levels.get((use.page, use.reference), "fresh")
                for use in sources.covering(source.path)
            ),
            key=SEVERITY.index,
        )
        for source in (coverage.sources if coverage else ())
        if source.is_described
    }
    return coverage, worst


def _span_of_drift(past: Sequence[Point], pages: Sequence[Assessment], now: int) -> Span | None:
    """Return a span that shows how the drift of today began, where pages list sources since then.

    None where some listed sources all the time, or the default span shows as much.
    """
    if not past or past[0].levels.bound > past[0].from_pins:
        return None
    starts = [verdict.since for page in pages for verdict in page.references if verdict.since]
    weeks = (now - min(starts, default=now)) // SECONDS_PER_WEEK + 2
    return Span("weeks", min(weeks, MAX_WEEKS)) if weeks > DEFAULT_SPAN.length else None


def _review(context: StalenessContext, stale: StaleReport) -> BindingReview | None:
    """Return what history says of the bindings; None: it cannot be read."""
    with suppress(RepositoryError):
        return review(stale.pages, context)
    return None


def count_folders(pages: Mapping[FilePath, Level]) -> tuple[Folder, ...]:
    """Return the levels below each folder in order of paths, the largest folders divided first."""
    groups: dict[tuple[str, bool], list[FilePath]] = {("", False): list(pages)}
    closed: set[tuple[str, bool]] = set()
    while open_groups := groups.keys() - closed:
        largest = max(open_groups, key=lambda group: (len(groups[group]), group))
        parts = _divide(largest[0], groups[largest])
        if parts and len(groups) - 1 + len(parts) <= MAX_FOLDERS:
            del groups[largest]
            groups |= parts
            closed |= {group for group in parts if group[1]}
        else:
            closed.add(largest)
    return tuple(
        Folder(FilePath(path), is_rest, Levels.of(pages[page] for page in group))
        for (path, is_rest), group in sorted(groups.items())
    )


def _divide(folder: str, pages: list[FilePath]) -> dict[tuple[str, bool], list[FilePath]]:
    """Return a folder's subfolders, and its own files; empty if it has too few or none of both."""
    if len(pages) < MIN_PAGES:
        return {}
    start = len(folder) + 1 if folder else 0
    parts: dict[tuple[str, bool], list[FilePath]] = {}
    for page in pages:
        name, slash, _ = page[start:].partition("/")
        key = (page[: start + len(name)], False) if slash else (folder, True)
        parts.setdefault(key, []).append(page)
    return {} if parts.keys() == {(folder, True)} else parts


def group_ages(pages: Sequence[StalePage]) -> tuple[AgeGroup, ...]:
    """Return the pages by the age of their oldest drift, those of unknown age last."""
    groups: dict[int | None, AgeGroup] = {days: AgeGroup(days, 0, 0) for days in AGES}
    for page in pages:
        age, level = page.age_days, page.assessment.level
        if level in {"stale", "possibly_stale"}:
            days = None if age is None else max(start for start in AGES if start <= age)
            group = groups.setdefault(days, AgeGroup(days, 0, 0))
            is_stale = level == "stale"
            groups[days] = AgeGroup(
                days, group.stale + is_stale, group.possibly_stale + (not is_stale)
            )
    return tuple(groups.values())


def describe_others(
    assessments: Sequence[Assessment], links_in: Mapping[FilePath, int]
) -> tuple[OtherPage, ...]:
    """Return the pages that are fresh or name no sources, the most linked first."""
    others = [
        OtherPage(assessment.page, assessment.level, links_in[assessment.page.filepath])
        for assessment in assessments
        if assessment.level in QUIET_LEVELS
    ]
    return tuple(sorted(others, key=lambda page: (-page.links_in, page.page.filepath)))


def describe_pages(
    assessments: Sequence[Assessment],
    diffs: Diffs,
    links_in: Mapping[FilePath, int],
) -> tuple[StalePage, ...]:
    """Return the pages that are not fresh with their diffs, in the same order."""
    changed: dict[tuple[FilePath, SourceReference], ChangedSource] = {}
    for assessment, verdict, diff in diffs:
        changed[assessment.page.filepath, verdict.reference] = _changed_source(verdict, diff)
    pages = []
    for assessment in assessments:
        path = assessment.page.filepath
        sources = tuple(
            changed.get((path, verdict.reference)) or ChangedSource(verdict)
            for verdict in assessment.references
            if verdict.verdict != "fresh"
        )
        if assessment.level not in QUIET_LEVELS:
            pages.append(_stale_page(assessment, sources, links_in[path]))
    return tuple(_limit_diffs(pages))


def _stale_page(
    assessment: Assessment, sources: tuple[ChangedSource, ...], links_in: int
) -> StalePage:
    ages = [s.reference.age_days for s in sources if s.reference.age_days is not None]
    return StalePage(
        assessment=assessment,
        sources=sources,
        links_in=links_in,
        added=sum(source.added or 0 for source in sources),
        removed=sum(source.removed or 0 for source in sources),
        lines=sum(source.lines for source in sources),
        age_days=max(ages, default=None),
    )


def _changed_source(verdict: ReferenceVerdict, diff: SourceDiff) -> ChangedSource:
    lines = diff.text.split("\n") if diff.text else []
    shown = [
        shorten(line.removesuffix("\r"), MAX_LINE_CHARACTERS) for line in lines[:MAX_DIFF_LINES]
    ]
    is_counted = bool(diff.lines) and not diff.missing
    return ChangedSource(
        reference=verdict,
        added=diff.added if is_counted else None,
        removed=diff.removed if is_counted else None,
        lines=diff.lines if is_counted else 0,
        diff="\n".join(shown),
        cut_lines=len(lines) - len(shown),
        missing=diff.missing,
    )


def _limit_diffs(pages: Sequence[StalePage]) -> Iterable[StalePage]:
    """Yield the pages with each diff once, and of all diffs as much as fits into a report."""
    first_shown: dict[tuple[object, ...], int] = {}
    sources_length = SOURCE_CHARACTERS * sum(len(page.sources) for page in pages)
    number, remaining = 0, max(MAX_CHARACTERS - sources_length, MIN_DIFF_CHARACTERS)
    for page in pages:
        sources = []
        for source in page.sources:
            shown, verdict = source, source.reference
            change = (
                verdict.source_path,
                verdict.moved_to,
                verdict.baseline_blob,
                verdict.current_blob,
            )
            if source.diff and change in first_shown:
                shown = source._replace(diff="", same_as=first_shown[change])
            elif len(source.diff) > remaining:
                cut_lines = source.cut_lines + source.diff.count("\n") + 1
                shown = source._replace(diff="", cut_lines=cut_lines)
            elif source.diff:
                first_shown[change] = number
                remaining -= len(source.diff)
            sources.append(shown)
            number += 1
        yield page._replace(sources=tuple(sources))

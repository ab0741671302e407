"""Levels by folder: as fine as fits into a table.

The pages of a report: what matters most comes first, and its diffs are shown.

Puts a report together from what the rooms said.

Asks the rooms for all that a report tells.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ubp.bindings.coverage import Coverage, measure_coverage
from ubp.bindings.review import BindingReview, review
from ubp.checks.finding import CheckReport
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
from ubp.git.repository import Repository
from ubp.index.history import History
from ubp.index.session import Session
from ubp.index.view import build_view
from ubp.report.trend import InMemoryHistory, find_trend
from ubp.report.values import (
    AgeGroup,
    ChangedSource,
    Folder,
    Levels,
    OtherPage,
    Point,
    Report,
    Span,
    StalePage,
)
from ubp.search.graph import open_graph
from ubp.staleness.diff import diff_pages
from ubp.staleness.model import SEVERITY, SourceDiff, StalenessContext, StaleReport
from ubp.staleness.references import build_source_index

# A table of so many rows is still read; deeper folders stand in their parents' rows.
MAX_FOLDERS = 20
# What divides fewer pages than these tells of single pages, and the list of pages does that.
MIN_PAGES = 6


def count_folders(pages: Mapping[FilePath, Level]) -> tuple[Folder, ...]:
    """The levels below each folder, the largest folders divided first, in order of their paths."""
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
        Folder(FilePath(path), is_rest, Levels.of(pages[page] for page in found))
        for (path, is_rest), found in sorted(groups.items())
    )


def _divide(folder: str, pages: list[FilePath]) -> dict[tuple[str, bool], list[FilePath]]:
    """The folders below it, and its own files; nothing where that is no division."""
    if len(pages) < MIN_PAGES:
        return {}
    start = len(folder) + 1 if folder else 0
    parts: dict[tuple[str, bool], list[FilePath]] = {}
    for page in pages:
        name, slash, _ = page[start:].partition("/")
        key = (page[: start + len(name)], False) if slash else (folder, True)
        parts.setdefault(key, []).append(page)
    return {} if parts.keys() == {(folder, True)} else parts


# A reader of a report gets an idea of the change; `ubp stale --diff PAGE` shows the whole.
MAX_DIFF_LINES = 120
MAX_LINE_CHARACTERS = 400
# All diffs together and the sources that they are of: with its pages and lists a report of 1,000
# stale pages of 3 sources each stays below 2 MB.
MAX_CHARACTERS = 1_500_000
SOURCE_CHARACTERS = 450
MIN_DIFF_CHARACTERS = 300_000

Diffs = Iterable[tuple[Assessment, ReferenceVerdict, SourceDiff]]


def describe_pages(
    assessed: Sequence[Assessment],
    diffs: Diffs,
    links_in: Mapping[FilePath, int],
) -> tuple[StalePage, ...]:
    """The pages that are not fresh: worst level first, then by weight."""
    shown: dict[tuple[FilePath, SourceReference], ChangedSource] = {}
    for one, answer, diff in diffs:
        shown[one.page.filepath, answer.reference] = _changed(answer, diff)
    pages = []
    for one in assessed:
        sources = tuple(
            shown.get((one.page.filepath, answer.reference)) or ChangedSource(answer)
            for answer in one.references
            if answer.verdict != "fresh"
        )
        if one.level not in QUIET_LEVELS:
            pages.append(_page(one, sources, links_in))
    rank = {level: position for position, level in enumerate(SEVERITY)}
    pages.sort(key=lambda page: (rank[page.assessment.level], -page.weight, page.path))
    return tuple(_share_diffs(pages))


def describe_others(
    assessed: Sequence[Assessment], links_in: Mapping[FilePath, int]
) -> tuple[OtherPage, ...]:
    """The pages that are fresh or name no sources: the most linked first."""
    others = [
        OtherPage(one.page, one.level, links_in[one.page.filepath])
        for one in assessed
        if one.level in QUIET_LEVELS
    ]
    return tuple(sorted(others, key=lambda page: (-page.links_in, page.page.filepath)))


def _page(
    one: Assessment, sources: tuple[ChangedSource, ...], links_in: Mapping[FilePath, int]
) -> StalePage:
    ages = [s.answer.age_days for s in sources if s.answer.age_days is not None]
    return StalePage(
        assessment=one,
        sources=sources,
        links_in=links_in[one.page.filepath],
        added=sum(source.added or 0 for source in sources),
        removed=sum(source.removed or 0 for source in sources),
        lines=sum(source.lines for source in sources),
        age_days=max(ages, default=None),
    )


def _changed(answer: ReferenceVerdict, diff: SourceDiff) -> ChangedSource:
    lines = diff.text.split("\n") if diff.text else []
    kept = [_short(line) for line in lines[:MAX_DIFF_LINES]]
    is_counted = bool(diff.lines) and not diff.missing
    return ChangedSource(
        answer=answer,
        added=diff.added if is_counted else None,
        removed=diff.removed if is_counted else None,
        lines=diff.lines if is_counted else 0,
        diff="\n".join(kept),
        cut_lines=len(lines) - len(kept),
        missing=diff.missing,
    )


def _short(line: str) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line.removesuffix("\r")
    return line[:MAX_LINE_CHARACTERS] + "…"


def _share_diffs(pages: Sequence[StalePage]) -> Iterable[StalePage]:
    """Show each diff once, and of all together as much as a report can hold."""
    shown: dict[tuple[object, ...], int] = {}
    sources_length = SOURCE_CHARACTERS * sum(len(page.sources) for page in pages)
    number, left = 0, max(MAX_CHARACTERS - sources_length, MIN_DIFF_CHARACTERS)
    for page in pages:
        sources = []
        for source in page.sources:
            told = source
            what = _what_changed(source.answer)
            if source.diff and what in shown:
                told = source._replace(diff="", same_as=shown[what])
            elif len(source.diff) > left:
                cut = source.cut_lines + source.diff.count("\n") + 1
                told = source._replace(diff="", cut_lines=cut)
            elif source.diff:
                shown[what] = number
                left -= len(source.diff)
            sources.append(told)
            number += 1
        yield page._replace(sources=tuple(sources))


def _what_changed(answer: ReferenceVerdict) -> tuple[object, ...]:
    return answer.source_path, answer.moved_to, answer.baseline_blob, answer.current_blob


# The days from which each group of ages counts; what is younger than a week is possibly stale
# where the configuration says nothing else.
AGES = (0, 7, 30, 90, 180, 365)

ORPHAN = "orphan-doc"


class Trend(NamedTuple):
    """Earlier moments, oldest first, and what was asked for."""

    span: Span
    points: tuple[Point, ...]


def assemble_report(  # noqa: PLR0913  # a part from each room
    stale: StaleReport,
    diffs: Diffs,
    check: CheckReport,
    *,
    name: str,
    now: int,
    links_in: Mapping[FilePath, int],
    trend: Trend,
    coverage: Coverage | None,
    review: BindingReview | None,
) -> Report:
    """The whole report; `stale` tells of every page, `check` of orphans too."""
    pages = describe_pages(stale.pages, diffs, links_in)
    levels = _levels(stale)
    return Report(
        name=name,
        snapshot=stale.snapshot,
        now=now,
        documents=stale.summary.documents,
        threshold_days=stale.threshold_days,
        is_shallow=stale.is_shallow,
        levels=levels,
        folders=count_folders({one.page.filepath: one.level for one in stale.pages}),
        ages=group_ages(pages),
        trend=_since_bound((*trend.points, Point(_commit(stale), now, levels))),
        span=trend.span,
        pages=pages,
        others=describe_others(stale.pages, links_in),
        findings=tuple(one for one in check.findings if one.rule != ORPHAN),
        ignored=len(check.ignored),
        orphans=tuple(one for one in check.findings if one.rule == ORPHAN),
        coverage=coverage,
        review=review,
    )


def group_ages(pages: Sequence[StalePage]) -> tuple[AgeGroup, ...]:
    """The pages by the age of their oldest drift; those of unknown age at the end."""
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


def _since_bound(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """A trend begins at most one moment before the first page named a source."""
    empty = next((n for n, point in enumerate(points) if point.levels.bound), len(points))
    return points[max(empty - 1, 0) :]


def _levels(stale: StaleReport) -> Levels:
    return Levels(**{name: getattr(stale.summary, name) for name in Levels._fields})


def _commit(stale: StaleReport) -> ObjectId | None:
    """The commit that the snapshot is, if nothing in it differs."""
    return None if stale.snapshot.changes else stale.snapshot.commit


# A quarter of a year shows where things go; thirteen points cost as much as the rest of a report.
DEFAULT_SPAN = Span("weeks", 12)


def build_report(
    rooms: Session,
    court: StalenessContext,
    stale: StaleReport,
    terms: CheckOptions,
    span: Span | None,
) -> Report:
    """Put a report together; `stale` tells of every page of the court's view."""
    wanted = span or DEFAULT_SPAN
    heads = InMemoryHistory()
    history = History(rooms.repository, rooms.store, heads)

    def open_court(commit: ObjectId, at: int) -> StalenessContext:
        rules = court.rules._replace(now=at)
        snapshot = Snapshot("commit", commit, {})
        view = build_view(rooms.repository, rooms.store, rooms.config, snapshot, rooms.progress)
        return StalenessContext(view, rooms.repository, history, rules)

    links = open_graph(court.view).link_counts()
    return assemble_report(
        stale,
        diff_pages(stale.pages, court.view, rooms.repository, rooms.is_hidden),
        check_state(court, terms._replace(rules=_rules(terms))),
        name=_name(rooms.repository),
        now=int(rooms.clock()),
        links_in={path: incoming for path, (_, incoming) in links.items()},
        trend=Trend(wanted, find_trend(court, wanted, open_court, heads, rooms.progress)),
        coverage=_coverage(rooms, court, stale),
        review=_review(court, stale),
    )


def _coverage(rooms: Session, court: StalenessContext, stale: StaleReport) -> Coverage | None:
    """Which sources pages describe; None: history cannot be read."""
    judged = {one.page.filepath: one for one in stale.pages}
    namings = build_source_index(court.view, rooms.is_hidden, lambda _: judged)
    with suppress(RepositoryError):
        return measure_coverage(rooms, court.view, namings.is_described)
    return None


def _review(court: StalenessContext, stale: StaleReport) -> BindingReview | None:
    """What history says of the bindings; None: it cannot be read."""
    with suppress(RepositoryError):
        return review(stale.pages, court)
    return None


def _name(repository: Repository) -> str:
    """What people call a repository: its folder's name."""
    place = (repository.root or repository.git_dir).replace(os.sep, "/").removesuffix("/.git")
    return place.rstrip("/").rpartition("/")[2].removesuffix(".git") or "repository"


def _rules(terms: CheckOptions) -> tuple[str, ...]:
    """What is on, but for sources, of which a report tells more; and orphans, on or not."""
    names = [rule.name for rule in choose_rules(terms) if rule.name not in VERIFYING]
    return tuple(dict.fromkeys([*names, ORPHAN]))

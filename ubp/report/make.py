"""Puts a report together from what the rooms said."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.binding.coverage import Coverage
from ubp.binding.review import BindingReview
from ubp.check.report import CheckReport
from ubp.model import FilePath, ObjectId
from ubp.report.folders import count_folders
from ubp.report.pages import Diffs, describe_others, describe_pages
from ubp.report.values import AgeGroup, Levels, Point, Report, Span, StalePage
from ubp.staleness.report import StaleReport

# The days from which each group of ages counts; what is younger than a week is possibly stale
# where the configuration says nothing else.
AGES = (0, 7, 30, 90, 180, 365)

ORPHAN = "orphan-doc"


class Trend(NamedTuple):
    """Earlier moments, oldest first, and what was asked for."""

    span: Span
    points: tuple[Point, ...]


def make_report(  # noqa: PLR0913  # a part from each room
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

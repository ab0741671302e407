"""Charts as inline SVG: shapes without text, colored by classes.

The words are beside the pictures, so that they keep their size on a narrow screen.
"""

from collections.abc import Iterator, Sequence
from math import pi
from typing import NamedTuple

from markupsafe import Markup

from ubp.core.model import Level
from ubp.frame.wording import count, day
from ubp.output.html.markup import render
from ubp.report.values import Levels, MonthOfAlarms, Point
from ubp.staleness.wording import BOUND_LEVELS, COUNTED_LEVEL_WORDS

ALL_LEVELS: tuple[Level, ...] = (*BOUND_LEVELS, "untracked")

BAR_WIDTH = 1000
RING_RADIUS = 42
TREND_HEIGHT = 100
LINE_HEIGHT = 40
# The share of a column's width that stays empty.
GAP = 0.18


class _Arc(NamedTuple):
    """A part of a ring, as lengths of dashes."""

    level: Level
    dashes: str
    offset: str


class _Rect(NamedTuple):
    kind: str
    x: float
    y: float
    width: float
    height: float


def describe(levels: Levels, shown: Sequence[Level] = ALL_LEVELS) -> str:
    """Return levels in words: `2 stale, 35 fresh`."""
    counts = ((getattr(levels, level), COUNTED_LEVEL_WORDS[level]) for level in shown)
    return ", ".join(f"{number} {words}" for number, words in counts if number) or "no pages"


def ring(levels: Levels) -> Markup:
    """Return the levels of the pages that name sources as a ring."""
    length = 2 * pi * RING_RADIUS
    total = levels.bound
    arcs, start = [], 0.0
    for level in reversed(BOUND_LEVELS):
        share = getattr(levels, level) / total if total else 0
        if share:
            dashes = f"{share * length:.2f} {length:.2f}"
            arcs.append(_Arc(level, dashes, f"{-start * length:.2f}"))
        start += share
    label = describe(levels, BOUND_LEVELS)
    return render("ring.svg", arcs=arcs, radius=RING_RADIUS, label=label)


def bar(parts: Sequence[tuple[str, int]], total: int) -> Markup:
    """Return a bar of parts, each a class and a number, in proportion to the whole.

    It is decoration: text beside it says the same.
    """
    shapes, start = [], 0.0
    for name, number in parts:
        width = number * BAR_WIDTH / total if total else 0
        if width:
            shapes.append(_Rect(name, start, 0, width, 10))
        start += width
    return render("bar.svg", shapes=shapes, width=BAR_WIDTH)


def levels_bar(levels: Levels) -> Markup:
    """Return the levels of some pages as a bar."""
    return bar([(level, getattr(levels, level)) for level in ALL_LEVELS], sum(levels))


def line(numbers: Sequence[int], label: str) -> Markup:
    """Return numbers as a line from left to right, from zero to the highest of them."""
    highest = max(numbers, default=0)
    points = [
        (number * 10, LINE_HEIGHT - 2 - value * (LINE_HEIGHT - 4) / (highest or 1))
        for number, value in enumerate(numbers)
    ]
    width = max(1, len(numbers) - 1) * 10
    return render("line.svg", points=points, width=width, height=LINE_HEIGHT, label=label)


def trend(points: Sequence[Point]) -> Markup:
    """Return a column for each point, of the pages that name sources; the worst at the bottom."""
    highest = max((point.levels.bound for point in points), default=0)
    return render(
        "trend.svg",
        columns=[
            (label_point(point), list(_column(number, point.levels, highest)))
            for number, point in enumerate(points)
        ],
        width=len(points) * 10,
        height=TREND_HEIGHT,
        label=describe_trend(points),
    )


def months(shown: Sequence[MonthOfAlarms]) -> Markup:
    """Return a column for each month: alarms that led to an edit, and wrong ones above."""
    highest = max((month.alarms for month in shown), default=0) or 1
    columns, labels = [], []
    width = 10 - 10 * GAP
    for number, month in enumerate(shown):
        bottom, shapes = float(TREND_HEIGHT), []
        for kind, value in (("fresh", month.edited), ("untracked", month.acknowledged)):
            height = value * TREND_HEIGHT / highest
            bottom -= height
            if height:
                shapes.append(_Rect(kind, number * 10 + 5 * GAP, bottom, width, height))
        right = f"{month.edited} of {count(month.alarms, 'alarm')} right"
        labels.append(f"{month.month}: {right if month.alarms else 'no alarms'}")
        columns.append((labels[-1], shapes))
    return render(
        "trend.svg",
        columns=columns,
        width=len(shown) * 10,
        height=TREND_HEIGHT,
        label=f"{labels[0]}; {labels[-1]}" if len(labels) > 1 else labels[0],
    )


def label_point(point: Point) -> str:
    """Return a point in words."""
    return f"{day(point.at)}: {describe(point.levels, BOUND_LEVELS)}"


def describe_trend(points: Sequence[Point]) -> str:
    """Return the first and the last point in words."""
    if not points:
        return "No history."
    first, last = points[0], points[-1]
    start, end = (describe(point.levels, BOUND_LEVELS) for point in (first, last))
    moments = count(len(points), "point")
    return f"{moments} from {day(first.at)} ({start}) to {day(last.at)} ({end})."


def _column(number: int, levels: Levels, highest: int) -> Iterator[_Rect]:
    bottom = float(TREND_HEIGHT)
    for level in BOUND_LEVELS:
        height = getattr(levels, level) * TREND_HEIGHT / highest if highest else 0
        if height:
            bottom -= height
            yield _Rect(level, number * 10 + 10 * GAP / 2, bottom, 10 - 10 * GAP, height)

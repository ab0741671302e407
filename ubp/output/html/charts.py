"""Charts as inline SVG: shapes without text, colored by classes.

The words are beside the pictures, so that they keep their size on a narrow screen.
"""

from collections.abc import Iterator, Sequence
from math import pi

from ubp.core.model import Level
from ubp.output.html.markup import Html, join, tag
from ubp.output.text.common import BOUND_LEVELS, COUNTED_LEVEL_WORDS
from ubp.output.wording import count, day
from ubp.report.values import Levels, Point

ALL_LEVELS: tuple[Level, ...] = (*BOUND_LEVELS, "untracked")

BAR_WIDTH = 1000
RING_RADIUS = 42
TREND_HEIGHT = 100
# The share of a column's width that stays empty.
GAP = 0.18


def describe(levels: Levels, shown: Sequence[Level] = ALL_LEVELS) -> str:
    """Return levels in words: `2 stale, 35 fresh`."""
    counts = ((getattr(levels, level), COUNTED_LEVEL_WORDS[level]) for level in shown)
    return ", ".join(f"{number} {words}" for number, words in counts if number) or "no pages"


def ring(levels: Levels) -> Html:
    """Return the levels of the pages that name sources as a ring."""
    length = 2 * pi * RING_RADIUS
    total = levels.bound
    arcs, start = [], 0.0
    for level in reversed(BOUND_LEVELS):
        share = getattr(levels, level) / total if total else 0
        if share:
            arcs.append(
                _circle(level, f"{share * length:.2f} {length:.2f}", f"{-start * length:.2f}")
            )
        start += share
    return tag(
        "svg",
        _circle("track", None, None),
        *arcs,
        class_="ring",
        viewBox="0 0 100 100",
        role="img",
        aria_label=describe(levels, BOUND_LEVELS),
    )


def _circle(name: str, dashes: str | None, offset: str | None) -> Html:
    return tag(
        "circle",
        class_=name,
        cx=50,
        cy=50,
        r=RING_RADIUS,
        stroke_dasharray=dashes,
        stroke_dashoffset=offset,
    )


def bar(parts: Sequence[tuple[str, int]], total: int, label: str | None = None) -> Html:
    """Return a bar of parts, each a class and a number, in proportion to the whole.

    Without a label it is decoration: text beside it says the same.
    """
    rects, start = [], 0.0
    for name, number in parts:
        width = number * BAR_WIDTH / total if total else 0
        if width:
            rects.append(_rect(name, start, 0, width, 10))
        start += width
    attributes = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return _picture(rects, f"0 0 {BAR_WIDTH} 10", "bar", **attributes)


def levels_bar(levels: Levels, total: int, label: str | None = None) -> Html:
    """Return the levels of some pages as a bar."""
    return bar([(level, getattr(levels, level)) for level in ALL_LEVELS], total, label)


def trend(points: Sequence[Point]) -> Html:
    """Return a column for each point, of the pages that name sources; the worst at the bottom."""
    highest = max((point.levels.bound for point in points), default=0)
    columns = [
        tag("g", tag("title", label_point(point)), *_column(number, point.levels, highest))
        for number, point in enumerate(points)
    ]
    return _picture(
        columns,
        f"0 0 {len(points) * 10} {TREND_HEIGHT}",
        "columns",
        role="img",
        aria_label=describe_trend(points),
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


def _column(number: int, levels: Levels, highest: int) -> Iterator[Html]:
    bottom = float(TREND_HEIGHT)
    for level in BOUND_LEVELS:
        height = getattr(levels, level) * TREND_HEIGHT / highest if highest else 0
        if height:
            bottom -= height
            yield _rect(level, number * 10 + 10 * GAP / 2, bottom, 10 - 10 * GAP, height)


def _rect(name: str, x: float, y: float, width: float, height: float) -> Html:
    return tag(
        "rect",
        class_=name,
        x=_number(x),
        y=_number(y),
        width=_number(width),
        height=_number(height),
    )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _picture(parts: Sequence[Html], box: str, name: str, **attributes: str) -> Html:
    return tag(
        "svg", join(parts), class_=name, viewBox=box, preserveAspectRatio="none", **attributes
    )

"""Charts as inline SVG: shapes only, coloured by classes; what they say stands beside them as text.

The words are outside the pictures, so that they keep their size on a telephone.
"""

from collections.abc import Iterator, Sequence
from math import pi

from ubp.core.model import Level
from ubp.output.html.markup import Html, join, tag
from ubp.output.wording import count, day
from ubp.report.values import Levels, Point
from ubp.staleness.wording import LEVEL_WORDS

BOUND: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh")
EVERY: tuple[Level, ...] = (*BOUND, "untracked")

BAR_WIDTH = 1000
RING_RADIUS = 42
TREND_HEIGHT = 100
# The share of a column that is left empty beside it.
GAP = 0.18


def describe(levels: Levels, shown: Sequence[Level] = EVERY) -> str:
    """Levels in words: `2 stale, 35 fresh`."""
    counts = ((getattr(levels, level), LEVEL_WORDS[level]) for level in shown)
    return ", ".join(f"{number} {words}" for number, words in counts if number) or "no pages"


def ring(levels: Levels) -> Html:
    """The levels of the pages that name sources, as a ring."""
    length = 2 * pi * RING_RADIUS
    total = levels.bound
    arcs, start = [], 0.0
    for level in reversed(BOUND):
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
        aria_label=describe(levels, BOUND),
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


def bar(parts: Sequence[tuple[str, int]], whole: int, label: str | None = None) -> Html:
    """A bar of parts, each a class and a number, as long as they are of the whole.

    Without a label it is decoration: the same is told beside it.
    """
    rects, start = [], 0.0
    for name, number in parts:
        width = number * BAR_WIDTH / whole if whole else 0
        if width:
            rects.append(_rect(name, start, 0, width, 10))
        start += width
    is_told = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return _picture(rects, f"0 0 {BAR_WIDTH} 10", "bar", **is_told)


def levels_bar(levels: Levels, whole: int, label: str | None = None) -> Html:
    """The levels of some pages as a bar."""
    return bar([(level, getattr(levels, level)) for level in EVERY], whole, label)


def trend(points: Sequence[Point]) -> Html:
    """A column for each point, of the pages that name sources; the worst at the bottom."""
    highest = max((point.levels.bound for point in points), default=0)
    columns = [
        tag("g", tag("title", labelled(point)), *_column(number, point.levels, highest))
        for number, point in enumerate(points)
    ]
    return _picture(
        columns,
        f"0 0 {len(points) * 10} {TREND_HEIGHT}",
        "columns",
        role="img",
        aria_label=describe_trend(points),
    )


def labelled(point: Point) -> str:
    """A point in words."""
    return f"{day(point.at)}: {describe(point.levels, BOUND)}"


def describe_trend(points: Sequence[Point]) -> str:
    """What became of the documentation between the first point and the last."""
    if not points:
        return "No history."
    first, last = points[0], points[-1]
    return (
        f"{count(len(points), 'moment')} from {day(first.at)} ({describe(first.levels, BOUND)})"
        f" to {day(last.at)} ({describe(last.levels, BOUND)})."
    )


def _column(number: int, levels: Levels, highest: int) -> Iterator[Html]:
    bottom = float(TREND_HEIGHT)
    for level in BOUND:
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

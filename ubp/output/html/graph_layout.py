"""Positions of pages in a picture of the link graph: each folder is a disc, and discs are packed.

Computed in Python and the same each time, so that a browser shows thousands of pages at once: a
layout by forces takes it ten seconds for 2,000 pages, and gives another picture each time.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import cos, hypot, pi, sin, sqrt
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import ancestors

# In the picture's own units; a page is 12 to 34 wide, and its label up to 110.
SPACING = 48.0
PADDING = 26.0
# Seeds of a sunflower stand at this angle from each other (H. Vogel, 1979): none is crowded.
GOLDEN_ANGLE = pi * (3 - sqrt(5))
# Steps along the spiral on which a free place for a disc is looked for.
SPIRAL_STEP = 0.35


class Position(NamedTuple):
    """The center of a page."""

    x: float
    y: float


class _Disc(NamedTuple):
    """A folder's pages and folders around (0, 0), and the radius of the circle around them."""

    radius: float
    positions: Mapping[FilePath, Position]


def place_pages(
    pages: Iterable[FilePath], links: Mapping[FilePath, int]
) -> dict[FilePath, Position]:
    """Return the position of each page; those with the most `links` are inside their folder."""
    by_folder: dict[str, list[FilePath]] = {}
    subfolders: dict[str, set[str]] = {"": set()}
    for page in pages:
        folder, *above = ancestors(page)
        by_folder.setdefault(folder, []).append(page)
        for parent in above:
            subfolders.setdefault(parent, set()).add(folder)
            folder = parent
    for members in by_folder.values():
        members.sort(key=lambda page: (-links.get(page, 0), page))
    return dict(_place_folder("", by_folder, subfolders).positions)


def _place_folder(
    folder: str, by_folder: Mapping[str, Sequence[FilePath]], subfolders: Mapping[str, set[str]]
) -> _Disc:
    discs = [_place_folder(name, by_folder, subfolders) for name in subfolders.get(folder, ())]
    if own := by_folder.get(folder):
        discs.append(_sunflower(own))
    if len(discs) == 1:
        return _Disc(discs[0].radius + PADDING, discs[0].positions)
    return _pack(discs)


def _sunflower(pages: Sequence[FilePath]) -> _Disc:
    """Place pages like the seeds of a sunflower, the first in the middle."""
    positions = {}
    for number, page in enumerate(pages):
        distance = SPACING * sqrt(number)
        angle = number * GOLDEN_ANGLE
        positions[page] = Position(distance * cos(angle), distance * sin(angle))
    return _Disc(SPACING * sqrt(len(pages)) + PADDING, positions)


def _pack(discs: Sequence[_Disc]) -> _Disc:
    """Place discs, the largest first, each at the first free place of a spiral."""
    placed: list[tuple[float, float, float]] = []
    positions: dict[FilePath, Position] = {}
    start = 0.0
    for disc in sorted(discs, key=lambda disc: (-disc.radius, min(disc.positions))):
        angle = start
        while True:
            distance = PADDING * angle / pi
            x, y = distance * cos(angle), distance * sin(angle)
            if all(hypot(x - a, y - b) >= disc.radius + radius for a, b, radius in placed):
                break
            angle += SPIRAL_STEP
        start = angle * 0.5  # smaller discs may fit into gaps, but not into the middle
        placed.append((x, y, disc.radius))
        for page, position in disc.positions.items():
            positions[page] = Position(position.x + x, position.y + y)
    radius = max((hypot(x, y) + radius for x, y, radius in placed), default=0.0)
    return _Disc(radius + PADDING, positions)

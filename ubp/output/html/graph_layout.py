"""Positions of pages in a picture of the link graph: each folder is a disc, and discs are packed.

Computed in Python and the same each time, so that a browser shows thousands of pages at once: a
layout by forces takes it ten seconds for 2,000 pages, and gives another picture each time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, hypot, pi, sin, sqrt
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.core.paths import ancestors

# In the picture's own units; a page is 12 to 34 wide, and its label up to 110.
SPACING = 48.0
PADDING = 26.0
# Seeds of a sunflower stand at this angle from each other (H. Vogel, 1979): none is crowded.
GOLDEN_ANGLE = pi * (3 - sqrt(5))
# The places tried around each disc, and the discs around which they are: the outermost ones.
DIRECTIONS, NEIGHBORS = 24, 24
ROUNDING = 1e-6


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
    """Place discs, the largest first, each beside another one and as near to the middle as it can.

    Of the places around each disc `DIRECTIONS` are tried.
    """
    placed: list[tuple[float, float, float]] = []
    positions: dict[FilePath, Position] = {}
    for disc in sorted(discs, key=lambda disc: (-disc.radius, min(disc.positions))):
        x, y = min(
            _free_places(disc.radius, placed), key=lambda place: hypot(*place), default=(0, 0)
        )
        placed.append((x, y, disc.radius))
        for page, position in disc.positions.items():
            positions[page] = Position(position.x + x, position.y + y)
    return _Disc(*_centered(placed, positions))


def _free_places(
    radius: float, placed: Sequence[tuple[float, float, float]]
) -> Iterator[tuple[float, float]]:
    """Yield places beside the discs for another one that touches none."""
    for center_x, center_y, other in placed[-NEIGHBORS:]:
        distance = radius + other + ROUNDING
        for step in range(DIRECTIONS):
            angle = 2 * pi * step / DIRECTIONS
            x, y = center_x + distance * cos(angle), center_y + distance * sin(angle)
            if all(hypot(x - a, y - b) >= radius + r for a, b, r in placed):
                yield x, y


def _centered(
    placed: Sequence[tuple[float, float, float]], positions: Mapping[FilePath, Position]
) -> tuple[float, dict[FilePath, Position]]:
    """Return the radius of a circle around all discs, and the positions from its center."""
    if not placed:
        return 0.0, {}
    left, right = min(x - r for x, _, r in placed), max(x + r for x, _, r in placed)
    top, bottom = min(y - r for _, y, r in placed), max(y + r for _, y, r in placed)
    x, y = (left + right) / 2, (top + bottom) / 2
    radius = max(hypot(a - x, b - y) + r for a, b, r in placed)
    moved = {page: Position(place.x - x, place.y - y) for page, place in positions.items()}
    return radius + PADDING, moved

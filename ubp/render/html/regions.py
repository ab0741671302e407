"""Where the boxes of a treemap lie: each as large as its weight, and as square as can be.

After Bruls, Huizing and van Wijk, Squarified Treemaps (2000).
"""

from collections.abc import Sequence
from typing import NamedTuple


class Region(NamedTuple):
    """A rectangle, in any unit."""

    x: float
    y: float
    width: float
    height: float


def divide(region: Region, weights: Sequence[float]) -> list[Region]:
    """Parts of a region for these weights, which stand in falling order and are above 0."""
    scale = region.width * region.height / sum(weights) if weights else 0.0
    areas = [weight * scale for weight in weights]
    parts: list[Region] = []
    left = region
    while len(parts) < len(areas):
        row = _next_row(areas[len(parts) :], min(left.width, left.height))
        placed, left = _place(row, left)
        parts += placed
    return parts


def _next_row(areas: Sequence[float], side: float) -> list[float]:
    """As many areas as stand in one row along the shorter side without getting less square."""
    row = [areas[0]]
    for area in areas[1:]:
        longer = [*row, area]
        if _worst(longer, side) > _worst(row, side):
            break
        row = longer
    return row


def _worst(row: Sequence[float], side: float) -> float:
    """How far from a square the worst part of a row is: its long side by its short one."""
    total = sum(row)
    return max(side * side * row[0] / (total * total), total * total / (side * side * row[-1]))


def _place(row: Sequence[float], region: Region) -> tuple[list[Region], Region]:
    """A row laid along the shorter side of a region, and what is left of that."""
    x, y, width, height = region
    parts = []
    if width >= height:
        depth = sum(row) / height
        for area in row:
            parts.append(Region(x, y, depth, area / depth))
            y += area / depth
        return parts, Region(x + depth, region.y, max(width - depth, 0), height)
    depth = sum(row) / width
    for area in row:
        parts.append(Region(x, y, area / depth, depth))
        x += area / depth
    return parts, Region(region.x, y + depth, width, max(height - depth, 0))

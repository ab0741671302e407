"""A map of the sources: an area for each directory or file, colored by the freshness of its pages.

The areas are as square as can be, after Bruls, Huizing and van Wijk, Squarified Treemaps (2000).
The inline SVG has no view box: places are in percent, so that letters keep their size on a narrow
screen; each box is a picture of its own, which cuts off what does not fit into it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ubp.bindings.coverage import ROOT, ActivityCount, SourceActivity, SourceTree, build_tree
from ubp.core.model import FilePath, Level
from ubp.core.paths import ancestors
from ubp.core.text import shorten
from ubp.frame.wording import count
from ubp.output.html.markup import render
from ubp.staleness.wording import BOUND_LEVELS, LEVEL_WORDS

# In a picture of more boxes none is legible; each takes 150 bytes.
MAX_BOXES = 150
# The largest parts of a directory have a box each, the others share one.
MAX_PARTS = 30
# So many of the largest directories have maps of their own, of so many boxes.
MAX_ZOOMED, MAX_ZOOMED_BOXES = 16, 60
# A directory is divided from this share of the whole on: where pages describe a part of it, and
# where they describe all or nothing of it, which one box shows as well.
MIXED_SHARE, PLAIN_SHARE = 1 / 400, 1 / 12
ASPECT = 2.8  # width by height on a desktop
# From these shares of the width and the height on a box has room for a name.
NAME_WIDTH, NAME_HEIGHT, PLACE_HEIGHT = 0.05, 0.07, 0.13
# Letters in the width of the map, and empty ones in a box.
LETTERS, LETTERS_ON_PHONE, MARGIN = 142, 42, 2


class Region(NamedTuple):
    """A rectangle, in any unit."""

    x: float
    y: float
    width: float
    height: float


def divide(region: Region, weights: Sequence[float]) -> list[Region]:
    """Return parts of a region for these weights, which are positive and in falling order."""
    scale = region.width * region.height / sum(weights) if weights else 0.0
    areas = [weight * scale for weight in weights]
    parts: list[Region] = []
    rest = region
    while len(parts) < len(areas):
        row = _next_row(areas[len(parts) :], min(rest.width, rest.height))
        placed, rest = _place(row, rest)
        parts += placed
    return parts


def _next_row(areas: Sequence[float], side: float) -> list[float]:
    """Return the areas that fit in a row along the shorter side without getting less square."""
    row = [areas[0]]
    for area in areas[1:]:
        longer = [*row, area]
        if _worst(longer, side) > _worst(row, side):
            break
        row = longer
    return row


def _worst(row: Sequence[float], side: float) -> float:
    """Return how far from a square the worst part of a row is: long side by short side."""
    total = sum(row)
    return max(side * side * row[0] / (total * total), total * total / (side * side * row[-1]))


def _place(row: Sequence[float], region: Region) -> tuple[list[Region], Region]:
    """Return the regions of a row along the shorter side, and the rest of the region."""
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


class Box(NamedTuple):
    """A file, a directory, or the `others` of a directory that are too many to show."""

    path: FilePath
    tally: ActivityCount
    region: Region
    others: int = 0


class _Part(NamedTuple):
    """A part of a box: the share of its files that pages of a level describe."""

    level: Level
    x: float
    width: float


class _Picture(NamedTuple):
    """A box as the template draws it; `zoom` is the directory whose map it leads to."""

    region: Region
    title: str
    parts: Sequence[_Part]
    name: str
    place: str
    zoom: str

    @property
    def described(self) -> float:
        """The share of its files that pages describe."""
        return sum(part.width for part in self.parts)

    @property
    def is_wide(self) -> bool:
        """Whether its name can be read on a narrow screen, as a whole."""
        letters = self.region.width * LETTERS_ON_PHONE - MARGIN
        return letters >= max(len(self.name), len(self.place))


class ZoomedMap(NamedTuple):
    """The map of a directory; `crumbs` are the directories around it that have maps, too."""

    path: FilePath
    crumbs: Sequence[FilePath]
    picture: Markup


def treemaps(
    sources: Sequence[SourceActivity], levels: Mapping[FilePath, Level], label: str
) -> list[ZoomedMap]:
    """Return the map of all sources, and those of its largest directories; `label` describes it.

    `levels` are those of the pages that describe a file, the worst of several.
    """
    tree = build_tree(sources)
    boxes = {ROOT: find_boxes(tree)}
    for box in sorted(boxes[ROOT], key=lambda box: -_weight(box.tally)):
        if box.tally.files > 1 and not box.others and len(boxes) <= MAX_ZOOMED:
            boxes[box.path] = find_boxes(tree, box.path, MAX_ZOOMED_BOXES)
    counts = _count_levels(sources, levels)
    maps = []
    for path, shown in boxes.items():
        pictures = [
            _picture(box, tree, counts, boxes.keys() - {path})
            for box in sorted(shown, key=lambda box: (box.region.x, box.region.y))
        ]
        words = f"Map of {path}/." if path else label
        picture = render(
            "treemap.svg",
            boxes=pictures,
            label=words,
            zooms=any(box.zoom for box in pictures),
        )
        maps.append(ZoomedMap(path, [ROOT] if path else [], picture))
    return maps


def _count_levels(
    sources: Sequence[SourceActivity], levels: Mapping[FilePath, Level]
) -> dict[FilePath, Counter[Level]]:
    """Return for each file and directory how many of its files pages of each level describe."""
    counts: dict[FilePath, Counter[Level]] = {}
    for source in sources:
        if source.is_described:
            level = levels.get(source.path, "fresh")
            for path in (source.path, *ancestors(source.path)):
                counts.setdefault(FilePath(path), Counter())[level] += 1
    return counts


def find_boxes(tree: SourceTree, path: FilePath = ROOT, max_boxes: int = MAX_BOXES) -> list[Box]:
    """Return the boxes of a directory, each in its region of a unit square."""
    total_weight = _weight(tree.counts[path])
    open_boxes = [Box(path, tree.counts[path], Region(0, 0, ASPECT, 1))]
    final_boxes: list[Box] = []
    while open_boxes:
        open_boxes.sort(key=lambda box: _weight(box.tally))
        box = open_boxes.pop()
        room = max_boxes - len(open_boxes) - len(final_boxes)
        parts = (
            _parts(box, tree, min(room, MAX_PARTS)) if _is_divided(box, tree, total_weight) else []
        )
        if parts:
            open_boxes += parts
        else:
            final_boxes.append(box)
    return [
        box._replace(region=_normalized(box.region))
        for box in final_boxes
        if box.path != path or box.others
    ]


def _normalized(region: Region) -> Region:
    return region._replace(x=region.x / ASPECT, width=region.width / ASPECT)


def _is_divided(box: Box, tree: SourceTree, total_weight: int) -> bool:
    if box.others or box.path not in tree.children:
        return False
    is_plain = box.tally.described_files in {0, box.tally.files}
    weight = _weight(box.tally)
    return weight == total_weight or weight >= total_weight * (
        PLAIN_SHARE if is_plain else MIXED_SHARE
    )


def _parts(box: Box, tree: SourceTree, max_parts: int) -> list[Box]:
    """Return the parts of a directory, the heaviest first; nothing where there is no room."""
    children = sorted(tree.children[box.path], key=lambda path: (-_weight(tree.counts[path]), path))
    if max_parts < 2:  # noqa: PLR2004 - one box would be the directory again
        return []
    shown, others = (
        (children, [])
        if len(children) <= max_parts
        else (children[: max_parts - 1], children[max_parts - 1 :])
    )
    parts = [(path, tree.counts[path], 0) for path in shown]
    if others:
        parts.append(
            (box.path, ActivityCount.sum(tree.counts[path] for path in others), len(others))
        )
        parts.sort(key=lambda part: -_weight(part[1]))
    regions = divide(box.region, [_weight(tally) for _, tally, _ in parts])
    return [
        Box(path, tally, region, number)
        for (path, tally, number), region in zip(parts, regions, strict=True)
    ]


def _weight(tally: ActivityCount) -> int:
    """Return the changes, and one for each file, so that unchanged files have an area, too."""
    return tally.files + tally.changes


def _picture(
    box: Box,
    tree: SourceTree,
    counts: Mapping[FilePath, Counter[Level]],
    zoomed: Collection[FilePath],
) -> _Picture:
    name, place = _names(box, tree)
    if box.others:  # their own levels are not counted apart: described ones count as fresh
        found = Counter[Level]({"fresh": box.tally.described_files})
    else:
        found = counts.get(box.path, Counter())
    parts, start = [], 0.0
    for level in reversed(BOUND_LEVELS):
        width = found[level] / box.tally.files
        if width:
            parts.append(_Part(level, start, width))
        start += width
    zoom = box.path if box.path in zoomed and not box.others else ""
    return _Picture(box.region, _title(box, tree, found), parts, name, place, zoom)


def _names(box: Box, tree: SourceTree) -> tuple[str, str]:
    """Return a box's name and the directory that it is in, as far as there is room for them."""
    width, height = box.region.width, box.region.height
    if width < NAME_WIDTH or height < NAME_HEIGHT:
        return "", ""
    place, _, name = _name(box, tree).rstrip("/").rpartition("/")
    slash = "/" if box.path in tree.children and not box.others else ""
    letters = int(width * LETTERS) - MARGIN
    has_room = height >= PLACE_HEIGHT
    return shorten(name + slash, letters), shorten(place, letters) if has_room else ""


def _name(box: Box, tree: SourceTree) -> str:
    if box.others:
        return f"{box.path}/{box.others} others" if box.path else f"{box.others} others"
    return f"{box.path}/" if box.path in tree.children else box.path


def _title(box: Box, tree: SourceTree, levels: Mapping[Level, int]) -> str:
    """Return a box in words."""
    drifted = "".join(
        f", {levels[level]} by {LEVEL_WORDS[level]} pages"
        for level in ("stale", "possibly_stale", "unknown")
        if levels.get(level)
    )
    tally = box.tally
    changes = count(tally.changes, "change")
    name = _name(box, tree)
    if box.path not in tree.children:
        described = "described" if tally.described_files else "not described"
        return f"{name}: {changes}, {described}{drifted}"
    files = f"{tally.described_files} of {count(tally.files, 'file')} described"
    return f"{name}: {files}{drifted}, {changes}"

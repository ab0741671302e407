"""Positions in the picture of a graph: no two pages on top of each other, folders apart."""

from itertools import combinations
from math import hypot
from random import Random

from ubp.core.model import FilePath
from ubp.output.html.graph_layout import SPACING, place_pages


def some_pages(count):
    chance = Random(4)
    folders = ["", "docs/", "docs/api/", "docs/api/v1/", "docs/guide/", "notes/", "notes/a/b/"]
    return [FilePath(f"{chance.choice(folders)}p{number}.md") for number in range(count)]


def test_pages_do_not_overlap_and_layout_is_stable():
    pages = some_pages(300)
    positions = place_pages(pages, {})
    assert positions.keys() == set(pages)
    assert positions == place_pages(reversed(pages), {})
    distances = [hypot(a.x - b.x, a.y - b.y) for a, b in combinations(positions.values(), 2)]
    assert min(distances) > SPACING / 2


def test_most_linked_page_is_in_the_middle_of_its_folder():
    pages = [FilePath(f"docs/p{number}.md") for number in range(30)]
    positions = place_pages(pages, {pages[20]: 9})
    middle = [sum(p[axis] for p in positions.values()) / 30 for axis in (0, 1)]
    distance = {path: hypot(p.x - middle[0], p.y - middle[1]) for path, p in positions.items()}
    assert min(distance, key=distance.__getitem__) == pages[20]


def test_folders_are_separated():
    positions = place_pages(some_pages(300), {})

    def box(folder):
        inside = [p for path, p in positions.items() if path.rpartition("/")[0] == folder]
        xs, ys = [p.x for p in inside], [p.y for p in inside]
        radius = max(hypot(p.x - sum(xs) / len(xs), p.y - sum(ys) / len(ys)) for p in inside)
        return sum(xs) / len(xs), sum(ys) / len(ys), radius

    for first, second in combinations(["docs/api/v1", "docs/guide", "notes/a/b", "notes"], 2):
        a, b = box(first), box(second)
        assert hypot(a[0] - b[0], a[1] - b[1]) > (a[2] + b[2]) * 0.9


def test_layout_of_no_page_and_one_page_is_valid():
    assert place_pages([], {}) == {}
    assert len(place_pages([FilePath("a/b/c.md")], {})) == 1

"""The map of sources: areas as their weights, nothing outside, nothing on top of another."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubp.bindings.coverage import Coverage, SourceActivity, build_tree, find_gaps
from ubp.core.model import Snapshot
from ubp.output.html import treemap as drawing
from ubp.output.html.lists import coverage
from ubp.output.html.treemap import MAX_BOXES, Region, divide, find_boxes, treemaps
from ubp.report.values import Report


def overlap(first: Region, other: Region) -> float:
    width = min(first.x + first.width, other.x + other.width) - max(first.x, other.x)
    height = min(first.y + first.height, other.y + other.height) - max(first.y, other.y)
    return max(width, 0) * max(height, 0)


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_parts_tile_a_region_by_their_weights(weights):
    weights.sort(reverse=True)
    whole = Region(0, 0, 2.8, 1)
    parts = divide(whole, weights)

    area = whole.width * whole.height
    for weight, part in zip(weights, parts, strict=True):
        assert part.width * part.height == pytest.approx(area * weight / sum(weights))
        assert overlap(part, whole) == pytest.approx(part.width * part.height)
    for number, part in enumerate(parts):
        assert sum(overlap(part, other) for other in parts[number + 1 :]) < area * 1e-9


def test_parts_are_as_square_as_possible():
    assert divide(Region(0, 0, 6, 4), [6, 6, 4, 3, 2, 2, 1])[:3] == [
        Region(0, 0, 3, 2),
        Region(0, 2, 3, 2),
        pytest.approx(Region(3, 0, 12 / 7, 7 / 3)),
    ]
    assert divide(Region(0, 0, 1, 1), []) == []


def many(number: int) -> list[SourceActivity]:
    return [
        SourceActivity(f"d{n % 40}/e{n % 7}/f{n}.py", n % 90, is_described=n % 3 == 0)
        for n in range(number)
    ]


def test_boxes_are_limited_to_a_readable_number():
    boxes = find_boxes(build_tree(many(9_000)))

    assert MAX_BOXES // 2 < len(boxes) <= MAX_BOXES
    assert sum(box.region.width * box.region.height for box in boxes) == pytest.approx(1)
    assert sum(box.tally.files for box in boxes) == 9_000


def test_directory_of_equal_pages_is_one_box():
    sources = [SourceActivity(f"big/f{n}.py", 90, is_described=False) for n in range(3)]
    sources += [SourceActivity(f"small/f{n}.py", 3, is_described=True) for n in range(3)]

    assert {box.path: box.tally.files for box in find_boxes(build_tree(sources))} == {
        "big/f0.py": 1,
        "big/f1.py": 1,
        "big/f2.py": 1,
        "small": 3,
    }


def test_pages_beyond_the_limit_share_one_box(monkeypatch):
    monkeypatch.setattr(drawing, "MAX_PARTS", 3)
    sources = [SourceActivity(f"f{n}.py", 10 - n, is_described=n == 0) for n in range(5)]

    boxes = {box.path: (box.others, box.tally.files) for box in find_boxes(build_tree(sources))}
    assert boxes == {"f0.py": (0, 1), "f1.py": (0, 1), "": (3, 3)}


def test_box_has_a_text_and_a_mark_besides_its_colour():
    (shown,) = treemaps(
        [
            SourceActivity("src/<a>.py", 30, is_described=True),
            SourceActivity("src/b.py", 30, is_described=False),
            SourceActivity("lib/c.py", 1, is_described=False),
        ],
        {"src/<a>.py": "stale"},
        "Map.",
    )
    picture = shown.picture

    assert re.findall("<title>(.*?)</title>", picture) == [
        "src/&lt;a&gt;.py: 30 changes, described, 1 by stale pages",
        "src/b.py: 30 changes, not described",
        "lib/: 0 of 1 file described, 1 change",
    ]
    assert picture.startswith('<svg class="map" role="img" aria-label="Map.">')
    assert picture.count('class="part stale"') == 1
    assert picture.count('class="gap"') == 2
    assert "style" not in picture


def test_table_is_cut_and_names_the_command_for_the_rest(monkeypatch):
    monkeypatch.setattr("ubp.output.html.lists.MAX_GAPS", 1)
    sources = (
        SourceActivity("a.py", 2, is_described=False),
        SourceActivity("b.py", 1, is_described=False),
    )
    total = build_tree(sources).counts[""]
    snapshot = Snapshot("worktree", None, {})
    found = Coverage(snapshot, 365, None, False, 0, total, find_gaps(sources), sources)  # noqa: FBT003  # a value's field
    part = coverage(Report("project", snapshot, 0, coverage=found))

    assert re.findall('<span class="path">(.*?)</span>', part) == ["a.py"]
    assert "and 1 more: run <code>ubp coverage --limit 2</code>" in part
    assert coverage(Report("project", snapshot, 0, coverage=found._replace(sources=()))) is None


def test_directories_have_maps_of_their_own_with_the_shares_of_levels():
    sources = [
        SourceActivity(f"{folder}/{name}.py", 5, is_described=name != "c")
        for folder in ("lib", "src")
        for name in "abc"
    ]
    levels = {"lib/a.py": "stale", "lib/b.py": "fresh", "src/a.py": "fresh", "src/b.py": "fresh"}
    maps = {found.path: found for found in treemaps([*sources, *many_files()], levels, "All")}
    assert next(iter(maps)) == ""
    assert {"lib", "src"} <= maps.keys()
    assert (maps[""].crumbs, maps["lib"].crumbs) == ([], [""])
    assert 'data-zoom="lib"' in maps[""].picture
    (box,) = re.findall('<svg [^>]*data-zoom="lib".*?</svg>', maps[""].picture)
    assert re.findall('class="part (.*?)" x="(.*?)" width="(.*?)"', box) == [
        ("fresh", "0%", "33.33%"),
        ("stale", "33.33%", "33.33%"),
    ]
    assert "lib/a.py: 5 changes, described, 1 by stale pages" in maps["lib"].picture
    assert "src/a.py" not in maps["lib"].picture
    assert "data-zoom" not in maps["lib"].picture


def many_files():
    """So many files elsewhere that the directories before them are not divided."""
    return [SourceActivity(f"large{n}/f.py", 2000, is_described=False) for n in range(4)]


def test_phone_shows_only_names_that_fit():
    sources = [
        SourceActivity("core.py", 90, is_described=True),
        SourceActivity("commands_for_administrators.py", 90, is_described=False),
        SourceActivity("server.py", 90, is_described=False),
    ]
    boxes = treemaps(sources, {}, "x")[0].picture.split("<svg ")[2:]
    shown = {re.search("<text[^>]*>([^<]*)", box)[1]: 'class="wide"' in box for box in boxes}
    assert shown == {"core.py": True, "commands_for_administrators.py": False, "server.py": True}

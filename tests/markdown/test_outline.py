"""The outline: every heading with its id, path, lines and words."""

from ubp.markdown.outline import find_section, read_outline

PAGE = b"""---
title: T
---
Before.

# Title

Own text.

## Slices {#Slice_types}

One.

#### <a id="old-name"></a>Deep

Two.

## Title

```
# no heading
```
"""


def test_headings_have_ids_paths_and_lines():
    found = [(s.id, s.level, s.path, s.line_start, s.line_end) for s in read_outline(PAGE)]
    assert found == [
        ("", 0, (), 4, 4),
        ("title", 1, ("Title",), 6, 22),
        ("Slice_types", 2, ("Title", "Slices"), 10, 16),
        ("deep", 4, ("Title", "Slices", "Deep"), 14, 16),
        ("title-1", 2, ("Title", "Title"), 18, 22),
    ]


def test_words_of_a_heading_end_at_the_next_heading():
    assert [section.words for section in read_outline(PAGE)] == [
        ("Before.",),
        ("Title", "Own", "text."),
        ("Slices", "One."),
        ("Deep", "Two."),
        ("Title", "# no heading", ""),
    ]


def test_section_is_found_by_id_slug_heading_and_anchor():
    outline = read_outline(PAGE)
    for name in ("Slice_types", "slices", "Slices", " slices "):
        assert find_section(outline, name).id == "Slice_types", name
    assert find_section(outline, "old-name").id == "deep"
    assert find_section(outline, "title-1").line_start == 18
    assert find_section(outline, "nowhere") is None

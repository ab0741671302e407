"""What changed between two commits, section by section."""

import pytest

from ubp.core.errors import UsageError
from ubp.search.compare import compare_versions
from ubp.workspace import Workspace

BEFORE = """# Types

Text before.

## Slices {#Slice_types}

A slice has a length that never exceeds its capacity.

## Maps

A map is an unordered group of elements of one type.

### Deleting

Call `delete` with the map and a key to remove an element.
"""


@pytest.fixture
def compare(repository):
    """Commit two versions of files, and compare them: `compare(before, after, *narrowing)`."""

    def run(before, after, *narrowing):
        for files in (before, after):
            repository.git("rm", "-r", "-q", "--ignore-unmatch", ".")
            for path, text in files.items():
                repository.write(path, text)
            repository.git("add", ".")
            repository.git("commit", "-q", "--allow-empty", "-m", "x")
        with Workspace.open(str(repository.root)) as workspace:
            return compare_versions(workspace.session, "HEAD~1", "HEAD", *narrowing)

    return run


def shown(comparison):
    return [
        (
            change.kind,
            change.old and f"{change.old.filepath}#{change.old.id}",
            change.new and f"{change.new.filepath}#{change.new.id}",
        )
        for change in comparison.changes
    ]


def words(change):
    return [(part.kind, part.text) for part in change.words]


def test_changed_word_is_shown_between_unchanged_ones(compare):
    found = compare({"a.md": BEFORE}, {"a.md": BEFORE.replace("never exceeds", "may exceed")})
    assert shown(found) == [("changed", "a.md#Slice_types", "a.md#Slice_types")]
    assert words(found.changes[0]) == [
        ("equal", "Slices A slice has a length that"),
        ("removed", "never exceeds"),
        ("added", "may exceed"),
        ("equal", "its capacity."),
    ]
    assert found.changes[0].new.heading_path == ("Types", "Slices")
    assert found.changes[0].new.line == 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A slice has a length that", "A slice has\na *length* that"),
        ("A slice", "a slice"),
        ("A slice", "[A slice](https://example.org)"),
        ("## Slices", "##   Slices"),
    ],
)
def test_markup_case_and_line_breaks_are_not_differences(compare, old, new):
    assert compare({"a.md": BEFORE}, {"a.md": BEFORE.replace(old, new)}).changes == ()


def test_words_of_cells_and_around_a_break_are_words_of_their_own(compare):
    old = "# A\n\nThe u<b>in</b>t<td>included.</td><td>Line<br>two</td> ends.\n"
    found = compare({"a.md": old}, {"a.md": old.replace("included", "excluded")})
    assert words(found.changes[0]) == [
        ("equal", "A The uint"),
        ("removed", "included."),
        ("added", "excluded."),
        ("equal", "Line two ends."),
    ]


def test_code_is_compared_byte_by_byte(compare):
    code = "# A\n\n```go\nx := 1\n```\n"
    found = compare({"a.md": code}, {"a.md": code.replace("x := 1", "X := 1")})
    assert ("removed", "x := 1") in words(found.changes[0])
    assert ("added", "X := 1") in words(found.changes[0])


def test_section_below_changes_alone(compare):
    found = compare({"a.md": BEFORE}, {"a.md": BEFORE.replace("Call", "Now call")})
    assert shown(found) == [("changed", "a.md#deleting", "a.md#deleting")]


def test_added_and_removed_sections_have_all_their_words(compare):
    after = BEFORE.partition("## Maps")[0] + "## Channels\n\nA channel connects goroutines.\n"
    found = compare({"a.md": BEFORE}, {"a.md": after})
    assert shown(found) == [
        ("added", None, "a.md#channels"),
        ("removed", "a.md#maps", None),
        ("removed", "a.md#deleting", None),
    ]
    assert words(found.changes[0]) == [("added", "Channels A channel connects goroutines.")]


def test_section_moved_to_another_page_is_one_change(compare):
    head, heading, rest = BEFORE.partition("## Maps")
    found = compare({"a.md": BEFORE}, {"a.md": head, "b.md": "# B\n\n" + heading + rest})
    assert shown(found) == [
        ("added", None, "b.md#b"),
        ("moved", "a.md#maps", "b.md#maps"),
        ("moved", "a.md#deleting", "b.md#deleting"),
    ]
    assert found.changes[1].words == ()


def test_renamed_heading_is_a_change_of_its_section(compare):
    found = compare({"a.md": BEFORE}, {"a.md": BEFORE.replace("## Maps", "## Map types")})
    assert shown(found) == [
        ("changed", "a.md#maps", "a.md#map-types"),
        ("moved", "a.md#deleting", "a.md#deleting"),
    ]


def test_path_and_section_limit_the_comparison(compare):
    after = BEFORE.replace("Call", "Now call").replace("never", "may")
    versions = {"a.md": BEFORE, "b.md": BEFORE}, {"a.md": after, "b.md": after}
    assert len(compare(*versions).changes) == 4
    assert len(compare(*versions, "a.md").changes) == 2
    assert shown(compare(*versions, "a.md", "maps")) == [
        ("changed", "a.md#deleting", "a.md#deleting")
    ]
    with pytest.raises(UsageError, match="has no section nowhere"):
        compare(*versions, "a.md", "nowhere")
    with pytest.raises(UsageError, match=r"Neither version has a page c.md"):
        compare(*versions, "c.md")


def test_files_that_are_not_documents_are_not_compared(compare):
    assert compare({"a.py": "1\n"}, {"a.py": "2\n"}).changes == ()


def test_long_section_is_shown_in_part(compare, monkeypatch):
    monkeypatch.setattr("ubp.search.compare.MAX_COMPARED_WORDS", 4)
    monkeypatch.setattr("ubp.search.compare.MAX_SHOWN_WORDS", 5)
    found = compare(
        {"a.md": "# A\n\none two three\n"}, {"a.md": "# A\n\none two three four five\n"}
    )
    (change,) = found.changes
    assert words(change) == [("removed", "A one two three"), ("added", "A one two three four …")]

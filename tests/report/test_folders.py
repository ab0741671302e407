"""Levels by folder: the largest folders are divided as long as a table has room."""

from ubp.core.model import FilePath
from ubp.report.build import MAX_FOLDERS, count_folders
from ubp.report.values import Folder, Levels


def rows(*pages):
    """The table of these fresh pages: folder, whether only its own files, how many."""
    found = count_folders({FilePath(page): "fresh" for page in pages})
    return [(box.path, box.is_rest, box.levels.fresh) for box in found]


def many(folder, number):
    return [f"{folder}/{n}.md" for n in range(number)]


def test_few_pages_are_one_row():
    assert rows("a.md", "docs/b.md") == [("", False, 2)]
    assert rows() == [("", False, 0)]


def test_only_folder_is_shown_by_its_own_name():
    assert rows(*many("docs/api", 9)) == [("docs/api", False, 9)]


def test_files_beside_folders_have_a_row_of_their_own():
    assert rows("README.md", "docs/index.md", *many("docs/api", 4), *many("docs/guide", 5)) == [
        ("", True, 1),
        ("docs", True, 1),
        ("docs/api", False, 4),
        ("docs/guide", False, 5),
    ]


def test_folder_with_too_many_folders_stays_whole():
    pages = [f"docs/{n}/page.md" for n in range(MAX_FOLDERS + 1)]
    assert rows("README.md", *pages) == [("", True, 1), ("docs", False, MAX_FOLDERS + 1)]


def test_pages_are_counted_once_at_their_level():
    pages = {
        FilePath(f"d{n % 7}/e{n % 3}/{n}.md"): "stale" if n % 2 else "fresh" for n in range(99)
    }
    found = count_folders(pages)
    assert sum(box.levels.stale for box in found) == 49
    assert sum(box.levels.fresh for box in found) == 50
    assert len(found) <= MAX_FOLDERS


def test_folder_contains_what_is_below_it():
    docs = Folder(FilePath("docs"), is_rest=False, levels=Levels())
    assert docs.holds(FilePath("docs/a.md"))
    assert not docs.holds(FilePath("docsy/a.md"))
    assert Folder(FilePath(""), is_rest=True, levels=Levels()).holds(FilePath("a.md"))

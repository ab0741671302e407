"""Folders with the numbers of their documents."""

import pytest

from ubp.search.folders import count_by_folder, folder_of, is_below

DOCUMENTS = [
    "README.md",
    *(f"docs/guides/{number}.md" for number in range(5)),
    *(f"docs/api/v1/{number}.md" for number in range(3)),
    "docs/api/v2/a.md",
    "docs/index.md",
]


@pytest.mark.parametrize(
    ("most", "counted"),
    [
        (1, [("", 11)]),
        (2, [("docs", 10), ("", 1)]),
        (4, [("docs/guides", 5), ("docs/api", 4), ("", 1), ("docs", 1)]),
        (9, [("docs/guides", 5), ("docs/api/v1", 3), ("", 1), ("docs", 1), ("docs/api/v2", 1)]),
    ],
)
def test_largest_folder_is_divided_as_long_as_there_is_room(most, counted):
    folders = count_by_folder(DOCUMENTS, most)
    assert [(folder.path, folder.documents) for folder in folders] == counted
    assert sum(folder.documents for folder in folders) == len(DOCUMENTS)


def test_folder_with_too_many_folders_is_divided_into_the_largest():
    large = [f"docs/large/{number}.md" for number in range(9)]
    small = [f"docs/small-{number}/a.md" for number in range(8)]
    folders = count_by_folder([*large, *small, "README.md"], 3)
    assert folders == (("docs/large", 9), ("docs", 8), ("", 1))
    assert count_by_folder([*small, "README.md"], 3) == (("docs", 8), ("", 1))


def test_no_documents_have_no_folders():
    assert count_by_folder([]) == ()


def test_document_belongs_to_its_nearest_folder():
    assert folder_of("docs/api/v1/a.md", ["docs", "docs/api"]) == "docs/api"
    assert folder_of("docs.md", ["docs"]) == ""


@pytest.mark.parametrize("folder", ["docs", "docs/", "./docs", ""])
def test_folder_has_what_is_below_it(folder):
    assert is_below("docs/api/a.md", folder)
    assert is_below("docs-old/a.md", folder) == (not folder)


def test_dot_is_the_root_alone():
    assert is_below("a.md", ".")
    assert is_below("a.md", "./")
    assert not is_below("docs/a.md", ".")

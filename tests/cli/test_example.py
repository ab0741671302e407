"""Where nothing is verified, the user is shown one of their pages and a source for it."""

import pytest

from ubp.staleness.first_reference import FirstReference
from ubp.workspace import Workspace


@pytest.fixture
def shown(repository):
    def show(*paths):
        with Workspace.open(str(repository.root)) as workspace:
            return workspace.example(workspace.stale(paths), paths)

    return show


def test_a_page_that_names_a_file_is_preferred(repository, shown):
    repository.write("README.md", "See `src/a.py`.\n")
    repository.write("docs/a.md", "Nothing.\n")
    repository.write("docs/b.md", "---\ntitle: B\n---\nSee ../src/a.py, and src/missing.py.\n")
    repository.write("src/a.py", "")
    assert shown() == FirstReference("docs/b.md", "src/a.py", is_named=True, has_front_matter=True)


def test_a_picture_is_no_source(repository, shown):
    repository.write("docs/a.md", "![Flow](../img/flow.png)\n")
    repository.write("docs/b.md", "See `src/a.py`.\n")
    repository.write("img/flow.png", "")
    repository.write("src/a.py", "")
    assert shown().source == "src/a.py"


def test_a_page_and_a_file_do_where_none_is_named(repository, shown):
    repository.write("docs/a.md", "Nothing.\n")
    repository.write(".github/ci.yml", "")
    repository.write("src/a.py", "")
    assert shown() == FirstReference(
        "docs/a.md", "src/a.py", is_named=False, has_front_matter=False
    )


def test_the_page_that_was_asked_about_is_shown(repository, shown):
    repository.write("docs/a.md", "See `src/a.py`.\n")
    repository.write("docs/b.md", "Nothing.\n")
    repository.write("src/a.py", "")
    assert shown("docs/b.md") == FirstReference(
        "docs/b.md", "src/a.py", is_named=False, has_front_matter=False
    )


def test_there_may_be_nothing_to_show(repository, shown):
    assert shown() is None
    repository.write("docs/a.md", "See [another](b.md).\n")
    repository.write("docs/b.md", "")
    assert shown() is None


def test_excluded_files_are_not_shown(repository, shown):
    repository.write("docs/a.md", "See private/key.py and src/a.py.\n")
    repository.write("private/key.py", "")
    repository.write("src/a.py", "")
    assert shown().source == "src/a.py"


def test_links_are_not_followed(repository, shown, tmp_path):
    (tmp_path / "outside.md").write_text("See src/a.py.\n")
    repository.write("src/a.py", "")
    repository.write("docs/a.md", "See src/link.py.\n")
    (repository.root / "src/link.py").symlink_to(tmp_path / "outside.md")
    (repository.root / "docs/link.md").symlink_to(tmp_path / "outside.md")
    assert shown() == FirstReference(
        "docs/a.md", "src/a.py", is_named=False, has_front_matter=False
    )


def test_another_key_is_noticed(repository, shown, ubp):
    repository.write("src/a.py", "")
    repository.write("docs/a.md", "---\nrelated_code:\n  - src/a.py\n---\nSee src/a.py.\n")
    assert shown().other_key == "related_code"
    assert ubp(repository, "stale").out.endswith(
        "If pages already list them under `related_code`: ubp stale --key related_code\n"
    )
    assert ubp(repository, "stale", "--key", "related_code").out == (
        "1 of 1 page lists sources: fresh.\n"
    )

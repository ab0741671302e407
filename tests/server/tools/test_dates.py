"""When pages were created and changed: committer dates of the commits that git would name."""

import subprocess
from datetime import datetime

import pytest

from ubp.answers.pages.get_page import PageRequest
from ubp.workspace import Workspace

DAY = 86_400


@pytest.fixture
def dates(repository):
    """The dates of a page, in days since the repository began."""
    start = repository.clock

    def ask(path, root=repository.root):
        with Workspace.open(str(root)) as workspace:
            read = workspace.ask(PageRequest(path))
        moments = (read.created_at, read.updated_at)
        return tuple(None if moment is None else days(moment) for moment in moments)

    def days(moment):
        return (datetime.fromisoformat(moment).timestamp() - start) / DAY

    return ask


def test_a_page_is_created_once_and_changed_often(repository, dates):
    repository.write("a.md", "# One\n")
    repository.commit()
    repository.write("b.md", "# Other\n")
    repository.commit()
    repository.write("a.md", "# Two\n")
    repository.commit()
    assert (dates("a.md"), dates("b.md")) == ((1, 3), (2, 2))


def test_a_renamed_page_is_as_old_as_under_its_first_name(repository, dates):
    repository.write("a.md", "# One\n")
    repository.commit()
    repository.git("mv", "a.md", "b.md")
    repository.commit()
    repository.write("docs/x.md", "# Copied\n")
    repository.write("b.md", "# One, edited\n")
    repository.commit()
    repository.git("mv", "b.md", "docs/c.md")
    repository.commit()
    assert dates("docs/c.md") == (1, 3)


def test_a_copy_is_a_new_page(repository, dates):
    repository.write("a.md", "# One\n")
    repository.commit()
    repository.write("b.md", "# One\n")
    repository.commit()
    assert dates("b.md") == (2, 2)


def test_a_page_written_anew_remembers_its_first_life(repository, dates):
    repository.write("a.md", "# One\n")
    repository.commit()
    repository.remove("a.md")
    repository.commit()
    repository.write("a.md", "# Two\n")
    repository.commit()
    assert dates("a.md") == (1, 3)


def test_a_merge_brings_the_older_of_two_births(repository, dates):
    repository.write("README.md", "# Read me\n")
    repository.commit()
    repository.git("switch", "-qc", "side")
    repository.write("a.md", "# Theirs\n")
    repository.commit("theirs")
    repository.git("switch", "-q", "main")
    repository.write("a.md", "# Ours\n")
    repository.commit("ours")
    repository.merge("side", "-X", "ours")
    assert dates("a.md") == (3, 3)  # the merge kept this line, and git follows no other
    repository.write("a.md", "# Both\n")
    repository.git("merge", "--no-commit", "side", check=False)
    repository.commit("edit")
    assert dates("a.md") == (3, 5)


def test_a_merge_that_joins_two_texts_follows_both(repository, dates):
    repository.write("README.md", "# Read me\n")
    repository.commit()
    repository.git("switch", "-qc", "side")
    repository.write("a.md", "# Theirs\n")
    repository.commit("theirs")
    repository.git("switch", "-q", "main")
    repository.write("a.md", "# Ours\n")
    repository.commit("ours")
    repository.git("merge", "--no-commit", "side", check=False)
    repository.write("a.md", "# Both\n")
    repository.commit("merge")
    assert dates("a.md") == (2, 4)


def test_what_was_never_committed_has_no_dates(repository, dates):
    repository.write("a.md", "# One\n")
    assert dates("a.md") == (None, None)
    repository.commit()
    repository.write("b.md", "# Two\n")
    assert dates("b.md") == (None, None)


def test_what_lies_beyond_a_shallow_clone_is_unknown(repository, dates, tmp_path):
    for name in ("a", "b", "c"):
        repository.write(f"{name}.md", f"# {name}\n")
        repository.commit()
    repository.write("b.md", "# Edited\n")
    repository.commit()
    clone = tmp_path / "clone"
    url = repository.root.as_uri()
    subprocess.run(["git", "clone", "-q", "--depth", "2", url, clone], check=True)
    assert dates("a.md", clone) == (None, None)
    assert dates("b.md", clone) == (None, 4)
    assert dates("c.md", clone) == (None, None)
    subprocess.run(["git", "-C", clone, "fetch", "-q", "--unshallow"], check=True)
    assert dates("b.md", clone) == (2, 4)


def test_dates_are_kept_and_brought_along(repository, dates, monkeypatch):
    repository.write("a.md", "# One\n")
    repository.write("b.md", "# Other\n")
    repository.commit()
    assert dates("a.md") == (1, 1)
    repository.git("mv", "a.md", "c.md")
    repository.commit()
    monkeypatch.setattr("ubp.git.commits_libgit2.read_all_commits", _refuse)
    assert dates("c.md") == (1, 1)


def _refuse(_):
    raise AssertionError("the whole history is walked again")

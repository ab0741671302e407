"""The change log: what each commit touched, read once and kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ubp.answers.setup.reindex import ReindexRequest
from ubp.core.errors import RepositoryError
from ubp.git.change_log import LoggedChange, read_changes
from ubp.workspace import Workspace


def logged(root: Path, limit: int | None = None) -> list[LoggedChange]:
    with Workspace.open(str(root)) as workspace:
        return workspace.session.history.change_log(limit)


def read_git_log(repository, *args: str) -> list[LoggedChange]:
    """The same, read from `git log`."""
    changes = []
    for line in repository.git("log", "--no-merges", "--format=%H %ct", *args).splitlines():
        commit, date = line.split()
        files = repository.git(
            "show", "--format=", "--name-only", "--no-renames", "-z", commit
        ).split("\0")
        changes.append(LoggedChange(commit, int(date), tuple(filter(None, files))))
    return changes


@pytest.fixture
def history(repository):
    """Additions, a rename, a deletion, nothing at all, a merge; and odd names."""
    repository.write("a.py", "a\n" * 20)
    first = repository.commit()
    repository.write(f"notes/{first}", "a file with the name of a commit\n")
    repository.write(first, "another\n")
    repository.commit()
    repository.git("mv", "a.py", "src.py")
    repository.commit()
    repository.git("switch", "-q", "-c", "side")
    repository.write("日本 語\n.md", "one\n")
    repository.commit()
    repository.git("switch", "-q", "main")
    repository.remove(first)
    repository.commit()
    repository.merge("side")
    repository.commit("nothing")
    return repository


def test_log_equals_that_of_git_log(history):
    found = logged(history.root)

    assert found == read_git_log(history)
    assert [len(change.paths) for change in found] == [0, 1, 1, 2, 2, 1]
    assert logged(history.root, 2) == found[:2]
    with Workspace.open(str(history.root)) as workspace:
        assert workspace.session.history.change_log(since=found[3].date) == found[:4]


def test_commits_are_read_once(history, monkeypatch):
    asked = []
    read = read_changes

    def spy(repository, commits):
        asked.append(list(commits))
        return read(repository, commits)

    monkeypatch.setattr("ubp.git.change_log.read_changes", spy)
    monkeypatch.setattr("ubp.index.history.COMMITS_PER_BATCH", 4)
    old = logged(history.root)
    history.write("b.py", "b\n")
    new = history.commit()
    with Workspace.open(str(history.root)) as first, Workspace.open(str(history.root)) as other:
        logs = [workspace.session.history.change_log() for workspace in (first, other)]

    assert logs == [read_git_log(history)] * 2
    assert [len(commits) for commits in asked] == [4, 2, 1]
    assert asked[-1] == [new]
    assert [*asked[0], *asked[1]] == [change.commit for change in old]


def test_log_begins_at_the_given_commit(history):
    with Workspace.open(str(history.root)) as workspace:
        side = workspace.session.history.change_log(
            head=workspace.session.repository.resolve("side")
        )

    assert side == read_git_log(history, "side")


def test_names_that_are_not_utf8_are_returned_unchanged(repository):
    blob = repository.git("hash-object", "-w", "--stdin", stdin=b"x")
    repository.git(
        "update-index", "-z", "--index-info", stdin=b"100644 %s 0\tcaf\xe9\0" % blob.encode()
    )
    repository.commit(add=False)

    first = logged(repository.root)

    assert [change.paths for change in first] == [("caf\udce9",)]
    assert logged(repository.root) == first


def test_log_before_the_first_commit_is_empty(repository):
    assert logged(repository.root) == []


def test_commit_with_very_many_files_keeps_the_first_ones(repository, monkeypatch):
    monkeypatch.setattr("ubp.git.change_log.MAX_PATHS", 2)
    for name in ("a", "b", "c"):
        repository.write(name, name)
    repository.commit()
    repository.write("c", "cc")
    repository.commit()

    assert [change.paths for change in logged(repository.root)] == [("c",), ("a", "b")]


def test_shallow_clone_lists_the_commits_whose_parents_it_has(history, tmp_path):
    history.git("clone", "-q", "--depth=3", history.root.as_uri(), str(tmp_path / "clone"))

    found = logged(tmp_path / "clone")

    assert found == read_git_log(history)[:1]
    history.git("-C", str(tmp_path / "clone"), "fetch", "-q", "--unshallow")
    assert logged(tmp_path / "clone") == read_git_log(history)


def test_clone_without_blobs_is_enough_but_one_without_trees_is_not(history, tmp_path):
    history.git("config", "uploadpack.allowFilter", "true")
    for what in ("blob:none", "tree:0"):
        target = tmp_path / what.replace(":", "-")
        history.git(
            "clone", "-q", "--no-checkout", f"--filter={what}", history.root.as_uri(), str(target)
        )

    assert logged(tmp_path / "blob-none") == read_git_log(history)
    with pytest.raises(RepositoryError) as caught:
        logged(tmp_path / "tree-0")
    assert "git fetch --refetch --no-filter" in str(caught.value.hint)


def test_unwritable_index_does_not_prevent_reading_the_log(history):
    (history.root / ".git/ubp").write_text("in the way")

    assert logged(history.root) == read_git_log(history)


def test_damaged_row_is_read_again(history):
    found = logged(history.root)
    with closing(sqlite3.connect(history.index)) as database:
        database.execute("UPDATE logged_change SET paths = x'00'")
        database.commit()

    assert logged(history.root) == found


def test_pruning_removes_unreachable_commits(history):
    history.git("switch", "-q", "-c", "thrown-away")
    history.write("gone.py", "gone\n")
    history.commit()
    whole = logged(history.root)
    history.git("switch", "-q", "main")
    history.git("branch", "-q", "-D", "thrown-away")
    with Workspace.open(str(history.root)) as workspace:
        workspace.ask(ReindexRequest(prune=True))

    with closing(sqlite3.connect(history.index)) as database:
        commits = [row[0].hex() for row in database.execute('SELECT "commit" FROM logged_change')]
        paths = {row[0] for row in database.execute("SELECT path FROM touched_path")}
    assert sorted(commits) == sorted(change.commit for change in whole[1:])
    assert paths == {path for change in whole[1:] for path in change.paths}
    assert logged(history.root) == whole[1:]

"""`ubp reindex --prune` removes what earlier versions kept in the work tree."""

import os

import pytest

OLD = {"knowledge.db": b"12345", "knowledge.db-wal": b"12345", "serve.log": b"12345"}


@pytest.fixture
def left(drifted):
    """A repository with the index and the log of an earlier version, as that version left them."""
    for name, content in {**OLD, ".gitignore": b"*\n", "mine.txt": b"mine"}.items():
        drifted.write(f".ubp/{name}", content)
    return drifted


def test_old_index_is_removed_only_by_pruning(left, ubp):
    for command in ("stale", "status", "reindex"):
        ubp(left, command)
    assert sorted(os.listdir(left.root / ".ubp")) == sorted([*OLD, ".gitignore", "mine.txt"])
    before = ubp(left, "reindex", "--prune", "--json").record["pruned"]["freed_bytes"]
    assert before >= 15
    assert sorted(os.listdir(left.root / ".ubp")) == [".gitignore", "mine.txt"]


def test_old_index_that_git_tracks_is_not_removed(left, ubp):
    left.git("add", "--force", ".ubp/knowledge.db")
    assert ubp(left, "reindex", "--prune").status == 0
    assert sorted(os.listdir(left.root / ".ubp")) == [".gitignore", "knowledge.db", "mine.txt"]
    assert left.git("status", "--porcelain", ".ubp") == "A  .ubp/knowledge.db"


def test_old_index_that_git_tracks_in_another_spelling_is_not_removed(left, ubp):
    left.git("config", "core.ignoreCase", "true")
    (left.root / ".ubp").rename(left.root / ".UBP")
    left.git("add", "--force", ".UBP/knowledge.db")
    (left.root / ".UBP").rename(left.root / ".ubp")
    assert ubp(left, "reindex", "--prune").status == 0
    assert sorted(os.listdir(left.root / ".ubp")) == [".gitignore", "knowledge.db", "mine.txt"]


def test_old_index_that_git_does_not_ignore_is_not_removed(left, ubp):
    (left.root / ".ubp/.gitignore").unlink()
    assert ubp(left, "reindex", "--prune").status == 0
    assert sorted(os.listdir(left.root / ".ubp")) == sorted([*OLD, "mine.txt"])


def test_pruning_removes_nothing_through_a_link(left, ubp, tmp_path):
    (left.root / ".ubp").rename(tmp_path / "outside")
    (left.root / ".ubp").symlink_to(tmp_path / "outside")
    assert ubp(left, "reindex", "--prune").status == 0
    assert sorted(os.listdir(tmp_path / "outside")) == sorted([*OLD, ".gitignore", "mine.txt"])


def test_bare_repository_has_no_old_index(drifted, new_repository, ubp):
    bare = new_repository("bare.git", "--bare")
    drifted.git("push", "--quiet", str(bare.root), "HEAD:refs/heads/main")
    assert ubp(bare, "reindex", "--prune").status == 0

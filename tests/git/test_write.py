"""Commits written straight to a reference: their trees, conflicts, and what stays untouched."""

import multiprocessing
import os
from functools import partial

import pytest

from ubp.core.errors import RepositoryError
from ubp.git.repository import open_repository
from ubp.git.write import ABSENT, Author, update_ref, write_commit

REF = "refs/heads/ubp/written"
AUTHOR = Author("Robot", "robot@example.com")
commit_files = partial(write_commit, message="Write\n", author=AUTHOR, when=1_700_000_000.5)


@pytest.fixture
def opened(repository, open_at):
    repository.write("docs/a.md", "a\n")
    repository.write("docs/run.sh", "run\n").chmod(0o755)
    repository.write("top.md", "top\n")
    repository.commit()
    return open_at(repository.root)


def files(repository, revision=REF) -> list[str]:
    return repository.git("ls-tree", "-r", "--format=%(objectmode) %(path)", revision).split("\n")


def test_changes_apply_to_the_commit_of_the_reference(repository, opened):
    repository.git("update-ref", REF, "HEAD")
    changes = {"docs/run.sh": b"walk\n", "new/b.md": b"b\n", "top.md": None}
    commit = commit_files(opened, REF, changes)
    assert repository.git("rev-parse", REF) == commit
    assert repository.git("rev-parse", f"{REF}^") == repository.head()
    assert files(repository) == ["100644 docs/a.md", "100755 docs/run.sh", "100644 new/b.md"]
    assert repository.git("show", f"{REF}:docs/run.sh") == "walk"
    shown = repository.git("log", "-1", "--format=%an <%ae> %at %cn %ct %B", REF)
    assert shown == "Robot <robot@example.com> 1700000000 Robot 1700000000 Write"
    repository.git("fsck", "--strict")


def test_tree_equals_the_one_that_git_writes(repository, opened):
    commit_files(opened, REF, {"a-b/x": b"1", "a/x": b"2", "a.b": b"3", "日本.md": b"4"})
    for name, data in (("a-b/x", b"1"), ("a/x", b"2"), ("a.b", b"3"), ("日本.md", b"4")):
        repository.write(name, data)
    repository.git("add", "a-b", "a", "a.b", "日本.md")
    repository.git("rm", "-q", "--cached", "-r", "docs", "top.md")
    assert repository.git("rev-parse", f"{REF}^{{tree}}") == repository.git("write-tree")


def test_many_files_are_written_as_one_pack_and_the_same_commit(repository, opened):
    many = {f"many/{number}.md": f"{number}\n".encode() for number in range(30)}
    commit_files(opened, REF, {**many, "empty": b"", "blob\ndone": b"blob\ndone\n\0"})
    for path, data in {**many, "empty": b"", "blob\ndone": b"blob\ndone\n\0"}.items():
        file = repository.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    repository.git("rm", "-q", "--cached", "-r", "docs", "top.md")
    loose = int(repository.git("count-objects").split()[0])
    assert loose < 15
    repository.git("add", "many", "empty", "blob\ndone")
    assert repository.git("rev-parse", f"{REF}^{{tree}}") == repository.git("write-tree")
    commit_files(opened, REF, {path: data + b"2" for path, data in many.items()} | {"empty": None})
    assert repository.git("show", f"{REF}:many/7.md") == "7\n2"
    repository.git("fsck", "--strict")


def test_writing_does_not_change_work_tree_index_or_head(repository, opened):
    repository.write("top.md", "edited\n")
    status = ("status", "--porcelain=v2", "--branch")
    index = repository.root / ".git/index"
    before = repository.git(*status), index.read_bytes()
    repository.git("update-ref", REF, "HEAD")
    commit_files(opened, REF, {"top.md": b"other\n"})
    assert index.read_bytes() == before[1]
    assert repository.git(*status) == before[0]


def test_equal_files_make_no_commit(repository, opened):
    commit = commit_files(opened, REF, {"a.md": b"a\n"})
    assert commit_files(opened, REF, {"a.md": b"a\n", "gone.md": None}) is None
    assert repository.git("rev-parse", REF) == commit


def test_equal_files_make_a_commit_where_that_is_allowed(repository, opened):
    first = commit_files(opened, REF, {})
    assert first is None
    first = commit_files(opened, REF, {}, is_empty_allowed=True)
    assert commit_files(opened, REF, {}, is_empty_allowed=True) != first
    assert repository.git("rev-list", "--count", REF) == "2"


def test_second_commit_keeps_the_files_of_the_first(repository, opened):
    commit_files(opened, REF, {"a.md": b"a\n"})
    commit_files(opened, REF, {"b/c.md": b"c\n"})
    assert files(repository) == ["100644 a.md", "100644 b/c.md"]


def test_checked_out_branch_is_not_written(repository, opened):
    with pytest.raises(RepositoryError) as error:
        commit_files(opened, "refs/heads/main", {"a.md": b"a\n"})
    assert error.value.cause == "It is checked out in a work tree."
    repository.git("worktree", "add", "-q", "-b", "other", str(repository.root / "linked"))
    with pytest.raises(RepositoryError):
        commit_files(opened, "refs/heads/other", {"a.md": b"a\n"})


@pytest.mark.parametrize("path", ["../a", ".git/config", "a//b", "/a", "", "a/.GIT/x", "a/../b"])
def test_path_that_git_rejects_writes_nothing(repository, opened, path):
    with pytest.raises(RepositoryError, match=r"Cannot write a commit|Not a path that Git"):
        commit_files(opened, REF, {path: b"x"})
    assert repository.git("for-each-ref", REF) == ""


def test_reference_is_moved_and_deleted_by_comparison(repository, opened):
    first = commit_files(opened, REF, {"a.md": b"a\n"})
    second = commit_files(opened, REF, {"a.md": b"b\n"})
    assert not update_ref(opened, REF, first, first, "back")
    assert update_ref(opened, REF, first, second, "back")
    assert not update_ref(opened, REF, ABSENT, second, "drop")
    assert update_ref(opened, REF, ABSENT, first, "drop")
    assert repository.git("for-each-ref", REF) == ""


def test_locked_reference_is_reported_after_retries(repository, opened, monkeypatch):
    monkeypatch.setattr("ubp.git.write.MAX_PAUSE_SECONDS", 0)
    monkeypatch.setattr("ubp.git.write.MAX_ATTEMPTS", 2)
    lock = repository.root / ".git" / f"{REF}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with pytest.raises(RepositoryError, match="Cannot write to"):
        commit_files(opened, REF, {"a.md": b"a\n"})


def test_commit_in_a_blobless_clone_needs_no_absent_blob(repository, open_at, tmp_path):
    for name in ("docs/a.md", "docs/run.sh", "top.md"):
        repository.write(name, name)
    repository.commit()
    repository.git("config", "uploadpack.allowFilter", "true")
    bare = tmp_path / "clone.git"
    url = repository.root.as_uri()
    repository.git("clone", "-q", "--bare", "--filter=blob:none", url, str(bare))
    clone = open_at(bare, GIT_NO_LAZY_FETCH="1")
    repository.git("-C", str(bare), "update-ref", REF, "HEAD")
    commit_files(clone, REF, {"docs/b.md": b"b\n"})
    listed = repository.git("-C", str(bare), "ls-tree", "-r", "--name-only", REF).split("\n")
    assert listed == ["docs/a.md", "docs/b.md", "docs/run.sh", "top.md"]


def _commit_many(root: str, worker: int, count: int) -> None:
    with open_repository(root, os.environ) as opened:
        for number in range(count):
            commit_files(opened, REF, {f"{worker}/{number}.md": b"x\n"})


def test_concurrent_commits_of_processes_are_all_kept(repository):
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(target=_commit_many, args=(str(repository.root), worker, 6))
        for worker in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(files(repository)) == 12
    assert repository.git("rev-list", "--count", REF) == "12"

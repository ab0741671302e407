"""Which index is read: a hook's, one by name, a split, sparse or broken one."""

import subprocess
import sys

import pytest

from ubp.core.errors import GitCommandError
from ubp.core.model import MODE_FILE, UNHASHED, Entry, Snapshot
from ubp.git.output import blob_id
from ubp.git.snapshot import read_index, read_worktree

CHANGED = Entry(MODE_FILE, UNHASHED)


def file(data: bytes, mode: int = MODE_FILE) -> Entry:
    return Entry(mode, blob_id(data))


def test_split_index_is_read(repository, open_at):
    for number in range(9):
        repository.write(f"{number}.md", "1\n")
    head = repository.commit()
    repository.git("update-index", "--split-index")
    repository.write("1.md", "2\n")
    repository.git("add", "1.md")
    repository.write("2.md", "2\n")
    found = open_at(repository.root)
    assert read_worktree(found) == Snapshot(
        "worktree", head, {"1.md": file(b"2\n"), "2.md": CHANGED}
    )
    assert read_index(found) == Snapshot("staged", head, {"1.md": file(b"2\n")})


def test_sparse_index_is_read(repository, open_at):
    for folder in ("in", "out", "out/deep"):
        repository.write(f"{folder}/a.md", "1\n")
    head = repository.commit()
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    repository.write("in/a.md", "2\n")
    found = open_at(repository.root)
    assert read_worktree(found) == Snapshot("worktree", head, {"in/a.md": CHANGED})
    repository.git("add", "in/a.md")
    assert read_index(found) == Snapshot("staged", head, {"in/a.md": file(b"2\n")})


def test_broken_index_is_an_error(repository, open_at):
    repository.write(".git/index", "nonsense" * 9)
    opened = open_at(repository.root)
    for read, command in ((read_worktree, "status"), (read_index, "diff-index")):
        with pytest.raises(GitCommandError) as raised:
            read(opened)
        assert raised.value.message == f"`git {command}` failed in {repository.root}."


HOOK = """#!/bin/sh
exec "{python}" -I -c '
import os, sys
from ubp.git.repository import open_repository
from ubp.git.snapshot import read_index
with open_repository(os.getcwd(), os.environ) as repository:
    for path, entry in sorted(read_index(repository).changes.items()):
        print(path, entry and entry.id)
' > "{output}"
"""


@pytest.fixture
def hooked(repository, tmp_path):
    """`repository` with a pre-commit hook; `repository.seen()` is the index that it saw."""
    output = tmp_path / "seen"
    hook = repository.write(
        ".git/hooks/pre-commit", HOOK.format(python=sys.executable, output=output)
    )
    hook.chmod(0o755)

    def seen() -> dict:
        pairs = (line.split(" ") for line in output.read_text().splitlines())
        return {path: None if blob == "None" else blob for path, blob in pairs}

    repository.seen = seen
    for name in ("a", "b", "c"):
        repository.write(name, "1\n")
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message=first")
    return repository


ONE, TWO = blob_id(b"1\n"), blob_id(b"2\n")


def test_hook_sees_the_first_commit(hooked):
    assert hooked.seen() == {"a": ONE, "b": ONE, "c": ONE}


@pytest.mark.parametrize("where", ["root", "folder"])
def test_hook_of_commit_all_sees_what_will_be_committed(hooked, where):
    hooked.write("sub/x", "1\n")
    hooked.write("a", "2\n")
    hooked.remove("b")
    folder = hooked.root if where == "root" else hooked.root / "sub"
    subprocess.run(["git", "commit", "--quiet", "--all", "--message=x"], cwd=folder, check=True)
    assert hooked.seen() == {"a": TWO, "b": None}


def test_hook_of_commit_path_sees_what_will_be_committed(hooked):
    for name in ("a", "b", "c"):
        hooked.write(name, "2\n")
    hooked.git("add", "b")
    hooked.git("commit", "--quiet", "--message=x", "a")
    assert hooked.seen() == {"a": TWO}


def test_hook_in_a_linked_work_tree_sees_what_will_be_committed(hooked, tmp_path):
    linked = tmp_path / "linked"
    hooked.git("worktree", "add", "--quiet", str(linked))
    (linked / "a").write_text("2\n")
    (linked / "b").write_text("2\n")
    hooked.git("-C", str(linked), "add", "b")
    hooked.git("-C", str(linked), "commit", "--quiet", "--message=x")
    assert hooked.seen() == {"b": TWO}
    hooked.git("-C", str(linked), "commit", "--quiet", "--message=x", "--all")
    assert hooked.seen() == {"a": TWO}


@pytest.mark.parametrize("form", ["relative", "absolute"])
def test_index_of_the_environment_is_read(form, repository, open_at, tmp_path):
    repository.write("sub/a", "1\n")
    head = repository.commit()
    name = ".git/other" if form == "relative" else str(tmp_path / "other")
    other = {"GIT_INDEX_FILE": name}
    repository.git("read-tree", "HEAD", env=other)
    repository.write("sub/a", "2\n")
    repository.write("b", "2\n")
    repository.git("add", "b", env=other)
    opened = open_at(repository.root / "sub", **other)
    assert read_index(opened) == Snapshot("staged", head, {"b": file(b"2\n")})
    assert read_worktree(opened) == Snapshot(
        "worktree", head, {"sub/a": CHANGED, "b": file(b"2\n")}
    )

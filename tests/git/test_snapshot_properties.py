"""Snapshots and trees, whatever a work tree may hold, are those that git itself would store."""

import itertools
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ubp.core.model import Entry, Snapshot
from ubp.git import libgit2
from ubp.git.output import blob_id
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import hash_files, read_documents, read_index, read_worktree
from ubp.git.trees import diff_trees, entries_at, list_tree, tree_id

NAMES = ["a", "b", "[c]", "d e", "é", "日本"]
if sys.platform == "linux":  # elsewhere file systems refuse or rewrite these
    NAMES += ["e\u0301", '"q"', "n\nl", "\udcff"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
CONTENTS = st.sampled_from([b"", b"1\n", b"2\n", b"one\r\ntwo\r\n", b"\0\xff", b"$Id: 1 $\n"])
ACTIONS = st.one_of(
    st.tuples(st.just("write"), PATHS, CONTENTS),
    st.tuples(st.just("tool"), PATHS, CONTENTS),
    # No loops: of files below one, git 2.39 says "Too many levels of symbolic links" and no more.
    st.tuples(st.just("link"), PATHS, st.sampled_from([b"nowhere", b"..", b"../project 0/a"])),
    st.tuples(st.just("remove"), PATHS, st.none()),
)
STEPS = st.lists(ACTIONS, max_size=8)


@pytest.fixture
def fresh(new_repository):
    """Make a new repository for each example."""
    numbers = itertools.count()
    return lambda: new_repository(f"project {next(numbers)}")


def act(root: Path, steps: list[tuple[str, str, bytes | None]]) -> None:
    """Do the steps in a work tree, putting files and folders out of each other's way."""
    for what, name, data in steps:
        path = root / name
        for parent in reversed(path.relative_to(root).parents[:-1]):
            remove(root / parent, files_only=True)
        remove(path)
        if what == "remove":
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == "link":
            os.symlink(data, path)
        else:
            path.write_bytes(data)
            path.chmod(0o755 if what == "tool" else 0o644)


def remove(path: Path, *, files_only: bool = False) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir() and not files_only:
        shutil.rmtree(path)


def whole(opened: Repository, snapshot: Snapshot) -> dict[str, Entry]:
    """Every file of a snapshot, hashed."""
    files = list_tree(opened, snapshot.commit) if snapshot.commit else {}
    files = {path: entry for path, entry in files.items() if not entry.is_directory}
    unhashed = [path for path, entry in snapshot.changes.items() if entry and not entry.id]
    files |= snapshot.changes | hash_files(opened, unhashed)
    return {path: entry for path, entry in files.items() if entry}


@pytest.mark.skipif(os.name == "nt", reason="needs symlinks and executable bits")
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    commits=st.lists(STEPS, max_size=3),
    uncommitted=st.tuples(STEPS, STEPS),
    attributes=st.sampled_from(["", "* text\n", "* text=auto\n", "* ident\n"]),
)
def test_snapshots_equal_what_git_would_store(fresh, commits, uncommitted, attributes):
    repository = fresh()
    staged, unstaged = uncommitted
    repository.write(".gitattributes", attributes)
    history = []
    for steps in commits:
        act(repository.root, steps)
        history.append(repository.commit())
    act(repository.root, staged)
    repository.git("add", "--all")
    act(repository.root, unstaged)
    staged_tree = repository.git("write-tree")
    shutil.copy(repository.root / ".git" / "index", repository.root / ".git" / "other")
    other = {"GIT_INDEX_FILE": ".git/other"}
    repository.git("add", "--all", env=other)
    worktree_tree = repository.git("write-tree", env=other)

    with open_repository(str(repository.root), os.environ) as opened:
        assert tree_id(whole(opened, read_index(opened)).items()) == staged_tree
        worktree = read_worktree(opened)
        files = whole(opened, worktree)
        assert tree_id(files.items()) == worktree_tree
        pages = {path: entry for path, entry in files.items() if entry.is_file}
        documents = read_documents(opened, worktree, pages)
        assert {path: blob_id(data) for path, data in documents.items()} == {
            path: entry.id for path, entry in pages.items()
        }
        listings = {commit: list_tree(opened, commit) for commit in history}
        for commit, listing in listings.items():
            entries = [pair for pair in listing.items() if not pair[1].is_directory]
            assert tree_id(entries) == repository.git("rev-parse", f"{commit}^{{tree}}")
        for old, new in itertools.permutations(history, 2):
            assert diff_trees(opened, old, new) == {
                path: listings[new].get(path)
                for path in {**listings[old], **listings[new]}
                if listings[old].get(path) != listings[new].get(path)
            }
        paths = {"none", *(path for listing in listings.values() for path in listing)}
        expected = {(c, path): listings[c].get(path) for c in history for path in paths}
        asked = dict.fromkeys(history, paths)
        assert entries_at(opened, asked) == expected
        assert libgit2.entries_at(opened.libgit2(), asked) == expected

"""Both engines, on whatever a work tree may hold, answer as git itself would store it."""

import itertools
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import hash_files, read_documents, read_index, read_worktree
from ubp.git.trees import diff_trees, entries_at, list_tree, tree_id
from ubp.model import Entry, Snapshot

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
    # Not text=auto: libgit2 converts no file that is a symlink in the index.
    attributes=st.sampled_from(["", "* text\n", "* ident\n"]),
)
def test_both_engines_see_what_git_would_store(
    fresh, without_git, commits, uncommitted, attributes
):
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

    answers = []
    for environment in (os.environ, without_git):
        with open_repository(str(repository.root), environment) as opened:
            index, worktree = read_index(opened), read_worktree(opened)
            assert tree_id(whole(opened, index).items()) == staged_tree
            files = whole(opened, worktree)
            assert tree_id(files.items()) == worktree_tree
            pages = {path: entry for path, entry in files.items() if entry.is_file}
            pairs = list(itertools.permutations(history, 2))
            everywhere = {path: None for c in history for path in list_tree(opened, c)}
            answers.append(
                (
                    opened.location,
                    index,
                    read_documents(opened, worktree, pages),
                    [list_tree(opened, commit) for commit in history],
                    [diff_trees(opened, old, new) for old, new in pairs],
                    entries_at(opened, {c: ["", "none", *everywhere] for c in history}),
                    opened.commits(history),
                )
            )
    assert answers[0] == answers[1]
    listings = dict(zip(history, answers[0][3], strict=True))
    for (old, new), changes in zip(itertools.permutations(history, 2), answers[0][4], strict=True):
        assert changes == {
            path: listings[new].get(path)
            for path in {**listings[old], **listings[new]}
            if listings[old].get(path) != listings[new].get(path)
        }

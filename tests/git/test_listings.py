"""Trees of a thousand million paths, made of nine objects."""

import os

import pytest

from ubp.git.change_log import read_changes, touched_between
from ubp.git.libgit2 import check_tree_size
from ubp.git.listings import TreeTooLargeError
from ubp.git.past_trees import walk_trees
from ubp.git.repository import open_repository
from ubp.git.trees import diff_trees, list_tree


@pytest.fixture
def bomb(repository):
    """A commit that has the tree, whose parent has a single file."""
    repository.write("docs/a.md", "# A\n")
    first = repository.commit()
    blob = repository.git("rev-parse", "HEAD:docs/a.md")
    lines = [f"100644 blob {blob}\tf{number}.md" for number in range(10)]
    for _ in range(9):
        tree = repository.git("mktree", stdin="\n".join(lines).encode())
        lines = [f"040000 tree {tree}\td{number}" for number in range(10)]
    commit = repository.git("commit-tree", "-p", first, "-m", "bomb", tree)
    repository.git("branch", "bomb", commit)
    return first, commit


@pytest.mark.parametrize(
    "read",
    [
        lambda repository, _, commit: list_tree(repository, commit),
        diff_trees,
        lambda repository, _, commit: read_changes(repository, [commit]),
        touched_between,
        lambda repository, *commits: list(walk_trees(repository, commits, bool)),
    ],
    ids=["list_tree", "diff_trees", "read_changes", "touched_between", "walk_trees"],
)
def test_tree_of_more_than_a_million_paths_is_refused_with_the_limit(
    repository, bomb, read, monkeypatch
):
    monkeypatch.setattr("ubp.git.command.MAX_GIT_MEMORY", 64 << 20)
    with open_repository(str(repository.root), os.environ) as opened:
        with pytest.raises(TreeTooLargeError) as raised:
            read(opened, *bomb)
        assert "more than 1,000,000 paths or 256 MB" in raised.value.cause


def test_tree_whose_folders_are_alike_is_counted_by_its_paths(repository, monkeypatch):
    for number in range(4):
        repository.write(f"d{number}/e/f.md", "# F\n")
    tree_id = repository.git("rev-parse", f"{repository.commit()}^{{tree}}")
    with open_repository(str(repository.root), os.environ) as opened:
        tree = opened.libgit2()[tree_id]
        monkeypatch.setattr("ubp.git.libgit2.MAX_TREE_PATHS", 12)
        check_tree_size(tree)
        monkeypatch.setattr("ubp.git.libgit2._PATH_COUNTS", {})
        monkeypatch.setattr("ubp.git.libgit2.MAX_TREE_PATHS", 11)
        with pytest.raises(TreeTooLargeError):
            check_tree_size(tree)


def test_walked_trees_have_the_wanted_files_alone_also_those_that_change(repository):
    repository.write("a.py", "A = 1\n")
    repository.write("a.md", "# A\n")
    first = repository.commit()
    repository.write("a.py", "A = 2\n")
    repository.write("a.md", "# B\n")
    second = repository.commit()
    asked = []

    def is_wanted(path):
        asked.append(path)
        return path.endswith(".py")

    with open_repository(str(repository.root), os.environ) as opened:
        walked = [
            (commit, dict(files))
            for commit, files in walk_trees(opened, [first, second], is_wanted)
        ]
    blobs = [repository.git("rev-parse", f"{commit}:a.py") for commit in (first, second)]
    assert walked == [(first, {"a.py": blobs[0]}), (second, {"a.py": blobs[1]})]
    assert asked.count("a.py") == 1

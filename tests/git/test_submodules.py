"""Repositories inside a repository: entries, never looked into."""

import shutil

from ubp.core.model import MODE_SUBMODULE, Entry
from ubp.git.snapshot import UNREADABLE, hash_files, read_index, read_worktree


def worktree(repository) -> dict:
    """The work tree's changes, hashed."""
    changes = read_worktree(repository).changes
    return {
        path: e and e._replace(id=e.id or hash_files(repository, [path])[path].id)
        for path, e in changes.items()
    }


def test_nested_repositories_are_not_entered(repository, new_repository, open_at):
    nested = new_repository("project/nested")
    nested.write("a.md", "a\n")
    nested.commit()
    new_repository("project/without commits").write("a.md", "a\n")
    assert read_worktree(open_at(repository.root)).changes == {}


def test_submodules_are_entries(repository, new_repository, open_at):
    inner = new_repository("inner")
    inner.write("a.md", "a\n")
    first = inner.commit()
    second = inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.git("-C", "sub", "checkout", "--quiet", first)
    opened = open_at(repository.root)
    assert read_index(opened).changes["sub"] == Entry(MODE_SUBMODULE, second)
    repository.git("add", "sub")
    repository.commit()
    assert read_worktree(open_at(repository.root)).changes == {}
    repository.write("sub/a.md", "dirty\n")
    assert worktree(open_at(repository.root)) in (
        {},
        {"sub": Entry(MODE_SUBMODULE, first)},
    )
    repository.git("-C", "sub", "checkout", "--quiet", "--force", second)
    opened = open_at(repository.root)
    assert worktree(opened) == {"sub": Entry(MODE_SUBMODULE, second)}
    shutil.rmtree(repository.root / "sub")
    assert worktree(open_at(repository.root)) == {"sub": None}


def test_submodule_that_was_not_fetched_is_unchanged(repository, new_repository, open_at, tmp_path):
    inner = new_repository("inner")
    inner.write("a.md", "a\n")
    inner.commit()
    repository.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repository.commit()
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", ".", str(clone))
    assert read_worktree(open_at(clone)).changes == {}
    assert hash_files(open_at(clone), ["sub"]) == {"sub": None}


def test_submodule_with_an_unknown_commit_is_unreadable(repository, new_repository, open_at):
    new_repository("project/without commits")
    repository.write("broken/.git", "gitdir: /nowhere\n")
    unknown = Entry(MODE_SUBMODULE, UNREADABLE)
    assert hash_files(open_at(repository.root), ["without commits", "broken"]) == {
        "without commits": unknown,
        "broken": unknown,
    }

"""The whole history, read by libgit2; tree by tree, and only the folders that are wanted."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pygit2

from ubp.errors import RepositoryError
from ubp.git.matched_trees import MatchedTrees
from ubp.git.repository import Repository
from ubp.git.walk import Change, End
from ubp.git.wanted import Node, Wanted
from ubp.model import FilePath, ObjectId


@contextmanager
def read_all_commits(repository: Repository) -> "Iterator[AllCommits]":
    """Read commits through libgit2; an object that is missing is a RepositoryError."""
    try:
        yield AllCommits(repository)
    except pygit2.GitError as error:
        raise _incomplete(str(error)) from error


class AllCommits:
    """Commits as libgit2 has them."""

    def __init__(self, repository: Repository) -> None:
        self._libgit2 = repository.libgit2()
        self._shallow = repository.shallow_commits()
        self._matched = MatchedTrees(self._libgit2)
        self._removed: dict[tuple[Any, Any], Mapping[ObjectId, list[FilePath]]] = {}

    def start(self, commit: ObjectId) -> pygit2.Commit:
        """The commit where a walk begins."""
        found = self.find(commit)
        if found is None:
            raise _incomplete(f"commit {commit} is missing")
        return found

    def find(self, commit: ObjectId) -> pygit2.Commit | None:
        """A commit by its id; None where it is missing."""
        found = self._libgit2.get(commit)
        return found if isinstance(found, pygit2.Commit) else None

    def parents(self, commit: pygit2.Commit) -> Iterator[pygit2.Commit]:
        """The parents, each read when it is asked for: most merges are left by the first."""
        for parent in commit.parent_ids:
            found: Any = self._libgit2.get(parent)
            if not isinstance(found, pygit2.Commit):
                raise _incomplete(f"commit {parent} is missing")
            yield found

    def end(self, commit: pygit2.Commit) -> End:
        """Why a commit without parents has none."""
        return "shallow" if str(commit.id) in self._shallow else "root"

    def compare(
        self, commit: pygit2.Commit, parent: pygit2.Commit | None, wanted: Wanted
    ) -> list[Change]:
        """Which wanted places differ between a commit and a parent (None: an empty tree)."""
        changes: list[Change] = []
        todo: list[tuple[Node, str, Any, Any]] = []
        if parent is None or commit.tree_id != parent.tree_id:
            old_tree = parent.tree if parent is not None else None
            todo.append((wanted.root, "", commit.tree, old_tree))
        while todo:
            node, path, new, old = todo.pop()
            changes += self._changes_here(node, FilePath(path), new, old)
            if node.children:
                news = _entries(node, new)
                olds = _entries(node, old)
                node.memo = old, olds  # the walk mostly goes on with this parent
                lead = f"{path}/" if path else ""
                for name, child in node.children.items():
                    below_new = news.get(name)
                    below_old = olds.get(name)
                    if _differ(below_new, below_old):
                        todo.append((child, lead + name, below_new, below_old))
        return changes

    def _changes_here(self, node: Node, path: FilePath, new: Any, old: Any) -> Iterator[Change]:
        if node.requests:
            yield Change(path, None, node.requests, _id(new), _id(old))
        for pattern, requests in node.globs.items():
            new_id = self._matched.find(new, path, pattern)
            old_id = self._matched.find(old, path, pattern)
            if new_id != old_id:
                yield Change(path, pattern, requests, new_id, old_id)

    def removed(
        self, commit: pygit2.Commit, parent: pygit2.Commit
    ) -> Mapping[ObjectId, list[FilePath]]:
        """The files that a commit removed from a parent, by blob."""
        key = commit.id, parent.id
        if key not in self._removed:
            removed: dict[ObjectId, list[FilePath]] = defaultdict(list)
            for blob, path in _removed_files(commit.tree, parent.tree):
                removed[blob].append(path)
            self._removed = {key: removed}  # many files are renamed in one commit: keep the last
        return self._removed[key]


def _entries(node: Node, tree: Any) -> dict[str, Any]:
    if not isinstance(tree, pygit2.Tree):
        return {}
    if node.memo is not None and node.memo[0] is not None and node.memo[0].id == tree.id:
        entries: dict[str, Any] = node.memo[1]
        return entries
    return {name: tree[name] for name in node.children if name in tree}


def _differ(new: Any, old: Any) -> bool:
    if new is None or old is None:
        return new is not old
    return bool(new.id != old.id)


def _id(entry: Any) -> ObjectId | None:
    return None if entry is None else ObjectId(str(entry.id))


def _removed_files(new: Any, old: Any) -> Iterator[tuple[ObjectId, FilePath]]:
    todo = [("", new, old)]
    while todo:
        lead, new, old = todo.pop()
        for entry in old:
            path = f"{lead}{entry.name}"
            other = new[entry.name] if new is not None and entry.name in new else None
            other_tree = other if isinstance(other, pygit2.Tree) else None
            if isinstance(entry, pygit2.Tree):
                if _differ(other, entry):
                    todo.append((f"{path}/", other_tree, entry))
            elif isinstance(entry, pygit2.Blob) and other is other_tree:
                yield ObjectId(str(entry.id)), FilePath(path)


def _incomplete(what: str) -> RepositoryError:
    return RepositoryError(
        "History cannot be read whole.",
        cause=f"The clone is incomplete or damaged: {what}.",
        hint="Run `git fsck`; after --filter=tree:0, `git fetch --refetch --no-filter`.",
    )

"""The whole history, read by libgit2; tree by tree, and only the folders that are wanted."""

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
        if parent is None or commit.tree_id != parent.tree_id:
            old = parent.tree if parent is not None else None
            self._compare(wanted.root, "", commit.tree, old, changes)
        return changes

    def _compare(self, node: Node, path: str, new: Any, old: Any, changes: list[Change]) -> None:
        place = FilePath(path)
        if node.requests:
            changes.append(Change(place, None, node.requests, _id(new), _id(old)))
        for pattern, requests in node.globs.items():
            new_id = self._matched.find(new, place, pattern)
            old_id = self._matched.find(old, place, pattern)
            if new_id != old_id:
                changes.append(Change(place, pattern, requests, new_id, old_id))
        if not node.children:
            return
        news = _entries(node, new)
        olds = _entries(node, old)
        node.memo = old, olds  # the walk mostly goes on with this parent
        lead = f"{path}/" if path else ""
        for name, child in node.children.items():
            below_new = news.get(name)
            below_old = olds.get(name)
            if _differ(below_new, below_old):
                self._compare(child, lead + name, below_new, below_old, changes)

    def removed(
        self, commit: pygit2.Commit, parent: pygit2.Commit
    ) -> Mapping[ObjectId, list[FilePath]]:
        """The files that a commit removed from a parent, by blob."""
        key = commit.id, parent.id
        if key not in self._removed:
            removed: dict[ObjectId, list[FilePath]] = {}
            _collect_removed(commit.tree, parent.tree, "", removed)
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


def _collect_removed(
    new: Any, old: pygit2.Tree, lead: str, removed: dict[ObjectId, list[FilePath]]
) -> None:
    for entry in old:
        name = entry.name or ""
        other = new[name] if new is not None and name in new else None
        other_tree = other if isinstance(other, pygit2.Tree) else None
        if isinstance(entry, pygit2.Tree):
            if other is None or other.id != entry.id:
                _collect_removed(other_tree, entry, f"{lead}{name}/", removed)
        elif isinstance(entry, pygit2.Blob) and other is other_tree:
            removed.setdefault(ObjectId(str(entry.id)), []).append(FilePath(lead + name))


def _incomplete(what: str) -> RepositoryError:
    return RepositoryError(
        "History cannot be read whole.",
        cause=f"The clone is incomplete or damaged: {what}.",
        hint="Run `git fsck`; after --filter=tree:0, `git fetch --refetch --no-filter`.",
    )

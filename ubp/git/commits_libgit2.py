"""All commits, read by libgit2 tree by tree, and only the directories that have requests.

`GlobTrees` computes the tree ids that Git would give to the files which match a glob.
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pygit2

from ubp.core.errors import RepositoryError
from ubp.core.model import MODE_SUBMODULE, FilePath, ObjectId, Progress, ignore_progress
from ubp.core.paths import Glob
from ubp.git.output import decode_path, object_id, parse_mode
from ubp.git.repository import Repository
from ubp.git.walk import Change, EndReason, PathRequests, RequestNode

MAX_CACHED_FOLDERS = 100_000  # 20 MB; beyond that the cache is cleared
MAX_DEPTH = 400  # directories; globs match nothing below, because Python stops at 1,000 calls

# Looking up a name in both trees takes 5 µs; libgit2 compares even trees of 26,000 names in 2 ms.
# With more names than this, the comparison is cheaper.
MAX_LOOKUPS = 400

TREE_MODE = b"40000"  # as in tree objects, without the leading 0 that git prints
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class GlobTrees:
    """The trees of the files that match globs, cached: commits share nearly all directories."""

    def __init__(self, libgit2: pygit2.Repository) -> None:
        self._libgit2 = libgit2
        self._matchers: dict[str, _Matcher] = {}
        self._ids: dict[tuple[str, bytes, bytes], bytes | None] = {}

    def find(self, tree: Any, path: FilePath, pattern: str) -> ObjectId | None:
        """Return the id of a tree, from the root, of the files that match; None: no file matches.

        `path` is the glob's literal directory, `tree` the object there (other objects have no
        files).
        """
        if not isinstance(tree, pygit2.Tree):
            return None
        if pattern not in self._matchers:
            self._matchers[pattern] = _Matcher(pattern)
        if len(self._ids) > MAX_CACHED_FOLDERS:
            self._ids.clear()
        names = os.fsencode(path).split(b"/") if path else []
        prefix = b"".join(name + b"/" for name in names)
        matched = self._matched(tree.id.raw, prefix, self._matchers[pattern])
        for name in reversed(names):
            matched = _tree_id([_tree_line(TREE_MODE, name, matched)]) if matched else None
        return ObjectId(matched.hex()) if matched else None

    def _matched(self, tree: bytes, prefix: bytes, matcher: "_Matcher") -> bytes | None:
        key = (matcher.pattern, prefix, tree)
        if key not in self._ids:
            # Raw bytes: an object for each entry would take five times as long.
            _, raw = self._libgit2.read(pygit2.Oid(raw=tree))
            lines = []
            for mode, name, raw_id in _ENTRY.findall(raw):  # already in Git's order
                if mode != TREE_MODE:
                    if matcher.matches(prefix + name):
                        lines.append(_tree_line(mode, name, raw_id))
                elif matcher.reaches_below(prefix):
                    inner = self._matched(raw_id, prefix + name + b"/", matcher)
                    if inner is not None:
                        lines.append(_tree_line(TREE_MODE, name, inner))
            self._ids[key] = _tree_id(lines) if lines else None
        return self._ids[key]


class _Matcher:
    """A glob with a cache, since the same paths occur in every commit."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._glob = Glob(pattern)
        self._depth = MAX_DEPTH if "**" in pattern else min(pattern.count("/"), MAX_DEPTH)
        self._matches: dict[bytes, bool] = {}

    def matches(self, path: bytes) -> bool:
        is_match = self._matches.get(path)
        if is_match is None:
            is_match = self._matches[path] = self._glob.matches(decode_path(path))
        return is_match

    def reaches_below(self, prefix: bytes) -> bool:
        """Return whether files below the directories of a directory may match."""
        return prefix.count(b"/") < self._depth


def _tree_line(mode: bytes, name: bytes, raw_id: bytes) -> bytes:
    if mode in {TREE_MODE, b"100644"}:
        return b"%s %s\0%s" % (mode, name, raw_id)
    return b"%o %s\0%s" % (parse_mode(mode), name, raw_id)


def _tree_id(lines: list[bytes]) -> bytes:
    return bytes.fromhex(object_id("tree", b"".join(lines)))


@contextmanager
def read_all_commits(
    repository: Repository, progress: Progress = ignore_progress
) -> "Iterator[AllCommits]":
    """Read commits through libgit2.

    Raises:
        RepositoryError: an object is missing.
    """
    try:
        yield AllCommits(repository, progress)
    except pygit2.GitError as error:
        raise _incomplete(str(error)) from error


class AllCommits:
    """The commits of a repository, read by libgit2."""

    def __init__(self, repository: Repository, progress: Progress = ignore_progress) -> None:
        self._libgit2 = repository.libgit2()
        self._shallow = repository.shallow_commits()
        self._progress = progress
        self._read_count = 0
        self._glob_trees = GlobTrees(self._libgit2)
        self._removed: dict[tuple[Any, Any], Mapping[ObjectId, list[FilePath]]] = {}

    def start(self, commit: ObjectId) -> pygit2.Commit:
        """Return the commit at which a walk begins.

        Raises:
            RepositoryError: it is missing.
        """
        first = self.find(commit)
        if first is None:
            raise _incomplete(f"commit {commit} is missing")
        return first

    def find(self, commit: ObjectId) -> pygit2.Commit | None:
        """Return a commit by its id; None: it is missing."""
        git_object = self._libgit2.get(commit)
        return git_object if isinstance(git_object, pygit2.Commit) else None

    def parents(self, commit: pygit2.Commit) -> Iterator[pygit2.Commit]:
        """Yield the parents, each read on demand: most merges are followed to the first only."""
        self._read_count += 1
        self._progress("Reading history", self._read_count, 0)
        for parent_id in commit.parent_ids:
            parent: Any = self._libgit2.get(parent_id)
            if not isinstance(parent, pygit2.Commit):
                raise _incomplete(f"commit {parent_id} is missing")
            yield parent

    def end_reason(self, commit: pygit2.Commit) -> EndReason:
        """Return why no parent of a commit is available."""
        return "shallow" if str(commit.id) in self._shallow else "root"

    def compare(
        self, commit: pygit2.Commit, parent: pygit2.Commit | None, pending: PathRequests
    ) -> list[Change]:
        """Return which requested paths differ between a commit and a parent (None: empty tree)."""
        changes: list[Change] = []
        nodes: list[tuple[RequestNode, str, Any, Any]] = []
        if parent is None or commit.tree_id != parent.tree_id:
            old_tree = parent.tree if parent is not None else None
            nodes.append((pending.root, "", commit.tree, old_tree))
        while nodes:
            node, path, new, old = nodes.pop()
            changes += self._changes_at(node, FilePath(path), new, old)
            prefix = f"{path}/" if path else ""
            for name, new_child, old_child in _differences(node, new, old):
                nodes.append((node.children[name], prefix + name, new_child, old_child))
        return changes

    def _changes_at(
        self, node: RequestNode, path: FilePath, new: Any, old: Any
    ) -> Iterator[Change]:
        if node.requests:
            yield Change(path, None, node.requests, _id(new), _id(old))
        for pattern, requests in node.globs.items():
            new_id = self._glob_trees.find(new, path, pattern)
            old_id = self._glob_trees.find(old, path, pattern)
            if new_id != old_id:
                yield Change(path, pattern, requests, new_id, old_id)

    def removed(
        self, commit: pygit2.Commit, parent: pygit2.Commit
    ) -> Mapping[ObjectId, list[FilePath]]:
        """Return the files that a commit removed from a parent, by blob."""
        key = commit.id, parent.id
        if key not in self._removed:
            removed: dict[ObjectId, list[FilePath]] = defaultdict(list)
            for blob, path in _removed_files(commit.tree, parent.tree):
                removed[blob].append(path)
            self._removed = {
                key: removed
            }  # a commit may rename many files, so only the last is cached
        return self._removed[key]


def _differences(node: RequestNode, new: Any, old: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the requested names under which two trees differ, with the object in each."""
    if not node.children:
        return
    if (
        len(node.children) > MAX_LOOKUPS
        and isinstance(new, pygit2.Tree)
        and isinstance(old, pygit2.Tree)
    ):
        names: Collection[str] = _changed_names(new, old) & node.children.keys()
        new_entries, old_entries = _entries_of(new, names), _entries_of(old, names)
    else:
        names = node.children.keys()
        new_entries, old_entries = _entries(node, new), _entries(node, old)
        node.memo = old, old_entries  # the walk mostly continues with this parent
    for name in names:
        if _differ(new_entries.get(name), old_entries.get(name)):
            yield name, new_entries.get(name), old_entries.get(name)


def _changed_names(new: pygit2.Tree, old: pygit2.Tree) -> set[str]:
    """Return the names under which two trees differ, be it in a mode only."""
    deltas = old.diff_to_tree(new).deltas
    return {decode_path(delta.new_file.raw_path).partition("/")[0] for delta in deltas}


def _entries(node: RequestNode, tree: Any) -> dict[str, Any]:
    if not isinstance(tree, pygit2.Tree):
        return {}
    if node.memo is not None and node.memo[0] is not None and node.memo[0].id == tree.id:
        entries: dict[str, Any] = node.memo[1]
        return entries
    return _entries_of(tree, node.children)


def _entries_of(tree: pygit2.Tree, names: Iterable[str]) -> dict[str, Any]:
    return {name: tree[name] for name in names if name in tree}


def _differ(new: Any, old: Any) -> bool:
    if new is None or old is None:
        return new is not old
    return bool(new.id != old.id)


def _id(entry: Any) -> ObjectId | None:
    return None if entry is None else ObjectId(str(entry.id))


def _removed_files(new: Any, old: Any) -> Iterator[tuple[ObjectId, FilePath]]:
    """Yield the blobs and paths of removed files; one replaced by a link or submodule is not."""
    status = pygit2.enums.DeltaStatus
    deltas = list(old.diff_to_tree(new).deltas)
    added = {delta.new_file.raw_path for delta in deltas if delta.status == status.ADDED}
    for delta in deltas:
        is_file = delta.old_file.mode != MODE_SUBMODULE
        if delta.status == status.DELETED and is_file and delta.old_file.raw_path not in added:
            yield ObjectId(str(delta.old_file.id)), decode_path(delta.old_file.raw_path)


def _incomplete(cause: str) -> RepositoryError:
    return RepositoryError(
        "Cannot read the full history.",
        cause=f"The clone is incomplete or damaged: {cause}.",
        hint="Run `git fsck`, or in a --filter=tree:0 clone `git fetch --refetch --no-filter`.",
    )

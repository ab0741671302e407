"""All commits, read by libgit2 tree by tree, and only the directories that have requests.

`GlobTrees` computes the tree ids that Git would give to the files which match a glob.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pygit2

from ubp.core.errors import RepositoryError
from ubp.core.model import MODE_SUBMODULE, FilePath, ObjectId, Progress, ignore_progress
from ubp.core.paths import Glob
from ubp.git.libgit2 import check_tree_size
from ubp.git.output import decode_path, object_id, parse_mode
from ubp.git.repository import Repository
from ubp.git.walk import Change, EndReason, PathRequests, RequestNode

MAX_CACHED_FOLDERS = 100_000  # 20 MB; beyond that the cache is cleared
MAX_DEPTH = 400  # directories; globs match nothing below, because Python stops at 1,000 calls

# Looking up a name in both trees takes 5 µs; libgit2 compares commits with 26,000 names in 15 ms.
# Where more names than this are requested, the comparison is cheaper: it serves every walk.
MAX_LOOKUPS = 400
MAX_CACHED_PATHS = 200_000  # 30 MB; beyond that the cache is cleared

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
        self._differences = _DIFFERENCES.setdefault(self._libgit2, TreeDifferences())

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
            if (
                parent is not None
                and len(node.children) > MAX_LOOKUPS
                and isinstance(new, pygit2.Tree)
                and isinstance(old, pygit2.Tree)
            ):
                difference = self._differences.find(commit, parent)
                files, names = difference.split(prefix, node)
                changes += files
                differing = _differing(names, _entries_of(new, names), _entries_of(old, names))
            else:
                differing = _compare_requested(node, new, old)
            for name, new_child, old_child in differing:
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
        return self._differences.find(commit, parent).removed


class FileIds(NamedTuple):
    """The ids of a file (or symlink, or submodule) in two trees; None: there is none."""

    new: ObjectId | None
    old: ObjectId | None


class TreeDifference(NamedTuple):
    """What differs between two trees, be it in a mode only, and the removed files, by blob."""

    files: Mapping[FilePath, FileIds]
    removed: Mapping[ObjectId, list[FilePath]]

    def split(self, prefix: str, node: RequestNode) -> tuple[list[Change], set[str]]:
        """Return the requested files that differ in a folder, and the other names that do.

        Those are folders, and files with requests below them. `prefix` is "", or the folder's path
        with a slash at the end. Looking up a name among 26,000 takes 2 ms: Git reads all of them.
        """
        start = len(prefix)
        files: dict[str, FilePath] = {}
        others: set[str] = set()
        for path in self.files:
            if path.startswith(prefix):
                name, slash, _ = path[start:].partition("/")
                child = node.children.get(name)
                if child is None:
                    continue
                if slash or child.children or child.globs:
                    others.add(name)
                else:
                    files[name] = path
        changes = [
            Change(path, None, node.children[name].requests, *self.files[path])
            for name, path in files.items()
            if name not in others and self.files[path].new != self.files[path].old
        ]
        return changes, others


class TreeDifferences:
    """All differences of commits from their parents, cached for the walks that follow."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, Any], TreeDifference] = {}
        self._path_count = 0

    def find(self, commit: pygit2.Commit, parent: pygit2.Commit) -> TreeDifference:
        """Return the differences of a commit from a parent."""
        key = commit.tree_id, parent.tree_id
        found = self._known.get(key)
        if found is None:
            found = _compare_trees(commit.tree, parent.tree)
            self._path_count += len(found.files)
            if max(self._path_count, len(self._known)) > MAX_CACHED_PATHS:
                self._known.clear()
                self._path_count = len(found.files)
            self._known[key] = found
        return found


_DIFFERENCES: WeakKeyDictionary[pygit2.Repository, TreeDifferences] = WeakKeyDictionary()


def _compare_trees(new: pygit2.Tree, old: pygit2.Tree) -> TreeDifference:
    """Compare two trees; a file that is replaced by a link or submodule is not removed."""
    status = pygit2.enums.DeltaStatus
    files: dict[FilePath, FileIds] = {}
    deleted: dict[ObjectId, list[FilePath]] = defaultdict(list)
    for tree in (old, new):
        check_tree_size(tree)
    for delta in old.diff_to_tree(new).deltas:
        path = decode_path(delta.new_file.raw_path)
        kind = delta.status
        # A file that becomes a link or a submodule is deleted, and added again.
        before = files.get(path, FileIds(None, None))
        old_id, new_id = ObjectId(str(delta.old_file.id)), ObjectId(str(delta.new_file.id))
        files[path] = FileIds(
            before.new if kind == status.DELETED else new_id,
            before.old if kind == status.ADDED else old_id,
        )
        if kind == status.DELETED and delta.old_file.mode != MODE_SUBMODULE:
            deleted[old_id].append(path)
    removed = {
        blob: [path for path in paths if files[path].new is None] for blob, paths in deleted.items()
    }
    return TreeDifference(files, removed)


def _compare_requested(node: RequestNode, new: Any, old: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the requested names under which two trees differ, with the object in each."""
    if not node.children:
        return
    new_entries, old_entries = _entries(node, new), _entries(node, old)
    node.memo = old, old_entries  # the walk mostly continues with this parent
    yield from _differing(node.children, new_entries, old_entries)


def _differing(
    names: Iterable[str], new_entries: Mapping[str, Any], old_entries: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for name in names:
        if _differ(new_entries.get(name), old_entries.get(name)):
            yield name, new_entries.get(name), old_entries.get(name)


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


def _incomplete(cause: str) -> RepositoryError:
    return RepositoryError(
        "Cannot read the full history.",
        cause=f"The clone is incomplete or damaged: {cause}.",
        hint="Run `git fsck`, or in a --filter=tree:0 clone `git fetch --refetch --no-filter`.",
    )

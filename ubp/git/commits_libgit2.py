"""The tree ids that Git would give to the files which match a glob, commit after commit.

The whole history, read by libgit2; tree by tree, and only the folders that are wanted.
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
from ubp.git.walk import Change, End, PathRequests, RequestNode

MAX_REMEMBERED = 100_000  # folders: 20 MB; beyond, all is forgotten and learnt anew

MAX_DEPTH = 400  # folders; no glob matches below. Python's stack ends at 1,000 calls

TREE = b"40000"  # as trees have it, without the 0 that git prints
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class GlobTrees:
    """Remembers what matched in every folder it saw: the next commit has nearly all of them too."""

    def __init__(self, libgit2: pygit2.Repository) -> None:
        self._libgit2 = libgit2
        self._matchers: dict[str, _Matcher] = {}
        self._ids: dict[tuple[str, bytes, bytes], bytes | None] = {}

    def find(self, tree: Any, path: FilePath, pattern: str) -> ObjectId | None:
        """The id of a whole tree that holds the matching files; None where there are none.

        `tree` is what stands at `path` (anything but a tree holds no files), the glob's literal
        folder.
        """
        if not isinstance(tree, pygit2.Tree):
            return None
        if pattern not in self._matchers:
            self._matchers[pattern] = _Matcher(pattern)
        if len(self._ids) > MAX_REMEMBERED:
            self._ids.clear()
        names = os.fsencode(path).split(b"/") if path else []
        lead = b"".join(name + b"/" for name in names)
        found = self._matched(tree.id.raw, lead, self._matchers[pattern])
        for name in reversed(names):
            found = _tree([_line(TREE, name, found)]) if found else None
        return ObjectId(found.hex()) if found else None

    def _matched(self, tree: bytes, lead: bytes, matcher: "_Matcher") -> bytes | None:
        key = (matcher.pattern, lead, tree)
        if key not in self._ids:
            # Raw bytes: an object for each entry would take five times as long.
            _, raw = self._libgit2.read(pygit2.Oid(raw=tree))
            lines = []
            for mode, name, entry in _ENTRY.findall(raw):  # in Git's order, which stays
                if mode != TREE:
                    if matcher.matches(lead + name):
                        lines.append(_line(mode, name, entry))
                elif matcher.reaches_below(lead):
                    inner = self._matched(entry, lead + name + b"/", matcher)
                    if inner is not None:
                        lines.append(_line(TREE, name, inner))
            self._ids[key] = _tree(lines) if lines else None
        return self._ids[key]


class _Matcher:
    """A glob that remembers its answers: the same paths come again in every commit."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._glob = Glob(pattern)
        self._depth = MAX_DEPTH if "**" in pattern else min(pattern.count("/"), MAX_DEPTH)
        self._answers: dict[bytes, bool] = {}

    def matches(self, path: bytes) -> bool:
        answer = self._answers.get(path)
        if answer is None:
            answer = self._answers[path] = self._glob.matches(decode_path(path))
        return answer

    def reaches_below(self, lead: bytes) -> bool:
        """Whether files in the folders of a folder may match."""
        return lead.count(b"/") < self._depth


def _line(mode: bytes, name: bytes, entry: bytes) -> bytes:
    if mode in {TREE, b"100644"}:
        return b"%s %s\0%s" % (mode, name, entry)
    return b"%o %s\0%s" % (parse_mode(mode), name, entry)


def _tree(lines: list[bytes]) -> bytes:
    return bytes.fromhex(object_id("tree", b"".join(lines)))


# Looking up each wanted name in both trees takes 5 µs; libgit2 tells all names that differ in 2 ms,
# even of 26,000. With so many names the one costs as much as the other.
MIN_COMMITS = 400


@contextmanager
def read_all_commits(
    repository: Repository, progress: Progress = ignore_progress
) -> "Iterator[AllCommits]":
    """Read commits through libgit2; an object that is missing is a RepositoryError."""
    try:
        yield AllCommits(repository, progress)
    except pygit2.GitError as error:
        raise _incomplete(str(error)) from error


class AllCommits:
    """Commits as libgit2 has them."""

    def __init__(self, repository: Repository, progress: Progress = ignore_progress) -> None:
        self._libgit2 = repository.libgit2()
        self._shallow = repository.shallow_commits()
        self._progress = progress
        self._passed = 0
        self._matched = GlobTrees(self._libgit2)
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
        self._passed += 1
        self._progress("Reading history", self._passed, 0)
        for parent in commit.parent_ids:
            found: Any = self._libgit2.get(parent)
            if not isinstance(found, pygit2.Commit):
                raise _incomplete(f"commit {parent} is missing")
            yield found

    def end(self, commit: pygit2.Commit) -> End:
        """Why a commit without parents has none."""
        return "shallow" if str(commit.id) in self._shallow else "root"

    def compare(
        self, commit: pygit2.Commit, parent: pygit2.Commit | None, wanted: PathRequests
    ) -> list[Change]:
        """Which wanted places differ between a commit and a parent (None: an empty tree)."""
        changes: list[Change] = []
        waiting: list[tuple[RequestNode, str, Any, Any]] = []
        if parent is None or commit.tree_id != parent.tree_id:
            old_tree = parent.tree if parent is not None else None
            waiting.append((wanted.root, "", commit.tree, old_tree))
        while waiting:
            node, path, new, old = waiting.pop()
            changes += self._changes_here(node, FilePath(path), new, old)
            lead = f"{path}/" if path else ""
            for name, below_new, below_old in _differences(node, new, old):
                waiting.append((node.children[name], lead + name, below_new, below_old))
        return changes

    def _changes_here(
        self, node: RequestNode, path: FilePath, new: Any, old: Any
    ) -> Iterator[Change]:
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


def _differences(node: RequestNode, new: Any, old: Any) -> Iterator[tuple[str, Any, Any]]:
    """The wanted names under which two trees differ, and what stands there in each."""
    if not node.children:
        return
    if (
        len(node.children) > MIN_COMMITS
        and isinstance(new, pygit2.Tree)
        and isinstance(old, pygit2.Tree)
    ):
        names: Collection[str] = _changed_names(new, old) & node.children.keys()
        news, olds = _entries_of(new, names), _entries_of(old, names)
    else:
        names = node.children.keys()
        news, olds = _entries(node, new), _entries(node, old)
        node.memo = old, olds  # the walk mostly goes on with this parent
    for name in names:
        if _differ(news.get(name), olds.get(name)):
            yield name, news.get(name), olds.get(name)


def _changed_names(new: pygit2.Tree, old: pygit2.Tree) -> set[str]:
    """The names of two trees under which something differs, be it a mode only."""
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
    """The files that are gone; where a link or a submodule stands now, nothing is."""
    status = pygit2.enums.DeltaStatus
    deltas = list(old.diff_to_tree(new).deltas)
    added = {one.new_file.raw_path for one in deltas if one.status == status.ADDED}
    for one in deltas:
        is_file = one.old_file.mode != MODE_SUBMODULE
        if one.status == status.DELETED and is_file and one.old_file.raw_path not in added:
            yield ObjectId(str(one.old_file.id)), decode_path(one.old_file.raw_path)


def _incomplete(what: str) -> RepositoryError:
    return RepositoryError(
        "History cannot be read whole.",
        cause=f"The clone is incomplete or damaged: {what}.",
        hint="Run `git fsck`; after --filter=tree:0, `git fetch --refetch --no-filter`.",
    )

"""The few commits that are new since a known head, read by two calls to git.

Libgit2 could read them, too, but importing it takes 80 ms of CPU, ten times as much.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ubp.core.model import MODE_SUBMODULE, Entry, FilePath, ObjectId
from ubp.core.paths import Glob, compile_glob
from ubp.git.output import decode_path, parse_mode
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, files_below, glob_tree_id
from ubp.git.walk import Change, EndReason, PathRequests

MAX_NEW_COMMITS = 64  # a day's pull; reading the diffs of more takes about as long as libgit2

Sides = tuple[Entry | None, Entry | None]
"""The entries at a path before and after a commit."""


class NewCommit(NamedTuple):
    """A commit; one that is not new has only an id."""

    id: ObjectId
    commit_time: int = -1  # commits that are not new sort last
    parents: tuple[ObjectId, ...] = ()
    is_new: bool = False


@lru_cache(maxsize=1)  # last changes and drifts need the same commits, which cannot change
def read_new_commits(
    repository: Repository, start: ObjectId, heads: frozenset[ObjectId]
) -> "NewCommits | None":
    """Read the commits reachable from `start` and not from the heads.

    Heads that the repository no longer has are ignored. None: there are more than MAX_NEW_COMMITS.
    """
    lines = repository.run(
        "rev-list",
        "--timestamp",
        "--parents",
        "--ignore-missing",
        f"--max-count={MAX_NEW_COMMITS + 1}",
        start,
        "--not",
        *heads,
    ).splitlines()
    if len(lines) > MAX_NEW_COMMITS:
        return None
    commits = []
    for line in lines:
        date, commit, *parents = line.decode("ascii").split(" ")
        commits.append(
            NewCommit(ObjectId(commit), int(date), tuple(map(ObjectId, parents)), is_new=True)
        )
    return NewCommits(repository, start, commits, _read_changes(repository, commits))


def _read_changes(
    repository: Repository, commits: Collection[NewCommit]
) -> dict[tuple[ObjectId, ObjectId | None], dict[FilePath, Sides]]:
    pairs = [(commit.id, parent) for commit in commits for parent in commit.parents or (None,)]
    if not pairs:
        return {}
    output = repository.run_listing(
        "diff-tree",
        "--stdin",
        "--always",
        "--root",
        "-r",
        "-t",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--ignore-submodules=none",
        stdin="".join(
            f"{commit} {parent or ''}".rstrip() + "\n" for commit, parent in pairs
        ).encode("ascii"),
        tokens_per_path=2,
    )
    return dict(zip(pairs, _parse_changes(output), strict=True))


def _parse_changes(output: bytes) -> Iterator[dict[FilePath, Sides]]:
    """Yield the changes of each pair of commits that `git diff-tree --always --stdin` printed."""
    changes: dict[FilePath, Sides] | None = None
    tokens = iter(output.split(b"\0"))
    for token in tokens:
        if token.startswith(b":") and changes is not None:
            old_mode, new_mode, old_id, new_id, _ = token[1:].split(b" ")
            path = decode_path(next(tokens))
            # A directory that became a file has two records: a deletion and an addition.
            old, new = changes.get(path, (None, None))
            changes[path] = _entry(old_mode, old_id) or old, _entry(new_mode, new_id) or new
        else:  # the commit of the next pair, or the end
            if changes is not None:
                yield changes
            changes = {}


def _entry(mode: bytes, object_name: bytes) -> Entry | None:
    if mode == b"000000":
        return None
    return Entry(parse_mode(mode), ObjectId(object_name.decode("ascii")))


class NewCommits:
    """New commits, and the ids of their older parents."""

    def __init__(
        self,
        repository: Repository,
        start: ObjectId,
        commits: Collection[NewCommit],
        changes: Mapping[tuple[ObjectId, ObjectId | None], Mapping[FilePath, Sides]],
    ) -> None:
        self._commits = {commit.id: commit for commit in commits}
        self.start = self._commits.get(start) or NewCommit(start)
        self._repository = repository
        self._children = {parent: commit.id for commit in commits for parent in commit.parents}
        self._changes = changes
        self._files_cache: dict[tuple[ObjectId, FilePath], dict[FilePath, Entry]] = {}

    def find(self, commit: ObjectId) -> NewCommit | None:
        """Return a new commit by its id; None: it is not new."""
        return self._commits.get(commit)

    def parents(self, commit: NewCommit) -> Iterator[NewCommit]:
        """Yield the parents, new or not."""
        for parent in commit.parents:
            yield self._commits.get(parent) or NewCommit(parent)

    def end_reason(self, commit: NewCommit) -> EndReason:
        """Return why no parent of a commit is available."""
        if not commit.is_new:
            return "unread"
        return "shallow" if commit.id in self._repository.shallow_commits() else "root"

    def compare(
        self, commit: NewCommit, parent: NewCommit | None, pending: PathRequests
    ) -> list[Change]:
        """Return which requested paths differ between a commit and a parent (None: empty tree)."""
        differences = self._changes[commit.id, parent.id if parent else None]
        if not differences:
            return []
        changes = [
            Change(path, None, requests, _id(new), _id(old))
            for path, (old, new) in differences.items()
            if (requests := pending.find(path))
        ]
        if pending.root.requests:
            new_id, old_id = self._root_id(commit), self._root_id(parent)
            changes.append(Change(FilePath(""), None, pending.root.requests, new_id, old_id))
        for path, pattern, requests in pending.items():
            if pattern is not None and _changes_match(differences, compile_glob(pattern)):
                new_id, old_id = self._glob_id(commit, pattern), self._glob_id(parent, pattern)
                changes.append(Change(path, pattern, requests, new_id, old_id))
        return [change for change in changes if change.new != change.old]

    def removed(self, commit: NewCommit, parent: NewCommit) -> Mapping[ObjectId, list[FilePath]]:
        """Return the files that a commit removed from a parent, by blob."""
        removed: dict[ObjectId, list[FilePath]] = {}
        for path, (old, new) in self._changes[commit.id, parent.id].items():
            is_removed = new is None or new.is_directory
            if is_removed and old and not old.is_directory and old.mode != MODE_SUBMODULE:
                removed.setdefault(old.id, []).append(path)
        return removed

    def _root_id(self, commit: NewCommit | None) -> ObjectId | None:
        if commit is None:
            return None
        root = FilePath("")
        return _id(entries_at(self._repository, {commit.id: [root]})[commit.id, root])

    def _glob_id(self, commit: NewCommit | None, pattern: str) -> ObjectId | None:
        if commit is None:
            return None
        glob = compile_glob(pattern)
        return glob_tree_id(self._files(commit.id, glob.prefix).items(), glob)

    def _files(self, commit: ObjectId, folder: FilePath) -> dict[FilePath, Entry]:
        # Git lists the files of one commit; those of the others follow from the known changes.
        key = commit, folder
        if key in self._files_cache:
            return self._files_cache[key]
        if commit == self.start.id:
            files = files_below(self._repository, commit, folder)
        else:
            child = self._children[commit]
            files = dict(self._files(child, folder))
            for path, (old, _) in self._changes[child, commit].items():
                if old is None or old.is_directory:
                    files.pop(path, None)
                else:
                    files[path] = old
        self._files_cache[key] = files
        return files


def _changes_match(differences: Mapping[FilePath, Sides], glob: Glob) -> bool:
    return any(
        glob.matches(path)
        for path, sides in differences.items()
        if any(side is not None and not side.is_directory for side in sides)
    )


def _id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry else None

"""The few commits that are new since a known head, read by two calls to git.

Libgit2 could read them too, but importing it takes 80 ms of CPU, ten times as much.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ubp.core.model import MODE_SUBMODULE, Entry, FilePath, ObjectId
from ubp.core.paths import Glob
from ubp.git.output import decode_path, parse_mode
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, files_below, glob_tree_id
from ubp.git.walk import Change, End, PathRequests

MAX_COMMANDS = (
    64  # commits: what a day's pull brings; reading their diffs takes about as long as libgit2
)

Sides = tuple[Entry | None, Entry | None]
"""What stood at a path before, and what stands there after."""


class NewCommit(NamedTuple):
    """A commit; one that is not new has only a name."""

    id: ObjectId
    commit_time: int = -1  # those that are not new come last
    parents: tuple[ObjectId, ...] = ()
    is_new: bool = False


@lru_cache(maxsize=1)  # both questions are asked in one run, and their answer cannot change
def read_new_commits(
    repository: Repository, start: ObjectId, heads: frozenset[ObjectId]
) -> "NewCommits | None":
    """What leads to `start` and to none of the heads; None: that is more than a few commits.

    Heads that are gone from the repository are no matter.
    """
    lines = repository.run(
        "rev-list",
        "--timestamp",
        "--parents",
        "--ignore-missing",
        f"--max-count={MAX_COMMANDS + 1}",
        start,
        "--not",
        *heads,
    ).splitlines()
    if len(lines) > MAX_COMMANDS:
        return None
    commits = [_new_commit(line.decode("ascii").split(" ")) for line in lines]
    return NewCommits(repository, start, commits, _read_changes(repository, commits))


def _new_commit(words: list[str]) -> NewCommit:
    date, name, *parents = words
    return NewCommit(ObjectId(name), int(date), tuple(map(ObjectId, parents)), is_new=True)


def _read_changes(
    repository: Repository, commits: Collection[NewCommit]
) -> dict[tuple[ObjectId, ObjectId | None], dict[FilePath, Sides]]:
    pairs = [(commit.id, parent) for commit in commits for parent in commit.parents or (None,)]
    if not pairs:
        return {}
    output = repository.run(
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
        stdin="".join(f"{one} {two or ''}".rstrip() + "\n" for one, two in pairs).encode("ascii"),
    )
    return dict(zip(pairs, _parse_changes(output), strict=True))


def _parse_changes(output: bytes) -> Iterator[dict[FilePath, Sides]]:
    changes: dict[FilePath, Sides] | None = None
    tokens = iter(output.split(b"\0"))
    for token in tokens:
        if token.startswith(b":") and changes is not None:
            old_mode, new_mode, old_id, new_id, _ = token[1:].split(b" ")
            path = decode_path(next(tokens))
            # A folder that became a file is told twice: here as the one, there as the other.
            old, new = changes.get(path, (None, None))
            changes[path] = _entry(old_mode, old_id) or old, _entry(new_mode, new_id) or new
        else:  # the next pair's commit, or the end
            if changes is not None:
                yield changes
            changes = {}


def _entry(mode: bytes, name: bytes) -> Entry | None:
    return None if mode == b"000000" else Entry(parse_mode(mode), ObjectId(name.decode("ascii")))


class NewCommits:
    """New commits, and the names of those that they build upon."""

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
        self._globs: dict[str, Glob] = {}
        self._listed: dict[tuple[ObjectId, FilePath], dict[FilePath, Entry]] = {}

    def find(self, commit: ObjectId) -> NewCommit | None:
        """A new commit."""
        return self._commits.get(commit)

    def parents(self, commit: NewCommit) -> Iterator[NewCommit]:
        """The parents, new or not."""
        for parent in commit.parents:
            yield self._commits.get(parent) or NewCommit(parent)

    def end(self, commit: NewCommit) -> End:
        """Why a commit without parents has none."""
        if not commit.is_new:
            return "unread"
        return "shallow" if commit.id in self._repository.shallow_commits() else "root"

    def compare(
        self, commit: NewCommit, parent: NewCommit | None, wanted: PathRequests
    ) -> list[Change]:
        """Which wanted places differ between a commit and a parent (None: an empty tree)."""
        differences = self._changes[commit.id, parent.id if parent else None]
        if not differences:
            return []
        changes = [
            Change(path, None, requests, _id(new), _id(old))
            for path, (old, new) in differences.items()
            if (requests := wanted.find(path))
        ]
        if wanted.root.requests:
            new_id, old_id = self._root_id(commit), self._root_id(parent)
            changes.append(Change(FilePath(""), None, wanted.root.requests, new_id, old_id))
        for path, pattern, requests in wanted.items():
            if pattern is not None and _touches(differences, self._glob(pattern)):
                new_id, old_id = self._matched(commit, pattern), self._matched(parent, pattern)
                changes.append(Change(path, pattern, requests, new_id, old_id))
        return [change for change in changes if change.new != change.old]

    def removed(self, commit: NewCommit, parent: NewCommit) -> Mapping[ObjectId, list[FilePath]]:
        """The files that a commit removed from a parent, by blob."""
        removed: dict[ObjectId, list[FilePath]] = {}
        for path, (old, new) in self._changes[commit.id, parent.id].items():
            is_gone = new is None or new.is_directory
            if is_gone and old and not old.is_directory and old.mode != MODE_SUBMODULE:
                removed.setdefault(old.id, []).append(path)
        return removed

    def _root_id(self, commit: NewCommit | None) -> ObjectId | None:
        if commit is None:
            return None
        root = FilePath("")
        return _id(entries_at(self._repository, {commit.id: [root]})[commit.id, root])

    def _glob(self, pattern: str) -> Glob:
        if pattern not in self._globs:
            self._globs[pattern] = Glob(pattern)
        return self._globs[pattern]

    def _matched(self, commit: NewCommit | None, pattern: str) -> ObjectId | None:
        glob = self._glob(pattern)
        return glob_tree_id(self._files(commit.id, glob.prefix), glob) if commit else None

    def _files(self, commit: ObjectId, folder: FilePath) -> dict[FilePath, Entry]:
        # The files of one commit are asked for; the others' follow from what is known to differ.
        key = commit, folder
        if key in self._listed:
            return self._listed[key]
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
        self._listed[key] = files
        return files


def _touches(differences: Mapping[FilePath, Sides], glob: Glob) -> bool:
    return any(
        glob.matches(path)
        for path, sides in differences.items()
        if any(side is not None and not side.is_directory for side in sides)
    )


def _id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry else None

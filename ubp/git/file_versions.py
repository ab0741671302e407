"""The versions of files in the history of a commit: which blobs lay at a path, and until when."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ubp.core.model import FilePath, ObjectId
from ubp.git.output import decode_path
from ubp.git.repository import Repository

# The newest; a log of so many takes 1 to 3 s of CPU (cockroachdb/docs, 15,000 files).
MAX_COMMITS = 20_000
UNCOMMITTED = -1  # the position of a change in the work tree or index
_COMMIT = b"commit "


class LoggedCommit(NamedTuple):
    """A commit and its committer date in seconds since the epoch."""

    id: ObjectId
    date: int


class FileChange(NamedTuple):
    """A change of a file by the commit at a position of the log, the newest at 0.

    UNCOMMITTED is that of a change which no commit has yet. `before` and `after` are blobs; None:
    there was no file, or there is none.
    """

    position: int
    before: ObjectId | None
    after: ObjectId | None


class FileVersion(NamedTuple):
    """A blob that lay at a path, up to the commit that replaced or removed it.

    `until` is None of what HEAD has, and the work tree or index has not.
    """

    path: FilePath
    blob: ObjectId
    until: LoggedCommit | None


class FileVersions:
    """The changes of all files in the history of a commit, merges apart.

    `changes` are sorted by path, the newest first. A clone that is shallow has few of them.
    """

    def __init__(
        self, commits: Sequence[LoggedCommit], changes: Mapping[FilePath, Sequence[FileChange]]
    ) -> None:
        self._commits = commits
        self._changes = changes

    def with_uncommitted(
        self, changes: Mapping[FilePath, tuple[ObjectId | None, ObjectId | None]]
    ) -> "FileVersions":
        """Return these versions with uncommitted changes: the blobs before and after each."""
        newest = {path: FileChange(UNCOMMITTED, *blobs) for path, blobs in changes.items()}
        added = {path: [change, *self._changes.get(path, ())] for path, change in newest.items()}
        return FileVersions(self._commits, {**self._changes, **added})

    def removed(self) -> dict[FilePath, LoggedCommit | None]:
        """Return the files that the last of their changes removed, with its commit, if any."""
        return {
            path: self._commit(of_path[0])
            for path, of_path in self._changes.items()
            if of_path[0].after is None
        }

    def age(self, path: FilePath) -> int | None:
        """Return how many commits are newer than the first version of a file; None: unknown."""
        changes = self._changes.get(path)
        return changes[-1].position if changes and changes[-1].before is None else None

    def older(self, path: FilePath) -> Iterator[FileVersion]:
        """Yield the blobs that were replaced at a path, the newest first; renames are followed.

        A file was renamed if the commit that added it removed one with the same bytes, or only one
        with the same name.
        """
        position, seen = UNCOMMITTED - 1, set[FilePath]()
        following: FilePath | None = path
        while following and following not in seen:
            seen.add(following)
            added = None
            for change in self._changes.get(following, ()):
                if change.position <= position:
                    continue
                position = change.position
                if change.before is None:
                    added = change
                    break
                yield FileVersion(following, change.before, self._commit(change))
            following = self._origin(following, added) if added else None
            if following and added:  # the version that was moved
                position = added.position - 1

    @cached_property
    def _removed(self) -> Mapping[tuple[int, str], Sequence[FilePath]]:
        """What each commit removed, by blob and by name."""
        removed: dict[tuple[int, str], list[FilePath]] = {}
        for path, of_path in self._changes.items():
            for change in of_path:
                if change.after is None and change.before is not None:
                    for key in (change.before, _name(path)):
                        removed.setdefault((change.position, key), []).append(path)
        return removed

    def _commit(self, change: FileChange) -> LoggedCommit | None:
        return None if change.position == UNCOMMITTED else self._commits[change.position]

    def _origin(self, path: FilePath, added: FileChange) -> FilePath | None:
        if added.after and (same := self._removed.get((added.position, added.after))):
            return same[0]
        named = self._removed.get((added.position, _name(path)), [])
        return named[0] if len(named) == 1 else None


def read_file_versions(repository: Repository, start: ObjectId) -> FileVersions:
    """Return the changes of all files in the newest MAX_COMMITS commits up to `start`."""
    output = repository.run(
        "log",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--no-merges",
        f"--max-count={MAX_COMMITS}",
        "--format=commit %H %ct",
        start,
        "--",
    )
    commits: list[LoggedCommit] = []
    changes: dict[bytes, list[FileChange]] = {}
    tokens = iter(output.split(b"\0"))
    for raw in tokens:
        token = raw.lstrip(b"\n")
        if token.startswith(_COMMIT):
            line, _, token = token.partition(b"\n")
            _, name, date = line.split()
            commits.append(LoggedCommit(ObjectId(name.decode("ascii")), int(date)))
            token = token.lstrip(b"\n")
        if token.startswith(b":"):
            _, _, before, after, _ = token.decode("ascii").split(" ")
            change = FileChange(len(commits) - 1, _blob(before), _blob(after))
            changes.setdefault(next(tokens), []).append(change)
    return FileVersions(commits, {decode_path(path): made for path, made in changes.items()})


def _blob(name: str) -> ObjectId | None:
    return ObjectId(name) if name.strip("0") else None


def _name(path: FilePath) -> str:
    """Return the name of a file without suffix, of a folder's page with the folder."""
    folder, _, last = path.rpartition("/")
    name = last.partition(".")[0].lower()
    if name in {"index", "_index", "readme", "page"}:
        return f"{folder.rpartition('/')[2]}/{name}"
    return name

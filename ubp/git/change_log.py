"""Lists of commits with their dates, and of the files that they changed."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.core.errors import GitCommandError, RepositoryError
from ubp.core.model import FilePath, ObjectId
from ubp.git.command import stream_git
from ubp.git.listings import MAX_TREE_PATHS, TreeTooLargeError, refusing_large_trees
from ubp.git.output import decode_path
from ubp.git.repository import Repository

MAX_PATHS = 1_000
"""How many files of a commit are kept, the first by path.

Larger commits are imports, moves of whole trees, new license headers, and say nothing about a
single file. In six repositories with 2,200 to 13,300 commits there are 0 to 34 of them.
"""


class DatedCommit(NamedTuple):
    """A commit and its committer date in seconds since the epoch."""

    commit: ObjectId
    date: int


class LoggedChange(NamedTuple):
    """A commit that is not a merge, its committer date in seconds, and the files that it changed.

    Added, changed and deleted files; of a rename both paths; of more than MAX_PATHS the first.
    """

    commit: ObjectId
    date: int
    paths: tuple[FilePath, ...]


def read_mainline(repository: Repository, start: ObjectId) -> list[DatedCommit]:
    """Return a commit and its first parents, newest first."""
    output = repository.run("rev-list", "--first-parent", "--timestamp", start, "--")
    words = (line.split() for line in output.decode("ascii").splitlines())
    return [DatedCommit(ObjectId(name), int(date)) for date, name in words]


def touched_between(repository: Repository, old: ObjectId, new: ObjectId) -> frozenset[FilePath]:
    """Return the files that the commits of `old..new` changed, compared with any of their parents.

    If `old` is on the main line of `new`, every other path has the same history at both commits.

    Raises:
        TreeTooLargeError: there are too many.
    """
    commits = repository.run("rev-list", f"{old}..{new}", "--")
    names: set[bytes] = set()
    incomplete = b""

    def read(piece: bytes) -> None:
        nonlocal incomplete
        *whole, incomplete = (incomplete + piece).split(b"\0")
        names.update(whole)
        if len(names) > MAX_TREE_PATHS:
            raise TreeTooLargeError

    command = (
        "diff-tree",
        "--stdin",
        "-m",
        "-r",
        "-z",
        "--root",
        "--name-only",
        "--no-commit-id",
        "--no-renames",
        "--ignore-submodules=none",
    )
    with refusing_large_trees():
        stream_git(
            command,
            read,
            cwd=repository.root or repository.git_dir,
            stdin=commits,
            environment=repository.environment,
        )
    return frozenset(decode_path(name) for name in names if name)


def list_commits(
    repository: Repository, start: ObjectId, limit: int | None = None, since: int | None = None
) -> list[DatedCommit]:
    """Return the reachable commits that are not merges, newest first.

    At most `limit`, and none dated before `since` (seconds). The commits at which a shallow clone
    ends are left out, because it is unknown what they changed.
    """
    bounds = [] if limit is None else [f"--max-count={limit}"]
    bounds += [] if since is None else [f"--max-age={max(since, 0)}"]
    output = repository.run("rev-list", "--no-merges", "--timestamp", *bounds, start, "--")
    words = (line.split(" ") for line in output.decode("ascii").splitlines())
    shallow = repository.shallow_commits()
    return [DatedCommit(ObjectId(name), int(date)) for date, name in words if name not in shallow]


def reachable_commits(repository: Repository) -> frozenset[ObjectId]:
    """Return all commits of branches, tags and the HEADs of work trees, except merges."""
    output = repository.run("rev-list", "--no-merges", "--all")
    return frozenset(map(ObjectId, output.decode("ascii").split()))


def read_changes(
    repository: Repository, commits: Sequence[ObjectId]
) -> dict[ObjectId, tuple[FilePath, ...]]:
    """Return the files that each of these commits changed, compared with its first parent.

    Raises:
        TreeTooLargeError: a commit changed too many.
        RepositoryError: trees are missing (a clone without them, a damaged one).
    """
    reader = _DiffTreeReader()
    try:
        with refusing_large_trees():
            stream_git(
                (
                    "diff-tree",
                    "--stdin",
                    "--root",
                    "-r",
                    "-z",
                    # A file may be named like a commit's id: the status tells the two apart.
                    "--name-status",
                    "--no-renames",
                    "--ignore-submodules=none",
                ),
                reader.feed,
                cwd=repository.root or repository.git_dir,
                stdin="\n".join([*commits, ""]).encode("ascii"),
                environment=repository.environment,
            )
    except GitCommandError as error:
        raise RepositoryError(
            "Cannot read the full history.",
            cause=f"The clone is incomplete or damaged: {error.stderr.strip()}",
            hint="Run `git fsck`, or in a --filter=tree:0 clone `git fetch --refetch --no-filter`.",
        ) from error
    # git prints nothing for a commit that changes no file.
    return {commit: tuple(reader.paths.get(commit, ())) for commit in commits}


class _DiffTreeReader:
    """A parser of `git diff-tree -z --name-status --stdin`, whose output comes in pieces."""

    def __init__(self) -> None:
        self.paths: dict[ObjectId, list[FilePath]] = {}
        self._commit_paths: list[FilePath] = []
        self._decoded: dict[bytes, FilePath] = {}
        self._incomplete_token = b""
        self._follows_status = False
        self._count = 0

    def feed(self, piece: bytes) -> None:
        """Parse the next piece."""
        *tokens, self._incomplete_token = (self._incomplete_token + piece).split(b"\0")
        for token in tokens:
            if self._follows_status:
                self._follows_status = False
                self._count += 1
                if self._count > MAX_TREE_PATHS:
                    raise TreeTooLargeError
                if len(self._commit_paths) < MAX_PATHS:
                    path = self._decoded.get(token)
                    if path is None:
                        path = self._decoded[token] = decode_path(token)
                    self._commit_paths.append(path)
            elif token[1:]:  # a commit's id, because a status is a single letter
                self._count = 0
                self._commit_paths = self.paths.setdefault(ObjectId(token.decode("ascii")), [])
            else:
                self._follows_status = True

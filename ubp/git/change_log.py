"""The main line of history: each commit's first parent, and what was touched on the way.

What each commit changed, read by two calls to git: one lists the commits, one their files.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ubp.core.errors import GitCommandError, RepositoryError
from ubp.core.model import FilePath, ObjectId
from ubp.git.command import stream_git
from ubp.git.output import decode_path
from ubp.git.repository import Repository


class MainlineStep(NamedTuple):
    """A commit of the main line and its committer date in seconds since the epoch."""

    commit: ObjectId
    date: int


def read_mainline(repository: Repository, start: ObjectId) -> list[MainlineStep]:
    """A commit and its first parents, newest first."""
    output = repository.run("rev-list", "--first-parent", "--timestamp", start, "--")
    words = (line.split() for line in output.decode("ascii").splitlines())
    return [MainlineStep(ObjectId(name), int(date)) for date, name in words]


def touched_between(repository: Repository, old: ObjectId, new: ObjectId) -> frozenset[FilePath]:
    """The files that a commit between these two changed, seen from any of its parents.

    History tells the same of every other path at both ends, if `old` is on the main line of `new`.
    """
    commits = repository.run("rev-list", f"{old}..{new}", "--")
    output = repository.run(
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
        stdin=commits,
    )
    return frozenset(decode_path(name) for name in output.split(b"\0") if name)


MAX_PATHS = 1_000
"""Of a commit that touches more files the first are kept, in the order of their paths: imports,
moves of whole trees, new licence headers. They tell nothing of any one file, and of six
repositories with 2,200 to 13,300 commits 0 to 34 are such."""


class LoggedChange(NamedTuple):
    """A commit that is no merge, its committer date in seconds, and the files that it touched.

    Added, changed, deleted; of a rename both paths; of more than `MOST_PATHS` the first.
    """

    commit: ObjectId
    date: int
    paths: tuple[FilePath, ...]


def list_commits(
    repository: Repository, start: ObjectId, limit: int | None = None, since: int | None = None
) -> list[MainlineStep]:
    """The commits that can be reached and are no merges, newest first.

    At most `limit`, and none with a date before `since` (seconds). Those at which a shallow clone
    ends are left out: nobody knows what they changed.
    """
    bounds = [] if limit is None else [f"--max-count={limit}"]
    bounds += [] if since is None else [f"--max-age={max(since, 0)}"]
    output = repository.run("rev-list", "--no-merges", "--timestamp", *bounds, start, "--")
    words = (line.split(" ") for line in output.decode("ascii").splitlines())
    ends = repository.shallow_commits()
    return [MainlineStep(ObjectId(name), int(date)) for date, name in words if name not in ends]


def reachable_commits(repository: Repository) -> frozenset[ObjectId]:
    """All that branches, tags and the HEADs of the work trees lead to, but merges."""
    output = repository.run("rev-list", "--no-merges", "--all")
    return frozenset(map(ObjectId, output.decode("ascii").split()))


def read_changes(
    repository: Repository, commits: Sequence[ObjectId]
) -> dict[ObjectId, tuple[FilePath, ...]]:
    """The files that each of these commits touched, seen from its first parent.

    Raises:
        RepositoryError: trees are missing (a clone without them, a damaged one).
    """
    reader = _Reader()
    try:
        stream_git(
            (
                "diff-tree",
                "--stdin",
                "--root",
                "-r",
                "-z",
                "--name-status",  # names alone: a file may have a commit's id for a name
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
            "History cannot be read whole.",
            cause=f"The clone is incomplete or damaged: {error.stderr.strip()}",
            hint="Run `git fsck`; after --filter=tree:0, `git fetch --refetch --no-filter`.",
        ) from error
    # Of a commit that touches nothing git does not speak.
    return {commit: tuple(reader.paths.get(commit, ())) for commit in commits}


class _Reader:
    """Takes the output of `git diff-tree -z --name-status --stdin` in pieces of any size."""

    def __init__(self) -> None:
        self.paths: dict[ObjectId, list[FilePath]] = {}
        self._here: list[FilePath] = []
        self._known: dict[bytes, FilePath] = {}
        self._pending = b""
        self._has_status = False

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        *tokens, self._pending = (self._pending + piece).split(b"\0")
        for token in self._names(tokens):
            if len(self._here) < MAX_PATHS:
                path = self._known.get(token)
                if path is None:
                    path = self._known[token] = decode_path(token)
                self._here.append(path)

    def _names(self, tokens: list[bytes]) -> Iterator[bytes]:
        for token in tokens:
            if self._has_status:
                self._has_status = False
                yield token
            elif token[1:]:  # a commit's id; a status is one letter
                self._here = self.paths.setdefault(ObjectId(token.decode("ascii")), [])
            else:
                self._has_status = True

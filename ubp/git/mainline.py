"""The main line of history: each commit's first parent, and what was touched on the way."""

from typing import NamedTuple

from ubp.git.records import path_of
from ubp.git.repository import Repository
from ubp.model import FilePath, ObjectId


class Step(NamedTuple):
    """A commit of the main line and its committer date in seconds since the epoch."""

    commit: ObjectId
    date: int


def read_mainline(repository: Repository, start: ObjectId) -> list[Step]:
    """A commit and its first parents, newest first."""
    output = repository.run("rev-list", "--first-parent", "--timestamp", start, "--")
    words = (line.split() for line in output.decode("ascii").splitlines())
    return [Step(ObjectId(name), int(date)) for date, name in words]


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
    return frozenset(path_of(name) for name in output.split(b"\0") if name)

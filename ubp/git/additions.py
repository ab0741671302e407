"""When a text came into a file, and whether the files of a commit have a name."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ubp.core.errors import GitCommandError
from ubp.core.model import FilePath, ObjectId
from ubp.git.output import decode_path
from ubp.git.repository import Repository

_GLOBS = ("--no-literal-pathspecs",)  # every other command takes paths literally


class Addition(NamedTuple):
    """The commit that first added a text to a file, and its date in seconds since the epoch."""

    commit: ObjectId
    date: int


def find_addition(
    repository: Repository, start: ObjectId, path: FilePath, text: str
) -> Addition | None:
    """Return the first commit that added a text to a file, seen from `start`, across renames.

    None: the history that this clone has does not show it.
    """
    options = ("--no-show-signature", "--no-textconv", "--no-ext-diff", "--format=%H %ct")
    try:
        output = repository.run(
            "-c", "log.showRoot=true", "log", "--follow", f"-S{text}", *options, start, "--", path
        )
    except GitCommandError:
        return None
    lines = output.decode("ascii", "replace").splitlines()
    if not lines:
        return None
    commit, _, date = lines[-1].partition(" ")
    is_known = commit not in repository.shallow_commits() and date.isdecimal()
    return Addition(ObjectId(commit), int(date)) if is_known else None


def commit_before(repository: Repository, commit: ObjectId, date: int) -> ObjectId | None:
    """Return the newest ancestor of a commit that is not newer than a date in seconds."""
    output = repository.run("rev-list", "--max-count=1", f"--min-age={max(date, 0)}", commit, "--")
    return ObjectId(output.decode("ascii").strip()) if output.strip() else None


def files_with_name(
    repository: Repository, commit: ObjectId, words: list[str], skipped: Iterable[str] = ()
) -> list[FilePath] | None:
    """Return the files of a commit that have a name of these words, in any of its spellings.

    Those whose names end with a `skipped` suffix ("md") are not read. None: this clone does not
    have all of its files.
    """
    name = "[-_]?".join(map(re.escape, words))
    pattern = f"(^|[^[:alnum:]]){name}($|[^[:alnum:]])"
    others = [f":(exclude,icase,top)*.{suffix}" for suffix in skipped]
    options = ("-I", "-l", "-z", "--no-color", "--full-name", "-i", "-E")
    try:
        output = repository.run(
            *_GLOBS, "grep", *options, "-e", pattern, commit, "--", *others, ok=(0, 1)
        )
    except GitCommandError:
        return None
    names = (name.partition(b":")[2] for name in output.split(b"\0"))
    return [decode_path(name) for name in names if name]

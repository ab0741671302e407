"""Lines of a snapshot's files that contain a word, found by `git grep`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ubp.core.errors import GitCommandError
from ubp.core.model import FilePath, Snapshot
from ubp.git.command import stream_git
from ubp.git.repository import Repository

# What is beyond is not read: a word on so many lines identifies nothing.
MAX_BYTES = 1_000_000
NO_LINE = 1  # git's exit status
# Whatever the user's configuration says.
_OPTIONS = (
    "--no-color", "--full-name", "--no-column", "--no-recurse-submodules", "--no-textconv",
    "-I", "-n", "-z", "-w", "-F",
)  # fmt: skip
_LINE = re.compile(rb"([^\0\n]+)\0(\d+)[\0:]([^\n]*)")


class FoundLine(NamedTuple):
    """A line, from 1, of a file."""

    path: FilePath
    line: int
    text: bytes


class _EnoughError(Exception):
    """Git has printed what is read."""


def find_word(repository: Repository, snapshot: Snapshot, words: Sequence[str]) -> list[FoundLine]:
    """Return the lines with any of these words as a whole word, in files that Git tracks.

    Of the work tree they are read as they are on disk: who shows them compares them with the
    snapshot's bytes, which no link leads out of the repository.
    """
    output = bytearray()

    def keep(piece: bytes) -> None:
        output.extend(piece)
        if len(output) > MAX_BYTES:
            raise _EnoughError

    where: tuple[str, ...] = ()
    prefix = 0
    if snapshot.kind == "commit" or repository.root is None:
        if snapshot.commit is None:
            return []
        where = (snapshot.commit,)
        prefix = len(snapshot.commit) + 1
    index = ("--cached",) if snapshot.kind == "staged" else ()
    patterns = [argument for word in words for argument in ("-e", word)]
    try:
        stream_git(
            ("grep", *_OPTIONS, *index, *patterns, *where),
            keep,
            cwd=repository.root or repository.git_dir,
            environment=repository.environment,
        )
    except _EnoughError:
        pass
    except GitCommandError as error:
        if error.status != NO_LINE:
            raise
    return [
        FoundLine(FilePath(path.decode("utf-8", "surrogateescape")[prefix:]), int(line), text)
        for path, line, text in _LINE.findall(bytes(output))
    ]

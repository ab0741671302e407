"""Read and write single files of the work tree and the index."""

import os
from collections.abc import Collection

from ubp.core.errors import RepositoryError
from ubp.core.files import read_regular_file, write_atomically
from ubp.core.model import FilePath, ObjectId
from ubp.git.repository import Repository

IGNORE_FILE = ".gitignore"


def read_file(repository: Repository, path: FilePath) -> bytes:
    """Return the bytes of a file of the work tree.

    Raises:
        RepositoryError: there is no regular file, or a symlink leads to it.
    """
    return read_regular_file(regular_file(repository, path))


def is_ignored(repository: Repository, path: FilePath) -> bool:
    """Return whether Git ignores a path; it ignores no tracked file."""
    if repository.run("ls-files", "-z", "--", path):
        return False
    return repository.libgit2().path_is_ignored(path)


def find_ignored(repository: Repository, paths: Collection[FilePath]) -> frozenset[FilePath]:
    """Return those of these paths that a `.gitignore` of the work tree matches.

    The user's own ignore files do not count: what they match differs from machine to machine.
    """
    if not paths or repository.root is None:
        return frozenset()
    # Git ends with 128 at a path beyond a symbolic link or submodule; it has printed those before.
    output = repository.run(
        *("check-ignore", "--no-index", "--verbose", "-z", "--stdin"),
        # `./`, because a path that begins with a colon would be more than a path
        stdin=b"".join(b"./" + os.fsencode(path) + b"\0" for path in sorted(paths)),
        ok=(0, 1, 128),
    )
    fields = output.split(b"\0")
    matches = zip(fields[0::4], fields[2::4], fields[3::4], strict=False)
    return frozenset(
        FilePath(os.fsdecode(path.removeprefix(b"./")))
        for file, pattern, path in matches
        if _is_in_tree(file) and not pattern.startswith(b"!")
    )


def _is_in_tree(file: bytes) -> bool:
    # `core.excludesFile` may have the same name, in the user's home.
    return os.path.basename(file) == os.fsencode(IGNORE_FILE) and not os.path.isabs(file)


def replace_file(repository: Repository, path: FilePath, data: bytes) -> None:
    """Replace the bytes of a file of the work tree atomically, and keep its mode.

    Raises:
        RepositoryError: there is no regular file, a symlink leads to it, or writing failed.
    """
    target = regular_file(repository, path)
    try:
        write_atomically(target, data)
    except OSError as error:
        raise RepositoryError(
            f"Cannot write {path}.",
            cause=error.strerror or str(error),
            hint="Check its permissions and the free disk space; the file is unchanged.",
        ) from error


def stage_file(repository: Repository, path: FilePath, mode: int, data: bytes) -> ObjectId:
    """Stage new bytes at a path without touching the work tree; return the id of the new blob."""
    out = repository.run("hash-object", "-w", "--stdin", stdin=data)
    blob = ObjectId(out.decode().strip())
    line = f"{mode:o} {blob}\t".encode() + os.fsencode(path) + b"\0"
    repository.run("update-index", "-z", "--index-info", stdin=line)
    return blob


def regular_file(repository: Repository, path: FilePath) -> str:
    """Return the absolute path of a regular file below the root, not reached through a symlink.

    Raises:
        RepositoryError: there is none.
    """
    if repository.root is None:
        raise RepositoryError(
            "Cannot edit files in a bare repository.", hint="Run this in a work tree."
        )
    target = repository.root
    for part in path.split("/"):
        target = os.path.join(target, part)
        if os.path.islink(target):
            raise RepositoryError(
                f"{path} is a symbolic link or is reached through one.",
                hint="Edit the file that it leads to.",
            )
    if not os.path.isfile(target):
        raise RepositoryError(
            f"The file {path} does not exist in the work tree.",
            hint="Restore it with git, then try again.",
        )
    return target

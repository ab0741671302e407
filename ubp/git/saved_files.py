"""Files that a commit is about to replace: nothing is lost, and a failure puts them back.

`git status` is silent about files that are ignored, and about those whose index entry has the flag
`skip-worktree` or `assume-unchanged`; `git restore` replaces them all the same. So each file is
compared with its own bytes.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ubp.core.errors import UsageError
from ubp.core.files import write_atomically
from ubp.core.model import FilePath, ObjectId
from ubp.core.paths import parent_folders
from ubp.core.shell import join
from ubp.git.filters import hash_regular_files
from ubp.git.output import blob_id
from ubp.git.repository import Repository

SKIP_WORKTREE = "S"
"""The tag of `git ls-files -v`; lowercase where the entry has `assume-unchanged`, too."""


@dataclass(frozen=True, slots=True)
class _Saved:
    """A path before the commit: None and 0 where there was no file, "" where Git tracked none."""

    data: bytes | None
    mode: int
    tag: str


@dataclass(frozen=True, slots=True)
class SavedFiles:
    """Files of the work tree as they were, with the folders in which they would be."""

    repository: Repository
    head: ObjectId
    files: Mapping[FilePath, _Saved]
    folders: Mapping[str, bool]

    def put_back(self) -> None:
        """Make the index and the work tree have these files, byte for byte, as they were."""
        for path, saved in self.files.items():
            target = _absolute(self.repository, path)
            if saved.data is None:
                with suppress(FileNotFoundError):
                    os.unlink(target)
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if _read(target) != saved.data:
                write_atomically(target, saved.data)
            os.chmod(target, saved.mode)
        for folder, existed in sorted(self.folders.items(), reverse=True):  # the deepest first
            if existed:
                os.makedirs(folder, exist_ok=True)
            else:
                with suppress(OSError):  # a hook wrote to it
                    os.rmdir(folder)
        self.repository.run("reset", "--quiet", self.head, "--", *self.files)
        self.put_back_flags()

    def put_back_flags(self) -> None:
        """Give the index entries of files that were in the work tree their flags again."""
        run = self.repository.run
        there = {path: saved.tag for path, saved in self.files.items() if saved.tag}
        tracked = run("ls-files", "-z", "--", *there) if there else b""
        for path in map(FilePath, os.fsdecode(tracked).split("\0")[:-1]):
            is_skipped = there[path].upper() == SKIP_WORKTREE
            if is_skipped and os.path.lexists(_absolute(self.repository, path)) == (
                self.files[path].data is not None
            ):
                run("update-index", "--skip-worktree", "--", path)
            if there[path].islower():
                run("update-index", "--assume-unchanged", "--", path)


def save_files(
    repository: Repository, paths: Sequence[FilePath], head: ObjectId, tree: ObjectId
) -> SavedFiles:
    """Return the files at these paths, which a commit on `head` will make those of `tree`.

    Raises:
        UsageError: one has bytes that are neither those of `head` nor of `tree`, or changes in the
            index; or what is in its place is not a file.
    """
    _check_status(repository, paths)
    folders: dict[str, bool] = {}
    data: dict[FilePath, tuple[bytes | None, int]] = {}
    for path in paths:
        for folder in parent_folders(path):
            folders[_absolute(repository, folder)] = _is_folder(repository, folder, path)
        data[path] = _read_file(repository, path)
    present = [path for path, (content, _) in data.items() if content is not None]
    stored = hash_regular_files(repository, present)
    for path in present:
        expected = {repository.rev_parse(f"{revision}:{path}") for revision in (head, tree)}
        if expected.isdisjoint({stored.get(path), blob_id(data[path][0] or b"")}):
            raise UsageError(
                f"{path} has changes that are not committed.",
                cause="Git ignores it, or does not look at it, so `git status` does not list it."
                " Nothing could bring its bytes back.",
                hint="Move it elsewhere, then try again.",
            )
    tags = _tags(repository, paths)
    files = {path: _Saved(*data[path], tags.get(path, "")) for path in paths}
    return SavedFiles(repository, head, files, folders)


def write_files(repository: Repository, tree: ObjectId, paths: Iterable[FilePath]) -> None:
    """Make the index and the work tree have these files as a tree has them."""
    present: list[FilePath] = []
    absent: list[FilePath] = []
    for path in paths:
        (present if repository.rev_parse(f"{tree}:{path}") else absent).append(path)
    if present:
        repository.run("restore", f"--source={tree}", "--staged", "--worktree", "--", *present)
    if absent:
        repository.run("rm", "--force", "--quiet", "--ignore-unmatch", "--", *absent)


def _check_status(repository: Repository, paths: Sequence[FilePath]) -> None:
    """Raise `UsageError` if `git status` lists one of these files."""
    changed = repository.run("status", "--porcelain", "-z", "--", *paths)
    if changed:
        path = FilePath(changed.decode("utf-8", "replace").split("\0")[0][3:])
        raise UsageError(
            f"{path} has changes that are not committed.",
            cause="They would be mixed with the proposal's.",
            hint=f"Commit them, or stash them: {join(['git', 'stash', 'push', '--', path])}",
        )


def _tags(repository: Repository, paths: Sequence[FilePath]) -> dict[FilePath, str]:
    listing = os.fsdecode(repository.run("ls-files", "-v", "-z", "--", *paths))
    return {FilePath(line[2:]): line[0] for line in listing.split("\0")[:-1]}


def _is_folder(repository: Repository, folder: str, path: FilePath) -> bool:
    """Return whether a folder exists; raise `UsageError` if a file or link is in its place."""
    try:
        mode = os.lstat(_absolute(repository, folder)).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISDIR(mode):
        raise _not_replaced(path, f"{folder} is not a folder in the work tree.")
    return True


def _read_file(repository: Repository, path: FilePath) -> tuple[bytes | None, int]:
    """Return the bytes and the permissions of a file; None: nothing exists at this path."""
    target = _absolute(repository, path)
    try:
        status = os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        return None, 0
    if not stat.S_ISREG(status.st_mode):
        raise _not_replaced(path, "It is not a regular file in the work tree.")
    try:
        return _read(target), stat.S_IMODE(status.st_mode)
    except OSError as error:
        raise _not_replaced(path, error.strerror or str(error)) from error


def _read(target: str) -> bytes | None:
    """Return the bytes of a regular file; None: there is none."""
    try:
        if not stat.S_ISREG(os.lstat(target).st_mode):
            return None
        with open(target, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _not_replaced(path: FilePath, cause: str) -> UsageError:
    return UsageError(f"{path} cannot be replaced.", cause=cause, hint="Move it elsewhere.")


def _absolute(repository: Repository, path: str) -> str:
    return os.path.join(repository.root or "", path)

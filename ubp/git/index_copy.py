"""Reading the work tree through a copy of Git's index, which `git status` may update.

Git rereads files whose times differ from those in its index, or that are as recent as the index:
after a clone those of its last second, in a copied repository all of them. The user's own `git
status` saves in the index that it has read them; UBP never writes to the user's index. A server,
which asks often, keeps a copy for that: over 26,000 notes, freshly cloned, each question takes 45
ms of CPU instead of 135.
"""

import os
import shutil
from tempfile import mkdtemp
from weakref import finalize

from ubp.core.errors import RepositoryError
from ubp.core.model import Snapshot
from ubp.git.repository import Repository, StatusIndex
from ubp.git.snapshot import read_worktree

CHECKSUM_BYTES = 20  # at the end of an index

_Stamp = tuple[int, int, int, bytes]


class IndexCopy:
    """A copy of one repository's index, in a temporary folder, removed with this object."""

    def __init__(self) -> None:
        self._folder = mkdtemp(prefix="ubp-")
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._copied: tuple[str, _Stamp] | None = None
        self._is_saved = False

    def read_worktree(self, repository: Repository) -> Snapshot:
        """Read the work tree, once more without the copy if that fails.

        Raises:
            RepositoryError: the repository is bare.
        """
        copy = None if "GIT_INDEX_FILE" in repository.environment else self._copy(repository)
        if copy is None:
            return read_worktree(repository)
        try:
            snapshot = read_worktree(repository, StatusIndex(copy, saves=not self._is_saved))
        except RepositoryError:
            self._copied = None
            return read_worktree(repository)
        self._is_saved = True
        return snapshot

    def _copy(self, repository: Repository) -> str | None:
        """Return the copy, made again if the index has changed; None: it cannot be copied."""
        index = os.path.join(repository.git_dir, "index")
        copy = os.path.join(self._folder, "index")
        try:
            stamp = _stamp(index)
            if self._copied != (index, stamp) or not os.path.exists(copy):
                self._copied = None
                # Git compares the times of files with that of the index.
                shutil.copy2(index, f"{copy}.new")
                os.replace(f"{copy}.new", copy)
                if _stamp(index) != stamp:
                    return None
                self._copied, self._is_saved = (index, stamp), False
        except OSError:  # no commits yet, a full disk
            return None
        return copy


def _stamp(index: str) -> _Stamp:
    with open(index, "rb") as file:
        status = os.fstat(file.fileno())
        file.seek(max(0, status.st_size - CHECKSUM_BYTES))
        return status.st_mtime_ns, status.st_size, status.st_ino, file.read()

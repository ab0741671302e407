"""What a repository must be able to answer, whoever answers: the git command, or libgit2."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from ubp.git.records import Changes
from ubp.model import Entry, FilePath, ObjectId

if TYPE_CHECKING:
    import pygit2  # 80 ms of CPU: imported where it is used


class Engine(Protocol):
    """One way to read a repository. `open_repository` alone chooses which."""

    def libgit2(self) -> "pygit2.Repository":
        """Libgit2's handle, opened on first use."""

    def close(self) -> None:
        """Let go of libgit2's handle."""

    def resolve(self, revision: str) -> tuple[ObjectId | None, bool]:
        """The commit that a revision names, and whether it names anything."""

    def merge_base(self, one: ObjectId, other: ObjectId) -> ObjectId | None:
        """The best common ancestor."""

    def read_objects(
        self, ids: Collection[ObjectId]
    ) -> Mapping[ObjectId, tuple[str, bytes] | None]:
        """Types and bytes; None: absent or too large."""

    def begin_worktree_changes(self) -> Callable[[], tuple[ObjectId | None, Changes]]:
        """Begin to look at the work tree; what is returned, called once, ends it and tells.

        It tells HEAD, and the files that differ from it (mode 0: untracked).
        """

    def index_changes(self, head: ObjectId | None) -> Changes:
        """The files of the index that differ from a commit."""

    def hash_regular_files(self, paths: Collection[FilePath]) -> dict[FilePath, ObjectId]:
        """The blob ids of files of the work tree, filters applied; unreadable ones are left out."""

    def stored_bytes(self, wanted: Mapping[FilePath, ObjectId]) -> dict[FilePath, bytes]:
        """What Git would store of files of the work tree, where it has these ids."""

    def trusts_file_mode(self) -> bool:
        """Whether the disk's executable bits mean anything (`core.fileMode`)."""

    def list_tree(self, commit: ObjectId) -> dict[FilePath, Entry]:
        """Every file and directory."""

    def diff_trees(self, old: ObjectId, new: ObjectId) -> Changes:
        """Files and directories that differ."""

    def entries_at(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """What stands at paths of commits."""

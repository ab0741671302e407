"""The git command's answers: the way that is taken wherever there is a git."""

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from typing import TYPE_CHECKING

from ubp.errors import GitCommandError
from ubp.git.command import argument_chunks, begin_git, run_git, stream_git
from ubp.git.engine import Engine
from ubp.git.filters import hash_files, stored_bytes
from ubp.git.location import Location
from ubp.git.objects import EMPTY_TREE, BatchReader
from ubp.git.records import Changes, is_possible, parse_raw_diff, parse_status, parse_tree
from ubp.model import MODE_TREE, Entry, FilePath, ObjectId

if TYPE_CHECKING:
    import pygit2  # 80 ms of CPU: imported where it is used

ID_LENGTH = 40
FEW_CALLS = 24  # a call to git costs 2 to 3 ms of CPU, libgit2 80 to import


class CommandEngine:
    """Asks git, and libgit2 what git answers badly: many trees, absent objects."""

    def __init__(self, location: Location, environment: Mapping[str, str]) -> None:
        self._location = location
        self._environment = environment
        self._folder = location.root or location.git_dir
        self._libgit2_engine: Engine | None = None

    def run(self, *args: str, stdin: bytes = b"", ok: Container[int] = (0,)) -> bytes:
        """Run git at the root (bare: in the git directory)."""
        return run_git(args, cwd=self._folder, stdin=stdin, environment=self._environment, ok=ok)

    def libgit2(self) -> "pygit2.Repository":
        """Libgit2's handle."""
        return self._by_libgit2().libgit2()

    def _by_libgit2(self) -> Engine:
        if self._libgit2_engine is None:
            from ubp.git.by_libgit2 import Libgit2Engine

            self._libgit2_engine = Libgit2Engine(self._location, self._environment, is_trusted=True)
        return self._libgit2_engine

    def close(self) -> None:
        """Let go of libgit2's handle."""
        if self._libgit2_engine is not None:
            self._libgit2_engine.close()

    def resolve(self, revision: str) -> tuple[ObjectId | None, bool]:
        """The commit that a revision names, and whether it names anything."""
        found = self._rev_parse(revision)
        if found is None:
            return None, False
        # Two calls, because `:/words^{commit}` would look for these very words.
        commit = self._rev_parse(f"{found}^{{commit}}")
        # Git takes any 40 digits for an id, whether or not there is such an object.
        return commit, commit is not None or self.run("cat-file", "-t", found, ok=(0, 128)) != b""

    def _rev_parse(self, revision: str) -> ObjectId | None:
        if "\0" in revision:
            return None
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        output = self.run(*args, ok=(0, 1, 128)).decode("ascii", "replace").strip()
        # `^main` gives more than an id.
        return ObjectId(output) if len(output) == ID_LENGTH and output.isalnum() else None

    def merge_base(self, one: ObjectId, other: ObjectId) -> ObjectId | None:
        """The best common ancestor."""
        output = self.run("merge-base", one, other, ok=(0, 1)).decode("ascii").strip()
        return ObjectId(output) if output else None

    def read_objects(
        self, ids: Collection[ObjectId]
    ) -> Mapping[ObjectId, tuple[str, bytes] | None]:
        """Types and bytes; None: absent or too large."""
        reader = BatchReader()
        if not ids:
            return reader.objects
        try:
            stream_git(
                ["cat-file", "--batch"],
                reader.feed,
                cwd=self._folder,
                stdin="\n".join([*ids, ""]).encode("ascii"),
                environment=self._environment,
            )
        except GitCommandError:
            # Git before 2.44 ends at the first object that a partial clone does not have.
            return self._by_libgit2().read_objects(ids)
        return reader.objects

    def begin_worktree_changes(self) -> Callable[[], tuple[ObjectId | None, Changes]]:
        """HEAD, and the files of the work tree that differ from it (mode 0: untracked)."""
        finish = begin_git(
            (
                # Looking at files in threads costs more than it saves where they are cached: 19
                # against 13 ms of CPU for 2,300 files, 442 against 408 for 26,000, wall alike.
                "-c",
                "core.preloadIndex=false",
                "status",
                "--porcelain=v2",
                "-z",
                "--branch",
                "--no-ahead-behind",
                "--untracked-files=all",
                "--no-renames",
                "--ignore-submodules=dirty",
            ),
            cwd=self._folder,
            environment=self._environment,
        )
        return lambda: parse_status(finish())

    def index_changes(self, head: ObjectId | None) -> Changes:
        """The files of the index that differ from a commit."""
        return parse_raw_diff(
            self.run(
                "diff-index",
                "--cached",
                "--raw",
                "-z",
                "--no-renames",
                "--ita-invisible-in-index",
                "--ignore-submodules=none",
                head or EMPTY_TREE,
            )
        )

    def hash_regular_files(self, paths: Collection[FilePath]) -> dict[FilePath, ObjectId]:
        """The blob ids of files of the work tree, filters applied; unreadable ones are left out."""
        return hash_files(self.run, self._folder, paths)

    def stored_bytes(self, wanted: Mapping[FilePath, ObjectId]) -> dict[FilePath, bytes]:
        """What git would store of files of the work tree, where it has these ids."""
        return stored_bytes(self._location, self._environment, wanted)

    def trusts_file_mode(self) -> bool:
        """Whether the disk's executable bits mean anything."""
        return self.run("config", "--type=bool", "core.fileMode", ok=(0, 1)) != b"false\n"

    def list_tree(self, commit: ObjectId) -> dict[FilePath, Entry]:
        """Every file and directory."""
        return dict(parse_tree(self.run("ls-tree", "-r", "-t", "-z", "--full-tree", commit)))

    def diff_trees(self, old: ObjectId, new: ObjectId) -> Changes:
        """Files and directories that differ."""
        return parse_raw_diff(
            self.run(
                "diff-tree",
                "-r",
                "-t",
                "-z",
                "--raw",
                "--no-renames",
                "--ignore-submodules=none",
                old,
                new,
            )
        )

    def entries_at(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """What stands at paths of commits; "" is the root's tree."""
        calls = [
            (commit, chunk)
            for commit, paths in wanted.items()
            for chunk in argument_chunks(p for p in paths if not p or is_possible(p))
        ]
        if len(calls) > FEW_CALLS:
            return self._by_libgit2().entries_at(wanted)
        found: dict[tuple[ObjectId, FilePath], Entry | None] = {
            (commit, path): None for commit, paths in wanted.items() for path in paths
        }
        for commit, chunk in calls:
            for path, entry in self._stand_at(commit, chunk):
                if (commit, path) in found:
                    found[commit, path] = entry
        return found

    def _stand_at(
        self, commit: ObjectId, paths: list[FilePath]
    ) -> Iterator[tuple[FilePath, Entry]]:
        names = [path for path in paths if path]
        if len(names) < len(paths):
            tree = self.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode("ascii").strip()
            yield FilePath(""), Entry(MODE_TREE, ObjectId(tree))
        if names:
            # -t: a folder asked for beside a path below it is told too.
            listing = self.run("ls-tree", "-t", "-z", "--full-tree", commit, "--", *names)
            yield from parse_tree(listing)

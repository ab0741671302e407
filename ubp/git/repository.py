"""An open repository: its directories, revisions and objects."""

import os
from collections.abc import Collection, Container, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from ubp.core.errors import GitCommandError, HistoryTooShortError, RevisionNotFoundError
from ubp.core.model import Commit, FilePath, ObjectId
from ubp.git.command import OPTIONS, SAVING_OPTIONS, run_git, stream_git
from ubp.git.listings import PathCounter, refusing_large_trees
from ubp.git.locate import Location, locate
from ubp.git.output import MAX_BLOB_BYTES, BatchReader, parse_commit, parse_loose_object

if TYPE_CHECKING:
    import pygit2

ID_LENGTH = 40
# Reading an object's own file takes 0.1 ms, asking git 2.5; but most objects are in packs.
MAX_LOOSE = 32


class StatusIndex(NamedTuple):
    """A copy of Git's index for `git status`, which updates it if `saves`."""

    path: str
    saves: bool


def open_repository(cwd: str, environment: Mapping[str, str]) -> "Repository":
    """Open the repository around `cwd`, as git itself would find it in this environment.

    Raises:
        NotARepositoryError: there is none, or `cwd` is inside its `.git`.
        RepositoryError: it is a bare repository among the files of another one.
        RepositoryOwnershipError: git rejects it (`safe.directory`).
        UnsupportedRepositoryError: SHA-256, reftable, or an extension unknown to this git.
        GitMissingError: PATH has no git.
    """
    location = locate(cwd, environment)
    return Repository(location, _pin_location(location, environment))


def _pin_location(location: Location, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment in which git, at the root or the git directory, finds this repository.

    It is the given one where the root's `.git` leads to the repository. Otherwise (GIT_DIR,
    `core.worktree`, a bare repository) it has variables for the directories.
    """
    has_variables = environment.keys() & {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}
    if location.root is not None and not has_variables:
        dot_git = os.path.join(location.root, ".git")
        if os.path.realpath(dot_git) == location.git_dir or os.path.isfile(dot_git):
            return environment
    pinned = {**environment, "GIT_DIR": location.git_dir, "GIT_COMMON_DIR": location.common_dir}
    return pinned if location.root is None else pinned | {"GIT_WORK_TREE": location.root}


class Repository:
    """A repository opened by `open_repository`; close it (or use `with`), for libgit2's sake.

    `root` is the directory of the work tree (None: bare), `git_dir` and `common_dir` are Git's own
    (they differ in a linked work tree), `prefix` is the working directory relative to the root,
    `data_dir` the directory of the index, `config_dir` that of the configuration (bare: the same).
    """

    __slots__ = (
        "_libgit2",
        "common_dir",
        "config_dir",
        "data_dir",
        "environment",
        "git_dir",
        "is_shallow",
        "location",
        "prefix",
        "root",
    )

    def __init__(self, location: Location, environment: Mapping[str, str]) -> None:
        self.root: str | None = location.root
        self.git_dir: str = location.git_dir
        self.common_dir: str = location.common_dir
        # No commit can add files to the Git directory, so nobody can plant an index there.
        self.data_dir: str = os.path.join(location.common_dir, "ubp")
        self.config_dir: str = (
            self.data_dir if location.root is None else os.path.join(location.root, ".ubp")
        )
        self.prefix: FilePath = location.prefix
        self.is_shallow: bool = location.is_shallow
        self.location = location
        self.environment = environment
        self._libgit2: pygit2.Repository | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """What people call the repository: its folder's name."""
        path = (self.root or self.git_dir).replace(os.sep, "/").removesuffix("/.git")
        return path.rstrip("/").rpartition("/")[2].removesuffix(".git") or "repository"

    def close(self) -> None:
        """Release the files and memory of libgit2."""
        if self._libgit2 is not None:
            self._libgit2.free()
            self._libgit2 = None

    def run(self, *args: str, stdin: bytes = b"", ok: Container[int] = (0,)) -> bytes:
        """Run git at the root (bare: in the git directory) and return its output."""
        return run_git(
            args, cwd=self.root or self.git_dir, stdin=stdin, environment=self.environment, ok=ok
        )

    def run_listing(self, *args: str, stdin: bytes = b"", tokens_per_path: int = 1) -> bytes:
        """Run a command that lists paths with `-z`; `tokens_per_path` NULs are about each.

        Raises:
            TreeTooLargeError: there are more than MAX_TREE_PATHS; git is stopped.
            GitCommandError: git failed.
        """
        output = bytearray()
        counter = PathCounter(tokens_per_path)

        def keep(piece: bytes) -> None:
            counter.count(piece)
            output.extend(piece)

        with refusing_large_trees():
            stream_git(
                args, keep, cwd=self.root or self.git_dir, stdin=stdin, environment=self.environment
            )
        return bytes(output)

    def run_status(self, index: StatusIndex | None, *args: str) -> bytes:
        """Run `git status` at the root, with a copy of the index if given."""
        if index is None:
            return self.run("status", *args)
        return run_git(
            ("status", *args),
            cwd=self.root or self.git_dir,
            environment={**self.environment, "GIT_INDEX_FILE": index.path},
            options=SAVING_OPTIONS if index.saves else OPTIONS,
        )

    def libgit2(self) -> "pygit2.Repository":
        """Return the same repository in libgit2, opened on first use."""
        if self._libgit2 is None:
            from ubp.git.libgit2 import open_libgit2

            self._libgit2 = open_libgit2(self.location, self.environment)
        return self._libgit2

    def head(self) -> ObjectId | None:
        """Return the commit of HEAD when the repository was opened; None: no commits yet."""
        return self.location.head

    def rev_parse(self, revision: str) -> ObjectId | None:
        """Return the id of the object that a revision names now; None: no object, or several."""
        if "\0" in revision:
            return None
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        output = self.run(*args, ok=(0, 1, 128)).decode("ascii", "replace").strip()
        # `^main` prints more than an id.
        return ObjectId(output) if len(output) == ID_LENGTH and output.isalnum() else None

    def resolve(self, revision: str) -> ObjectId:
        """Return the commit that a revision names.

        Raises:
            RevisionNotFoundError: it names no commit.
        """
        if revision == self.location.head:  # git resolved it when the repository was opened
            return self.location.head
        object_name = self.rev_parse(revision)
        # Two calls, because `:/words^{commit}` would search messages for "words^{commit}".
        commit = None if object_name is None else self.rev_parse(f"{object_name}^{{commit}}")
        if commit is not None:
            return commit
        # Git accepts any 40 digits as an id, even if there is no such object.
        if object_name is not None and self.run("cat-file", "-t", object_name, ok=(0, 128)):
            cause = "It is a file or folder, not a commit."
            hint = "Use a commit, branch or tag."
        elif self.head() is None and revision == "HEAD":
            cause = "Its branch does not exist, or has no commits yet."
            hint = "Check the files as they are: ubp check"
        elif self.is_shallow:
            cause = "This clone is shallow: most of its history was not fetched."
            hint = "Fetch the missing history: git fetch --unshallow, or git fetch origin BRANCH."
        else:
            cause = "No commit, branch or tag has this name."
            hint = "See `git branch --all` and `git tag`, or run `git fetch` for new ones."
        raise RevisionNotFoundError(f"Revision not found: {revision}", cause=cause, hint=hint)

    def merge_base(self, commit: ObjectId, other: ObjectId) -> ObjectId:
        """Return the best common ancestor of two commits.

        Raises:
            HistoryTooShortError: a shallow clone ends before it.
            RevisionNotFoundError: their histories are unrelated.
        """
        base = self.run("merge-base", commit, other, ok=(0, 1)).decode("ascii").strip()
        if base:
            return ObjectId(base)
        message = f"{commit[:12]} and {other[:12]} have no common ancestor in this clone."
        if self.is_shallow:
            raise HistoryTooShortError(
                message,
                cause="This clone is shallow: its history ends too early.",
                hint="Fetch full history: git fetch --unshallow (GitHub Actions: fetch-depth: 0).",
            )
        raise RevisionNotFoundError(
            message,
            cause="Their histories are unrelated.",
            hint="Use the branch that this one was created from.",
        )

    def parents(self, commit: ObjectId) -> tuple[ObjectId, ...]:
        """Return the parents of a commit; none of a root, or where a shallow clone ends."""
        return tuple(map(ObjectId, self.run("rev-parse", f"{commit}^@").decode("ascii").split()))

    def merge_heads(self) -> tuple[ObjectId, ...]:
        """Return the commits being merged into HEAD; none unless a merge is in progress."""
        return tuple(_read_ids(os.path.join(self.git_dir, "MERGE_HEAD")))

    def shallow_commits(self) -> frozenset[ObjectId]:
        """Return the commits whose parents a shallow clone lacks."""
        return frozenset(_read_ids(os.path.join(self.common_dir, "shallow")))

    def is_partial(self) -> bool:
        """Return whether the clone may lack objects that its server has."""
        packs = os.path.join(self.common_dir, "objects", "pack")
        return any(name.endswith(".promisor") for name in os.listdir(packs))

    def read_blobs(self, ids: Collection[ObjectId]) -> dict[ObjectId, bytes | None]:
        """Return the bytes of blobs; None: absent (partial clone), no blob, over MAX_BLOB_BYTES."""
        objects = self._read_objects(ids)
        return {
            blob: content[1] if (content := objects.get(blob)) and content[0] == "blob" else None
            for blob in ids
        }

    def commits(self, ids: Collection[ObjectId]) -> dict[ObjectId, Commit]:
        """Return the commits of these ids; those that are absent are left out."""
        objects = self._read_objects(ids)
        return {
            commit: parse_commit(commit, content[1])
            for commit in ids
            if (content := objects.get(commit)) and content[0] == "commit"
        }

    def _read_loose_objects(
        self, ids: Collection[ObjectId]
    ) -> Iterator[tuple[ObjectId, tuple[str, bytes]]]:
        """Yield those of these objects that have a file of their own, as recent ones do."""
        for object_id in ids:
            if len(object_id) != ID_LENGTH or not object_id.isalnum():
                continue
            file = os.path.join(self.common_dir, "objects", object_id[:2], object_id[2:])
            try:
                with open(file, "rb") as opened:
                    data = opened.read(MAX_BLOB_BYTES)
            except OSError:  # in a pack, elsewhere, or absent
                continue
            if content := parse_loose_object(data):
                yield object_id, content

    def _read_objects(
        self, ids: Collection[ObjectId]
    ) -> Mapping[ObjectId, tuple[str, bytes] | None]:
        """Return the type and bytes of each object; None: absent or over MAX_BLOB_BYTES."""
        reader = BatchReader()
        if len(ids) <= MAX_LOOSE:
            reader.objects.update(self._read_loose_objects(ids))
            ids = [object_id for object_id in ids if object_id not in reader.objects]
        if not ids:
            return reader.objects
        try:
            stream_git(
                ["cat-file", "--batch"],
                reader.feed,
                cwd=self.root or self.git_dir,
                stdin="\n".join([*ids, ""]).encode("ascii"),
                environment=self.environment,
            )
        except GitCommandError:
            # Git before 2.44 stops at the first object that a partial clone lacks.
            from ubp.git.libgit2 import read_objects

            return read_objects(self.libgit2(), ids)
        return reader.objects


def _read_ids(file: str) -> list[ObjectId]:
    try:
        with open(file, encoding="ascii") as lines:
            return [ObjectId(line.strip()) for line in lines if line.strip()]
    except FileNotFoundError:
        return []

"""Write commits to a reference without a work tree or an index: durable, and safe to interrupt.

Objects are written first and the reference moves last, by compare-and-swap, so that a process
killed at any point leaves the old state or the new one. Unreachable objects are left to `git gc`.
"""

import os
import random
import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pygit2
from pygit2.enums import MergeFlag

from ubp.core.errors import GitCommandError, RepositoryError
from ubp.core.model import MODE_FILE, FilePath, ObjectId
from ubp.git.command import OPTIONS, run_git
from ubp.git.output import EMPTY_TREE, blob_id, is_valid_path
from ubp.git.repository import Repository

ABSENT = ObjectId("0" * 40)
"""The value of a reference that does not exist, as `git update-ref` writes it."""

# Of 400 commits by four processes on one reference, the unluckiest took 25 attempts.
MAX_ATTEMPTS = 200
MAX_PAUSE_SECONDS = 0.05  # random, so that two processes do not collide forever

# Each loose object waits for the disk, a pack as a whole does: 10,000 notes took two minutes.
MAX_LOOSE = 20

# `core.fsync` is read by git 2.36 and newer; older ones always sync packs, and never references.
DURABLE_OPTIONS = (*OPTIONS, "-c", "core.fsync=all")


class Author(NamedTuple):
    """Who made a commit: both its author and its committer."""

    name: str
    email: str


def write_commit(  # noqa: PLR0913  # named, but for the first three
    repository: Repository,
    ref: str,
    changes: Mapping[FilePath, bytes | None],
    *,
    message: str,
    author: Author,
    when: float,
    is_empty_allowed: bool = False,
) -> ObjectId | None:
    """Commit changed files on a reference, and return the commit; None: nothing differed.

    `changes` are whole files; None deletes one. A file keeps its mode, a new one is regular. They
    apply to the commit that `ref` has when it is written, to no files where it does not exist yet.
    `ref` is a full name, such as `refs/heads/main`.

    Raises:
        RepositoryError: `ref` is checked out, a path is not valid in Git, or writing failed.
    """
    check_not_checked_out(repository, ref)
    for path in changes:
        if not is_valid_path(path):
            raise RepositoryError(
                f"Not a path that Git can store: {path!r}.",
                hint="Use a relative path without empty parts, `.` and `..`.",
            )
    for _ in range(MAX_ATTEMPTS):
        tip = read_ref(repository, ref)
        commit = create_commit(
            repository,
            [tip] if tip else [],
            changes,
            message=message,
            author=author,
            when=when,
            is_empty_allowed=is_empty_allowed,
        )
        if commit is None:
            return None
        if update_ref(repository, ref, commit, tip or ABSENT, message.partition("\n")[0]):
            return commit
        pause()
    raise ref_busy(ref)


def create_commit(  # noqa: PLR0913  # named, but for the first three
    repository: Repository,
    parents: Sequence[ObjectId],
    changes: Mapping[FilePath, bytes | None],
    *,
    message: str,
    author: Author,
    when: float,
    is_empty_allowed: bool = False,
) -> ObjectId | None:
    """Write a commit that no reference leads to; None: it would not differ from its first parent.

    `changes` apply to the first parent, as in `write_commit`.

    Raises:
        RepositoryError: writing failed.
    """
    libgit2 = open_for_writing(repository)
    parent = parents[0] if parents else None
    try:
        write_blobs = _pack_blobs if len(changes) > MAX_LOOSE else _write_loose_blobs
        blobs = write_blobs(repository, [data for data in changes.values() if data is not None])
        ids = {path: None if data is None else blobs[data] for path, data in changes.items()}
        tree = _write_tree(libgit2, parent, ids)
        if not is_empty_allowed and tree == _tree_of(libgit2, parent):
            return None
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise _not_written(error) from error
    return commit_tree(
        repository, parents, ObjectId(tree), message=message, people=(author, author), when=when
    )


def commit_tree(  # noqa: PLR0913  # named, but for the first three
    repository: Repository,
    parents: Sequence[ObjectId],
    tree: ObjectId,
    *,
    message: str,
    people: tuple[Author, Author],
    when: float,
) -> ObjectId:
    """Write a commit that no reference leads to; `people` are the author and the committer.

    Raises:
        RepositoryError: writing failed.
    """
    try:
        author, committer = (
            pygit2.Signature(person.name, person.email, int(when), 0) for person in people
        )
        commit = open_for_writing(repository).create_commit(
            None, author, committer, message, tree, list(parents)
        )
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise _not_written(error) from error
    return ObjectId(str(commit))


def _not_written(error: Exception) -> RepositoryError:
    return RepositoryError(
        "Cannot write a commit.",
        cause=str(error) or type(error).__name__,
        hint="Check the free disk space, and run `git fsck` there.",
    )


def merge_trees(
    repository: Repository, base: ObjectId, ours: ObjectId, theirs: ObjectId
) -> tuple[ObjectId, tuple[FilePath, ...]]:
    """Merge the trees of two commits, and return the id of the tree and the conflicting paths.

    `base` is the commit that both come from. Nothing is checked out. A file that one side renames
    and the other one changes is a conflict: the change must not move to a path that nobody names.
    """
    libgit2 = open_for_writing(repository)
    ancestor, own, other = (libgit2[commit].peel(pygit2.Tree) for commit in (base, ours, theirs))
    index = libgit2.merge_trees(ancestor, own, other, flags=MergeFlag(0))
    if index.conflicts is not None:
        sides = (side for conflict in index.conflicts for side in conflict if side is not None)
        return ABSENT, tuple(sorted({FilePath(side.path) for side in sides}))
    return ObjectId(str(index.write_tree(libgit2))), ()


def update_ref(repository: Repository, ref: str, new: ObjectId, old: ObjectId, reason: str) -> bool:
    """Move a reference from `old` to `new` (ABSENT: create, delete); return False if it moved.

    False is also returned while another process holds its lock. `reason` goes to the reflog.

    Raises:
        GitCommandError: git refused it for another reason.
    """
    return update_refs(repository, [(ref, new, old)], reason)


def update_refs(
    repository: Repository, updates: Sequence[tuple[str, ObjectId, ObjectId]], reason: str
) -> bool:
    """Move references together, each `(name, new, old)`; return False if one of them moved.

    ABSENT stands for a reference that does not exist: as `old` it is created, as `new` deleted.

    Raises:
        GitCommandError: git refused it for another reason.
    """
    lines = [f"update {ref}\0{new}\0{old}\0" for ref, new, old in updates]
    try:
        run_git(
            ["update-ref", "--no-deref", "-m", reason.replace("\0", ""), "-z", "--stdin"],
            cwd=repository.root or repository.git_dir,
            environment=repository.environment,
            stdin="".join(lines).encode("utf-8", "surrogateescape"),
            options=DURABLE_OPTIONS,
        )
    except GitCommandError as error:
        if any(
            read_ref(repository, ref) != (None if old == ABSENT else old) for ref, _, old in updates
        ):
            return False
        if ".lock'" in error.stderr and "File exists" in error.stderr:
            return False
        raise
    return True


def pause() -> None:
    """Wait for a moment, so that two processes that moved a reference do not collide again."""
    time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311  # not a secret


def open_for_writing(repository: Repository) -> pygit2.Repository:
    """Return the repository as libgit2 opens it; what it writes reaches the disk."""
    pygit2.settings.enable_fsync_gitdir(value=True)
    # A partial clone lacks blobs beside the changed ones; that git may know their ids is enough.
    pygit2.settings.enable_strict_object_creation(value=False)
    return repository.libgit2()


def read_ref(repository: Repository, ref: str) -> ObjectId | None:
    """Return the commit of a full reference name; `rev-parse` would accept abbreviations."""
    output = repository.run("show-ref", "--verify", "--hash", "--", ref, ok=(0, 1, 128))
    return ObjectId(output.decode("ascii").strip()) if output else None


def _write_loose_blobs(
    repository: Repository, contents: Collection[bytes]
) -> dict[bytes, pygit2.Oid]:
    libgit2 = open_for_writing(repository)
    return {data: libgit2.create_blob(data) for data in contents}


def _pack_blobs(repository: Repository, contents: Collection[bytes]) -> dict[bytes, pygit2.Oid]:
    """Write blobs as one pack, which is durable when git has ended."""
    stream = bytearray()
    for data in contents:
        stream += b"blob\ndata %d\n%b\n" % (len(data), data)
    stream += b"done\n"
    run_git(
        ["fast-import", "--quiet", "--done"],
        cwd=repository.root or repository.git_dir,
        environment=repository.environment,
        stdin=bytes(stream),
        options=(*DURABLE_OPTIONS, "-c", "fastimport.unpackLimit=1"),
    )
    return {data: pygit2.Oid(hex=blob_id(data)) for data in contents}


def _write_tree(
    libgit2: pygit2.Repository,
    parent: ObjectId | None,
    blobs: Mapping[FilePath, pygit2.Oid | None],
) -> str:
    index = pygit2.Index()  # in memory
    if parent is not None:
        index.read_tree(libgit2[parent].peel(pygit2.Tree))
    for path, blob in blobs.items():
        mode = index[path].mode if path in index else MODE_FILE
        if blob is not None:
            index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode(mode)))
        elif path in index:
            index.remove(path)
    return str(index.write_tree(libgit2))


def _tree_of(libgit2: pygit2.Repository, commit: ObjectId | None) -> str:
    return EMPTY_TREE if commit is None else str(libgit2[commit].peel(pygit2.Tree).id)


def check_not_checked_out(repository: Repository, ref: str) -> None:
    """Raise `RepositoryError` if a work tree has this branch, whose files would then differ."""
    listing = repository.run("worktree", "list", "--porcelain")
    if f"branch {ref}" in os.fsdecode(listing).split("\n"):
        raise RepositoryError(
            f"Cannot write to {ref}.",
            cause="It is checked out in a work tree.",
            hint="Switch that work tree to another branch.",
        )


def ref_busy(ref: str) -> RepositoryError:
    """Return the error for a reference that other processes keep moving."""
    return RepositoryError(
        f"Cannot write to {ref}.",
        cause="Other processes kept changing it, or a killed git left its lock file.",
        hint=f"Try again. If no git is running, remove the file {ref}.lock in the git directory.",
    )

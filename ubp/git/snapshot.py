"""Snapshots: what stands in the work tree, in the index, in a commit, and its pages' bytes."""

import os
import re
import stat
from collections.abc import Collection, Mapping

from ubp.core.errors import RepositoryError
from ubp.core.model import (
    MODE_EXECUTABLE,
    MODE_FILE,
    MODE_SUBMODULE,
    MODE_SYMLINK,
    UNHASHED,
    Entry,
    FilePath,
    ObjectId,
    Snapshot,
)
from ubp.git.filters import hash_regular_files, stored_bytes
from ubp.git.output import EMPTY_TREE, MAX_BLOB_BYTES, blob_id, parse_raw_diff, parse_status
from ubp.git.repository import Repository, open_repository

UNREADABLE = ObjectId("0" * 40)  # git's own "no such object": equal to no baseline
PRESENT = ("GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE")


def read_worktree(repository: Repository) -> Snapshot:
    """The tracked files as they stand on the disk, and untracked ones that Git does not ignore."""
    _check_work_tree(repository)
    output = repository.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    )
    head, changes = parse_status(output)
    unknown = [path for path, entry in changes.items() if entry and not entry.mode]
    disk = _Disk(repository)
    changes |= {path: disk.entry(path) for path in unknown}
    return Snapshot("worktree", head, changes)


def read_index(repository: Repository) -> Snapshot:
    """What the next commit would hold; an unmerged path stands as in HEAD."""
    _check_work_tree(repository)
    head = repository.head()
    output = repository.run(
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-renames",
        "--ita-invisible-in-index",
        "--ignore-submodules=none",
        head or EMPTY_TREE,
    )
    return Snapshot("staged", head, parse_raw_diff(output))


def read_commit(repository: Repository, revision: str) -> Snapshot:
    """A commit; RevisionNotFoundError where the revision names none."""
    return Snapshot("commit", repository.resolve(revision), {})


def hash_files(repository: Repository, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
    """What stands at paths of the work tree, with the ids that Git would give; None: nothing.

    Symlinks are hashed as links, and nothing lies behind one. A submodule's id is its HEAD. What
    cannot be read has the id UNREADABLE. A file that is tracked keeps the mode that a snapshot
    tells: the mode here is the disk's.
    """
    disk = _Disk(repository)
    found = {path: disk.entry(path) for path in paths}
    regular = [path for path, entry in found.items() if entry and entry.is_file]
    ids = hash_regular_files(repository, regular) if regular else {}
    for path, entry in found.items():
        if entry is None:
            continue
        if entry.is_file:
            found[path] = entry._replace(id=ids.get(path, UNREADABLE))
        elif entry.mode == MODE_SYMLINK:
            found[path] = entry._replace(id=_link_id(disk.absolute(path)))
        else:
            found[path] = entry._replace(id=_submodule_id(repository, disk.absolute(path)))
    return found


def read_document(
    repository: Repository, snapshot: Snapshot, path: FilePath, entry: Entry
) -> bytes | None:
    """`read_documents` for one file."""
    return read_documents(repository, snapshot, {path: entry})[path]


def read_documents(
    repository: Repository, snapshot: Snapshot, wanted: Mapping[FilePath, Entry]
) -> dict[FilePath, bytes | None]:
    """The bytes of a snapshot's files as Git stores them; entries must be hashed.

    The disk is asked first where the snapshot is the work tree, then the object store, and last
    Git's filters. None: no regular file, larger than MAX_BLOB_BYTES, or absent (partial clone).
    """
    found: dict[FilePath, bytes | None] = dict.fromkeys(wanted)
    disk = _Disk(repository) if snapshot.kind == "worktree" else None
    if disk:
        found = {path: disk.read(path, entry) for path, entry in wanted.items()}
    missing = {p: e.id for p, e in wanted.items() if found[p] is None and e.is_file}
    blobs = repository.read_blobs({*missing.values()} - {UNREADABLE})
    found |= {path: blobs.get(blob) for path, blob in missing.items()}
    if disk:
        changed = {p: blob for p, blob in missing.items() if found[p] is None}
        filtered = {p: b for p, b in changed.items() if p in snapshot.changes and disk.has_page(p)}
        found |= stored_bytes(repository, filtered) if filtered else {}
    return found


def _check_work_tree(repository: Repository) -> None:
    if repository.root is None:
        raise RepositoryError(
            f"The repository at {repository.git_dir} is bare.",
            cause="It has no work tree and no index.",
            hint="Name a revision: --ref HEAD.",
        )


def _stored(data: bytes, blob: ObjectId) -> bytes | None:
    """The bytes of a blob, if these are they but for what Git's own simple filters change."""
    if blob_id(data) == blob:
        return data
    lines = data.replace(b"\r\n", b"\n")
    for candidate in (lines, _without_idents(data), _without_idents(lines)):
        if blob_id(candidate) == blob:
            return candidate
    return None


def _without_idents(data: bytes) -> bytes:
    """What the attribute `ident` makes of expanded `$Id: ...$`."""
    return re.sub(rb"\$Id:[^$\n]*\$", b"$Id$", data)


def _link_id(file: str) -> ObjectId:
    try:
        target = os.fsencode(os.readlink(file))
    except OSError:
        return UNREADABLE
    return blob_id(target.replace(b"\\", b"/") if os.name == "nt" else target)


def _submodule_id(repository: Repository, folder: str) -> ObjectId:
    environment = {n: v for n, v in repository.environment.items() if n not in PRESENT}
    try:
        with open_repository(folder, environment) as submodule:
            is_own = submodule.root == os.path.realpath(folder)
            return (submodule.head() if is_own else None) or UNREADABLE
    except RepositoryError:
        return UNREADABLE


class _Disk:
    """The work tree's files, never through a symlink."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._root = repository.root or ""
        self._trusts_mode: bool | None = None
        self._is_link: dict[str, bool] = {"": False}

    def absolute(self, path: FilePath) -> str:
        """A path as the operating system wants it."""
        return os.path.join(self._root, path)

    def entry(self, path: FilePath) -> Entry | None:
        """What stands at a path, not hashed; a folder only where it is a submodule."""
        found = self._stat(path)
        if found is None:
            return None
        if stat.S_ISLNK(found.st_mode):
            return Entry(MODE_SYMLINK, UNHASHED)
        if stat.S_ISREG(found.st_mode):
            is_executable = bool(found.st_mode & stat.S_IXUSR) and self._trusts_file_mode()
            return Entry(MODE_EXECUTABLE if is_executable else MODE_FILE, UNHASHED)
        is_submodule = stat.S_ISDIR(found.st_mode) and os.path.lexists(
            os.path.join(self.absolute(path), ".git")
        )
        return Entry(MODE_SUBMODULE, UNHASHED) if is_submodule else None

    def read(self, path: FilePath, entry: Entry) -> bytes | None:
        """The bytes that the entry names, if the disk has them; never too many."""
        if not entry.is_file or not self.has_page(path):
            return None
        try:
            with open(self.absolute(path), "rb") as file:
                # Room for the most that is read would be made before, which takes ten times as
                # long as the reading.
                size = min(os.fstat(file.fileno()).st_size, MAX_BLOB_BYTES)
                return _stored(file.read(size), entry.id)
        except OSError:
            return None

    def has_page(self, path: FilePath) -> bool:
        """Whether there is a regular file of a size that can be read."""
        found = self._stat(path)
        if found is None or not stat.S_ISREG(found.st_mode):
            return False
        return found.st_size <= MAX_BLOB_BYTES

    def _stat(self, path: FilePath) -> os.stat_result | None:
        try:
            if self._passes_link(os.path.dirname(path)):
                return None
            return os.lstat(self.absolute(path))
        except (OSError, ValueError):  # gone; a NUL in the name
            return None

    def _passes_link(self, folder: str) -> bool:
        if folder in self._is_link:
            return self._is_link[folder]
        passes = False
        ends = [at for at, letter in enumerate(folder) if letter == "/"]
        for end in [*ends, len(folder)]:
            part = folder[:end]
            if part not in self._is_link:
                self._is_link[part] = passes or os.path.islink(os.path.join(self._root, part))
            passes = self._is_link[part]
        return passes

    def _trusts_file_mode(self) -> bool:
        if self._trusts_mode is None:
            args = ("config", "--type=bool", "core.fileMode")
            self._trusts_mode = self._repository.run(*args, ok=(0, 1)) != b"false\n"
        return self._trusts_mode

"""Snapshots of the work tree, the index and commits, and the contents of their files."""

import os
import re
import stat
from collections.abc import Collection, Mapping
from types import MappingProxyType

from ubp.core.errors import RepositoryError
from ubp.core.files import read_regular_file
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
from ubp.git.filters import hash_regular_files, stored_bytes, with_stored_line_ends
from ubp.git.output import EMPTY_TREE, MAX_BLOB_BYTES, blob_id, parse_raw_diff, parse_status
from ubp.git.repository import Repository, StatusIndex, open_repository

UNREADABLE = ObjectId("0" * 40)  # git's id for "no such object", which equals no baseline
# What a hook sets for the repository around a submodule.
LOCATION_VARIABLES = (
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_WORK_TREE",
)


def read_worktree(repository: Repository, index: StatusIndex | None = None) -> Snapshot:
    """Read the work tree: tracked files, and untracked ones that Git does not ignore.

    `index` is a copy of Git's index to be used instead.

    Raises:
        RepositoryError: the repository is bare.
    """
    _check_work_tree(repository)
    output = repository.run_status(
        index,
        "--porcelain=v2",
        "-z",
        "--branch",
        "--no-ahead-behind",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    )
    head, changes = parse_status(output)
    untracked = [path for path, entry in changes.items() if entry and not entry.mode]
    work_tree = _WorkTree(repository)
    changes |= {path: work_tree.entry(path) for path in untracked}
    return Snapshot("worktree", head, changes)


def with_buffers(
    repository: Repository, snapshot: Snapshot, buffers: Mapping[FilePath, bytes]
) -> Snapshot:
    """Return a snapshot of the work tree with an editor's unsaved bytes in place of its files.

    Line ends are converted as `git add` would; other filters are not applied. A path that is a
    folder or a symlink, or is reached through one, is left as it is.
    """
    work_tree = _WorkTree(repository)
    stored: dict[FilePath, bytes] = {}
    entries: dict[FilePath, Entry | None] = {}
    for path, data in buffers.items():
        entry = snapshot.changes.get(path) or work_tree.entry(path)
        if entry is None and not work_tree.is_free(path):
            continue
        if entry is None or entry.is_file:
            stored[path] = with_stored_line_ends(repository, path, data)
            mode = entry.mode if entry else MODE_FILE
            entries[path] = Entry(mode, blob_id(stored[path]))
    return snapshot._replace(changes={**snapshot.changes, **entries}, buffers=stored)


def read_index(repository: Repository, *, amend: bool = False) -> Snapshot:
    """Read the index; an unmerged path is taken from HEAD.

    With `amend` it is compared with the first parent of HEAD, as the commit that replaces HEAD.

    Raises:
        RepositoryError: the repository is bare.
    """
    _check_work_tree(repository)
    head = repository.head()
    if amend and head:
        head = next(iter(repository.parents(head)), None)
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
    """Resolve a commit.

    Raises:
        RevisionNotFoundError: the revision names no commit.
    """
    return Snapshot("commit", repository.resolve(revision), {})


def hash_files(
    repository: Repository,
    paths: Collection[FilePath],
    known: Mapping[FilePath, ObjectId] = MappingProxyType({}),
) -> dict[FilePath, Entry | None]:
    """Return the entries at paths of the work tree, with the ids that Git would give; None: none.

    The id of a symlink is that of its target's name, and paths through a symlink have no entry. The
    id of a submodule is its HEAD. The id of what cannot be read is UNREADABLE. The mode is that on
    the disk, which may differ from the mode that a snapshot has for a tracked file. Files with a
    `known` id are not read.
    """
    work_tree = _WorkTree(repository)
    entries = {path: work_tree.entry(path) for path in paths}
    regular = [p for p, entry in entries.items() if entry and entry.is_file and p not in known]
    ids = {**known, **(hash_regular_files(repository, regular) if regular else {})}
    for path, entry in entries.items():
        if entry is None:
            continue
        if entry.is_file:
            entries[path] = entry._replace(id=ids.get(path, UNREADABLE))
        elif entry.mode == MODE_SYMLINK:
            entries[path] = entry._replace(id=_symlink_id(work_tree.absolute(path)))
        else:
            entries[path] = entry._replace(id=_submodule_id(repository, work_tree.absolute(path)))
    return entries


def read_document(
    repository: Repository, snapshot: Snapshot, path: FilePath, entry: Entry
) -> bytes | None:
    """Return the bytes of one file, as `read_documents` does."""
    return read_documents(repository, snapshot, {path: entry})[path]


def read_documents(
    repository: Repository, snapshot: Snapshot, entries: Mapping[FilePath, Entry]
) -> dict[FilePath, bytes | None]:
    """Return the bytes of a snapshot's files as Git stores them; the entries must be hashed.

    They are taken from the snapshot's buffers, else read from the work tree, if the snapshot is of
    it and they are the same there, else from the object store, else by Git's filters. None: not a
    regular file, larger than MAX_BLOB_BYTES, or absent (partial clone).
    """
    contents: dict[FilePath, bytes | None] = dict.fromkeys(entries)
    work_tree = _WorkTree(repository) if snapshot.kind == "worktree" else None
    if work_tree:
        contents = {
            path: work_tree.read(path, entry)
            if (data := _unsaved_bytes(snapshot, path, entry)) is None
            else data
            for path, entry in entries.items()
        }
    unread = {
        path: entry.id
        for path, entry in entries.items()
        if contents[path] is None and entry.is_file
    }
    blobs = repository.read_blobs({*unread.values()} - {UNREADABLE})
    contents |= {path: blobs.get(blob) for path, blob in unread.items()}
    if work_tree:
        filtered = {
            path: blob
            for path, blob in unread.items()
            if contents[path] is None and path in snapshot.changes and work_tree.is_readable(path)
        }
        contents |= stored_bytes(repository, filtered) if filtered else {}
    return contents


def _unsaved_bytes(snapshot: Snapshot, path: FilePath, entry: Entry) -> bytes | None:
    data = snapshot.buffers.get(path)
    return data if data is not None and blob_id(data) == entry.id else None


def _check_work_tree(repository: Repository) -> None:
    if repository.root is None:
        raise RepositoryError(
            f"The repository at {repository.git_dir} is bare.",
            cause="It has no work tree and no index.",
            hint="Pass a revision, such as --ref HEAD.",
        )


def _matching_bytes(data: bytes, blob: ObjectId) -> bytes | None:
    """Return the bytes of a blob if a file differs from it at most in line ends and `$Id$`."""
    if blob_id(data) == blob:
        return data
    normalized = data.replace(b"\r\n", b"\n")
    for candidate in (normalized, _collapse_idents(data), _collapse_idents(normalized)):
        if blob_id(candidate) == blob:
            return candidate
    return None


def _collapse_idents(data: bytes) -> bytes:
    """Undo the attribute `ident`: return the bytes with `$Id$` for each `$Id: ...$`."""
    return re.sub(rb"\$Id:[^$\n]*\$", b"$Id$", data)


def _symlink_id(file: str) -> ObjectId:
    try:
        target = os.fsencode(os.readlink(file))
    except OSError:
        return UNREADABLE
    return blob_id(target.replace(b"\\", b"/") if os.name == "nt" else target)


def _submodule_id(repository: Repository, folder: str) -> ObjectId:
    environment = {
        name: value
        for name, value in repository.environment.items()
        if name not in LOCATION_VARIABLES
    }
    try:
        with open_repository(folder, environment) as submodule:
            # Without a repository of its own, git finds the one around it.
            is_own = submodule.root == os.path.realpath(folder)
            return (submodule.head() if is_own else None) or UNREADABLE
    except RepositoryError:
        return UNREADABLE


class _WorkTree:
    """The files of the work tree; paths through a symlink do not exist."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._root = repository.root or ""
        self._file_mode_setting: bool | None = None
        self._is_symlink: dict[str, bool] = {"": False}

    def absolute(self, path: FilePath) -> str:
        """Return the absolute path of a file."""
        return os.path.join(self._root, path)

    def entry(self, path: FilePath) -> Entry | None:
        """Return the entry at a path, not hashed; a directory has one only if it is a submodule."""
        status = self._stat(path)
        if status is None:
            return None
        if stat.S_ISLNK(status.st_mode):
            return Entry(MODE_SYMLINK, UNHASHED)
        if stat.S_ISREG(status.st_mode):
            is_executable = bool(status.st_mode & stat.S_IXUSR) and self._reads_file_mode()
            return Entry(MODE_EXECUTABLE if is_executable else MODE_FILE, UNHASHED)
        is_submodule = stat.S_ISDIR(status.st_mode) and os.path.lexists(
            os.path.join(self.absolute(path), ".git")
        )
        return Entry(MODE_SUBMODULE, UNHASHED) if is_submodule else None

    def is_free(self, path: FilePath) -> bool:
        """Return whether a file could be created at a path."""
        try:
            os.lstat(self.absolute(path))
        except FileNotFoundError:
            return not self._passes_symlink(os.path.dirname(path))
        except (OSError, ValueError):  # below a file; a NUL in the name
            return False
        return False

    def read(self, path: FilePath, entry: Entry) -> bytes | None:
        """Return the bytes of an entry if the file has them; None: it differs or is too large."""
        if not entry.is_file or not self.is_readable(path):
            return None
        try:
            return _matching_bytes(read_regular_file(self.absolute(path), MAX_BLOB_BYTES), entry.id)
        except OSError:
            return None

    def is_readable(self, path: FilePath) -> bool:
        """Return whether there is a regular file of at most MAX_BLOB_BYTES."""
        status = self._stat(path)
        if status is None or not stat.S_ISREG(status.st_mode):
            return False
        return status.st_size <= MAX_BLOB_BYTES

    def _stat(self, path: FilePath) -> os.stat_result | None:
        try:
            if self._passes_symlink(os.path.dirname(path)):
                return None
            return os.lstat(self.absolute(path))
        except (OSError, ValueError):  # absent; a NUL in the name
            return None

    def _passes_symlink(self, folder: str) -> bool:
        if folder in self._is_symlink:
            return self._is_symlink[folder]
        passes = False
        slashes = [position for position, letter in enumerate(folder) if letter == "/"]
        for end in [*slashes, len(folder)]:
            above = folder[:end]
            if above not in self._is_symlink:
                self._is_symlink[above] = passes or os.path.islink(os.path.join(self._root, above))
            passes = self._is_symlink[above]
        return passes

    def _reads_file_mode(self) -> bool:
        if self._file_mode_setting is None:
            args = ("config", "--type=bool", "core.fileMode")
            self._file_mode_setting = self._repository.run(*args, ok=(0, 1)) != b"false\n"
        return self._file_mode_setting

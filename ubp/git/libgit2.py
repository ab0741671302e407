"""Libgit2: opened where git says the repository is, for what it reads faster than git does."""

import os
from collections.abc import Collection, Mapping
from typing import Any

import pygit2

from ubp.core.errors import GitCommandError, RepositoryError
from ubp.core.model import MODE_TREE, Entry, FilePath, ObjectId
from ubp.git.locate import Location, unsupported
from ubp.git.output import MAX_BLOB_BYTES, is_possible, mode_of

# Without limits a walk over 17,000 commits takes 300 MB, with them 100.
CACHE_BYTES = 16 << 20
MAPPED_BYTES = 32 << 20
WINDOW_BYTES = 4 << 20

KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}


def open_libgit2(location: Location, environment: Mapping[str, str]) -> pygit2.Repository:
    """Open the repository that git found; git has also decided that its owner can be trusted."""
    pygit2.settings.cache_max_size(CACHE_BYTES)
    pygit2.settings.mwindow_mapped_limit = MAPPED_BYTES
    pygit2.settings.mwindow_size = WINDOW_BYTES
    # Hashing every object again takes 18 to 40 % of a walk; git does not do it either.
    pygit2.settings.enable_strict_hash_verification(value=False)
    pygit2.settings.owner_validation = False  # libgit2 reads `safe.directory` in fewer places
    try:
        flags = pygit2.enums.RepositoryOpenFlag.NO_SEARCH
        repository = pygit2.Repository(location.git_dir, flags)
    except pygit2.GitError as error:
        raise _opening_error(error, location.git_dir) from error
    if location.root is not None and not _is_work_tree(repository, location.root):
        repository.workdir = location.root  # GIT_WORK_TREE, or a hook's GIT_DIR
    for folder in _extra_object_folders(environment):
        repository.odb.add_disk_alternate(folder)
    return repository


def _is_work_tree(repository: pygit2.Repository, root: str) -> bool:
    workdir: str | None = repository.workdir
    return workdir is not None and os.path.normpath(workdir) == root


def _extra_object_folders(environment: Mapping[str, str]) -> list[str]:
    """Where a receiving git keeps what it has not accepted yet (quarantine)."""
    folders = [environment.get("GIT_OBJECT_DIRECTORY", "")]
    folders += environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    return [folder for folder in folders if os.path.isabs(folder) and os.path.isdir(folder)]


def _opening_error(error: Exception, git_dir: str) -> RepositoryError:
    """Why libgit2 cannot open a repository that git can."""
    said = str(error)
    if "unknown object format" in said or "unsupported extension" in said:
        return unsupported(git_dir, said)
    return GitCommandError(
        f"The repository at {git_dir} cannot be opened.",
        cause=said,
        hint="Run `git fsck` there.",
        status=-1,
        stderr=said,
    )


def read_objects(
    repository: pygit2.Repository, ids: Collection[ObjectId]
) -> dict[ObjectId, tuple[str, bytes] | None]:
    """Types and bytes; None: absent or too large."""
    objects: dict[ObjectId, tuple[str, bytes] | None] = {}
    for name in ids:
        try:
            kind, size = repository.odb.read_header(name)
            is_small = size <= MAX_BLOB_BYTES
            objects[name] = (KINDS[int(kind)], repository.odb.read(name)[1]) if is_small else None
        except KeyError:
            objects[name] = None
    return objects


def entries_at(
    repository: pygit2.Repository, wanted: Mapping[ObjectId, Collection[FilePath]]
) -> dict[tuple[ObjectId, FilePath], Entry | None]:
    """The entries at paths of commits; "" is the root's tree, None: no entry."""
    found: dict[tuple[ObjectId, FilePath], Entry | None] = {}
    for commit, paths in wanted.items():
        try:
            folders: Folders = {"": repository[commit].peel(pygit2.Tree)}
        except KeyError as error:
            raise _missing_object(commit) from error
        for path in paths:
            found[commit, path] = _entry_at(folders, path)
    return found


Folders = dict[str, pygit2.Tree | None]
"""The trees that were read, by path: reading a large one takes 10 ms."""


def _entry_at(folders: Folders, path: FilePath) -> Entry | None:
    if path and not is_possible(path):
        return None
    found = _object_at(folders, path) if path else folders[""]
    if found is None:  # an empty tree is false, too
        return None
    mode = mode_of(b"%06o" % int(found.filemode)) if path else MODE_TREE
    return Entry(mode, ObjectId(str(found.id)))


def _object_at(folders: Folders, path: str) -> Any:
    folder, _, name = path.rpartition("/")
    unread = []
    while folder not in folders:
        unread.append(folder)
        folder = folder.rpartition("/")[0]
    try:
        for below in reversed(unread):
            found = _child(folders[below.rpartition("/")[0]], below.rpartition("/")[2])
            folders[below] = found if isinstance(found, pygit2.Tree) else None
        return _child(folders[path.rpartition("/")[0]], name)
    except pygit2.GitError as error:  # the tree of a folder on the way is absent
        # It says: object not found - no match for id (...)
        absent = str(error).partition("(")[2].partition(")")[0]
        raise _missing_object(absent or path) from error


def _child(tree: pygit2.Tree | None, name: str) -> Any:
    return tree[name] if tree is not None and name in tree else None


def _missing_object(name: str) -> GitCommandError:
    """A commit or tree that this clone does not have."""
    said = f"object {name} is missing"
    return GitCommandError(
        f"The history cannot be read: {said}.",
        cause="This clone was made without it (`--filter=tree:0`), or it is damaged.",
        hint="Fetch what is missing: git fetch --refetch --no-filter, or look with git fsck.",
        status=-1,
        stderr=said,
    )

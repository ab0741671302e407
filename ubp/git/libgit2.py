"""Read objects and trees through libgit2, where it is faster than git."""

import os
from collections.abc import Collection, Mapping
from typing import Any

import pygit2

from ubp.core.errors import GitCommandError, RepositoryError
from ubp.core.interruption import with_checkpoints
from ubp.core.model import MODE_TREE, Entry, FilePath, ObjectId
from ubp.git.listings import MAX_TREE_PATHS, TreeTooLargeError
from ubp.git.locate import Location, unsupported_format
from ubp.git.output import MAX_BLOB_BYTES, is_valid_path, parse_mode

# A walk over 17,000 commits takes 300 MB without these limits and 100 MB with them.
CACHE_BYTES = 16 << 20
MAPPED_BYTES = 32 << 20
WINDOW_BYTES = 4 << 20

KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}

TreeCache = dict[str, pygit2.Tree | None]
"""The trees of a commit that were read, by path: reading a large one takes 10 ms."""


def open_libgit2(location: Location, environment: Mapping[str, str]) -> pygit2.Repository:
    """Open the repository that git found. Git has also checked its owner (`safe.directory`).

    Raises:
        RepositoryError: libgit2 cannot read it.
    """
    pygit2.settings.cache_max_size(CACHE_BYTES)
    pygit2.settings.mwindow_mapped_limit = MAPPED_BYTES
    pygit2.settings.mwindow_size = WINDOW_BYTES
    # Verifying the hash of every object takes 18 to 40 % of a walk; git does not do it either.
    pygit2.settings.enable_strict_hash_verification(value=False)
    pygit2.settings.owner_validation = False  # libgit2 reads `safe.directory` in fewer places
    # Older git names the remote of a partial clone there; newer git reads it from `remote.*` alone.
    pygit2.settings.set_extensions(["partialclone"])
    try:
        flags = pygit2.enums.RepositoryOpenFlag.NO_SEARCH
        repository = pygit2.Repository(location.git_dir, flags)
    except pygit2.GitError as error:
        raise _opening_error(error, location.git_dir) from error
    if location.root is not None:
        work_tree: str | None = repository.workdir
        if work_tree is None or os.path.normpath(work_tree) != location.root:
            repository.workdir = location.root  # GIT_WORK_TREE, or a hook's GIT_DIR
    # A receiving git stores objects that it has not accepted yet in a quarantine directory.
    directories = [environment.get("GIT_OBJECT_DIRECTORY", "")]
    directories += environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    for directory in directories:
        if os.path.isabs(directory) and os.path.isdir(directory):
            repository.odb.add_disk_alternate(directory)
    return repository


_PATH_COUNTS: dict[pygit2.Oid, int] = {}
"""How many paths are below each tree that was counted; an id never means another tree."""


def check_tree_size(root: pygit2.Tree) -> None:
    """Read each tree below this one once, however often it occurs.

    Raises:
        TreeTooLargeError: there are more than MAX_TREE_PATHS paths below it.
    """
    if len(_PATH_COUNTS) > MAX_TREE_PATHS:
        _PATH_COUNTS.clear()
    counts = _PATH_COUNTS
    trees = [root]
    while trees:
        tree = trees[-1]
        try:
            entries = list(tree)
        except (KeyError, pygit2.GitError):  # absent in a partial clone
            entries = []
        inner = [entry for entry in entries if isinstance(entry, pygit2.Tree)]
        uncounted = {entry.id: entry for entry in inner if entry.id not in counts}
        if uncounted:
            trees += uncounted.values()
            continue
        counts[tree.id] = len(entries) + sum(counts[entry.id] for entry in inner)
        trees.pop()
        if counts[tree.id] > MAX_TREE_PATHS:
            raise TreeTooLargeError


def _opening_error(error: Exception, git_dir: str) -> RepositoryError:
    """Return the error for a repository that git can open and libgit2 cannot."""
    message = str(error)
    if "unknown object format" in message or "unsupported extension" in message:
        return unsupported_format(git_dir, message)
    return GitCommandError(
        f"Cannot open the repository at {git_dir}.",
        cause=message,
        hint="Run `git fsck` there.",
        status=-1,
        stderr=message,
    )


def read_objects(
    repository: pygit2.Repository, ids: Collection[ObjectId]
) -> dict[ObjectId, tuple[str, bytes] | None]:
    """Return the type and bytes of each object; None: absent or over MAX_BLOB_BYTES."""
    objects: dict[ObjectId, tuple[str, bytes] | None] = {}
    for object_name in ids:
        objects[object_name] = None
        try:
            kind, size = repository.odb.read_header(object_name)
            if size <= MAX_BLOB_BYTES:
                objects[object_name] = (KINDS[int(kind)], repository.odb.read(object_name)[1])
        except KeyError:
            pass
    return objects


def entries_at(
    repository: pygit2.Repository, paths_by_commit: Mapping[ObjectId, Collection[FilePath]]
) -> dict[tuple[ObjectId, FilePath], Entry | None]:
    """Return the entries at paths of commits; "" is the root's tree, None: no entry.

    Raises:
        GitCommandError: a commit or a tree is missing.
    """
    entries: dict[tuple[ObjectId, FilePath], Entry | None] = {}
    for commit, paths in paths_by_commit.items():
        try:
            trees: TreeCache = {"": repository[commit].peel(pygit2.Tree)}
        except KeyError as error:
            raise _missing_object(commit) from error
        for path in with_checkpoints(paths):
            entries[commit, path] = _entry_at(trees, path)
    return entries


def _entry_at(trees: TreeCache, path: FilePath) -> Entry | None:
    if path and not is_valid_path(path):
        return None
    git_object = _object_at(trees, path) if path else trees[""]
    if git_object is None:  # not a truth test: an empty tree is false, too
        return None
    mode = parse_mode(b"%06o" % int(git_object.filemode)) if path else MODE_TREE
    return Entry(mode, ObjectId(str(git_object.id)))


def _object_at(trees: TreeCache, path: str) -> Any:
    folder, _, name = path.rpartition("/")
    unread = []
    while folder not in trees:
        unread.append(folder)
        folder = folder.rpartition("/")[0]
    try:
        for below in reversed(unread):
            child = _child(trees[below.rpartition("/")[0]], below.rpartition("/")[2])
            trees[below] = child if isinstance(child, pygit2.Tree) else None
        return _child(trees[path.rpartition("/")[0]], name)
    except pygit2.GitError as error:  # a partial clone lacks the tree of a folder above
        # The message is: object not found - no match for id (...)
        missing_id = str(error).partition("(")[2].partition(")")[0]
        raise _missing_object(missing_id or path) from error


def _child(tree: pygit2.Tree | None, name: str) -> Any:
    return tree[name] if tree is not None and name in tree else None


def _missing_object(object_name: str) -> GitCommandError:
    message = f"object {object_name} is missing"
    return GitCommandError(
        f"Cannot read the history: {message}.",
        cause="The clone was made without it (`--filter=tree:0`), or is damaged.",
        hint="Fetch it with `git fetch --refetch --no-filter`, or run `git fsck`.",
        status=-1,
        stderr=message,
    )

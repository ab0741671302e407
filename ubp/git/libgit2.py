"""Opening libgit2: its limits, its errors in our words, and finding a repository without git."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ubp.errors import GitCommandError, GitMissingError, RepositoryError
from ubp.git.location import (
    Location,
    foreign_owner,
    inside_git_dir,
    not_a_repository,
    unsupported,
)
from ubp.model import FilePath, ObjectId

if TYPE_CHECKING:
    import pygit2  # 80 ms of CPU: imported where it is used

# Without limits a walk over 17,000 commits takes 300 MB, with them 100.
CACHE_BYTES = 16 << 20
MAPPED_BYTES = 32 << 20
WINDOW_BYTES = 4 << 20


def open_libgit2(
    location: Location, environment: Mapping[str, str], *, is_trusted: bool
) -> "pygit2.Repository":
    """Open the repository that `location` found.

    `is_trusted`: git itself has accepted its owner (libgit2 reads fewer of the places where
    `safe.directory` may stand).
    """
    repository = _opened(location.git_dir, is_trusted=is_trusted)
    if location.root is not None and not _is_work_tree(repository, location.root):
        repository.workdir = location.root  # GIT_WORK_TREE, or a hook's GIT_DIR
    for folder in _extra_object_folders(environment):
        repository.odb.add_disk_alternate(folder)
    return repository


def _opened(
    folder: str, *, is_git_dir: bool = True, is_trusted: bool = False
) -> "pygit2.Repository":
    import pygit2

    pygit2.settings.cache_max_size(CACHE_BYTES)
    pygit2.settings.mwindow_mapped_limit = MAPPED_BYTES
    pygit2.settings.mwindow_size = WINDOW_BYTES
    # Hashing every object again takes 18 to 40 % of a walk; git does not do it either.
    pygit2.settings.enable_strict_hash_verification(value=False)
    pygit2.settings.owner_validation = not is_trusted  # of the process, so set each time
    flag = pygit2.enums.RepositoryOpenFlag
    try:
        return pygit2.Repository(folder, flag.NO_SEARCH if is_git_dir else flag.DEFAULT)
    except pygit2.GitError as error:
        raise opening_error(error, folder) from error


def _is_work_tree(repository: "pygit2.Repository", root: str) -> bool:
    workdir: str | None = repository.workdir
    return workdir is not None and os.path.normpath(workdir) == root


def _extra_object_folders(environment: Mapping[str, str]) -> list[str]:
    """Where a receiving git keeps what it has not accepted yet (quarantine)."""
    folders = [environment.get("GIT_OBJECT_DIRECTORY", "")]
    folders += environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    return [folder for folder in folders if os.path.isabs(folder) and os.path.isdir(folder)]


def locate_without_git(cwd: str, environment: Mapping[str, str]) -> Location:
    """Find the repository around `cwd` where there is no git to ask; raises as `locate` does."""
    import pygit2

    cwd = os.path.realpath(cwd)
    named = environment.get("GIT_DIR")
    if named:
        repository = _opened(os.path.realpath(os.path.join(cwd, named)))
    else:
        ceilings = environment.get("GIT_CEILING_DIRECTORIES", "")
        # Written in C, takes no names: the second argument is "across file systems".
        if not pygit2.discover_repository(cwd, False, ceilings):  # noqa: FBT003 - see above
            raise not_a_repository(cwd)
        repository = _opened(cwd, is_git_dir=False)
    git_dir = os.path.normpath(repository.path)
    workdir = environment.get("GIT_WORK_TREE") or repository.workdir
    root = os.path.realpath(os.path.join(cwd, workdir)) if workdir else None
    if root is not None and _is_below(cwd, git_dir):
        raise inside_git_dir(cwd)
    return Location(
        root=root,
        git_dir=git_dir,
        common_dir=_common_dir(git_dir),
        prefix=_prefix(cwd, root),
        is_shallow=repository.is_shallow,
        head=None if repository.head_is_unborn else ObjectId(str(repository.head.target)),
    )


def _common_dir(git_dir: str) -> str:
    try:
        with open(os.path.join(git_dir, "commondir"), "rb") as file:
            relative = os.fsdecode(file.read().rstrip(b"\r\n"))
    except FileNotFoundError:
        return git_dir
    return os.path.normpath(os.path.join(git_dir, relative))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _prefix(cwd: str, root: str | None) -> FilePath:
    if root is None or cwd == root or not _is_below(cwd, root):
        return FilePath("")
    return FilePath(os.path.relpath(cwd, root).replace(os.sep, "/"))


def opening_error(error: Exception, where: str) -> RepositoryError:
    """Why libgit2 cannot open a repository."""
    said = str(error)
    if "not owned by" in said:
        return foreign_owner(where, where)
    if "unknown object format" in said or "unsupported extension" in said:
        return unsupported(where, said)
    if "repository not found" in said.lower():
        return not_a_repository(where)
    return GitCommandError(
        f"The repository at {where} cannot be opened.",
        cause=said,
        hint="Run `git fsck` there.",
        status=-1,
        stderr=said,
    )


def git_needed(what: str) -> GitMissingError:
    """Something that libgit2 cannot answer, where there is no git to ask."""
    return GitMissingError(
        f"{what}, which cannot be read without git.",
        cause="No folder of PATH holds an executable git, and libgit2 does not know how.",
        hint="Install git 2.30 or newer, or add its folder to PATH.",
    )


def missing_object(name: str) -> GitCommandError:
    """A commit or tree that this clone does not have."""
    said = f"object {name} is missing"
    return GitCommandError(
        f"The history cannot be read: {said}.",
        cause="This clone was made without it (`--filter=tree:0`), or it is damaged.",
        hint="Fetch what is missing: git fetch --refetch --no-filter, or look with git fsck.",
        status=-1,
        stderr=said,
    )

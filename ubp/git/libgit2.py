"""Opening libgit2: its limits, and its errors in our words."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ubp.errors import GitCommandError, RepositoryError
from ubp.git.location import Location, foreign_owner, not_a_repository, unsupported

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
    import pygit2

    pygit2.settings.cache_max_size(CACHE_BYTES)
    pygit2.settings.mwindow_mapped_limit = MAPPED_BYTES
    pygit2.settings.mwindow_size = WINDOW_BYTES
    # Hashing every object again takes 18 to 40 % of a walk; git does not do it either.
    pygit2.settings.enable_strict_hash_verification(value=False)
    if is_trusted:
        pygit2.settings.owner_validation = False
    try:
        repository = pygit2.Repository(location.git_dir, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except pygit2.GitError as error:
        raise opening_error(error, location.root or location.git_dir) from error
    for folder in _extra_object_folders(environment):
        repository.odb.add_disk_alternate(folder)
    return repository


def _extra_object_folders(environment: Mapping[str, str]) -> list[str]:
    """Where a receiving git keeps what it has not accepted yet (quarantine)."""
    folders = [environment.get("GIT_OBJECT_DIRECTORY", "")]
    folders += environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    return [folder for folder in folders if os.path.isabs(folder) and os.path.isdir(folder)]


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

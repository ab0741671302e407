"""Find the repository and the version that a question about a collection is answered from."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.config import CollectionSetting, has_config
from ubp.core.errors import NotARepositoryError
from ubp.git.repository import open_repository
from ubp.index.collections import (
    CURRENT,
    Collection,
    collection_environment,
    collections_dir,
    find_collection,
    open_collection,
    pinned,
    repository_path,
    resolve_version,
)


class CollectionPlace(NamedTuple):
    """Where a collection is read: what `Session.open` needs to know."""

    collection: Collection
    directory: str
    environment: Mapping[str, str]
    revision: str | None  # None: the work tree of a local collection


def locate_version(
    name: str, version: str, directory: str, environment: Mapping[str, str]
) -> CollectionPlace:
    """Return where a version of a collection is; "": the project's pin, else the newest.

    Raises:
        CollectionError: there is no such collection or version on this machine.
        RepositoryError: it cannot be read.
    """
    settings = project_collections(directory, environment)
    folder = collections_dir(environment)
    collection = find_collection(folder, name, settings)
    setting = next((setting for setting in settings if setting.name == name), None)
    if setting is not None:
        version = version or setting.at
        collection = pinned(collection, setting)
    path = repository_path(folder, collection)
    own = collection_environment(path, collection, environment)
    with open_collection(folder, collection, environment) as repository:
        is_live = collection.kind == "local" and not version and repository.root is not None
        revision = None if is_live else resolve_version(repository, collection, version)
    return CollectionPlace(collection, path, own, revision)


def project_collections(
    directory: str, environment: Mapping[str, str]
) -> tuple[CollectionSetting, ...]:
    """Return the collections that the project around a directory names; none outside of one."""
    try:
        with open_repository(directory, environment) as repository:
            config_dir, is_bare = repository.config_dir, repository.root is None
    except NotARepositoryError:
        return ()
    if is_bare or not has_config(config_dir):
        return ()
    from ubp.core.config_file import load_config

    return load_config(config_dir).collections


def version_stamp(name: str, environment: Mapping[str, str]) -> tuple[object, ...]:
    """Return what changes with the registration of a collection, or with the versions it has."""
    folder = collections_dir(environment)
    repository = os.path.join(folder, f"{name}.git")
    files = [os.path.join(folder, f"{name}.json")]
    files += [
        os.path.join(repository, file) for file in ("HEAD", CURRENT, "packed-refs", "refs/tags")
    ]
    return tuple(map(_stamp, files))


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino

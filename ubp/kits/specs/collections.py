"""Specifications: the collections with a language, and their versions."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ubp.core.config import CollectionSetting
from ubp.core.errors import CollectionError, UbpError
from ubp.core.model import ObjectId
from ubp.core.shell import git_fetch_in, ubp_command
from ubp.core.text import closest_name, fold
from ubp.git.repository import Repository
from ubp.index.collections import (
    COMPLETE,
    CURRENT_VERSION,
    Collection,
    CollectionStatus,
    find_version,
    list_collections,
    open_collection,
    pinned,
    read_collection,
    resolve_version,
)

SHORT_COMMIT = 12


class Specification(NamedTuple):
    """A collection that specifies a language or a format; `at` is what the project pins."""

    language: str
    collection: Collection
    at: str = ""


class SpecificationVersion(NamedTuple):
    """A release of a specification, or a commit of it that was fetched.

    `fetched_at` is when an import was fetched, and of others when it was last synchronized, in
    seconds since the epoch. `is_release`: it is a tag, and not a commit. `is_fetched`: it is on
    this machine, complete. `is_current`: it is used where no version is asked for.
    """

    document: str
    version: str
    commit: ObjectId
    fetched_at: int | None
    source_url: str
    is_release: bool
    is_fetched: bool
    is_current: bool


def find_specifications(
    folder: str, settings: Iterable[CollectionSetting], environment: Mapping[str, str]
) -> tuple[Specification, ...]:
    """Return the specifications of a project by name, and this machine's own repositories.

    Where the project names none, they are all of this machine.
    """
    settings = tuple(settings)
    by_name = {setting.name: setting for setting in settings}
    found = []
    for status in _with_language(list_collections(folder, settings, environment)):
        collection, setting = read_collection(folder, status.name), by_name.get(status.name)
        if collection is None or status.problem:
            continue
        if setting is not None:
            collection = pinned(collection, setting)
        found.append(Specification(collection.language, collection, setting.at if setting else ""))
    if by_name.keys().isdisjoint(each.collection.name for each in found):
        return tuple(found)
    return tuple(
        each for each in found if each.collection.name in by_name or each.collection.kind == "local"
    )


def _with_language(statuses: Iterable[CollectionStatus]) -> list[CollectionStatus]:
    return [status for status in statuses if status.language]


def specifications_of(
    language: str, specifications: Iterable[Specification]
) -> tuple[Specification, ...]:
    """Return the specifications of a language, whatever the case of its name.

    Raises:
        CollectionError: there are none.
    """
    specifications = tuple(specifications)
    wanted = fold(language)
    found = tuple(each for each in specifications if fold(each.language) == wanted)
    if found:
        return found
    known = {fold(each.language): each.language for each in specifications}
    closest = closest_name(wanted, known)
    raise CollectionError(
        f"There is no specification of {language} here.",
        cause=f"There are: {', '.join(sorted(known.values()))}."
        if known
        else "There are none at all.",
        hint=f"Did you mean {known[closest]}?"
        if closest
        else "A person can add one: "
        + ubp_command("collections", "add", "NAME", "SOURCE", "--language", language),
    )


def specification_versions(
    specification: Specification, folder: str, environment: Mapping[str, str]
) -> tuple[SpecificationVersion, ...]:
    """Return the releases of a specification, newest first, then other commits that are here.

    Raises:
        RepositoryError: it cannot be read.
    """
    collection = specification.collection
    is_import = collection.kind == "import"
    with open_collection(folder, collection, environment) as repository:
        current = find_version(repository, specification.at or CURRENT_VERSION)
        fetched = set(_complete_commits(repository)) if collection.kind == "mirror" else set()
        fetched |= {current} if current else set()
        releases = _releases(repository)
        names = {commit: name for name, commit in reversed(releases.items())}  # as in citations
        others = [commit for commit in fetched if commit not in names]
        dates = repository.commits(fetched)
    others.sort(key=lambda commit: -dates[commit].date)
    names |= {commit: commit[:SHORT_COMMIT] for commit in others}
    return tuple(
        SpecificationVersion(
            collection.name,
            names[commit],
            commit,
            (dates[commit].date if is_import and commit in dates else collection.synced_at)
            if commit in fetched or collection.kind != "mirror"
            else None,
            collection.address,
            is_release=commit not in others,
            is_fetched=commit in fetched or collection.kind != "mirror",
            is_current=commit == current,
        )
        for commit in dict.fromkeys([*releases.values(), *others])
    )


def _releases(repository: Repository) -> dict[str, ObjectId]:
    """Return the commits of releases, newest first: tags with a number, but of no old branch."""
    listing = repository.run(
        "for-each-ref",
        "--sort=-creatordate",
        "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end) "
        "%(refname:strip=2)",
        "refs/tags/",
    )
    rows = (line.partition(" ") for line in os.fsdecode(listing).splitlines())
    return {
        name: ObjectId(commit)
        for commit, _, name in rows
        if re.search(r"\d", name) and not _WORKED_ON.search(name)
    }


# Tags that keep what was worked on: `old-v3.0-dev`.
_WORKED_ON = re.compile(
    r"(?:^|[-_./])(?:archived?|backup|dev|old|test|tmp|wip)(?=$|[-_./\d])", re.IGNORECASE
)


def _complete_commits(repository: Repository) -> list[ObjectId]:
    output = repository.run("for-each-ref", "--format=%(objectname)", COMPLETE)
    return [ObjectId(line) for line in output.decode("ascii").split()]


def check_version(
    language: str,
    version: str,
    specifications: Iterable[Specification],
    folder: str,
    environment: Mapping[str, str],
) -> tuple[Specification, ...]:
    """Return the specifications that have a version; another never takes its place.

    Raises:
        CollectionError: none has it.
    """
    having, versions = [], []
    for specification in specifications:
        collection = specification.collection
        try:
            with open_collection(folder, collection, environment) as repository:
                resolve_version(repository, collection, version)
            having.append(specification)
        except UbpError:
            found = specification_versions(specification, folder, environment)
            versions += [each.version for each in found if each.is_fetched]
    if having:
        return tuple(having)
    collections = [specification.collection for specification in specifications]
    fetched = [f"{each.name}@{version}" for each in collections if each.kind != "local"]
    raise CollectionError(
        f"The version {version} of {language} is not here.",
        cause=f"These versions are: {', '.join(dict.fromkeys(versions))}.",
        hint=f"A person can fetch it: {ubp_command('collections', 'sync', *fetched)}"
        if fetched
        else f"A person can fetch it there: {git_fetch_in(collections[0].address)}",
    )


def version_name(repository: Repository, commit: ObjectId, asked: str = "") -> str:
    """Return the name of a version: the tag that was asked for, else the newest, else its id.

    It is the same in every answer, also where a branch was asked for, which moves.
    """
    names = [name for name, release in _releases(repository).items() if release == commit]
    if asked in names:
        return asked
    return names[0] if names else commit[:SHORT_COMMIT]

"""Add, synchronize and remove collections, one process at a time for each."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ubp.core.config import FULL_TEXT, CollectionSetting
from ubp.core.errors import (
    CollectionError,
    NotARepositoryError,
    RepositoryError,
    UbpError,
    UsageError,
)
from ubp.core.model import ObjectId
from ubp.core.shell import ubp_command
from ubp.core.text import closest_name
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import LOCATION_VARIABLES
from ubp.git.write import ABSENT, update_ref
from ubp.index.collections import (
    COMPLETE,
    CURRENT,
    AddedKind,
    Collection,
    CollectionReference,
    Kind,
    Problem,
    SyncResult,
    check_name,
    find_version,
    is_checkout,
    is_complete,
    is_of_setting,
    open_collection,
    read_collection,
    repository_path,
    resolve_version,
    write_collection,
)
from ubp.sync.bookmarks import is_export
from ubp.sync.catalogue import SPECIFICATIONS
from ubp.sync.documents import sync_written
from ubp.sync.imports import sync_import
from ubp.sync.mirror import (
    fetch_shared,
    propose_include,
    protocols_of,
    read_upstream_head,
    sync_mirror,
    wanted_files,
)
from ubp.sync.repositories import (
    Context,
    collect_garbage,
    create_repository,
    locked,
    remove_stale_locks,
    write_config,
)

# Forges whose addresses of two parts are repositories, and not web pages.
FORGES = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"})
OWNER_AND_NAME = 2
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AddRequest:
    """What `ubp collections add` was asked; `directory` is what relative paths start from."""

    name: str
    source: str
    directory: str = "."
    kind: AddedKind | None = None
    include: tuple[str, ...] = ()
    version: str = ""
    language: str = ""
    policy: str = ""


def plan_collection(request: AddRequest, context: Context) -> Collection:
    """Return the collection that a request means, without fetching its content.

    The address of a repository whose checkout has the name already means that checkout; `remote` is
    then the address. Of a collection that is added again, settings that the request lacks remain.

    Raises:
        UsageError: the request contradicts itself, or the name is taken.
        CollectionError: the source cannot be reached, or its checkout lacks the version.
    """
    check_name(request.name)
    existing = read_collection(context.folder, request.name)
    collection = _describe(request, context)
    if existing is not None and request.kind is None and is_checkout(existing, collection.address):
        with open_collection(context.folder, existing, context.environment) as repository:
            resolve_version(repository, existing, request.version)
        described = replace(_with_settings(collection, request, existing), kind="local")
        return replace(described, address=existing.address, remote=collection.address)
    if existing is not None and existing.address != collection.address:
        source = f"It is the collection of {existing.address}."
        raise UsageError(
            f"The name {request.name} is taken.",
            cause=source if existing.address else "It is a collection that agents write.",
            hint="Use another name, or remove it: "
            + ubp_command("collections", "remove", request.name),
        )
    if collection.kind == "local" and (request.include or request.version):
        raise UsageError(
            "A local collection is used as it is.",
            cause="--include and --at are for mirrors and imports.",
            hint="Leave them out, or make a mirror of it: --kind mirror",
        )
    if collection.kind == "import" and request.version:
        raise UsageError(
            "--at is for mirrors.",
            cause="A web page can only be fetched as it is now.",
            hint="Leave it out.",
        )
    if collection.kind == "mirror":
        os.makedirs(context.folder, mode=0o700, exist_ok=True)
        read_upstream_head(collection, context.folder, _without_location(context.environment))
    return _with_settings(collection, request, existing) if existing else collection


def _with_settings(collection: Collection, request: AddRequest, existing: Collection) -> Collection:
    """Return a collection with what its registration says and a request does not.

    The stricter policy holds, unless the request has one.
    """
    policy = existing.policy if existing.policy != FULL_TEXT else collection.policy
    return replace(
        collection,
        include=request.include or existing.include or collection.include,
        language=request.language or existing.language or collection.language,
        policy=request.policy or policy,
    )


def _describe(request: AddRequest, context: Context) -> Collection:
    source = request.source
    address = source.removesuffix("/").removesuffix(".git")
    known = next(
        (
            entry
            for entry in SPECIFICATIONS
            if source == entry.name
            or address == entry.address.removesuffix("/").removesuffix(".git")
        ),
        None,
    )
    path = os.path.abspath(os.path.join(request.directory, source))
    if known is not None and request.kind in {None, known.kind} and not os.path.exists(path):
        return Collection(
            request.name,
            known.kind,
            known.address,
            request.include or known.include,
            request.language or known.language,
            request.policy or known.policy,
            known.licence,
        )
    is_path = "://" not in source and not source.startswith("git@") and os.path.exists(path)
    kind = request.kind or (_kind_of_path(path, context) if is_path else _kind_of_address(source))
    address = path if is_path else source
    if os.path.isfile(path) and is_path and (kind != "import" or not is_export(path)):
        raise UsageError(
            f"Cannot make a collection of {source}.",
            cause="A file is imported if it is an export of bookmarks: HTML, JSON or CSV.",
            hint="Use such a file, or the directory with your notes.",
        )
    if kind == "local":
        if not is_path:
            raise UsageError(
                f"Not a directory: {source}", hint="A local collection is a path to a repository."
            )
        with open_repository(path, _without_location(context.environment)) as repository:
            address = repository.root or repository.git_dir
    elif kind == "mirror":
        protocols_of(address)
    elif not is_path and urlsplit(address).scheme != "https":
        names = ", ".join(entry.name for entry in SPECIFICATIONS)
        raise UsageError(
            f"Cannot import {source}.",
            cause=f"It is not an https address, a file or a directory, nor one of {names}.",
            hint=_hint_for(source, request.name),
        )
    policy = request.policy or "fulltext"
    return Collection(request.name, kind, address, request.include, request.language, policy)


def _hint_for(source: str, name: str) -> str:
    """Return a hint for what is not a source: the command that it may mean, if there is one."""
    scheme, separator, rest = source.rpartition("://")
    host = rest.partition("/")[0]
    if scheme == "http" or (not separator and _HOST.fullmatch(host) and "/" in rest):
        return f"Did you mean {ubp_command('collections', 'add', name, f'https://{rest}')}?"
    if known := closest_name(source, [entry.name for entry in SPECIFICATIONS]):
        return f"Did you mean {ubp_command('collections', 'add', name, known)}?"
    return "Use an https address, a path or one of these names."


def _kind_of_path(path: str, context: Context) -> AddedKind:
    if not os.path.isdir(path):
        return "import"
    try:
        with open_repository(path, _without_location(context.environment)) as repository:
            root = repository.root or repository.git_dir
            return "local" if os.path.realpath(path) == root else "import"
    except NotARepositoryError:
        return "import"


def _kind_of_address(address: str) -> AddedKind:
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.path.endswith(".git"):
        is_git = parts.scheme in {"ssh", "file"} or ("://" not in address and ":" in address)
        return "mirror" if is_git or parts.path.endswith(".git") else "import"
    names = [name for name in parts.path.split("/") if name]
    return "mirror" if parts.hostname in FORGES and len(names) == OWNER_AND_NAME else "import"


def add_collection(collection: Collection, version: str, context: Context) -> SyncResult:
    """Register a collection and fetch it; where nothing could be fetched, nothing is registered.

    Of a checkout that was added by its address, the version, or what its clone has of the default
    branch, is what a project pins.

    Raises:
        UbpError: nothing could be fetched.
    """
    if collection.kind == "local":
        with open_repository(collection.address, _without_location(context.environment)) as opened:
            at = find_version(opened, version or "origin/HEAD") if collection.remote else None
            registered = replace(collection, remote=_origin(opened), include=())
            write_collection(context.folder, replace(registered, synced_at=int(context.clock())))
            head = opened.head()
            return SyncResult(collection.name, "local", "updated", after=head, at=at or "")
    existing = read_collection(context.folder, collection.name)
    versions = [version] if version else []
    try:
        result = _sync(collection, versions, context, is_dry=False)
        if existing is None and result.after is None:
            raise CollectionError(
                f"Nothing could be fetched for {collection.name}.",
                cause=result.problems[0].reason if result.problems else "",
            )
    except UbpError:
        if existing is None:
            remove_collection(collection.name, context, purge=True)
        raise
    if version and collection.kind == "mirror":
        with open_collection(context.folder, collection, context.environment) as repository:
            return replace(result, at=find_version(repository, version) or result.at)
    return result


def propose_folder(collection: Collection, context: Context) -> tuple[str, ...]:
    """Return patterns for the folder of a specification that was mirrored without any.

    Raises:
        UbpError: it cannot be read.
    """
    if collection.kind != "mirror" or collection.include or not collection.language:
        return ()
    with open_collection(context.folder, collection, context.environment) as repository:
        head = find_version(repository, CURRENT)
        return propose_include(wanted_files(repository, collection, head)) if head else ()


def _origin(repository: Repository) -> str:
    """Return the address that a repository was cloned from; "": none."""
    try:
        return repository.run("config", "--get", "remote.origin.url").decode().strip()
    except (RepositoryError, UnicodeError):
        return ""


def remove_collection(name: str, context: Context, *, purge: bool) -> bool:
    """Unregister a collection; `purge` also deletes its content. Return whether it existed."""
    check_name(name)
    found = False
    with locked(context.folder, name):
        path = os.path.join(context.folder, f"{name}.json")
        if os.path.lexists(path):
            os.unlink(path)
            found = True
        content = os.path.join(context.folder, f"{name}.git")
        if purge and os.path.isdir(content):
            # Renamed first, so that a killed process leaves no half of a repository.
            doomed = f"{content}.removed-{os.getpid()}"
            os.rename(content, doomed)
            shutil.rmtree(doomed)
            found = True
        if purge:
            for suffix in ("", "-wal", "-shm"):
                cache = _cache_path(context.folder, name) + suffix
                if os.path.lexists(cache):
                    os.unlink(cache)
    return found


def sync_collections(  # noqa: PLR0913  # named, but for the first three
    references: Sequence[CollectionReference],
    settings: Iterable[CollectionSetting],
    context: Context,
    *,
    is_updating: bool,
    is_dry: bool,
    base: Sequence[CollectionSetting] | None = None,
) -> Iterator[SyncResult]:
    """Synchronize collections one after the other; a failure of one is its result.

    Those that a project pins are fetched at that version, and not at all where they are complete;
    `is_updating` fetches the newest version of them too. With `base`, the settings of a commit that
    was reviewed, nothing is fetched from an address that is not in one of them.
    """
    by_name = {setting.name: setting for setting in settings}
    for reference in references:
        setting = by_name.get(reference.name)
        try:
            if base is not None and setting is not None:
                _check_base(setting, base)
            yield _sync_one(reference, setting, context, is_updating=is_updating, is_dry=is_dry)
        except (UbpError, OSError) as error:
            reason = str(error)
            if isinstance(error, UbpError):
                reason = " ".join(filter(None, (error.message, error.cause, error.hint)))
            kind = setting.kind if setting else ""
            yield SyncResult(
                reference.name,
                kind,
                "failed",
                problems=(Problem(str(reference), reason.strip()),),
            )


def _check_base(setting: CollectionSetting, base: Sequence[CollectionSetting]) -> None:
    where = setting.name, setting.kind, setting.address, setting.remote
    if where not in [(known.name, known.kind, known.address, known.remote) for known in base]:
        raise CollectionError(
            f"The collection {setting.name} is not fetched from {setting.address}.",
            cause="The configuration of the base does not name this address.",
            hint="It is fetched once the change to the configuration is merged.",
        )


def _sync_one(
    reference: CollectionReference,
    setting: CollectionSetting | None,
    context: Context,
    *,
    is_updating: bool,
    is_dry: bool,
) -> SyncResult:
    name = reference.name
    collection = read_collection(context.folder, name)
    if setting is not None:
        if collection is None:
            collection = _from_setting(setting)
        elif not is_of_setting(collection, setting):
            raise CollectionError(
                f"The name {name} is taken on this machine.",
                cause=f"It is the collection of {collection.address}, "
                f"and the configuration names {setting.address}.",
            )
        include = setting.include or collection.include
        remote = setting.remote or collection.remote
        collection = replace(collection, include=include, remote=remote)
    if collection is None:
        raise CollectionError(
            f"There is no collection {name}.",
            hint=f"Add it: {ubp_command('collections', 'add', name, 'SOURCE')}",
        )
    if collection.kind == "local":
        with open_collection(context.folder, collection, context.environment) as repository:
            resolve_version(repository, collection, setting.at if setting else "")
            return SyncResult(name, "local", "unchanged", after=repository.head())
    if collection.kind == "written":
        return sync_written(collection, context, is_dry=is_dry)
    pin = setting.at if setting else ""
    if pin and not is_updating:
        return _sync_pinned(collection, pin, reference.version, context, is_dry=is_dry)
    return _sync(collection, [reference.version] * bool(reference.version), context, is_dry=is_dry)


def _sync_pinned(
    collection: Collection, pin: str, version: str, context: Context, *, is_dry: bool
) -> SyncResult:
    """Fetch exactly the pinned version, without the network where it is there."""
    if os.path.isdir(repository_path(context.folder, collection)):
        with open_collection(context.folder, collection, context.environment) as repository:
            commit = find_version(repository, pin)
            is_there = commit is not None and (
                collection.kind == "import" or is_complete(repository, commit)
            )
            if is_there and not version:
                return SyncResult(
                    collection.name, collection.kind, "unchanged", commit, commit, pin
                )
    versions = [pin, *([version] if version else [])]
    result = _sync(collection, versions, context, is_dry=is_dry)
    if is_dry or collection.kind == "mirror":
        return replace(result, at=pin)
    with open_collection(context.folder, collection, context.environment) as repository:
        commit = find_version(repository, pin)
    if commit is not None:
        return replace(result, after=commit, at=pin)
    reason = "the pinned version is not what the pages contain now; " + (
        "the shared repository lacks it, too" if collection.remote else "no `remote` shares it"
    )
    problems = (*result.problems, Problem(pin, reason))
    return replace(result, outcome="partial", at=pin, problems=problems)


def _from_setting(setting: CollectionSetting) -> Collection:
    kind: Kind = "mirror" if setting.kind == "mirror" else "import"
    # A commit can change the configuration, and must not make UBP read what is on this machine.
    is_remote = urlsplit(setting.address).scheme == "https"
    if kind == "mirror":
        is_remote = protocols_of(setting.address) != "file"
    if not is_remote or (setting.remote and protocols_of(setting.remote) == "file"):
        raise CollectionError(
            f"The collection {setting.name} is not fetched from {setting.address}.",
            cause="The configuration may only name https and ssh addresses.",
            hint="If you trust it, add it yourself: "
            + ubp_command("collections", "add", setting.name, setting.address),
        )
    return Collection(
        setting.name,
        kind,
        setting.address,
        setting.include,
        setting.language,
        setting.policy,
        "",
        setting.remote,
    )


def _sync(
    collection: Collection, versions: Sequence[str], context: Context, *, is_dry: bool
) -> SyncResult:
    """Synchronize a mirror or an import, and register it as synchronized."""
    now = context.clock()
    path = repository_path(context.folder, collection)
    with locked(context.folder, collection.name):
        if not os.path.isdir(path):
            create_repository(path, collection, context.environment)
        remove_stale_locks(path)
        with open_collection(context.folder, collection, context.environment) as repository:
            if collection.kind == "mirror":
                _forget_completeness(repository, collection, context)
                write_config(path, collection)
                result = sync_mirror(
                    repository, collection, versions, progress=context.progress, is_dry=is_dry
                )
            else:
                problems = []
                if collection.remote and not is_dry:
                    try:
                        fetch_shared(repository, collection)
                    except CollectionError as error:
                        problems.append(Problem(collection.remote, error.cause))
                result = sync_import(
                    repository,
                    collection,
                    cache=_cache_path(context.folder, collection.name),
                    now=now,
                    progress=context.progress,
                    is_dry=is_dry,
                )
                if problems and result.is_complete:
                    result = replace(result, outcome="partial")
                result = replace(result, problems=(*result.problems, *problems))
            if not is_dry:
                collect_garbage(repository)
        if not is_dry and result.after is not None:
            write_collection(context.folder, replace(collection, synced_at=int(now)))
    return result


def _forget_completeness(repository: Repository, collection: Collection, context: Context) -> None:
    """Register new patterns of a mirror, whose versions then lack files."""
    existing = read_collection(context.folder, collection.name)
    if existing is None or existing.include == collection.include:
        return
    listing = repository.run("for-each-ref", "--format=%(refname) %(objectname)", COMPLETE)
    for line in listing.decode("ascii").splitlines():
        ref, _, commit = line.partition(" ")
        update_ref(repository, ref, ABSENT, ObjectId(commit), "other patterns")
    write_collection(context.folder, replace(collection, synced_at=existing.synced_at))


def _cache_path(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.http-cache")


def _without_location(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in LOCATION_VARIABLES}

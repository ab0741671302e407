"""Which collections there are: repositories of documents beside the user's own.

Each is registered by `NAME.json` in the user's data directory. The content of mirrors and imports
is the bare repository `NAME.git` beside it; a local collection is a path to a repository.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Literal

from ubp.core.config import (
    COLLECTION_NAME,
    COLLECTION_NAME_RULE,
    DEFAULT_INCLUDE,
    FULL_TEXT,
    CollectionSetting,
)
from ubp.core.errors import CollectionError, UbpError, UsageError
from ubp.core.files import write_atomically
from ubp.core.model import ObjectId
from ubp.core.paths import PAGE_SUFFIXES
from ubp.core.shell import git_fetch_in, ubp_command
from ubp.core.text import closest_name
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import LOCATION_VARIABLES

AddedKind = Literal["local", "mirror", "import"]
Kind = Literal[AddedKind, "written"]
"""A written collection has no source: agents add documents to it, and remove them."""

CURRENT = "refs/heads/main"
"""The reference of mirrors and imports to the version that was fetched completely last."""

COMPLETE = "refs/ubp/complete/"
"""Below it, a mirror has a reference for each commit whose wanted files were all fetched."""

UPSTREAM = "refs/remotes/origin/"
CURRENT_VERSION = "HEAD"
PURGES = "purges"
"""A file beside the collections; it grows when history is rewritten."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A registered collection.

    `address` is a directory (local), the address of a Git repository (mirror) or of a web page
    (import), "" if it is written. `include` are globs of the files to fetch; none means every
    document, or of an import what its address stands for. `remote` is where an import is shared, or
    what a local repository was cloned from. `synced_at` is when its content was last known to be
    current.
    """

    name: str
    kind: Kind
    address: str
    include: tuple[str, ...] = ()
    language: str = ""
    policy: str = FULL_TEXT
    licence: str = ""
    remote: str = ""
    synced_at: int | None = None

    @property
    def is_stored(self) -> bool:
        """Whether UBP itself writes its documents, which may then expire."""
        return self.kind in {"import", "written"}


Outcome = Literal["updated", "unchanged", "partial", "failed", "planned"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A page, file or version that could not be fetched, and why."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What became of one collection.

    `at` is what a project pins: the commit of a mirror, the tree of an import. `version` is the tag
    of an import, and of a mirror the versions that were asked for and are there. `absent` are
    addresses that pages link to and the server does not have; they are not failures. With outcome
    "planned" nothing was written.
    """

    name: str
    kind: str
    outcome: Outcome
    before: ObjectId | None = None
    after: ObjectId | None = None
    at: str = ""
    version: str = ""
    files: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    problems: tuple[Problem, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything that was wanted is there now."""
        return self.outcome not in {"partial", "failed"}


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """A collection of this machine or project, as `ubp collections` lists it.

    `at` is what the project's configuration pins ("": nothing), `versions` are the newest first.
    `checkout` is the local repository that is read in place of a mirror ("": none). `problem` says
    why it cannot be read ("": it can).
    """

    name: str
    kind: str
    address: str
    language: str
    policy: str
    licence: str
    is_configured: bool
    at: str
    versions: tuple[str, ...]
    size_bytes: int
    synced_at: int | None
    checkout: str
    problem: str


@dataclass(frozen=True, slots=True)
class CollectionReference:
    """`NAME[@REV]` as written; without a revision, `version` is ""."""

    name: str
    version: str = ""

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.name}@{self.version}" if self.version else self.name


def parse_reference(text: str) -> CollectionReference:
    """Parse `NAME[@REV]`.

    Raises:
        UsageError: it is not a name of a collection.
    """
    name, separator, version = text.partition("@")
    check_name(name)
    if separator and not version:
        raise UsageError(
            f"No version after the @ in {text}.", hint=f"Write {name}@REV, or only {name}."
        )
    return CollectionReference(name, version)


def check_name(name: str) -> None:
    """Raise `UsageError` unless a collection can have this name."""
    if not re.fullmatch(COLLECTION_NAME, name):
        raise UsageError(
            f'Invalid name of a collection: "{name}".',
            cause=f"{COLLECTION_NAME_RULE[0].upper()}{COLLECTION_NAME_RULE[1:]}.",
            hint="Use another name.",
        )


def collections_dir(environment: Mapping[str, str]) -> str:
    """Return the directory of all collections: `UBP_COLLECTIONS`, or in the user's data."""
    chosen = environment.get("UBP_COLLECTIONS")
    if chosen:
        return os.path.abspath(chosen)
    data_home = environment.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data_home):  # the XDG specification ignores relative ones
        data_home = environment.get("LOCALAPPDATA", "") if os.name == "nt" else ""
    return os.path.join(
        data_home or os.path.join(os.path.expanduser("~"), ".local", "share"), "ubp", "collections"
    )


def repository_path(folder: str, collection: Collection) -> str:
    """Return where the repository of a collection is."""
    if collection.kind == "local":
        return collection.address
    return os.path.join(folder, f"{collection.name}.git")


def read_collections(folder: str) -> tuple[Collection, ...]:
    """Return the registered collections by name.

    Raises:
        CollectionError: a registration cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    found = (
        read_collection(folder, name.removesuffix(".json"))
        for name in names
        if name.endswith(".json")
    )
    return tuple(collection for collection in found if collection)


def read_collection(folder: str, name: str) -> Collection | None:
    """Return a registered collection, or None.

    Raises:
        CollectionError: its registration cannot be read.
    """
    path = os.path.join(folder, f"{name}.json")
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        record["include"] = tuple(record["include"])
        return Collection(**record)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CollectionError(
            f"Cannot read the registration of the collection {name}.",
            cause=f"{path}: {error}",
            hint=f"Remove the file and add the collection again: "
            f"{ubp_command('collections', 'add', name, 'SOURCE')}",
        ) from error


def write_collection(folder: str, collection: Collection) -> None:
    """Register a collection, or change its registration."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # imports may be of pages that need a login
    text = json.dumps(asdict(collection), indent=2, ensure_ascii=False) + "\n"
    write_atomically(os.path.join(folder, f"{collection.name}.json"), text.encode())


def find_collection(
    folder: str, name: str, settings: Iterable[CollectionSetting] = ()
) -> Collection:
    """Return the collection that a name means in a project with these settings.

    Raises:
        CollectionError: it is not on this machine, or has another address than the project's.
    """
    check_name(name)
    setting = next((setting for setting in settings if setting.name == name), None)
    collection = read_collection(folder, name)
    if collection is None:
        if setting is not None:
            raise CollectionError(
                f"The collection {name} is not on this machine.",
                cause="The configuration names it, but it was not fetched yet.",
                hint=f"Fetch it: {ubp_command('collections', 'sync', name)}",
            )
        known = {*(setting.name for setting in settings), *_names(folder)}
        closest = closest_name(name, known)
        raise CollectionError(
            f"There is no collection {name}.",
            cause=f"The collections are: {', '.join(sorted(known))}." if known else "",
            hint=f"Did you mean {closest}?"
            if closest
            else f"Add it: {ubp_command('collections', 'add', name, 'SOURCE')}",
        )
    if setting is not None and not is_of_setting(collection, setting):
        raise CollectionError(
            f"The collection {name} of this project is not the one on this machine.",
            cause=f"The configuration names {setting.address}, "
            f"and {name} is registered for {collection.address}.",
            hint="Rename one of them.",
        )
    return collection


def is_of_setting(collection: Collection, setting: CollectionSetting) -> bool:
    """Return whether a registration is the collection that a project's setting describes.

    A local checkout of the repository at the setting's address is.
    """
    if collection.kind == "local" and setting.kind == "mirror":
        return is_checkout(collection, setting.address)
    return (collection.kind, collection.address) == (setting.kind, setting.address)


def is_checkout(collection: Collection, address: str) -> bool:
    """Return whether a collection is a local repository that was cloned from this address."""
    is_cloned = collection.kind == "local" and bool(collection.remote)
    return is_cloned and same_repository(collection.remote, address)


def same_repository(address: str, other: str) -> bool:
    """Return whether two addresses are of one Git repository, over https or ssh."""
    return _host_and_path(address) == _host_and_path(other)


def _host_and_path(address: str) -> tuple[str, str]:
    """Return host and path of `https://host/path.git`, `ssh://git@host/path`, `git@host:path`."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        host, _, path = address.partition(":")
    else:
        host, _, path = rest.partition("/")
        if scheme == "file":
            return scheme, path
    return host.rpartition("@")[2].lower(), path.strip("/").removesuffix(".git")


def open_collection(
    folder: str, collection: Collection, environment: Mapping[str, str]
) -> Repository:
    """Open the repository of a collection; close it afterwards.

    Raises:
        CollectionError: it was not fetched yet.
        RepositoryError: it cannot be read.
    """
    path = existing_path(folder, collection)
    return open_repository(path, collection_environment(path, collection, environment))


def existing_path(folder: str, collection: Collection) -> str:
    """Return where the repository of a collection is, which must exist.

    Raises:
        CollectionError: it does not.
    """
    path = repository_path(folder, collection)
    if not os.path.isdir(path):
        if collection.kind == "local":
            raise CollectionError(
                f"The directory of the collection {collection.name} does not exist: {path}",
                hint=f"Remove it: {ubp_command('collections', 'remove', collection.name)}",
            )
        raise CollectionError(
            f"The collection {collection.name} was not fetched yet.",
            hint=f"Fetch it: {ubp_command('collections', 'sync', collection.name)}",
        )
    return path


def collection_environment(
    path: str, collection: Collection, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return an environment in which git finds the repository of a collection, and no other."""
    others = {name: value for name, value in environment.items() if name not in LOCATION_VARIABLES}
    # Named, because git may not look for a bare repository among the files of another one, and
    # some people keep their home directory in Git.
    return others if collection.kind == "local" else {**others, "GIT_DIR": path}


def resolve_version(repository: Repository, collection: Collection, version: str) -> ObjectId:
    """Return the commit of a version: a revision, an upstream branch, or the tree of an import.

    Raises:
        CollectionError: there is no such version, or it was not fetched.
    """
    commit = find_version(repository, version or CURRENT_VERSION)
    name = collection.name
    if commit is None:
        versions = list_versions(repository, collection)
        closest = closest_name(version, versions)
        raise CollectionError(
            f"The collection {name} has no version {version}."
            if version
            else f"The collection {name} has no version yet.",
            cause=f"The nearest is {closest}." if closest else "",
            hint=f"Fetch it there: {git_fetch_in(collection.address)}"
            if collection.kind == "local"
            else f"Fetch what is new: {ubp_command('collections', 'sync', name, '--update')}",
        )
    if collection.kind == "mirror" and not is_complete(repository, commit):
        raise CollectionError(
            f"The version {version or commit[:12]} of the collection {name} was not fetched yet.",
            hint=f"Fetch it: {ubp_command('collections', 'sync', f'{name}@{version or commit}')}",
        )
    return commit


def find_version(repository: Repository, version: str) -> ObjectId | None:
    """Return the commit that a version names, `1.0` also where its tag is `v1.0`; None: none."""
    if version.startswith("-"):
        return None
    number = version.removeprefix("v")
    tag = f"refs/tags/{number if number != version else f'v{version}'}"
    for revision in (version, f"{UPSTREAM}{version}", tag):
        if object_name := repository.rev_parse(revision):
            if commit := repository.rev_parse(f"{object_name}^{{commit}}"):
                return commit
            return _commit_of_tree(repository, object_name)
    return None


def _commit_of_tree(repository: Repository, tree: ObjectId) -> ObjectId | None:
    """Return the latest commit whose root is this tree."""
    for line in repository.run("log", "--all", "--format=%H %T").decode("ascii").split("\n"):
        commit, _, root = line.partition(" ")
        if root == tree:
            return ObjectId(commit)
    return None


def is_complete(repository: Repository, commit: ObjectId) -> bool:
    """Return whether a mirror has the wanted files of a commit."""
    return repository.rev_parse(COMPLETE + commit) is not None


def list_versions(repository: Repository, collection: Collection) -> tuple[str, ...]:
    """Return the names of versions, the newest first: tags, then branches of the upstream."""
    heads = UPSTREAM if collection.kind == "mirror" else "refs/heads/"
    branches = _names_below(repository, heads)
    if heads == UPSTREAM:
        branches = tuple(name for name in branches if f"refs/heads/{name}" != CURRENT)
    return (*list_tags(repository), *branches)


def list_tags(repository: Repository) -> tuple[str, ...]:
    """Return the names of tags, the newest first."""
    return _names_below(repository, "refs/tags/")


def _names_below(repository: Repository, prefix: str) -> tuple[str, ...]:
    output = repository.run("for-each-ref", "--sort=-creatordate", "--format=%(refname)", prefix)
    return tuple(os.fsdecode(line).removeprefix(prefix) for line in output.split(b"\n") if line)


def document_patterns(include: Iterable[str]) -> tuple[str, ...]:
    """Return the globs of the documents among the files that `include` fetches.

    Text is one where a pattern names it: the specification of CommonMark is `spec.txt`.
    """
    patterns: list[str] = []
    for pattern in include:
        last = pattern.rpartition("/")[2]
        if pattern.lower().endswith((*PAGE_SUFFIXES, ".txt")):
            patterns.append(pattern)
        elif last == "**":
            patterns += [pattern.removesuffix("**") + default for default in DEFAULT_INCLUDE]
    return tuple(patterns) or DEFAULT_INCLUDE


def config_text(collection: Collection) -> str:
    """Return the configuration that decides which files of its repository are documents."""
    include: tuple[str, ...] = ("**",)
    if collection.kind == "mirror":
        include = document_patterns(collection.include)
    elif collection.kind == "written":  # the list of imported folders beside them is none
        include = DEFAULT_INCLUDE
    return json.dumps({"source": {"include": include}}) + "\n"


def pinned(collection: Collection, setting: CollectionSetting) -> Collection:
    """Return a collection as a project describes it: its language and policy."""
    # The stricter policy holds, whoever set it.
    policy = collection.policy if collection.policy != FULL_TEXT else setting.policy
    return replace(collection, language=setting.language or collection.language, policy=policy)


def purge_stamp(folder: str) -> int:
    """Return what differs after a purge of any collection has begun or ended."""
    try:
        return os.stat(os.path.join(folder, PURGES)).st_size
    except OSError:
        return 0


def count_purge(folder: str) -> None:
    """Record that a purge begins or ends, for those who read meanwhile."""
    with open(os.path.join(folder, PURGES), "ab") as file:
        file.write(b".")


def _names(folder: str) -> tuple[str, ...]:
    try:
        return tuple(
            name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json")
        )
    except OSError:
        return ()


def list_collections(
    folder: str, settings: Iterable[CollectionSetting], environment: Mapping[str, str]
) -> tuple[CollectionStatus, ...]:
    """Return the collections that are registered or that the project names, by name."""
    settings = tuple(settings)
    by_name = {setting.name: setting for setting in settings}
    registered = {collection.name: collection for collection in read_collections(folder)}
    return tuple(
        _status(folder, name, registered.get(name), by_name.get(name), environment)
        for name in sorted(by_name.keys() | registered.keys())
    )


def _status(
    folder: str,
    name: str,
    collection: Collection | None,
    setting: CollectionSetting | None,
    environment: Mapping[str, str],
) -> CollectionStatus:
    versions: tuple[str, ...] = ()
    size, checkout, problem = 0, "", ""
    try:
        found = find_collection(folder, name, [setting] if setting else [])
        if setting and found.kind == "local":
            checkout = found.address
        with open_collection(folder, found, environment) as repository:
            versions = list_tags(repository) or list_versions(repository, found)
            if setting and setting.at:
                resolve_version(repository, found, setting.at)
        if found.kind != "local":
            size = _size_of(repository_path(folder, found))
    except UbpError as error:
        problem = error.message
    shown = setting or collection
    assert shown is not None  # noqa: S101  # the name comes from one of them
    policy = shown.policy
    if setting and collection:
        policy = pinned(collection, setting).policy
    return CollectionStatus(
        name,
        shown.kind,
        shown.address,
        shown.language,
        policy,
        collection.licence if collection else "",
        setting is not None,
        setting.at if setting else "",
        versions,
        size,
        collection.synced_at if collection else None,
        checkout,
        problem,
    )


def _size_of(folder: str) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total

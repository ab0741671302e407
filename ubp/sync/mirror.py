"""Mirrors: an upstream repository without its blobs, and those of the wanted files.

Commits and trees are fetched first, then the blobs of each wanted version, and only then does the
reference move that readers start from: a killed process leaves the last complete version.
"""

import os
import re
from collections import Counter
from collections.abc import Collection as Many
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from ubp.core.config import Config, is_document
from ubp.core.errors import CollectionError, GitCommandError, UsageError
from ubp.core.model import Entry, FilePath, ObjectId, Progress
from ubp.core.paths import match_any, nfc
from ubp.git.command import OPTIONS, run_git
from ubp.git.repository import Repository
from ubp.git.trees import list_tree
from ubp.git.write import ABSENT, update_ref
from ubp.index.collections import (
    COMPLETE,
    CURRENT,
    UPSTREAM,
    Collection,
    Problem,
    SyncResult,
    find_version,
    is_complete,
)
from ubp.index.sites import is_ignored
from ubp.markdown.sites.detect import config_paths, package_paths
from ubp.sync.hosts import Connection, check_host

REFSPECS = (f"+refs/heads/*:{UPSTREAM}*", "+refs/tags/*:refs/tags/*")
SHARED = "refs/remotes/shared/"
MAX_FILES = 50_000
SPECIFICATION_FOLDERS = frozenset({"spec", "specs", "specification", "standard", "reference"})
MIN_DOCUMENTS = 3
BLOBS_PER_FETCH = 5000
NETWORK_OPTIONS = (
    *OPTIONS,
    "-c",
    "http.followRedirects=false",  # else an address could lead to one that nobody named
    "-c",
    "http.lowSpeedLimit=1000",  # bytes a second, for a minute: a server that hangs
    "-c",
    "http.lowSpeedTime=60",
    "-c",
    "protocol.version=2",
    "-c",
    "core.fsync=all",
    "-c",
    "gc.auto=0",
)
FETCH = ("fetch", "--quiet", "--no-write-fetch-head", "--no-recurse-submodules", "--no-tags")

LOCAL = "file"

_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!/{2})\S+")


def protocols_of(address: str) -> str:
    """Return the protocols that git may use for an address.

    Raises:
        UsageError: git may not be given this address.
    """
    if os.path.isabs(address) or address.startswith("file://"):
        return LOCAL
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname and parts.password is None:
        return "https"
    is_ssh = parts.scheme == "ssh" and parts.hostname and not parts.hostname.startswith("-")
    if is_ssh or _SCP.fullmatch(address):
        return "ssh"
    raise UsageError(
        f"Cannot fetch from {address}.",
        cause="Repositories are fetched by https or ssh, and from absolute paths; "
        "passwords belong to a credential helper.",
        hint="Use an address such as https://example.org/docs.git.",
    )


def read_upstream_head(collection: Collection, folder: str, env: Mapping[str, str]) -> ObjectId:
    """Return the commit of the upstream's default branch.

    Raises:
        CollectionError: it cannot be reached, or has no commits.
    """
    output = _reach(collection, folder, env, ["ls-remote", "--", collection.address, "HEAD"])
    head = output.decode("ascii", "replace").partition("\t")[0]
    if not re.fullmatch("[0-9a-f]{40}", head):
        raise CollectionError(
            f"The repository at {collection.address} has no commits.",
            cause="It has no HEAD.",
            hint="Check the address.",
        )
    return ObjectId(head)


def sync_mirror(
    repository: Repository,
    collection: Collection,
    versions: Sequence[str],
    *,
    progress: Progress,
    is_dry: bool,
) -> SyncResult:
    """Fetch a mirror: what is new upstream, and the wanted files of its head and of `versions`.

    Raises:
        CollectionError: the upstream cannot be reached, or lacks a version.
    """
    folder, env = repository.git_dir, repository.environment
    before = repository.rev_parse(CURRENT)
    progress(f"Fetching {collection.name}", 0, 0)
    head = read_upstream_head(collection, folder, env)
    if is_dry:
        return SyncResult(collection.name, collection.kind, "planned", before, head, head)
    repository.run("config", "remote.origin.url", collection.address)
    repository.run("config", "remote.origin.promisor", "true")
    repository.run("config", "remote.origin.partialclonefilter", "blob:none")
    filtered = ["--filter=blob:none", "--atomic", "origin", *REFSPECS]
    _reach(collection, folder, env, [*FETCH, *filtered])
    problems = []
    commits = {head}
    fetched = []
    for version in versions:
        commit = find_version(repository, version)
        if commit is None:
            problems.append(Problem(version, "the upstream has no such version"))
        else:
            commits.add(commit)
            fetched.append(version)
    for commit in sorted(commits):
        complete_version(repository, collection, commit, progress)
    if before != head and not update_ref(repository, CURRENT, head, before or ABSENT, "sync"):
        raise CollectionError(
            f"The collection {collection.name} was changed by another process.",
            hint="Try again.",
        )
    old = wanted_files(repository, collection, before) if before else {}
    new = wanted_files(repository, collection, head)
    return SyncResult(
        collection.name,
        collection.kind,
        "partial" if problems else "updated" if before != head else "unchanged",
        before,
        head,
        head,
        ", ".join(fetched),
        len(new),
        len(new.keys() - old.keys()),
        sum(1 for path in new.keys() & old.keys() if new[path] != old[path]),
        len(old.keys() - new.keys()),
        tuple(problems),
    )


def complete_version(
    repository: Repository, collection: Collection, commit: ObjectId, progress: Progress
) -> None:
    """Fetch the blobs that a version's wanted files lack, and record that it is complete.

    Raises:
        CollectionError: they are too many, or the upstream does not give them.
    """
    if is_complete(repository, commit):
        return
    listing = list_tree(repository, commit)
    files = _wanted(listing, collection) | _site_files(listing)
    if len(files) > MAX_FILES:
        raise CollectionError(
            f"The version {commit[:12]} of {collection.name} has {len(files)} files to fetch.",
            cause=f"The limit is {MAX_FILES}.",
            hint="Add the collection again with narrower --include patterns.",
        )
    missing = _missing(repository, {entry.id for entry in files.values()})
    for start in range(0, len(missing), BLOBS_PER_FETCH):
        progress(f"Fetching files of {collection.name}", start, len(missing))
        ids = "\n".join([*missing[start : start + BLOBS_PER_FETCH], ""]).encode("ascii")
        _reach(
            collection,
            repository.git_dir,
            repository.environment,
            [*FETCH, "--filter=blob:none", "--stdin", "origin"],
            stdin=ids,
            # As git itself fetches what is missing: without naming the commits that are there.
            options=(*NETWORK_OPTIONS, "-c", "fetch.negotiationAlgorithm=noop"),
        )
    if lost := _missing(repository, missing):
        raise CollectionError(
            f"The upstream of {collection.name} did not send {len(lost)} of its files.",
            cause=f"The first one is the blob {lost[0][:12]}.",
            hint="Try again, or mirror another copy of the repository.",
        )
    update_ref(repository, COMPLETE + commit, commit, ABSENT, "sync")


def wanted_files(
    repository: Repository, collection: Collection, commit: ObjectId
) -> dict[FilePath, Entry]:
    """Return the files of a commit that a mirror keeps: those of `include`, else all documents."""
    return _wanted(list_tree(repository, commit), collection)


def _wanted(listing: Mapping[FilePath, Entry], collection: Collection) -> dict[FilePath, Entry]:
    config = Config()
    return {
        path: entry
        for path, entry in listing.items()
        if entry.is_file
        and (
            match_any(collection.include, nfc(path))
            if collection.include
            else is_document(config, path)
        )
    }


def propose_include(paths: Many[FilePath]) -> tuple[str, ...]:
    """Return globs for the folder that has what a repository specifies; none: it is not clear.

    It is one that is named so, else the deepest one with more than half of the documents.
    """
    counts = Counter(
        "/".join(parts[:depth])
        for parts in (path.split("/") for path in paths)
        for depth in range(1, len(parts))
    )
    named = [
        folder
        for folder, documents in counts.items()
        if folder.rpartition("/")[2].lower() in SPECIFICATION_FOLDERS and documents >= MIN_DOCUMENTS
    ]
    usual = [folder for folder, documents in counts.items() if 2 * documents > len(paths)]
    best = max(named, key=lambda folder: counts[folder], default="")
    folder = best or max(usual, key=lambda folder: folder.count("/"), default="")
    return (f"{folder}/**",) if folder and counts[folder] < len(paths) else ()


def _site_files(listing: Mapping[FilePath, Entry]) -> dict[FilePath, Entry]:
    """Return the files that say how the documents are published: slugs, roots of links."""
    files = [path for path, entry in listing.items() if entry.is_file]
    configs = [path for path in config_paths(files) if not is_ignored(path)]
    packages = [path for path in package_paths(configs) if path in listing]
    return {FilePath(path): listing[path] for path in (*configs, *packages)}


def fetch_shared(repository: Repository, collection: Collection) -> None:
    """Fetch the commits of an import that a team shares through its `remote`.

    Raises:
        CollectionError: the remote cannot be reached.
    """
    remote = collection.remote
    refspecs = (f"+refs/heads/*:{SHARED}*", "refs/tags/*:refs/tags/*")
    _reach(
        collection,
        repository.git_dir,
        repository.environment,
        [*FETCH, "--", remote, *refspecs],
        address=remote,
    )


def _missing(repository: Repository, ids: Many[ObjectId]) -> list[ObjectId]:
    """Return those objects that the repository lacks; git before 2.44 stops at the first one."""
    options = ("--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
    present = set(repository.run("cat-file", *options).decode("ascii").split("\n"))
    return sorted(object_id for object_id in ids if object_id not in present)


def _reach(  # noqa: PLR0913  # named, but for the first four
    collection: Collection,
    folder: str,
    environment: Mapping[str, str],
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    options: Sequence[str] = NETWORK_OPTIONS,
    address: str = "",
) -> bytes:
    """Run a git command that reaches the upstream."""
    address = address or collection.address
    protocols = protocols_of(address)
    connection = Connection()
    if protocols != LOCAL:
        connection = check_host(address, folder, environment)
    try:
        return run_git(
            args,
            cwd=folder,
            stdin=stdin,
            environment=connection.variables or environment,
            options=(*options, *connection.options),
            protocols=protocols,
        )
    except GitCommandError as error:
        lines = [line for line in error.stderr.split("\n") if line and "warning: " not in line]
        raise CollectionError(
            f"Cannot fetch {collection.name} from {address}.",
            cause=lines[0].removeprefix("fatal: ") if lines else error.cause,
            hint="Check the address and your access.",
        ) from error

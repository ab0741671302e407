"""Records of collections: their list, what was fetched, and what was removed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import FilePath
from ubp.frame.fields import Count, Moment
from ubp.frame.records import moment_or_none
from ubp.index.collections import CollectionStatus, Outcome, SyncResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRecord:
    """A collection of this machine or project."""

    name: Annotated[str, "its name"]
    kind: Annotated[str, "how it is kept: local, mirror, import or written"]
    address: Annotated[str, "where it comes from"]
    language: Annotated[str, "language of its pages; empty if not set"]
    policy: Annotated[str, "how much of it may be shown; empty if not set"]
    licence: Annotated[str, "its licence; empty if not set"]
    is_configured: Annotated[bool, "whether the project's configuration has it"]
    at: Annotated[str | None, "what the configuration pins; null if nothing"]
    versions: Annotated[tuple[str, ...], "its versions, newest first"]
    size_bytes: Annotated[Count, "size on disk"]
    synced_at: Annotated[Moment | None, "time of the last fetch; null if never fetched"]
    problem: Annotated[str | None, "why it cannot be read; null if it can"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionsRecord:
    """The collections of this machine and project."""

    directory: Annotated[str, "absolute path of the folder that contains them"]
    collections: Annotated[tuple[CollectionRecord, ...], "the collections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """A page, file or version that could not be fetched."""

    address: Annotated[str, "what was requested"]
    reason: Annotated[str, "why it could not be fetched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedCollectionRecord:
    """What became of one collection."""

    name: Annotated[str, "its name"]
    kind: Annotated[str, "how it is kept: local, mirror, import or written"]
    outcome: Annotated[Outcome, "what was done; planned: nothing was written"]
    before: Annotated[str | None, "its commit or tree before"]
    after: Annotated[str | None, "its commit or tree now"]
    at: Annotated[str | None, "what a project pins: the commit of a mirror, the tree of an import"]
    version: Annotated[str | None, "tag of an import, requested versions of a mirror; null if none"]
    files: Annotated[Count, "number of files"]
    added: Annotated[Count, "of these, new ones"]
    changed: Annotated[Count, "of these, changed ones"]
    removed: Annotated[Count, "number of files that were removed"]
    problems: Annotated[tuple[FailureRecord, ...], "what could not be fetched"]
    absent: Annotated[
        tuple[str, ...], "addresses that pages link to and that the server does not have"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRecord:
    """What was fetched."""

    collections: Annotated[tuple[SyncedCollectionRecord, ...], "each requested collection"]
    outdated_pages: Annotated[
        tuple[str, ...],
        "pages of the project with a source in a collection that is not fresh",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCollectionRecord:
    """What was removed of a collection."""

    name: Annotated[str, "its name"]
    is_removed: Annotated[bool, "whether it existed on this machine and was removed"]
    is_purged: Annotated[bool, "whether its repository was deleted"]
    is_removed_from_configuration: Annotated[
        bool, "whether it was removed from the project's configuration"
    ]


def collections_record(folder: str, statuses: Iterable[CollectionStatus]) -> CollectionsRecord:
    """Return the record of `ubp collections`."""
    return CollectionsRecord(
        directory=folder, collections=tuple(_collection(status) for status in statuses)
    )


def sync_record(results: Iterable[SyncResult], outdated: Iterable[FilePath] = ()) -> SyncRecord:
    """Return the record of `ubp collections sync` and `add`."""
    return SyncRecord(
        collections=tuple(_synced(result) for result in results), outdated_pages=tuple(outdated)
    )


def removed_record(
    name: str, *, existed: bool, purged: bool, configured: bool
) -> RemovedCollectionRecord:
    """Return the record of `ubp collections remove`."""
    return RemovedCollectionRecord(
        name=name,
        is_removed=existed,
        is_purged=purged and existed,
        is_removed_from_configuration=configured,
    )


def _collection(status: CollectionStatus) -> CollectionRecord:
    return CollectionRecord(
        name=status.name,
        kind=status.kind,
        address=status.address,
        language=status.language,
        policy=status.policy,
        licence=status.licence,
        is_configured=status.is_configured,
        at=status.at or None,
        versions=status.versions,
        size_bytes=status.size_bytes,
        synced_at=moment_or_none(status.synced_at),
        problem=status.problem or None,
    )


def _synced(result: SyncResult) -> SyncedCollectionRecord:
    return SyncedCollectionRecord(
        name=result.name,
        kind=result.kind,
        outcome=result.outcome,
        before=result.before,
        after=result.after,
        at=result.at or None,
        version=result.version or None,
        files=result.files,
        added=result.added,
        changed=result.changed,
        removed=result.removed,
        problems=tuple(
            FailureRecord(address=problem.address, reason=problem.reason)
            for problem in result.problems
        ),
        absent=result.absent,
    )

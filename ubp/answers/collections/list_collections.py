"""`ubp collections`: the collections of this machine and project."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

from ubp.answers.collections.project import read_project
from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.fields import Count, Moment
from ubp.frame.records import DAY, moment_or_none
from ubp.frame.wording import SHORT_ID, revision, size
from ubp.frame.writer import Writer
from ubp.index.collections import collections_dir, list_collections

SHOWN_VERSIONS = 3


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
    checkout: Annotated[str | None, "local repository that is read in place of a mirror; or null"]
    problem: Annotated[str | None, "why it cannot be read; null if it can"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionsRecord:
    """The collections of this machine and project."""

    directory: Annotated[str, "absolute path of the folder that contains them"]
    collections: Annotated[tuple[CollectionRecord, ...], "the collections"]


@dataclass(frozen=True, slots=True)
class CollectionsRequest(Request[CollectionsRecord]):
    """Which collections this machine and project have."""


def run(place: Place, _request: CollectionsRequest) -> CollectionsRecord:
    """Return the collections; nothing is fetched."""
    folder, config = collections_dir(place.environment), read_project(place).config
    return CollectionsRecord(
        directory=folder,
        collections=tuple(
            CollectionRecord(
                **{
                    **asdict(status),
                    "at": status.at or None,
                    "synced_at": moment_or_none(status.synced_at),
                    "checkout": status.checkout or None,
                    "problem": status.problem or None,
                }
            )
            for status in list_collections(folder, config.collections, place.environment)
        ),
    )


def text(record: CollectionsRecord, write: Writer) -> Iterator[str]:
    """Yield the collections, a paragraph each."""
    if not record.collections:
        yield f"No collections in {write.name(record.directory)}."
        yield f"Add one: {write.style.cyan(ubp_command('collections', 'add', 'NAME', 'SOURCE'))}"
    for collection in record.collections:
        yield from _paragraph(collection, write)


def _paragraph(collection: CollectionRecord, write: Writer) -> Iterator[str]:
    language = f", {write.name(collection.language)}" if collection.language else ""
    address = f": {write.name(collection.address)}" if collection.address else ""
    yield f"{write.style.bold(collection.name)}  {collection.kind}{language}{address}"
    if collection.problem:
        yield f"  {write.style.yellow(write.name(collection.problem))}"
    if collection.checkout:
        yield f"  read from the checkout {write.name(collection.checkout)}"
    parts = []
    if collection.at:
        parts.append(f"pinned at {revision(collection.at)[:SHORT_ID]}")
    elif collection.is_configured:
        parts.append("not pinned")
    if collection.versions:
        named = ", ".join(map(write.name, collection.versions[:SHOWN_VERSIONS]))
        more = len(collection.versions) - SHOWN_VERSIONS
        parts.append(f"versions: {named}" + (f" and {more} more" if more > 0 else ""))
    if collection.size_bytes:
        parts.append(size(collection.size_bytes))
    if collection.synced_at:
        parts.append(f"synchronized {collection.synced_at[:DAY]}")
    licence = f" ({write.name(collection.licence)})" if collection.licence else ""
    parts.append(f"{collection.policy}{licence}")
    yield f"  {write.style.dim('; '.join(parts))}"


COLLECTIONS = Answer(
    request=CollectionsRequest,
    record=CollectionsRecord,
    run=run,
    run_anywhere=run,
    text=text,
    has_facts=False,
)

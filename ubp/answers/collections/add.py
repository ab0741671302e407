"""`ubp collections add`: a collection, planned, then fetched."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from ubp.answers.collections.project import (
    entry_of,
    network_context,
    read_project,
    require_extra,
)
from ubp.answers.collections.sync import SyncRecord, status, sync_record, text
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.writer import Writer
from ubp.index.collections import AddedKind, Collection, read_collection
from ubp.sync.imports import count_left_out, patterns_for
from ubp.sync.run import AddRequest, add_collection, plan_collection, propose_folder

Policy = Literal["fulltext", "excerpt_only"]
KIND_WORDS = {
    "local": "Use the repository",
    "mirror": "Mirror the Git repository",
    "import": "Import the pages of",
}


@dataclass(frozen=True, slots=True)
class AddCollectionRequest(Request[SyncRecord]):
    """What to fetch, and the name to give it.

    In a project with a configuration, the collection is added to it, pinned at the fetched version.
    """

    name: Annotated[str, "name of the collection"]
    source: Annotated[str, "address, path, export of bookmarks, or name of a known specification"]
    kind: Annotated[AddedKind | None, "what to make of the source; by default what fits it"] = None
    include: Annotated[
        tuple[str, ...], "globs of files; by default every document, or a single web page"
    ] = ()
    at: Annotated[str | None, "version of a mirror to fetch and pin"] = None
    language: Annotated[str | None, "language or format that the collection specifies"] = None
    policy: Annotated[Policy | None, "whether the licence allows more than excerpts"] = None


def run(place: Place, request: AddCollectionRequest) -> SyncRecord:
    """Add a collection and fetch it.

    Raises:
        UsageError: the request contradicts itself, the name is taken, or an extra is missing.
        CollectionError: the source cannot be reached, or nothing could be fetched.
    """
    return fetch(place, request, plan(place, request))


def plan(place: Place, request: AddCollectionRequest) -> Collection:
    """Return the collection that a request means, without fetching its content.

    Raises:
        UsageError: the request contradicts itself, the name is taken, or an extra is missing.
        CollectionError: the source cannot be reached.
    """
    wanted = AddRequest(
        request.name,
        request.source,
        place.directory,
        request.kind,
        request.include,
        request.at or "",
        request.language or "",
        request.policy or "",
    )
    collection = plan_collection(wanted, network_context(place))
    require_extra([collection])
    return collection


def fetch(place: Place, request: AddCollectionRequest, collection: Collection) -> SyncRecord:
    """Fetch a planned collection, and add it to the project's configuration."""
    context = network_context(place)
    result = add_collection(collection, request.at or "", context)
    project = read_project(place)
    named = collection
    if collection.kind == "local" and collection.remote:
        named = replace(collection, kind="mirror", address=collection.remote, remote="")
    if named.kind != "local" and not os.path.isabs(named.address):
        project.write(request.name, entry_of(named, result.at))
    record = sync_record([result])
    if suggested := propose_folder(collection, context):
        record = replace(record, suggested_include=suggested)
    is_named = any(setting.name == request.name for setting in project.config.collections)
    if named.kind != "local" or project.config_dir is None or is_named:
        return record
    registered = read_collection(context.folder, request.name)
    address = (registered and registered.remote) or "ADDRESS"
    entry = {"collections": {request.name: {"git": address}}}
    return replace(record, config_entry=json.dumps(entry, ensure_ascii=False))


def plan_text(collection: Collection, version: str | None, write: Writer) -> Iterator[str]:
    """Yield what is about to be fetched."""
    what = KIND_WORDS[collection.kind]
    if collection.kind == "local" and collection.remote:
        what = f"Use the checkout of {write.name(collection.remote)} in"
    if collection.kind == "import" and "://" not in collection.address:
        what = "Import the documents in"
    yield f"{what} {write.name(collection.address)} as {collection.name}"
    if collection.include:
        yield f"  files: {', '.join(map(write.name, collection.include))}"
    if left_out := count_left_out(collection):
        yield f"  left out: {', '.join(f'{left_out[suffix]} {suffix}' for suffix in left_out)}"
        yield f"  to convert them: {patterns_for(collection, left_out)}"
    if version:
        yield f"  version: {write.name(version)}"
    if collection.language:
        yield f"  a specification of {write.name(collection.language)}"
    licence = f", licence: {write.name(collection.licence)}" if collection.licence else ""
    yield f"  policy: {collection.policy}{licence}"


ADD = Answer(
    request=AddCollectionRequest,
    record=SyncRecord,
    run=run,
    run_anywhere=run,
    text=text,
    status=status,
    has_facts=False,
)

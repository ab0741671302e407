"""`ubp collections sync`: collections fetched at their pinned or newest versions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from ubp.answers.collections.project import (
    entry_of,
    network_context,
    read_project,
    require_extra,
)
from ubp.core.config import CollectionSetting, Config
from ubp.core.config_file import parse_config
from ubp.core.model import CONFIG_FILE, FilePath
from ubp.core.shell import join, ubp_command
from ubp.frame.answer import Answer, Place, Request
from ubp.frame.fields import Count, Option
from ubp.frame.wording import SHORT_ID, count, revision
from ubp.frame.writer import Writer
from ubp.git.repository import open_repository
from ubp.index.collections import (
    Collection,
    CollectionReference,
    Outcome,
    SyncResult,
    parse_reference,
    pinned,
    read_collection,
    read_collections,
)
from ubp.index.session import Session, SessionOptions
from ubp.staleness.described import Described, find_described
from ubp.sync.run import sync_collections

MAX_PROBLEMS = 20
INCOMPLETE = frozenset({"partial", "failed"})


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
    config_entry: Annotated[
        str | None,
        "what the project's configuration needs, so that others have a local collection, too; null:"
        " nothing",
    ] = None
    suggested_include: Annotated[
        tuple[str, ...], "patterns for the folder with the specification, of a mirror without any"
    ] = ()


@dataclass(frozen=True, slots=True)
class SyncCollectionsRequest(Request[SyncRecord]):
    """Which collections to fetch, each as NAME or NAME@REV; by default the project's, or all."""

    names: Annotated[
        tuple[str, ...],
        "collections, each as NAME or NAME@REV",
        Option(
            "The collections, each as NAME or NAME@REV; by default those of the project, or all.",
            metavar="NAME",
            is_argument=True,
        ),
    ] = ()
    update: Annotated[
        bool,
        "fetch the newest versions and pin them",
        Option("Fetch the newest versions, and pin them in the configuration."),
    ] = False
    dry_run: Annotated[
        bool, "write nothing", Option("Show what would change, and write nothing.")
    ] = False
    base: Annotated[
        str | None,
        "commit whose configuration must name the addresses, too",
        Option(
            "Fetch only from addresses that the configuration of this commit names, too: those "
            "that a change adds wait until it is merged.",
            metavar="REV",
        ),
    ] = None


def run(place: Place, request: SyncCollectionsRequest) -> SyncRecord:
    """Fetch collections, and the versions that pages of the project still describe.

    Raises:
        UsageError: a name is not one, or an extra is missing.
        RevisionNotFoundError: there is no such `base`.
        ConfigError: a configuration cannot be used.
    """
    project = read_project(place)
    settings = {setting.name: setting for setting in project.config.collections}
    base = None if request.base is None else _config_at(request.base, place).collections
    context = network_context(place)
    registered = read_collections(context.folder)
    references: Sequence[CollectionReference] = [parse_reference(name) for name in request.names]
    if not references:
        chosen = [*settings] or [collection.name for collection in registered]
        references = [CollectionReference(name) for name in chosen]
    wanted = {reference.name for reference in references}
    known: list[Collection | CollectionSetting] = [*registered, *settings.values()]
    require_extra([collection for collection in known if collection.name in wanted])

    def fetch(
        references: Sequence[CollectionReference], *, is_updating: bool
    ) -> Iterator[SyncResult]:
        return sync_collections(
            references,
            project.config.collections,
            context,
            is_updating=is_updating,
            is_dry=request.dry_run,
            base=base,
        )

    results = []
    for result in fetch(references, is_updating=request.update):
        results.append(result)
        setting = settings.get(result.name)
        is_moved = setting and request.update and not request.dry_run and result.is_complete
        if setting and is_moved and result.at not in {"", setting.at}:
            collection = read_collection(context.folder, result.name)
            if collection is not None:
                project.write(result.name, entry_of(pinned(collection, setting), result.at))
    outdated: tuple[FilePath, ...] = ()
    if settings and not request.dry_run:
        described = _find_described(place)
        unfetched = map(parse_reference, described.unfetched)
        missing = [each for each in unfetched if each.version and each.name in wanted]
        if missing:
            results += fetch(missing, is_updating=False)
            described = _find_described(place)
        outdated = described.outdated
    return sync_record(results, outdated)


def _find_described(place: Place) -> Described:
    options = SessionOptions(
        place.environment, warn=place.warn, progress=place.progress, clock=place.clock
    )
    with Session.open(place.directory, options) as session:
        return find_described(session)


def _config_at(name: str, place: Place) -> Config:
    """Return the configuration of a commit."""
    with open_repository(place.directory, place.environment) as repository:
        commit = repository.resolve(name)
        blob = repository.rev_parse(f"{commit}:{CONFIG_FILE}")
        data = repository.read_blobs([blob])[blob] if blob else None
    return parse_config(data, CONFIG_FILE) if data else Config()


def sync_record(results: Iterable[SyncResult], outdated: Iterable[FilePath] = ()) -> SyncRecord:
    """Return the record of what was fetched."""
    return SyncRecord(collections=tuple(map(_synced, results)), outdated_pages=tuple(outdated))


def _synced(result: SyncResult) -> SyncedCollectionRecord:
    problems = tuple(FailureRecord(**asdict(problem)) for problem in result.problems)
    values = {**asdict(result), "problems": problems}
    return SyncedCollectionRecord(
        **{**values, "at": result.at or None, "version": result.version or None}
    )


def text(record: SyncRecord, write: Writer) -> Iterator[str]:
    """Yield what became of each collection, what could not be fetched, and the stale pages."""
    if write.is_quiet:
        return
    if not record.collections:
        yield "No collections to synchronize."
        return
    for collection in record.collections:
        yield from _collection_text(collection, write)
    if record.config_entry:
        yield "A path is known on this machine only, and not written to the configuration. To let"
        yield f"others use it, add its address to {CONFIG_FILE}: {write.name(record.config_entry)}"
    if record.suggested_include:
        globs = join([f"--include={glob}" for glob in record.suggested_include])
        again = f"add it again with {write.name(globs)}"
        yield f"Other pages of the repository are in it, too. To keep the specification: {again}"
    outdated = len(record.outdated_pages)
    if outdated:
        verb = "has" if outdated == 1 else "have"
        stale = write.style.cyan(ubp_command("stale"))
        yield f"{count(outdated, 'page')} {verb} stale sources in collections: {stale}"


def _collection_text(collection: SyncedCollectionRecord, write: Writer) -> Iterator[str]:
    name = write.style.bold(collection.name)
    counts = [
        f"{number} {word}"
        for number, word in (
            (collection.added, "added"),
            (collection.changed, "changed"),
            (collection.removed, "removed"),
        )
        if number
    ]
    changes = f": {', '.join(counts)}" if counts else ""
    at = f", at {revision(collection.at)[:SHORT_ID]}" if collection.at else ""
    word = "has " if collection.kind == "mirror" else ""
    version = f" ({word}{write.name(collection.version)})" if collection.version else ""
    if collection.outcome == "failed":
        yield f"{name}  {write.style.red('failed')}"
    elif collection.outcome == "planned":
        is_new = collection.before != collection.after or counts
        yield f"{name}  {'would change' + changes if is_new else 'is up to date'}"
    elif collection.outcome == "unchanged":
        yield f"{name}  unchanged{at}{version}"
    elif collection.kind == "local":
        yield f"{name}  {write.style.green('added')}"
    else:
        is_partial = bool(collection.problems)
        word = write.style.yellow("partly fetched") if is_partial else write.style.green("updated")
        yield f"{name}  {word}{at}{version}, {count(collection.files, 'file')}{changes}"
    for problem in collection.problems[:MAX_PROBLEMS]:
        yield f"  {write.name(problem.address)}: {write.name(problem.reason)}"
    if len(collection.problems) > MAX_PROBLEMS:
        yield f"  and {count(len(collection.problems) - MAX_PROBLEMS, 'more problem')}"
    if collection.absent:
        links = count(len(collection.absent), "link")
        absent = write.name(collection.absent[0])
        yield write.style.dim(f"  {links} to pages that do not exist: {absent}")


def status(record: SyncRecord) -> int:
    """Return the exit status: 2 if something could not be fetched."""
    is_incomplete = any(collection.outcome in INCOMPLETE for collection in record.collections)
    return 2 if is_incomplete else 0


SYNC = Answer(
    request=SyncCollectionsRequest,
    record=SyncRecord,
    run=run,
    run_anywhere=run,
    text=text,
    status=status,
    has_facts=False,
)

"""`ubp collections`: documents of other repositories and of the web."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from ubp.cli.bind_session import choose
from ubp.cli.error_handler import CLEAN, FAILED
from ubp.cli.open_workspace import open_workspace
from ubp.cli.parameters import Revision
from ubp.cli.terminal import Terminal
from ubp.core.config import FULL_TEXT, CollectionSetting, Config, has_config
from ubp.core.config_file import load_config, parse_config
from ubp.core.errors import NotARepositoryError, UsageError
from ubp.core.installation import install_command
from ubp.core.model import CONFIG_FILE, FilePath
from ubp.core.setup_files import read_config, set_collection, write_config
from ubp.git.repository import open_repository
from ubp.index.collections import (
    AddedKind,
    Collection,
    CollectionReference,
    SyncResult,
    check_name,
    collections_dir,
    list_collections,
    parse_reference,
    pinned,
    read_collection,
    read_collections,
)
from ubp.output.records.collections import collections_record, removed_record, sync_record
from ubp.output.text.collections import collections_text, plan_text, sync_text
from ubp.staleness.described import Described, find_described
from ubp.sync.bookmarks import is_export
from ubp.sync.repositories import Context
from ubp.sync.run import (
    AddRequest,
    add_collection,
    plan_collection,
    remove_collection,
    sync_collections,
)

EXTRA = "collections"  # what importing web pages and bookmarks needs
YES, NO = "yes", "no"

APP = App(
    name="collections",
    help_epilogue="Example:\n  ubp collections add go https://go.dev/ref/spec",
)

Globs = Annotated[list[str] | None, Parameter(metavar="GLOB")]


@APP.default
def list_all(*, terminal: Terminal) -> int:
    """List the collections of this machine and project.

    Args:
        terminal: Where the answer goes.
    """
    config = _read_config(terminal)[1]
    folder = collections_dir(terminal.environment)
    statuses = list_collections(folder, config.collections, terminal.environment)
    if terminal.options.json:
        terminal.record(collections_record(folder, statuses))
    else:
        terminal.write(collections_text(folder, statuses, terminal.style))
    return CLEAN


@APP.command(
    name="add",
    help_epilogue="Example:\n  ubp collections add toml https://github.com/toml-lang/toml.git",
)
def add(  # noqa: PLR0913  # the options of a command
    name: str,
    source: str,
    /,
    *,
    kind: Annotated[AddedKind | None, Parameter(metavar="KIND")] = None,
    include: Globs = None,
    at: Revision = None,
    language: Annotated[str | None, Parameter(metavar="NAME")] = None,
    policy: Annotated[
        Literal["fulltext", "excerpt_only"] | None, Parameter(metavar="POLICY")
    ] = None,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    terminal: Terminal,
) -> int:
    """Add a collection and fetch it. What would be fetched is shown first.

    In a project with a configuration, the collection is added to it, pinned at the fetched version.

    Args:
        name: The name of the collection.
        source: An address, a path, an export of bookmarks, or the name of a known specification.
        kind: What to make of the source.
        include: The files to fetch, as globs; by default every document, or a single web page.
        at: A version of a mirror to fetch and pin.
        language: The language or format that the collection specifies.
        policy: Whether the licence allows more than excerpts.
        yes: Fetch without asking.
        terminal: Where the answer goes.
    """
    context = _context(terminal)
    request = AddRequest(
        name,
        source,
        terminal.directory,
        kind,
        tuple(include or ()),
        at or "",
        language or "",
        policy or "",
    )
    collection = plan_collection(request, context)
    _require_extra([collection])
    if not terminal.options.json:
        terminal.write(plan_text(collection, request.version))
    if not yes:
        if not terminal.is_interactive():
            raise UsageError(
                f"Nothing was fetched from {collection.address}.",
                cause="Fetching needs a confirmation, and there is no terminal to ask.",
                hint="Confirm it with --yes.",
            )
        if choose(terminal, "Fetch it?", (YES, NO)) == NO:
            terminal.write("Nothing changed.\n")
            return CLEAN
    result = add_collection(collection, request.version, context)
    config_dir = _read_config(terminal)[0]
    if config_dir is not None and collection.kind != "local" and "://" in collection.address:
        _write_setting(config_dir, name, _entry(collection, result.at))
    return _deliver([result], terminal)


@APP.command(name="sync", help_epilogue="Example:\n  ubp collections sync --update")
def sync(
    names: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    /,
    *,
    update: bool = False,
    dry_run: bool = False,
    base: Annotated[str | None, Parameter(metavar="REV")] = None,
    terminal: Terminal,
) -> int:
    """Fetch collections: those of the project at their pinned versions, else the newest.

    The versions that pages of the project still describe are fetched, too: staleness needs both.
    Exit status: 2 if something could not be fetched; what is there is kept.

    Args:
        names: The collections, each as NAME or NAME@REV; by default those of the project, or all.
        update: Fetch the newest versions, and pin them in the configuration.
        dry_run: Show what would change, and write nothing.
        base: Fetch only from addresses that the configuration of this commit names, too: those
            that a change adds wait until it is merged.
        terminal: Where the answer goes.
    """
    config_dir, config = _read_config(terminal)
    base_config = None if base is None else _config_at(base, terminal)
    context = _context(terminal)
    registered = read_collections(context.folder)
    references: Sequence[CollectionReference] = [parse_reference(name) for name in names or ()]
    if not references:
        chosen = [setting.name for setting in config.collections]
        chosen = chosen or [collection.name for collection in registered]
        references = [CollectionReference(name) for name in chosen]
    wanted = {reference.name for reference in references}
    known: list[Collection | CollectionSetting] = [*registered, *config.collections]
    _require_extra([collection for collection in known if collection.name in wanted])
    results = []
    settings = {setting.name: setting for setting in config.collections}
    for result in sync_collections(
        references,
        config.collections,
        context,
        is_updating=update,
        is_dry=dry_run,
        base=base_config and base_config.collections,
    ):
        results.append(result)
        setting = settings.get(result.name)
        is_moved = setting is not None and update and not dry_run and result.is_complete
        if is_moved and setting and config_dir and result.at not in {"", setting.at}:
            collection = read_collection(context.folder, result.name)
            if collection is not None:
                entry = _entry(pinned(collection, setting), result.at)
                _write_setting(config_dir, result.name, entry)
    outdated: tuple[FilePath, ...] = ()
    if config.collections and not dry_run:
        described = _find_described(terminal)
        missing = [
            reference
            for reference in map(parse_reference, described.unfetched)
            if reference.version and reference.name in wanted
        ]
        if missing:
            results += sync_collections(
                missing,
                config.collections,
                context,
                is_updating=False,
                is_dry=False,
                base=base_config and base_config.collections,
            )
            described = _find_described(terminal)
        outdated = described.outdated
    return _deliver(results, terminal, outdated)


@APP.command(name="remove", help_epilogue="Example:\n  ubp collections remove go --purge")
def remove(name: str, /, *, purge: bool = False, terminal: Terminal) -> int:
    """Remove a collection from this machine's list and from the project's configuration.

    Args:
        name: The name of the collection.
        purge: Delete what was fetched, too.
        terminal: Where the answer goes.
    """
    check_name(name)
    config_dir, config = _read_config(terminal)
    is_configured = any(setting.name == name for setting in config.collections)
    existed = remove_collection(name, _context(terminal), purge=purge)
    if not existed and not is_configured:
        raise UsageError(
            f"There is no collection {name}.", hint="List them with `ubp collections`."
        )
    if config_dir is not None and is_configured:
        _write_setting(config_dir, name, None)
    if terminal.options.json:
        record = removed_record(name, existed=existed, purged=purge, configured=is_configured)
        terminal.record(record)
    elif not terminal.options.quiet:
        terminal.write(f"Removed {name}\n")
    return CLEAN


def _find_described(terminal: Terminal) -> Described:
    with open_workspace(terminal) as workspace:
        return find_described(workspace.session)


def _context(terminal: Terminal) -> Context:
    return Context(
        collections_dir(terminal.environment),
        terminal.environment,
        terminal.progress,
        terminal.clock,
    )


def _read_config(terminal: Terminal) -> tuple[str | None, Config]:
    """Return the directory of the project's configuration, where it has one, and its settings."""
    try:
        with open_repository(terminal.directory, terminal.environment) as repository:
            config_dir, is_bare = repository.config_dir, repository.root is None
    except NotARepositoryError:
        return None, Config()
    if is_bare or not has_config(config_dir):
        return None, Config()
    config = load_config(config_dir)
    for warning in config.warnings:
        terminal.warn(warning)
    return config_dir, config


def _config_at(revision: str, terminal: Terminal) -> Config:
    """Return the configuration of a commit."""
    with open_repository(terminal.directory, terminal.environment) as repository:
        commit = repository.resolve(revision)
        blob = repository.rev_parse(f"{commit}:{CONFIG_FILE}")
        data = repository.read_blobs([blob])[blob] if blob else None
    return parse_config(data, CONFIG_FILE) if data else Config()


def _entry(collection: Collection, at: str) -> dict[str, Any]:
    """Return what the configuration contains for a collection."""
    values = {
        "git" if collection.kind == "mirror" else "url": collection.address,
        "at": at,
        "include": list(collection.include),
        "language": collection.language,
        "policy": collection.policy if collection.policy != FULL_TEXT else "",
        "remote": collection.remote,
    }
    return {key: value for key, value in values.items() if value}


def _write_setting(config_dir: str, name: str, entry: dict[str, Any] | None) -> None:
    write_config(config_dir, set_collection(read_config(config_dir), name, entry))


def _require_extra(collections: Iterable[Collection | CollectionSetting]) -> None:
    """Raise `UsageError` if what one of them needs is missing: web pages and bookmarks do."""
    needs = {
        "Importing web pages": ("hishel", "html_to_markdown", "httpx2", "protego", "selectolax"),
        "Importing bookmarks": ("frontmatter",),
    }
    for collection in collections:
        what = ""
        if collection.kind == "import" and "://" in collection.address:
            what = "Importing web pages"
        elif collection.kind == "import" and any(
            map(is_export, [collection.address, *collection.include])
        ):
            what = "Importing bookmarks"
        if what and any(find_spec(name) is None for name in needs[what]):
            raise UsageError(
                f"{what} needs the extra `{EXTRA}`.",
                cause="It was installed without it.",
                hint=f"Install it: {install_command(EXTRA)}",
            )


def _deliver(
    results: Sequence[SyncResult], terminal: Terminal, outdated: Sequence[FilePath] = ()
) -> int:
    if terminal.options.json:
        terminal.record(sync_record(results, outdated))
    elif not terminal.options.quiet:
        terminal.write(sync_text(results, outdated, terminal.style))
    return CLEAN if all(result.is_complete for result in results) else FAILED

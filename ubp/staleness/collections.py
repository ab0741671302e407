"""Compare references to documents of collections: `go:spec.md#Slice_types`.

The configuration pins the version of a collection, so a page describes the one that was pinned by
the commit that last changed the page. Everything else (parts, drift, moves) is as in the page's own
repository: the same code reads that of the collection. Loaded only where a page names one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.core.config import CollectionSetting
from ubp.core.errors import ConfigError, UbpError
from ubp.core.model import (
    CONFIG_FILE,
    BaselineKind,
    FilePath,
    LastChange,
    Level,
    Note,
    ObjectId,
    ReferenceVerdict,
    Snapshot,
    SourceReference,
    Verdict,
)
from ubp.core.paths import normalize_path
from ubp.git.snapshot import read_document
from ubp.git.trees import first_parents
from ubp.index.collections import (
    collections_dir,
    find_collection,
    find_version,
    pinned,
    read_collection,
    resolve_version,
)
from ubp.index.view import build_view
from ubp.staleness.baseline import (
    Baseline,
    BaselineRequest,
    Origins,
    from_history,
    from_key_pins,
    last_changes,
    unpinned_pages,
)
from ubp.staleness.compare import compare_sources, hide_details
from ubp.staleness.model import Change, StalenessContext
from ubp.staleness.references import LocatedSource, candidates, collection_of, locate

Settings = Mapping[str, CollectionSetting]
"""The collections of a configuration by name."""


def compare_collections(
    requests: Mapping[str, Sequence[BaselineRequest]],
    context: StalenessContext,
    origins: Origins,
    before: StalenessContext | None = None,
) -> dict[BaselineRequest, ReferenceVerdict]:
    """Compare the sources in each collection with their baselines, and find their drift.

    An edited page describes the version that the snapshot pins. Where history ends too early, the
    state `before` the change, if there is one, says what a page describes.
    """
    settings = settings_of(context)
    described: Mapping[FilePath, Settings | None] = {}
    verdicts: dict[BaselineRequest, ReferenceVerdict] = {}
    for name, of_collection in requests.items():
        setting = settings.get(name)
        if is_repository(name):
            verdicts |= {request: _at_its_pin(request) for request in of_collection}
            continue
        if setting is None:
            verdicts |= {r: _verdict(r, name, "not_found", "stale") for r in of_collection}
            continue
        try:
            collection = open_version(context, setting)
        except UbpError:
            verdicts |= {
                request: _unknown(request, name, "no_collection", unfetched=name)
                for request in of_collection
            }
            continue
        if not described and any(request.reference.own_pin is None for request in of_collection):
            described = _described_settings(context, origins, before)
        comparison = _Comparison(setting, collection, context, origins, described)
        verdicts |= comparison.compare(of_collection)
    return verdicts


def is_repository(name: str) -> bool:
    """Return whether a name is that of a repository (`github.com/acme/api`), not a collection's."""
    return "/" in name


def settings_of(context: StalenessContext) -> Settings:
    """Return the collections as a snapshot pins them.

    Those of the work tree are read already; so are those of a configuration that Git ignores.
    """
    view, own = context.view, context.rules.collections
    if view.snapshot.kind == "worktree":
        return own

    def read() -> Settings:
        entry = view.entry(CONFIG_FILE)
        if entry is None or not entry.is_file:
            return own
        data = read_document(context.repository, view.snapshot, CONFIG_FILE, entry)
        return own if data is None else _parse(data)

    return view.derived("collections", read)


def find_repinned(change: Change) -> frozenset[str]:
    """Return the collections of which a change moves the version, or that it adds."""
    after = settings_of(change.after)
    states = [settings_of(before) for before in change.before] or [{}]
    return frozenset(
        name for name in after if any(after[name] != before.get(name) for before in states)
    )


def open_version(context: StalenessContext, setting: CollectionSetting) -> StalenessContext:
    """Return what verdicts on a collection's documents depend on, at the pinned version.

    Raises:
        CollectionError: it, or that version, is not on this machine.
        RepositoryError: it cannot be read.
    """
    assert context.open_collection is not None  # noqa: S101  # a collection has no collections
    session = context.open_collection(setting)
    repository, name = session.repository, setting.name
    registered = find_collection(collections_dir(session.environment), name, [setting])
    commit = resolve_version(repository, registered, setting.at)
    view = context.view.derived(
        f"collection {name} {commit}",
        lambda: build_view(
            repository,
            session.store,
            session.config,
            Snapshot("commit", commit, {}),
            session.progress,
            has_facts=False,
        ),
    )
    rules = context.rules._replace(is_hidden=session.is_hidden, collections={})
    return StalenessContext(view, repository, session.history, rules)


def pinned_commit(name: str, context: StalenessContext) -> ObjectId | None:
    """Return the commit of a collection that the snapshot's configuration pins.

    Raises:
        CollectionError: it is not on this machine.
        RepositoryError: it cannot be read.
    """
    return open_version(context, settings_of(context)[name]).view.snapshot.commit


def in_collection(
    references: Iterable[ReferenceVerdict], context: StalenessContext
) -> tuple[StalenessContext, list[ReferenceVerdict], str]:
    """Return verdicts on sources in one collection as the collection itself would have them.

    Also what verdicts depend on there, and its policy (see `ubp.core.policy.excerpt`).

    Raises:
        CollectionError: it is not on this machine.
        RepositoryError: it cannot be read.
    """
    verdicts = list(references)
    setting = settings_of(context)[verdicts[0].collection]
    prefix = f"{setting.name}:"
    local = [
        verdict._replace(
            reference=_localized(verdict.reference),
            source_path=_inner(verdict.source_path),
            moved_to=verdict.moved_to and FilePath(verdict.moved_to.removeprefix(prefix)),
        )
        for verdict in verdicts
    ]
    return open_version(context, setting), local, _policy(setting, context)


def past_ids(
    wanted: Mapping[tuple[FilePath, SourceReference], ObjectId | None], context: StalenessContext
) -> dict[tuple[FilePath, SourceReference], ObjectId | None]:
    """Return the ids that the sources of pages in collections had as of these commits of the pages.

    A commit None is the snapshot; an id None: the source did not exist, or nobody knows.
    """
    commits = {commit for commit in wanted.values() if commit}
    settings = _settings_at(context, commits)
    ids: dict[tuple[FilePath, SourceReference], ObjectId | None] = {}
    for (page, reference), commit in wanted.items():
        ids[page, reference] = None
        name = collection_of(reference.source_path, context.rules.collections)
        current = settings_of(context).get(name)
        setting = settings[commit].get(name) if commit else current
        if current is None or setting is None:
            continue
        try:
            place = open_version(context, current)
        except UbpError:
            continue
        version = _version_of(setting, place) if commit else place.view.snapshot.commit
        if version:
            sources = candidates(_localized(reference))
            found = place.history.ids_at({version: set(sources)})
            ids[page, reference] = next(filter(None, (found[version, s] for s in sources)), None)
    return ids


def _policy(setting: CollectionSetting, context: StalenessContext) -> str:
    """Return the policy of a collection, the stricter one of the project's and the machine's."""
    environment = context.repository.environment
    registered = read_collection(collections_dir(environment), setting.name)
    return pinned(registered, setting).policy if registered else setting.policy


class _Comparison(NamedTuple):
    """The comparison of the sources in one collection, opened at the version of a snapshot."""

    setting: CollectionSetting
    collection: StalenessContext
    context: StalenessContext
    origins: Origins
    described: Mapping[FilePath, Settings | None]

    def compare(
        self, requests: Sequence[BaselineRequest]
    ) -> dict[BaselineRequest, ReferenceVerdict]:
        local = {r: BaselineRequest(r.page, _localized(r.reference)) for r in requests}
        located = locate(self.collection.view, {request.reference for request in local.values()})
        verdicts: dict[BaselineRequest, ReferenceVerdict] = {}
        baselines: dict[BaselineRequest, Baseline] = {}
        versions: dict[FilePath, LastChange] = {}
        historical: list[BaselineRequest] = []
        # The pin of a translation is a commit of its original's repository.
        keyed = [
            local[request]
            for request in requests
            if request.reference.pin and request.reference.language is not None
        ]
        if keyed:
            baselines |= from_key_pins(keyed, located, self.collection)
        for request in requests:
            current = located[local[request].reference]
            if local[request] in baselines:
                continue
            if pin := request.reference.own_pin:
                baselines[local[request]] = Baseline("pin", current.source, pin)
            elif self.origins.is_edited(request.page.filepath):
                baselines[local[request]] = Baseline("snapshot", current.source, current.id)
            else:
                found = self._described_version(request, current)
                if isinstance(found, ReferenceVerdict):
                    verdicts[request] = found
                else:
                    versions[request.page.filepath] = LastChange(found, is_boundary=False)
                    historical.append(local[request])
        if historical:
            baselines |= from_history(historical, located, versions, self.collection.history)
        compared = compare_sources(baselines, located, self.collection)
        return verdicts | {
            request: self._global(request, compared[local[request]])
            for request in requests
            if local[request] in compared
        }

    def _described_version(
        self, request: BaselineRequest, current: LocatedSource
    ) -> "ObjectId | ReferenceVerdict":
        """Return the collection's commit that an unedited page describes, else the verdict."""
        name = self.setting.name
        settings = self.described.get(request.page.filepath)
        if settings is None:
            return _unknown(request, name, None, current=current.id)
        setting = settings.get(name)
        if setting is None or not setting.at:
            return _unknown(request, name, "no_version", current=current.id)
        return _version_of(setting, self.collection) or _unknown(
            request,
            name,
            "no_collection",
            current=current.id,
            unfetched=f"{name}@{setting.at[:SHORT_VERSION]}",
        )

    def _global(self, request: BaselineRequest, verdict: ReferenceVerdict) -> ReferenceVerdict:
        """Return a verdict of the collection as one on the page's reference."""
        if self.collection.rules.is_hidden(verdict.source_path):
            verdict = hide_details(verdict)
        name = self.setting.name
        is_as_written = verdict.source_path == verdict.reference.source_path
        return verdict._replace(
            reference=request.reference,
            source_path=request.reference.source_path
            if is_as_written
            else FilePath(f"{name}:{verdict.source_path}"),
            moved_to=verdict.moved_to and FilePath(f"{name}:{verdict.moved_to}"),
            collection=name,
            unfetched=self._unfetched(verdict),
        )

    def _unfetched(self, verdict: ReferenceVerdict) -> str:
        """Return the version of a mirror that has the baseline, where its bytes were needed."""
        if verdict.note != "no_blob" or self.setting.kind != "mirror":
            return ""
        commit = verdict.baseline_commit
        if commit is None and verdict.commits:  # the drift from a pin begins after its version
            oldest = verdict.commits[-1].id
            commit = first_parents(self.collection.repository, {oldest}).get(oldest)
        return f"{self.setting.name}@{commit[:SHORT_VERSION]}" if commit else ""


SHORT_VERSION = 12  # digits of a commit or tree: as many as UBP's pins have at least


def _described_settings(
    context: StalenessContext, origins: Origins, before: StalenessContext | None
) -> dict[FilePath, Settings | None]:
    """Return the collections as they were pinned when each unedited page last changed.

    None: a shallow clone ends before that commit, and no state before a change is known.
    """
    pages = unpinned_pages(context.view, context.rules.translations)
    changes = last_changes(context, origins, pages)
    known = {change.commit for change in changes.values() if not change.is_boundary}
    settings = _settings_at(context, known)
    otherwise = settings_of(before) if before else None
    return {
        path: otherwise if change.is_boundary else settings[change.commit]
        for path, change in changes.items()
    }


def _settings_at(
    context: StalenessContext, commits: Collection[ObjectId]
) -> dict[ObjectId, Settings]:
    """Return the collections as these commits pin them."""
    entries = context.history.entries_at({commit: [CONFIG_FILE] for commit in commits})
    blobs = {
        commit: entry.id
        for commit in commits
        if (entry := entries[commit, CONFIG_FILE]) and entry.is_file
    }
    contents = context.repository.read_blobs(set(blobs.values()))
    parsed = {blob: _parse(data) for blob, data in contents.items() if data is not None}
    return {commit: parsed.get(blobs.get(commit, ObjectId("")), {}) for commit in commits}


def _parse(config: bytes) -> Settings:
    """Return the collections of a configuration; none where it cannot be used."""
    from ubp.core.config_file import parse_config

    try:
        collections = parse_config(config, CONFIG_FILE).collections
    except ConfigError:
        return {}
    return {setting.name: setting for setting in collections}


def _version_of(setting: CollectionSetting, collection: StalenessContext) -> ObjectId | None:
    """Return the commit of a collection that a configuration pinned; None: it is not here."""
    return find_version(collection.repository, setting.at) if setting.at else None


def _localized(reference: SourceReference) -> SourceReference:
    return reference._replace(
        source_path=_inner(reference.source_path), literal=_inner(reference.literal)
    )


def _inner(path: FilePath) -> FilePath:
    """Return `spec.md` for `go:spec.md`; a path that leaves the collection names nothing there."""
    inner = path.partition(":")[2]
    return normalize_path(inner) or FilePath(inner)


def _at_its_pin(request: BaselineRequest) -> ReferenceVerdict:
    """Return the verdict on a source in a repository that this clone has not.

    Its page describes what is pinned; whether that is behind the tip an organisation's hub knows.
    """
    pin = request.reference.own_pin
    if pin is None:
        return _unknown(request, "", "other_repository")
    return _verdict(request, "", "fresh", "fresh")._replace(baseline_blob=pin)


def _unknown(
    request: BaselineRequest,
    name: str,
    note: Note | None,
    *,
    current: ObjectId | None = None,
    unfetched: str = "",
) -> ReferenceVerdict:
    verdict = _verdict(request, name, "unknown", "unknown")
    return verdict._replace(note=note, current_blob=current, unfetched=unfetched)


def _verdict(
    request: BaselineRequest, name: str, verdict: Verdict, level: Level
) -> ReferenceVerdict:
    kind: BaselineKind = "pin" if request.reference.own_pin else "history"
    path = request.reference.source_path
    return ReferenceVerdict(request.reference, path, verdict, level, kind, collection=name)

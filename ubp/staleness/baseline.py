"""Find the baseline of each reference: the state of its source that the page describes."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.interruption import with_checkpoints
from ubp.core.model import (
    MODE_SUBMODULE,
    BaselineKind,
    Entry,
    FilePath,
    LastChange,
    Note,
    ObjectId,
    Page,
    SourceReference,
)
from ubp.core.paths import closest_path
from ubp.core.source import GlobSource, Source
from ubp.core.translations import TranslationRule, find_original
from ubp.git.trees import entries_at, files_below, resolve_objects
from ubp.index.history import History
from ubp.index.view import View
from ubp.staleness.model import StalenessContext
from ubp.staleness.references import LocatedSource, candidates

# Soft hyphens, joiners, marks of direction and of byte order, variation selectors, tags.
_INVISIBLE = (
    "[\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)

EntryLookup = Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]]


class Origins:
    """The paths before a change of the pages that it did not edit, renamed or not.

    `commit` is the state before the change; None: there was none.
    """

    def __init__(
        self,
        after: View,
        before: EntryLookup,
        changes: Mapping[FilePath, Entry | None],
        commit: ObjectId | None,
    ) -> None:
        """Take the view after the change, the entries before it, and the changed files."""
        self._after = after
        self._before = before
        self._changes = changes
        self._cache: dict[FilePath, FilePath | None] = {}
        self.commit = commit

    @classmethod
    def uncommitted(cls, view: View) -> "Origins":
        """Return the origins for the change from a snapshot's commit to the snapshot."""
        return cls(view, view.base_entries, view.snapshot.changes, view.snapshot.commit)

    def compare_texts(self, pages: Collection[FilePath]) -> None:
        """Count those of these pages as not edited that have the same text as before the change.

        White space, line breaks and invisible characters do not count as text: nobody has read a
        page because a blank line or a zero-width space was added to it.
        """
        edited = [path for path in pages if self.is_edited(path)]
        if not edited:
            return
        old = {path: entry for path, entry in self._before(edited).items() if entry}
        suffixes = {_suffix(path) for path in edited if path not in old}
        removed = [p for p, entry in self._changes.items() if not entry and _suffix(p) in suffixes]
        moved = {path: entry for path, entry in self._before(removed).items() if entry}
        blobs = {entry.id for entry in (*old.values(), *moved.values()) if entry.is_file}
        texts = {
            blob: words_of(data)
            for blob, data in self._after.context.repository.read_blobs(blobs).items()
            if data
        }
        by_text: dict[str, list[FilePath]] = defaultdict(list)
        for path, entry in moved.items():
            if entry.id in texts:
                by_text[texts[entry.id]].append(path)
        for path, data in self._after.read(edited).items():
            if data is None:
                continue
            text = words_of(data)
            if path not in old:
                self._cache[path] = closest_path(path, by_text.get(text, ()))
            elif texts.get(old[path].id) == text:
                self._cache[path] = path

    def of(self, path: FilePath) -> FilePath | None:
        """Return the path before the change with the same bytes; None: the page is edited or new.

        For a new path it is a path that the change removed and that had the same blob: of several
        the one with the same file name, then the longest common prefix, then the first by name.
        """
        if path not in self._changes:
            return path
        if path not in self._cache:
            self._cache[path] = self._find(path)
        return self._cache[path]

    def is_edited(self, path: FilePath) -> bool:
        """Return whether the change edited the page; mode and path do not count."""
        return self.of(path) is None

    def _find(self, path: FilePath) -> FilePath | None:
        entry = self._after.entry(path)
        before = self._before([path])[path]
        if entry is None:
            return None
        if before is not None:
            return path if before.id == entry.id else None
        removed = self._before([name for name, change in self._changes.items() if change is None])
        same_bytes = [name for name, old in removed.items() if old and old.id == entry.id]
        return closest_path(path, same_bytes)


def _suffix(path: FilePath) -> str:
    return path.rpartition(".")[2]


def words_of(data: bytes) -> str:
    """Return a page's text without invisible characters, its words a single space apart."""
    text = data.decode("utf-8", "surrogateescape")
    if not text.isascii():
        import re  # few changes edit pages that are not ASCII

        text = re.sub(_INVISIBLE, "", text)
    return " ".join(text.split())


class Baseline(NamedTuple):
    """The state of a source that a page describes.

    `id` is None where the source did not exist; `is_known` is False where a shallow clone ends
    before that state. `commit` is the commit of a baseline of kind `history`. `source` is what the
    reference meant in that state: a source missing from the snapshot may have been a literal path.
    A pin at a key of its own may be a commit, or, if Git has no such object, unknown (`note`).
    """

    kind: BaselineKind
    source: Source
    id: str | None
    commit: ObjectId | None = None
    is_known: bool = True
    note: Note | None = None


class BaselineRequest:
    """A reference of a page whose baseline is to be found.

    Compared by identity: hashing the page's facts repeatedly took a tenth of a warm run.
    """

    __slots__ = ("page", "reference")

    def __init__(self, page: Page, reference: SourceReference) -> None:
        self.page = page
        self.reference = reference


def find_baselines(
    requests: Sequence[BaselineRequest],
    located: Mapping[SourceReference, LocatedSource],
    context: StalenessContext,
    origins: Origins,
) -> dict[BaselineRequest, Baseline]:
    """Return the baseline of each reference, in the order of the requests.

    A pin is a baseline itself, or names the commit that has it. An unpinned reference of an edited
    page describes the snapshot; of any other page, the tree of the last commit before the change
    that changed the page's bytes (for two exceptions see `ubp.git.history.last_changes`).
    """
    baselines: dict[BaselineRequest, Baseline] = {}
    historical: list[BaselineRequest] = []
    keyed: list[BaselineRequest] = []
    for request in requests:
        current, pin = located[request.reference], request.reference.pin
        if pin and request.reference.pin_key:
            keyed.append(request)
        elif pin:
            baselines[request] = Baseline("pin", current.source, pin)
        elif origins.is_edited(request.page.filepath):
            baselines[request] = Baseline("snapshot", current.source, current.id)
        else:
            historical.append(request)
    if keyed:
        baselines |= from_key_pins(keyed, located, context)
    if historical:
        pages = {request.page.filepath for request in historical}
        changes = last_changes(context, origins, pages)
        found = from_history(historical, located, changes, context.history)
        baselines |= found | _before_renames(found, context)
    return {request: baselines[request] for request in requests}


def _before_renames(
    baselines: Mapping[BaselineRequest, Baseline], context: StalenessContext
) -> dict[BaselineRequest, Baseline]:
    """Return the baselines of translations that moved together with their originals.

    A pure rename is not an edit: the commit of the baseline has both at their earlier paths.
    """
    lost = {
        request: baseline.commit
        for request, baseline in baselines.items()
        if request.reference.language and baseline.commit and baseline.id is None
    }
    if not lost:
        return {}
    rules, repository = context.rules.translations, context.repository
    paths_at: dict[ObjectId, set[FilePath]] = defaultdict(set)
    for request, commit in lost.items():
        paths_at[commit].add(request.page.filepath)
    entries = entries_at(repository, paths_at)
    moved = {
        request: commit
        for request, commit in lost.items()
        if entries[commit, request.page.filepath] is None
    }
    files_at = {
        commit: files_below(repository, commit, FilePath("")) for commit in {*moved.values()}
    }
    found: dict[BaselineRequest, Baseline] = {}
    for request, commit in moved.items():
        page, files = request.page, files_at[commit]
        same = [path for path, entry in files.items() if entry.id == page.blob]
        old_path = closest_path(page.filepath, same)
        origin = find_original(rules, old_path) if old_path else None
        if origin and (original := files.get(origin[2])):
            found[request] = baselines[request]._replace(id=original.id)
    return found


def last_changes(
    context: StalenessContext, origins: Origins, pages: Collection[FilePath]
) -> dict[FilePath, LastChange]:
    """Return the last change of each of these pages, up to the state that `origins` lead to.

    A hook needs only those of a few pages, but of different ones each time: if only these were
    read, the hook of the next commit would walk the whole history again. So where it is walked, it
    is for every page with an unpinned reference.
    """
    head = origins.commit
    if head is None:
        return {}

    def old_paths_of_all() -> set[FilePath]:
        unpinned = unpinned_pages(context.view, context.rules.translations)
        return {origin for path in unpinned if (origin := origins.of(path))}

    old_paths = {path: origin for path in pages if (origin := origins.of(path))}
    changes = context.history.last_changes(head, set(old_paths.values()), old_paths_of_all)
    return {page: changes[origin] for page, origin in old_paths.items() if origin in changes}


def unpinned_pages(view: View, rules: Sequence[TranslationRule]) -> list[FilePath]:
    """Return the pages with at least one unpinned reference, translations too."""
    pages = view.bound_pages()
    if rules:
        from ubp.staleness.translations import find_translations

        pages += find_translations(view, rules)
    unpinned = [
        page.filepath
        for page in pages
        if any(reference.pin is None for reference in page.facts.references)
    ]
    return list(dict.fromkeys(unpinned))


def from_key_pins(
    requests: Sequence[BaselineRequest],
    located: Mapping[SourceReference, LocatedSource],
    context: StalenessContext,
) -> dict[BaselineRequest, Baseline]:
    """Return the baselines of pins at keys of their own: Git says which of them are commits."""
    pins = {request.reference.pin for request in requests if request.reference.pin}
    objects = resolve_objects(sorted(pins), context.repository, has_commits=True)
    commits = {
        pin: LastChange(entry.id, is_boundary=False)
        for pin, entry in objects.items()
        if entry.mode == MODE_SUBMODULE
    }
    at_commits = [request for request in requests if request.reference.pin in commits]
    baselines = {
        request: baseline._replace(kind="pin")
        for request, baseline in _from_commits(
            {request: commits[request.reference.pin or ""] for request in at_commits},
            located,
            context.history,
        ).items()
    }
    lost: Note | None = None if context.repository.is_shallow else "no_pin"
    for request in requests:
        source, entry = located[request.reference].source, objects.get(request.reference.pin or "")
        if entry is None:
            baselines[request] = Baseline("pin", source, None, is_known=False, note=lost)
        elif request not in baselines:
            baselines[request] = Baseline("pin", source, entry.id)
    return baselines


def from_history(
    requests: Sequence[BaselineRequest],
    located: Mapping[SourceReference, LocatedSource],
    changes: Mapping[FilePath, LastChange],
    history: History,
) -> dict[BaselineRequest, Baseline]:
    """Return the state of each source in the commit that its page describes (`changes`)."""
    by_request = {request: changes.get(request.page.filepath) for request in requests}
    return _from_commits(by_request, located, history)


def _from_commits(
    changes: Mapping[BaselineRequest, LastChange | None],
    located: Mapping[SourceReference, LocatedSource],
    history: History,
) -> dict[BaselineRequest, Baseline]:
    """Return the state of each source in a commit, unknown where a shallow clone ends at it."""
    sources_at: dict[ObjectId, set[Source]] = defaultdict(set)
    candidates_at: dict[BaselineRequest, tuple[ObjectId, tuple[Source, ...]]] = {}
    for request, change in with_checkpoints(changes.items()):
        if change is None or change.is_boundary:
            continue
        sources = _old_sources(request.reference, located[request.reference])
        candidates_at[request] = change.commit, sources
        sources_at[change.commit].update(sources)
    ids = history.ids_at(sources_at)
    baselines = {}
    for request in changes:
        if request not in candidates_at:
            source = located[request.reference].source
            baselines[request] = Baseline("history", source, None, is_known=False)
            continue
        commit, sources = candidates_at[request]
        source = sources[0]
        for source in sources:
            if ids[commit, source]:
                break
        baselines[request] = Baseline("history", source, ids[commit, source], commit)
    return baselines


def _old_sources(reference: SourceReference, current: LocatedSource) -> tuple[Source, ...]:
    """Return what the reference may have meant: its current path, or else any candidate."""
    if current.id is not None and not isinstance(current.source, GlobSource):
        return (current.source,)
    return candidates(reference)

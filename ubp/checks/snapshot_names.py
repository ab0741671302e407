"""The names of a snapshot, from the index; and the mentions that a change, or time, outdated."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache, cached_property

from ubp.bindings.path_words import is_test
from ubp.checks.outdated import NotCheckedError, OutdatedMention
from ubp.checks.removed_names import (
    PROSE_SUFFIXES,
    NewMention,
    Owners,
    PageCode,
    RemovedMention,
    changed_source,
    defines_names,
    describes_present,
    find_changed_manifest,
    find_mention,
    find_path,
    find_removed_names,
    find_removed_paths,
    folders_of,
    is_example,
    is_source,
    occurs,
    path_forms,
    read_page_code,
    with_emptied_folders,
)
from ubp.checks.renames import Renames
from ubp.code.definitions import is_program, language_of
from ubp.code.removed import ChangedSource, Removed, Replacement, SourceChange, may_spell
from ubp.core.interruption import with_checkpoints
from ubp.core.model import MODE_FILE, Entry, FilePath, ObjectId
from ubp.core.names import fold_name, name_key, name_words
from ubp.git.additions import commit_before, files_with_name, find_addition
from ubp.git.change_log import read_changes
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.index.name_keys import (
    PackedKeys,
    PageKeys,
    SourceKeys,
    UnreadError,
    read_page_keys,
    read_source_keys,
    read_stored_keys,
    read_version_keys,
    select_versions,
    spelling_key,
    unpack_keys,
)
from ubp.index.view import View
from ubp.staleness.model import Change, StalenessContext

# A hook, or a tool call, reads so many files that the index lacks: half a second.
MAX_UNREAD = 200
# Mentions whose history a check reads: each takes git 0.1 to 1 s.
MAX_ADDITIONS = 30
# Sources that are read for the spelling of a name.
MAX_HOLDERS = 100
# Suffixes of files that are no sources. Without these a search of a commit of Druid's site, nearly
# all of it pages and images, takes 0.07 s instead of 5.
_NEVER_SOURCES = (*PROSE_SUFFIXES, "png", "jpg", "jpeg", "gif", "ico", "webp", "ttf", "woff2")
# What sources have had for longer was not new to those who wrote the page.
NEW_SECONDS = 30 * 86_400

IsHidden = Callable[[FilePath], bool]


class SnapshotNames:
    """The names in a view's documents and sources.

    `before` has the entries of the files that a change touches, as they were before it, and `added`
    the keys that it brings into the sources (None: all may be new). If `is_quick`, the index must
    have nearly all of what is asked. `start` is the commit from which the history of pages is read.
    """

    def __init__(
        self,
        view: View,
        before: Mapping[FilePath, Entry | None],
        added: AbstractSet[int] | None = None,
        *,
        is_quick: bool = False,
        start: ObjectId | None = None,
    ) -> None:
        self.origin: Callable[[FilePath], FilePath | None] = lambda _: None
        """Returns the old path of a page that the change moves."""
        self._view = view
        self._start = start
        self._additions: dict[tuple[FilePath, str], NewMention | None] = {}
        self._before = before
        self._added = added
        self.limit = MAX_UNREAD if is_quick else None
        self._code: dict[FilePath, PageCode | None] = {}
        self._old: dict[FilePath, bytes | None] = {}
        self._is_occurring: dict[int, bool] = {}
        self.unread = set[FilePath]()
        """The sources that could not be read so far: they may contain any name."""

    def pages_with(self, keys: Collection[int]) -> Mapping[int, Collection[FilePath]]:
        """Return the pages whose code has a name or path of each of these keys."""
        return self._packed_pages.holders(keys) if keys else {}

    def pages_spelling(self, spellings: Collection[str]) -> Mapping[str, Collection[FilePath]]:
        """Return the pages whose code has each of these words and options (without dashes)."""
        by_key = {spelling_key(spelling): spelling for spelling in spellings}
        holders = self._packed_spellings.holders(by_key) if by_key else {}
        return {by_key[key]: pages for key, pages in holders.items()}

    def occurring(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys that the sources have."""
        known = self._is_occurring
        if new := {key for key in keys if key not in known}:
            present = self._find_occurring(new)
            known.update((key, key in present) for key in new)
        return {key for key in keys if known[key]}

    def building(self, keys: Collection[int]) -> AbstractSet[int]:
        """Return those of these keys of fragments from which sources may build removed names.

        While the sources had the name itself, they did not build it from the fragments beside it.
        """
        return self.occurring(keys) if self._added is None else self._added & set(keys)

    def code(self, page: FilePath) -> PageCode | None:
        """Return the names in a page's code, and its lines; None: it cannot be read."""
        if page not in self._code:
            data = self._view.read([page]).get(page)
            self._code[page] = None if data is None else read_page_code(data)
        return self._code[page]

    def read_before(self, page: FilePath) -> bytes | None:
        """Return the contents of a page that the change edits or moves, as they were before it."""
        if page not in self._old:
            entry = self._before.get(self._old_path(page))
            self._old[page] = None if entry is None else _blobs(self._view, [entry.id])[entry.id]
        return self._old[page]

    def _old_path(self, page: FilePath) -> FilePath:
        is_new = self.is_edited(page) and self._before[page] is None
        return (self.origin(page) if is_new else None) or page

    def is_edited(self, page: FilePath) -> bool:
        """Return whether the change edits or adds a page."""
        return page in self._before

    def find_addition(self, page: FilePath, text: str) -> NewMention | None:
        """Return the commit that added a text to a page; None: unknown, or too many were asked."""
        key = page, text
        if key not in self._additions:
            is_asked = len(self._additions) < MAX_ADDITIONS
            self._additions[key] = (
                find_new_mention(
                    self._view.context.repository, self._start, self._old_path(page), text
                )
                if self._start is not None and is_asked
                else None
            )
        return self._additions[key]

    def files(self) -> Collection[FilePath]:
        """Return all files."""
        return self._files

    def read_files(self, paths: Collection[FilePath]) -> Mapping[FilePath, bytes]:
        """Return the contents of those of these files that can be read."""
        entries = {path: self._files[path] for path in paths if path in self._files}
        contents = read_documents(self._view.context.repository, self._view.snapshot, entries)
        return {path: data for path, data in contents.items() if data is not None}

    def page_keys(self, pages: Collection[FilePath] | None = None) -> Mapping[FilePath, PageKeys]:
        """Return the keys in those of these pages (None: all) that describe the present state.

        Raises:
            NotCheckedError: the index lacks too many of them.
        """
        files = self._view.document_files() if pages is None else self._view.entries(pages)
        documents = with_checkpoints(files.items())
        entries = {path: entry for path, entry in documents if entry and describes_present(path)}
        with _limited("pages"):
            return read_page_keys(self._view.context, entries, self.limit)

    @cached_property
    def source_keys(self) -> Mapping[FilePath, SourceKeys]:
        """The keys in the sources."""
        return self._read_keys(self._files)

    @cached_property
    def _packed_pages(self) -> PackedKeys[FilePath]:
        return PackedKeys({path: keys.names for path, keys in self._page_keys.items()})

    @cached_property
    def _packed_spellings(self) -> PackedKeys[FilePath]:
        return PackedKeys({path: keys.spellings for path, keys in self._page_keys.items()})

    @cached_property
    def _page_keys(self) -> Mapping[FilePath, PageKeys]:
        return self.page_keys()

    @cached_property
    def _packed_sources(self) -> tuple[PackedKeys[ObjectId], PackedKeys[FilePath]]:
        """The keys in the stored blobs, which need not be sources, and in the other sources."""
        occurring, unread = read_stored_keys(self._view) or ({}, self._files)
        keys = self._read_keys(unread)
        sources = {path: _living(path, source) for path, source in keys.items()}
        return PackedKeys(occurring), PackedKeys(sources)

    def is_spelled(self, spelling: str) -> bool:
        """Return whether a source has a word or option in this very spelling, or may make it.

        Where many sources have the name, they are not read: they may.
        """
        contents = self._read_holders(spelling)
        return contents is None or any(
            may_spell(path, data, spelling) for path, data in contents.items()
        )

    def is_written(self, name: str) -> bool:
        """Return whether a source has a name of several words exactly so.

        Where many sources have its words, they are not read: one may.
        """
        contents = self._read_holders(name)
        written = re.compile(rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])")
        return contents is None or any(written.search(data) for data in contents.values())

    def _read_holders(self, spelling: str) -> Mapping[FilePath, bytes] | None:
        """Return the sources that have a name in any spelling; None: too many, or unreadable."""
        key = name_key(fold_name(spelling))
        stored, sources = self._packed_sources
        blobs = {blob for ids in stored.holders([key]).values() for blob in ids}
        paths = {path for found in sources.holders([key]).values() for path in found}
        paths |= {path for path in self._view.unchanged_files(blobs) if is_source(path)}
        if len(paths) > MAX_HOLDERS:
            return None
        contents = self.read_files(paths)
        return contents if contents.keys() == paths else None

    def _find_occurring(self, keys: Collection[int]) -> set[int]:
        stored, sources = self._packed_sources
        found = set(sources.holders(keys))
        blobs = stored.holders([key for key in keys if key not in found])
        files = self._view.unchanged_files({blob for ids in blobs.values() for blob in ids})
        holders = {path: entry for path, entry in files.items() if is_source(path)}
        in_sources = {entry.id for path, entry in holders.items() if not is_example(path)}
        found.update(key for key, ids in blobs.items() if not in_sources.isdisjoint(ids))
        examples = {path: entry for path, entry in holders.items() if is_example(path)}
        if examples and not found.issuperset(keys):
            for path, source in self._read_keys(examples).items():
                found.update(unpack_keys(_living(path, source)))
        return found.intersection(keys)

    def _read_keys(self, files: Mapping[FilePath, Entry | None]) -> Mapping[FilePath, SourceKeys]:
        """Return the keys in those of these files that are sources."""
        documents = frozenset(self._view.document_paths())
        sources = {
            path: entry
            for path, entry in with_checkpoints(files.items())
            if entry and entry.is_file and path not in documents and is_source(path)
        }
        with _limited("sources"):
            keys = read_source_keys(self._view.context, sources, self.limit)
        self.unread.update(sources.keys() - keys.keys())
        return keys

    @cached_property
    def _files(self) -> Mapping[FilePath, Entry]:
        return dict(self._view.files())


def find_new_mention(
    repository: Repository, start: ObjectId, page: FilePath, text: str
) -> NewMention | None:
    """Return the commit that added a text to a page, seen from `start`; None: unknown."""
    found = find_addition(repository, start, page, text)
    if found is None:
        return None
    changed = read_changes(repository, [found.commit])[found.commit]

    def has_name(commit: ObjectId) -> bool | None:
        files = files_with_name(repository, commit, name_words(text), _NEVER_SOURCES)
        return None if files is None else any(map(is_source, files))

    earlier = commit_before(repository, found.commit, found.date - NEW_SECONDS)

    def is_name_new() -> bool:
        if earlier is None and repository.is_shallow:
            return False
        was_there = has_name(earlier) if earlier else False
        return was_there is False and has_name(found.commit) is True

    return NewMention(found.commit, changed, is_name_new, is_young=earlier is None)


def find_outdated_by_change(change: Change, is_hidden: IsHidden) -> Iterator[OutdatedMention]:
    """Yield the mentions of names and paths that a change removes from the sources for good.

    Raises:
        NotCheckedError: sources are not indexed; or the contents of one are not available: then
            the mentions of names are yielded before, as uncertain.
    """
    if not change.before:
        return
    view = change.after.view
    paths = [path for path in change.changes if not is_hidden(path)]
    before, after = change.before[0].view.entries(paths), view.entries(paths)
    sources = _changed_files(view, before, after, is_source)
    defined, removed, added, unread = _changed_keys(view, sources)
    old = change.before[0].view
    renames = Renames(view.context.repository, view, old.entries, change.changes)
    names = SnapshotNames(
        view,
        before,
        added,
        is_quick=view.snapshot.kind == "staged",
        start=old.snapshot.commit,
    )
    names.origin = renames.origin
    # A name that one side of a merge lacked is not removed by the merge.
    others = [SnapshotNames(other.view, {}) for other in change.before[1:]]
    changed = cache(lambda: _read_changed(view, sources))
    tests = _changed_files(view, before, after, _is_test_program)
    source_change = cache(lambda: SourceChange(changed(), lambda: _read_changed(view, tests)))

    spellings = [
        spelling
        for spelling in source_change().removed_spellings
        if name_key(fold_name(spelling)) in defined
    ]
    for found in find_removed_names(removed, spellings, source_change(), names):
        if found.removed and all(_had(other, found.removed) for other in others):
            new = source_change().find_replacement(found.removed)
            manifest = None if new else find_changed_manifest(changed(), found.removed.path)
            is_uncertain = bool(unread or names.unread)
            yield _outdated(found, new, manifest=manifest, is_uncertain=is_uncertain)
    deleted = [path for path, entry in before.items() if entry and not after[path]]
    for found in find_removed_paths(deleted, names):
        if all(found.name in _with_folders(other.files()) for other in others):
            yield _outdated(found)
    _check_read(unread | names.unread.union(*(other.unread for other in others)))


def _had(names: SnapshotNames, removed: Removed) -> bool:
    """Return whether the sources of a parent had a name that the change removes."""
    if removed.is_spelling:
        return names.is_spelled(removed.name.lstrip("-"))
    return bool(names.occurring([name_key(fold_name(removed.name))]))


def _outdated(
    found: RemovedMention,
    replacement: Replacement | None = None,
    *,
    manifest: FilePath | None = None,
    is_old: bool = False,
    is_uncertain: bool = False,
) -> OutdatedMention:
    new_name = replacement.name if replacement else None
    if new_name and found.mention.is_option and not new_name.startswith("--"):
        new_name = f"--{'-'.join(name_words(new_name))}"
    elif new_name and not found.mention.is_option:
        new_name = new_name.removeprefix("--")
        new_name = new_name.replace("-", "_") if "_" in found.mention.text else new_name
    return OutdatedMention(
        page=found.page,
        line=found.mention.line,
        text=found.mention.text,
        is_front_matter=found.mention.place == "front matter",
        name=found.name,
        source=FilePath(found.removed.path) if found.removed else None,
        replacement=new_name,
        replaced_in=FilePath(replacement.path) if replacement else None,
        manifest=manifest,
        is_old=is_old,
        is_uncertain=is_uncertain,
        evidence=found.evidence,
    )


def find_outdated_in_state(
    context: StalenessContext,
    pages: frozenset[FilePath] | None,
    is_hidden: IsHidden,
    *,
    is_quick: bool = False,
) -> Iterator[OutdatedMention]:
    """Yield the mentions of names that existed when their page was last changed, and no more.

    `pages` narrow it, None: all. An edited page describes the state that it is in.

    Raises:
        NotCheckedError: the contents of a source are not available, or not indexed (`is_quick`).
    """
    view, head = context.view, context.view.snapshot.commit
    if head is None:
        return
    names = SnapshotNames(view, {}, is_quick=is_quick, start=head)
    present = set[int]()
    unedited = None if pages is None else [path for path in pages if not view.is_changed(path)]
    unknown = {
        path: set(unpack_keys(keys.names))
        for path, keys in names.page_keys(unedited).items()
        if not view.is_changed(path)
    }
    if unknown:
        for path, source in names.source_keys.items():
            present.update(unpack_keys(_living(path, source)))
    dead = {path: keys - present for path, keys in unknown.items() if not keys <= present}
    changes = context.history.last_changes(head, list(dead))
    by_commit: dict[ObjectId, list[FilePath]] = {}
    for path in dead:
        if path in changes and not changes[path].is_boundary:
            by_commit.setdefault(changes[path].commit, []).append(path)
    if by_commit:
        yield from _compare_with_past(context, names, by_commit, dead, is_hidden)
    _check_read(names.unread)


def _compare_with_past(
    context: StalenessContext,
    names: SnapshotNames,
    pages: Mapping[ObjectId, list[FilePath]],
    dead: Mapping[FilePath, set[int]],
    is_hidden: IsHidden,
) -> Iterator[OutdatedMention]:
    """Yield the mentions of names that the sources defined at the commits of these pages."""
    from ubp.git.past_trees import walk_trees

    view = context.view
    commits = context.history.commits(pages.keys())
    in_order = sorted(pages, key=lambda commit: (commits[commit].date, commit))
    now = {path: entry.id for path, entry in view.files()}
    old_sources: dict[ObjectId, dict[ObjectId, FilePath]] = {}
    old_paths: dict[ObjectId, list[FilePath]] = {}

    @cache  # a commit has thousands of files, and most of them are in the next one, too
    def has_names(path: FilePath) -> bool:
        return bool(language_of(path)) and defines_names(path) and is_source(path)

    def is_wanted(path: FilePath) -> bool:
        return (path not in now or has_names(path)) and not is_hidden(path)

    for commit, files in walk_trees(context.repository, reversed(in_order), is_wanted):
        changed = [path for path, blob in files.items() if now.get(path) != blob]
        old_sources[commit] = {files[path]: path for path in changed if has_names(path)}
        old_paths[commit] = [path for path in changed if path not in now]
    definers, unread = _past_definers(view, old_sources, set().union(*dead.values()), names.limit)
    names.unread |= unread
    owners, folders = Owners(names), folders_of(now)
    for commit, paths in pages.items():
        sources = old_sources[commit]
        forms = {
            form.key: form
            for path in with_emptied_folders(old_paths[commit], folders)
            for form in path_forms(path)
        }
        for page in paths:
            for key in sorted(dead[page]):
                blob = next((blob for blob in definers.get(key, ()) if blob in sources), None)
                change = None if blob is None else _past_source(view, names, blob, sources[blob])
                removed = change and change.find_definition(key)
                if change and removed and not occurs(removed.name, key, names):
                    if found := find_mention(page, key, removed, owners, change):
                        yield _outdated(found, is_old=True)
                elif key in forms and (mention := find_path(page, forms[key], names)):
                    found = RemovedMention(page, mention, forms[key].path, None)
                    yield _outdated(found, is_old=True)


def _past_definers(
    view: View,
    sources: Mapping[ObjectId, Mapping[ObjectId, FilePath]],
    wanted: set[int],
    limit: int | None,
) -> tuple[dict[int, list[ObjectId]], set[FilePath]]:
    """Return the blobs in the sources of earlier commits that define each key, by path.

    And the sources of which a version cannot be read.
    """
    versions: dict[FilePath, set[ObjectId]] = {}
    for of_commit in sources.values():
        for blob, path in of_commit.items():
            versions.setdefault(path, set()).add(blob)
    with _limited("earlier versions of sources"):
        blobs = select_versions(view.context, versions, wanted, limit)
        keys = read_version_keys(view.context, blobs, limit)
    unread = {blobs[blob] for blob in blobs.keys() - keys.keys()}
    definers: dict[int, list[ObjectId]] = {}
    for blob in sorted(keys, key=lambda blob: (blobs[blob], blob)):
        for key in wanted.intersection(unpack_keys(keys[blob].defined)):
            definers.setdefault(key, []).append(blob)
    return definers, unread


def _past_source(view: View, names: SnapshotNames, blob: ObjectId, path: FilePath) -> SourceChange:
    """Return an old version of a source as a change to its present one."""
    present = names.read_files([path]).get(path)
    version = ChangedSource(_blobs(view, [blob])[blob], present, language_of(path))
    return SourceChange({path: version})


def _changed_files(
    view: View,
    before: Mapping[FilePath, Entry | None],
    after: Mapping[FilePath, Entry | None],
    is_wanted: Callable[[str], bool],
) -> dict[FilePath, tuple[ObjectId | None, ObjectId | None]]:
    """Return the blobs of the wanted files but pages that a change touches, before and after it."""
    documents = frozenset(view.document_paths())
    paths = (path for path in before if path not in documents and is_wanted(path))
    return {path: (_file_id(before[path]), _file_id(after[path])) for path in paths}


def _is_test_program(path: str) -> bool:
    """Return whether a file is a test, and not what a test reads: such files may be large."""
    return is_test(path) and is_program(path)


def _file_id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry and entry.is_file else None


def _changed_keys(
    view: View, sources: Mapping[FilePath, tuple[ObjectId | None, ObjectId | None]]
) -> tuple[set[int], set[int], set[int], set[FilePath]]:
    """Return the keys of the names that these sources defined, and of those that they had and lost.

    And those that they contain and did not before, and the sources that cannot be read.
    """
    versions = {before: path for path, (before, _) in sources.items() if before}
    if not versions:
        return set(), set(), set(), set()
    old_keys = read_version_keys(view.context, versions)
    unread = {versions[blob] for blob in versions.keys() - old_keys.keys()}
    current = {path: Entry(MODE_FILE, after) for path, (_, after) in sources.items() if after}
    new_keys = read_source_keys(view.context, current)
    unread |= current.keys() - new_keys.keys()
    defined, had, old, new = set[int](), set[int](), set[int](), set[int]()
    for known in old_keys.values():
        old.update(unpack_keys(known.occurring))
    for path, (before, _) in sources.items():
        if before in old_keys and defines_names(path):
            defined.update(unpack_keys(old_keys[before].defined))
            had.update(unpack_keys(old_keys[before].occurring))
    for path, keys in new_keys.items():
        new.update(unpack_keys(_living(path, keys)))
    return defined, (defined | had) - new, new - old, unread


def _living(path: FilePath, keys: SourceKeys) -> bytes:
    """Return the packed keys of the names that a source keeps alive."""
    if not is_example(path):
        return keys.occurring
    return keys.defined if is_program(path) else b""


def _read_changed(
    view: View, sources: Mapping[FilePath, tuple[ObjectId | None, ObjectId | None]]
) -> dict[str, ChangedSource]:
    """Return the contents of the sources that a change touches."""
    old = _blobs(view, {before for before, _ in sources.values() if before})
    current = {path: Entry(MODE_FILE, after) for path, (_, after) in sources.items() if after}
    new = read_documents(view.context.repository, view.snapshot, current)
    return {
        path: changed_source(path, old[before] if before else None, new.get(path))
        for path, (before, _) in sources.items()
    }


def _blobs(view: View, ids: Collection[ObjectId]) -> Mapping[ObjectId, bytes | None]:
    return view.context.repository.read_blobs(ids)


def _with_folders(files: Collection[FilePath]) -> set[str]:
    return {*files, *folders_of(files)}


@contextmanager
def _limited(kind: str) -> Iterator[None]:
    try:
        yield
    except UnreadError as error:
        raise NotCheckedError(
            f"{error.files:,} {kind} are not indexed yet; `ubp check` indexes them."
        ) from error


def _check_read(missing: Iterable[FilePath]) -> None:
    paths = sorted(missing)
    if paths:
        raise NotCheckedError(
            f"{paths[0]} cannot be read: it is too large, or not available in this partial clone;"
            " a removed name that it may still have is a warning."
        )

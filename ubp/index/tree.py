"""The files of a snapshot: those of its commit, and the changes on top of them.

The store lists the files of one commit per work tree, and the listing moves with HEAD. Where that
listing cannot answer, the tree is read from Git.
"""

import os
import stat
import time
from _thread import allocate_lock  # `threading` costs the hook 2 ms
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ubp.core.config import Config, is_document, is_narrower, scope_key
from ubp.core.errors import RepositoryError
from ubp.core.files import read_regular_file
from ubp.core.interruption import with_checkpoints
from ubp.core.model import (
    MODE_FILE,
    MODE_TREE,
    UNHASHED,
    Entry,
    FilePath,
    ObjectId,
    Page,
    Progress,
    Snapshot,
)
from ubp.git.output import blob_id
from ubp.git.repository import Repository
from ubp.git.snapshot import UNREADABLE, hash_files
from ubp.git.trees import diff_trees, list_tree, tree_id
from ubp.index.store.codec import pack_id, pack_path, unpack_id
from ubp.index.store.listings import Listing, ListingMovedError
from ubp.index.store.store import Store

if TYPE_CHECKING:  # it imports numpy
    from ubp.index.vector_cache import VectorCache

T = TypeVar("T")
Tree = Mapping[FilePath, Entry]
Changes = Mapping[FilePath, Entry | None]
"""Changed files; None: deleted."""

ROOT = FilePath("")

# Another process may move the listing to its own commit just as often as this one does.
MAX_LISTING_ATTEMPTS = 4


class CommonCache:
    """What sessions of one index and one configuration share, each in its own thread.

    That is a model's vectors, and what was read about the documents of one commit. Nothing in it
    changes afterwards or belongs to a connection: what is read is replaced as a whole, or added to
    a dictionary whose values depend on its keys alone.
    """

    def __init__(self) -> None:
        self.lock = allocate_lock()
        """Held by whoever replaces the vectors."""
        self.vectors: VectorCache | None = None
        self._of_commit: tuple[ObjectId | None, dict[str, Any]] = None, {}

    def of_commit(self, commit: ObjectId, name: str, make: Callable[[], T]) -> T:
        """Return what `make` read about a commit, cached under this name; one commit is cached."""
        cached, values = self._of_commit
        if cached != commit:
            values = {}
            self._of_commit = commit, values
        if name not in values:
            values.setdefault(name, make())  # another thread may have made it meanwhile
        return cast("T", values[name])


class SharedCache:
    """The common cache of the sessions that were opened last."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._last: tuple[object, CommonCache] = None, CommonCache()

    def of(self, key: object) -> CommonCache:
        """Return the cache of this key: the same one until there is another key."""
        with self._lock:
            if self._last[0] != key:
                self._last = key, CommonCache()
            return self._last[1]


class SessionCache:
    """What outlives a view: the common cache, and values derived from blobs."""

    def __init__(self, common: CommonCache | None = None) -> None:
        self.common = common or CommonCache()
        self._derived: dict[str, Any] = {}
        self._hashed_files: tuple[ObjectId | None, dict[FilePath, ObjectId]] = None, {}

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` derived from blobs, which are the same in every snapshot."""
        if name not in self._derived:
            self._derived[name] = make()
        return cast("T", self._derived[name])

    def hashed_files(self, snapshot: Snapshot) -> dict[FilePath, ObjectId]:
        """Return the ids that Git gave to changed files, to be added to; see `hash_changed`.

        They are cached for one commit, and not where attributes change: those decide which filters
        Git applies.
        """
        if any(path.endswith(".gitattributes") for path in snapshot.changes):
            return {}
        if self._hashed_files[0] != snapshot.commit:
            self._hashed_files = snapshot.commit, {}
        return self._hashed_files[1]


class IndexContext(NamedTuple):
    """What everything that answers about a snapshot needs; of a `collection` also its name."""

    repository: Repository
    store: Store
    snapshot: Snapshot
    progress: Progress
    cache: SessionCache
    collection: str = ""


def document_filter(config: Config) -> Callable[[FilePath, Entry], bool]:
    """Return a test for documents: regular files (never symlinks) within the configured scope."""
    return lambda path, entry: entry.is_file and is_document(config, path)


# Git reads a file of this size in 2 ms, and we once more for its line ends.
LARGE_FILE_BYTES = 1 << 20
# A file may be written again within a step of the file system's clock; the longest is two seconds.
SETTLED_SECONDS = 2.5


def hash_changed(
    repository: Repository,
    store: Store,
    paths: Collection[FilePath],
    hashed_files: dict[FilePath, ObjectId],
) -> dict[FilePath, Entry | None]:
    """Return what `hash_files` does, without Git for files that have not changed.

    `hashed_files` are files that Git stores as they are; those that still have the same bytes are
    only read, which takes a tenth of the time that git needs to start. This call adds to them. A
    large file is only read when its times or size changed. As in Git's index, a change of
    attributes alone does not show.
    """
    root = repository.root or ""
    known = {
        path: hashed_files[path]
        for path in paths
        if path in hashed_files and _own_id(os.path.join(root, path)) == hashed_files[path]
    }
    stamps = {path: stamp for path in paths if (stamp := _large_file_stamp(repository, path))}
    if stamps:
        hashed = _hash_with_large_files(repository, store, paths, stamps, known)
    else:
        hashed = hash_files(repository, paths, known)
    hashed_files |= {
        path: entry.id
        for path, entry in hashed.items()
        if entry and entry.is_file and path not in known
        if _own_id(os.path.join(root, path)) == entry.id
    }
    return hashed


def _own_id(file: str) -> ObjectId | None:
    """Return the blob id of a file's bytes, without Git's filters.

    None: it is not a regular file, or large, or has CRLF, which Git may convert.
    """
    try:
        status = os.lstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size >= LARGE_FILE_BYTES:
            return None
        data = read_regular_file(file)
    except (OSError, ValueError):  # absent; a NUL in the name
        return None
    return None if b"\r\n" in data else blob_id(data)


def _hash_with_large_files(
    repository: Repository,
    store: Store,
    paths: Collection[FilePath],
    stamps: Mapping[FilePath, str],
    known: Mapping[FilePath, ObjectId],
) -> dict[FilePath, Entry | None]:
    from ubp.index.store.digests import known_digest, save_digests

    keys = {p: (pack_path(os.path.join(repository.root or "", p)), stamps[p]) for p in stamps}
    found = {path: known_digest(store.database, *key) for path, key in keys.items()}
    unchanged = {path: unpack_id(digest) for path, digest in found.items() if digest}
    hashed = hash_files(repository, paths, {**known, **unchanged})
    new = {
        keys[path]: pack_id(entry.id)
        for path in stamps.keys() - unchanged.keys()
        if (entry := hashed[path]) and entry.is_file and entry.id != UNREADABLE
        if _large_file_stamp(repository, path, is_settled=True) == stamps[path]
    }
    save_digests(store.database, new)
    return hashed


def _large_file_stamp(
    repository: Repository, path: FilePath, *, is_settled: bool = False
) -> str | None:
    """Return what changes with a large regular file; `is_settled`: only if it is not a new one."""
    try:
        status = os.lstat(os.path.join(repository.root or "", path))
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size < LARGE_FILE_BYTES:
        return None
    if is_settled and time.time() - max(status.st_mtime, status.st_ctime) < SETTLED_SECONDS:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return repr((status.st_dev, status.st_ino, status.st_size, *times))


class CommitTree:
    """The files and folders of one commit; empty where there are no commits yet.

    The store's listing answers until another process moves it or the database fails; from then on
    the commit's tree does, read from Git once.
    """

    def __init__(
        self,
        repository: Repository,
        store: Store,
        config: Config,
        commit: ObjectId | None,
        listing: Listing | None,
    ) -> None:
        self._repository = repository
        self._store = store
        self._is_document = document_filter(config)
        self.commit = commit
        self._listing = listing
        self._tree: Tree | None = None

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        """Return the entries at these paths, the root excepted; paths without one are left out."""
        if not paths:
            return {}
        return self._query(
            lambda listing: self._store.listings.entries(listing, paths),
            lambda tree: {path: tree[path] for path in paths if path in tree},
        )

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Return all entries below a folder ("" is the root) that are not folders themselves."""
        prefix = f"{folder}/" if folder else ""
        return self._query(
            lambda listing: self._store.listings.files(listing, folder),
            lambda tree: [
                (path, entry)
                for path, entry in tree.items()
                if path.startswith(prefix) and not entry.is_directory
            ],
        )

    def children(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Return the entries directly in a folder ("" is the root)."""
        return self._query(
            lambda listing: self._store.listings.children(listing, folder),
            lambda tree: [
                (path, entry) for path, entry in tree.items() if path.rpartition("/")[0] == folder
            ],
        )

    def names_of_files(
        self, kinds: Sequence[str]
    ) -> tuple[dict[ObjectId, bytes], list[tuple[FilePath, Entry]]] | None:
        """Return the stored names of the files that are not documents, and the files without any.

        None: the listing is unavailable; read the names of each of `files` instead.
        """
        return self._query(
            lambda listing: self._store.listings.names_of_files(listing, kinds), lambda _: None
        )

    def files_of(self, blobs: Collection[ObjectId]) -> list[tuple[FilePath, Entry]]:
        """Return the files that have one of these blobs, documents apart."""
        return self._query(
            lambda listing: self._store.listings.files_of(listing, blobs),
            lambda tree: [
                (path, entry)
                for path, entry in tree.items()
                if entry.id in blobs and not self._is_document(path, entry)
            ],
        )

    def non_ascii_paths(self) -> list[FilePath]:
        """Return the paths that may be written in several Unicode forms."""
        return self._query(
            self._store.listings.non_ascii_paths,
            lambda tree: [path for path in tree if not path.isascii()],
        )

    def site_configs(self, cache: SessionCache) -> Sequence[FilePath]:
        """Return the files that may configure a site generator, and more; see `document_paths`."""
        if self.commit is None:
            return ()
        return cache.common.of_commit(
            self.commit,
            "site configs",
            lambda: tuple(self._query(self._store.listings.site_configs, list)),
        )

    def documents(self) -> list[tuple[FilePath, ObjectId]]:
        """Return the documents and their blobs."""
        return self._query(self._store.listings.documents, self._documents_of)

    def sorted_documents(self, cache: SessionCache) -> Mapping[FilePath, ObjectId]:
        """Return the documents' blobs, sorted by path; the cache keeps them for one commit.

        Reading 26,000 of them from the store takes 40 ms.
        """
        if self.commit is None:
            return {}
        return cache.common.of_commit(
            self.commit, "documents", lambda: dict(sorted(self.documents()))
        )

    def known_pages(self, cache: SessionCache) -> dict[FilePath, Page]:
        """Return the documents read so far, to be added to: reading 26,000 takes 0.3 s."""
        return {} if self.commit is None else cache.common.of_commit(self.commit, "pages", dict)

    def count_documents(self) -> int:
        """Return the number of documents."""
        return self._query(
            self._store.listings.count_documents, lambda tree: len(self._documents_of(tree))
        )

    def is_complete(self, keys: Sequence[str]) -> bool:
        """Return whether the store is known to have the facts of every document for these keys."""
        return self._listing is not None and self._listing.is_complete(keys)

    def documents_without_facts(self, keys: Sequence[str]) -> dict[FilePath, Entry]:
        """Return the documents without stored facts for these keys."""

        def search_tree(tree: Tree) -> list[tuple[FilePath, ObjectId]]:
            documents = self._documents_of(tree)
            missing = self._store.facts.missing({blob for _, blob in documents}, keys)
            return [document for document in documents if document[1] in missing]

        documents = self._query(
            lambda listing: self._store.listings.documents_without_facts(listing, keys),
            search_tree,
        )
        return {path: Entry(MODE_FILE, blob) for path, blob in documents}

    def mark_complete(self, keys: Sequence[str]) -> None:
        """Record that no document lacks facts, so that the next runs need not search for any."""
        if self._listing is not None:
            self._store.listings.mark_complete(self._listing, keys)

    def bound_pages(self, keys: Sequence[str], cache: SessionCache) -> list[Page] | None:
        """Return the documents whose stored facts have references or problems, in one query.

        None: the listing is unavailable; read the facts of each of `documents` instead. The cache
        keeps those of a commit whose facts are complete: reading 5,000 takes 0.1 s.
        """

        def read() -> list[Page] | None:
            return self._query(
                lambda listing: self._store.listings.bound_pages(listing, keys), lambda _: None
            )

        if self.commit is None or not self.is_complete(keys):
            return read()
        cached = cache.common.of_commit(self.commit, "bound pages", read)
        return None if cached is None else list(cached)

    def _documents_of(self, tree: Tree) -> list[tuple[FilePath, ObjectId]]:
        return [(path, entry.id) for path, entry in tree.items() if self._is_document(path, entry)]

    def _query(self, from_listing: Callable[[Listing], T], from_tree: Callable[[Tree], T]) -> T:
        if self._listing is not None:
            try:
                return from_listing(self._listing)
            except ListingMovedError:
                self._listing = None
        if self._tree is None:
            self._tree = list_tree(self._repository, self.commit) if self.commit else {}
        return from_tree(self._tree)


class WorktreeOverlay:
    """The entries of a snapshot: changes on top of a commit, hashed when they are first needed.

    `has_folders`: the changes include folders and their tree ids (they come from comparing two
    commits); else the tree of a folder with changes below it is computed as Git would.
    """

    def __init__(  # noqa: PLR0913  # where the files are, and what is known of them
        self,
        repository: Repository,
        store: Store,
        base: CommitTree,
        changes: Changes,
        hashed_files: dict[FilePath, ObjectId],
        *,
        has_folders: bool,
    ) -> None:
        self._repository = repository
        self._store = store
        self._base = base
        self._changes = dict(changes)
        self._hashed_files = hashed_files
        self._has_folders = has_folders
        self._trees: dict[FilePath, Entry | None] = {}

    def with_changes(self, changes: Changes) -> "WorktreeOverlay":
        """Return these entries with changes on top of them."""
        if not changes:
            return self
        return WorktreeOverlay(
            self._repository,
            self._store,
            self._base,
            {**self._changes, **changes},
            self._hashed_files,
            has_folders=bool(self._changes),
        )

    def __contains__(self, path: FilePath) -> bool:
        """Return whether a path differs from the commit."""
        return path in self._changes

    @property
    def changes(self) -> Changes:
        """The changed entries; those that nothing asked for are not hashed yet."""
        return self._changes

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """Return the entry at each path, file or folder, or None; "" is the root."""
        folders = [path for path in paths if path in self._changed_folders]
        self._compute_trees(folders, also_hash=paths)
        unchanged = [
            path
            for path in with_checkpoints(paths)
            if path not in self._changes and path not in self._trees
        ]
        committed = self._base.entries(unchanged)
        return {
            path: self._changes.get(path) or self._trees.get(path) or committed.get(path)
            for path in with_checkpoints(paths)
        }

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Return all entries below a folder that are not folders themselves, in path order."""
        prefix = f"{folder}/" if folder else ""
        changed = [path for path in self._changes if path.startswith(prefix)]
        self._hash(changed)
        files: dict[FilePath, Entry | None] = dict(self._base.files(folder))
        files.update((path, self._changes[path]) for path in changed)
        existing = [
            (path, entry)
            for path, entry in with_checkpoints(files.items())
            if entry and not entry.is_directory
        ]
        return sorted(existing)

    def children(self, folder: FilePath) -> dict[FilePath, bool]:
        """Return what is directly in a folder ("" is the root), and whether it is a folder."""
        prefix = f"{folder}/" if folder else ""
        children = {path: entry.is_directory for path, entry in self._base.children(folder)}
        for path, entry in self._changes.items():
            if path.startswith(prefix):
                name, slash, _ = path[len(prefix) :].partition("/")
                if entry is not None:
                    children[FilePath(prefix + name)] = slash != ""
                elif not slash:
                    children.pop(path, None)
        return dict(sorted(children.items()))

    def non_ascii_paths(self) -> set[FilePath]:
        """Return the paths, deleted ones too, that may be written in several Unicode forms."""
        changed = self._changes.keys() | self._changed_folders.keys()
        return {*self._base.non_ascii_paths(), *(path for path in changed if not path.isascii())}

    def site_configs(self, cache: SessionCache) -> set[FilePath]:
        """Return the files, deleted ones too, that may configure a site generator, and more."""
        return {*self._base.site_configs(cache), *self._changes}

    @cached_property
    def _changed_folders(self) -> Mapping[FilePath, set[FilePath]]:
        """The folders whose trees must be computed, and the changed paths directly in each."""
        changed: dict[FilePath, set[FilePath]] = {ROOT: set()}
        for path in self._changes:
            child, parent = path, _parent(path)
            if self._has_folders and parent:
                continue
            while child and child not in changed.setdefault(parent, set()):
                changed[parent].add(child)
                child, parent = parent, _parent(parent)
        return changed

    def _compute_trees(self, folders: Iterable[FilePath], *, also_hash: Iterable[FilePath]) -> None:
        changed = self._changed_folders
        stack = list(folders)
        parents_first = []
        while stack:
            folder = stack.pop()
            if folder not in self._trees:
                parents_first.append(folder)
                stack += [child for child in changed[folder] if child in changed]
        children = (child for folder in parents_first for child in changed[folder])
        self._hash({*also_hash, *children})  # all with one call to git
        for folder in reversed(parents_first):
            self._trees[folder] = self._compute_tree(folder)

    def _compute_tree(self, folder: FilePath) -> Entry | None:
        children = dict(self._base.children(folder))
        for child in self._changed_folders[folder]:
            entry = self._changes.get(child) or self._trees.get(child)
            if entry is not None:
                children[child] = entry
            else:
                children.pop(child, None)
        if folder and not children:
            return None
        start = len(folder) + 1 if folder else 0
        names = ((FilePath(path[start:]), entry) for path, entry in children.items())
        return Entry(MODE_TREE, tree_id(names))

    def _hash(self, paths: Iterable[FilePath]) -> None:
        unhashed = [
            path for path in paths if (entry := self._changes.get(path)) and entry.id == UNHASHED
        ]
        if not unhashed:
            return
        found = hash_changed(self._repository, self._store, unhashed, self._hashed_files)
        for path, hashed in found.items():
            listed = self._changes[path]
            if hashed and listed and listed.is_file and hashed.is_file:
                # Not every disk knows what is executable (core.fileMode); Git's index does.
                self._changes[path] = hashed._replace(mode=listed.mode)
            else:
                self._changes[path] = hashed


def _parent(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])


def open_commit_tree(
    repository: Repository, store: Store, config: Config, snapshot: Snapshot
) -> tuple[CommitTree, Changes]:
    """Return a base tree, and the changes from it to the snapshot's commit, folders included.

    Only HEAD's listing is saved and moved. Any other commit (`--ref`, `--base`) is compared with a
    stored listing and leaves the store as it is.
    """
    commit = snapshot.commit
    if commit is None or snapshot.kind != "commit" or commit == repository.head():
        listing = _update_listing(repository, store, config, commit) if commit else None
        return CommitTree(repository, store, config, commit, listing), {}
    for listing in (
        store.listings.at_commit(commit),
        store.listings.of_work_tree(repository.git_dir),
    ):
        if listing is None or listing.scope != scope_key(config):
            continue
        if listing.commit == commit:
            return CommitTree(repository, store, config, commit, listing), {}
        with suppress(RepositoryError):  # its commit no longer exists (garbage, or a new clone)
            changes = diff_trees(repository, listing.commit, commit)
            return CommitTree(repository, store, config, listing.commit, listing), changes
    return CommitTree(repository, store, config, commit, None), {}


def _update_listing(
    repository: Repository, store: Store, config: Config, commit: ObjectId
) -> Listing | None:
    """Return the work tree's listing, created for this commit or moved to it.

    None: other processes keep moving it to other commits.
    """
    current_scope = scope_key(config)
    for _ in range(MAX_LISTING_ATTEMPTS):
        listing = store.listings.of_work_tree(repository.git_dir)
        if listing is None:
            _save_listing(repository, store, config, commit)
        elif listing.scope != current_scope:
            is_moved = store.listings.rescope(listing, current_scope, document_filter(config))
            if is_moved and is_narrower(current_scope, listing.scope):
                store.forget_excluded()
        elif listing.commit != commit:
            _move_listing(repository, store, config, listing, commit)
        else:
            return listing
    return None


def _save_listing(repository: Repository, store: Store, config: Config, commit: ObjectId) -> None:
    store.listings.save(
        repository.git_dir,
        commit,
        scope_key(config),
        list_tree(repository, commit),
        document_filter(config),
    )


def _move_listing(
    repository: Repository, store: Store, config: Config, listing: Listing, commit: ObjectId
) -> None:
    try:
        changes = diff_trees(repository, listing.commit, commit)
    except RepositoryError:  # its commit no longer exists (garbage, or a new repository)
        _save_listing(repository, store, config, commit)
        return
    store.listings.move(listing, commit, changes, document_filter(config))

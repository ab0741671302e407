"""The files of the commit that a view stands on: as the store lists them, else in memory.

Files that differ from a commit, laid over the commit's files: the whole snapshot.

The listing of a snapshot's commit made ready to stand on: made, moved, given up.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ubp.core.config import Config, is_document, scope
from ubp.core.errors import RepositoryError
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
from ubp.git.repository import Repository
from ubp.git.snapshot import hash_files
from ubp.git.trees import diff_trees, list_tree, tree_id
from ubp.index.store.listings import Listing, ListingMovedError
from ubp.index.store.store import Store

if TYPE_CHECKING:
    from ubp.index.vector_cache import VectorCache

T = TypeVar("T")
Tree = Mapping[FilePath, Entry]


# As many facts as the store remembers: 50 MB.
MAX_CACHED_PAGES = 50_000


class SessionCache:
    """What outlives a view: a model's vectors, a commit's documents, what was made of blobs."""

    vectors: "VectorCache | None" = None
    documents: tuple[ObjectId, tuple[FilePath, ...]] | None = None

    def __init__(self) -> None:
        self._derived: dict[str, Any] = {}
        self._pages: tuple[ObjectId, dict[FilePath, Page]] | None = None

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """What `make` has made of blobs, which are the same in every snapshot."""
        if name not in self._derived:
            self._derived[name] = make()
        return cast("T", self._derived[name])

    def pages(self, commit: ObjectId) -> dict[FilePath, Page]:
        """The documents of a commit that were read; of the one that was asked about last."""
        if (
            self._pages is None
            or self._pages[0] != commit
            or len(self._pages[1]) > MAX_CACHED_PAGES
        ):
            self._pages = commit, {}
        return self._pages[1]


class IndexContext(NamedTuple):
    """What a view stands on."""

    repository: Repository
    store: Store
    snapshot: Snapshot
    progress: Progress
    cache: SessionCache


def document_filter(config: Config) -> Callable[[FilePath, Entry], bool]:
    """Whether an entry is a document: a regular file (never a symlink) that the scope admits."""
    return lambda path, entry: entry.is_file and is_document(config, path)


class CommitTree:
    """The files and folders of one commit; of none where there are no commits yet.

    The store's listing answers as long as it stays what it was found to be; from then on (another
    process has moved it, the database failed) the commit's tree does, read from Git once.
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
        self._commit = commit
        self._listing = listing
        self._tree: Tree | None = None

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        """What stands at these paths; the root is not among them."""
        if not paths:
            return {}
        return self._ask(
            lambda listing: self._store.listings.entries(listing, paths),
            lambda tree: {path: tree[path] for path in paths if path in tree},
        )

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """All files below a folder ("" is the root): whatever is no folder itself."""
        prefix = f"{folder}/" if folder else ""
        return self._ask(
            lambda listing: self._store.listings.files(listing, folder),
            lambda tree: [
                (path, entry)
                for path, entry in tree.items()
                if path.startswith(prefix) and not entry.is_directory
            ],
        )

    def children(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """What stands in a folder directly ("" is the root)."""
        return self._ask(
            lambda listing: self._store.listings.children(listing, folder),
            lambda tree: [
                (path, entry) for path, entry in tree.items() if path.rpartition("/")[0] == folder
            ],
        )

    def beyond_ascii(self) -> list[FilePath]:
        """The paths that may be written in several Unicode forms."""
        return self._ask(
            self._store.listings.non_ascii_paths,
            lambda tree: [path for path in tree if not path.isascii()],
        )

    def documents(self) -> list[tuple[FilePath, ObjectId]]:
        """The documents and their blobs."""
        return self._ask(self._store.listings.documents, self._documents_of)

    def document_paths(self, cache: SessionCache) -> tuple[FilePath, ...]:
        """The documents in order; those of a commit that was asked about last are remembered.

        Of 26,000 the store tells them in 40 ms.
        """
        if self._commit is None:
            return ()
        if cache.documents is None or cache.documents[0] != self._commit:
            cache.documents = self._commit, tuple(sorted(path for path, _ in self.documents()))
        return cache.documents[1]

    def known_pages(self, cache: SessionCache) -> dict[FilePath, Page]:
        """The documents that were read already, to be added to: 26,000 take 0.3 s to read."""
        return {} if self._commit is None else cache.pages(self._commit)

    def count_documents(self) -> int:
        """How many documents there are."""
        return self._ask(
            self._store.listings.count_documents, lambda tree: len(self._documents_of(tree))
        )

    def is_complete(self, keys: Sequence[str]) -> bool:
        """Whether it is known that every document has facts under these keys."""
        return self._listing is not None and self._listing.is_complete(keys)

    def documents_without_facts(self, keys: Sequence[str]) -> dict[FilePath, Entry]:
        """The documents that nobody has parsed under these keys."""
        documents = self._ask(
            lambda listing: self._store.listings.documents_without_facts(listing, keys),
            lambda tree: self._without_facts(self._documents_of(tree), keys),
        )
        return {path: Entry(MODE_FILE, blob) for path, blob in documents}

    def mark_complete(self, keys: Sequence[str]) -> None:
        """Spare the next runs the search for documents without facts, if there are none left."""
        if self._listing is not None:
            self._store.listings.mark_complete(self._listing, keys)

    def bound_pages(self, keys: Sequence[str]) -> list[Page] | None:
        """The documents whose stored facts have references or problems, in one query.

        None: the store cannot tell; ask it about each of `documents`.
        """
        return self._ask(
            lambda listing: self._store.listings.bound_pages(listing, keys), lambda _: None
        )

    def _documents_of(self, tree: Tree) -> list[tuple[FilePath, ObjectId]]:
        return [(path, entry.id) for path, entry in tree.items() if self._is_document(path, entry)]

    def _without_facts(
        self, documents: Sequence[tuple[FilePath, ObjectId]], keys: Sequence[str]
    ) -> list[tuple[FilePath, ObjectId]]:
        missing = self._store.facts.missing({blob for _, blob in documents}, keys)
        return [document for document in documents if document[1] in missing]

    def _ask(self, of_store: Callable[[Listing], T], of_git: Callable[[Tree], T]) -> T:
        if self._listing is not None:
            try:
                return of_store(self._listing)
            except ListingMovedError:
                self._listing = None
        if self._tree is None:
            self._tree = list_tree(self._repository, self._commit) if self._commit else {}
        return of_git(self._tree)


ROOT = FilePath("")
Changes = Mapping[FilePath, Entry | None]


class WorktreeOverlay:
    """What stands where in a snapshot; files of the work tree are hashed once they are asked for.

    `has_folders`: the changes tell folders too, with their trees (they come from comparing two
    commits); else the tree of a folder with changes below it is computed as Git would.
    """

    def __init__(
        self, repository: Repository, base: CommitTree, changes: Changes, *, has_folders: bool
    ) -> None:
        self._repository = repository
        self._base = base
        self._changes = dict(changes)
        self._has_folders = has_folders
        self._trees: dict[FilePath, Entry | None] = {}

    def __contains__(self, path: FilePath) -> bool:
        """Whether a path differs from the commit."""
        return path in self._changes

    @property
    def under(self) -> "WorktreeOverlay":
        """The same without the changes: the commit."""
        return WorktreeOverlay(self._repository, self._base, {}, has_folders=True)

    @property
    def changes(self) -> Changes:
        """What differs, as far as it is hashed."""
        return self._changes

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """What stands at these paths, files and folders; None: nothing. "" is the root."""
        folders = [path for path in paths if path in self._touched]
        self._make_trees(folders, also_hash=paths)
        unchanged = [p for p in paths if p not in self._changes and p not in self._trees]
        found = self._base.entries(unchanged)
        return {
            path: self._changes.get(path) or self._trees.get(path) or found.get(path)
            for path in paths
        }

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Every file below a folder, in the order of their paths: whatever is no folder itself."""
        prefix = f"{folder}/" if folder else ""
        changed = [path for path in self._changes if path.startswith(prefix)]
        self._hash(changed)
        files: dict[FilePath, Entry | None] = dict(self._base.files(folder))
        files.update((path, self._changes[path]) for path in changed)
        return sorted(
            (path, entry) for path, entry in files.items() if entry and not entry.is_directory
        )

    def paths_beyond_ascii(self) -> set[FilePath]:
        """The paths, some of them gone perhaps, that may be written in several Unicode forms."""
        changed = self._changes.keys() | self._touched.keys()
        return {*self._base.beyond_ascii(), *(path for path in changed if not path.isascii())}

    @cached_property
    def _touched(self) -> Mapping[FilePath, set[FilePath]]:
        """The folders whose trees must be computed, and what differs in each of them directly."""
        touched: dict[FilePath, set[FilePath]] = {ROOT: set()}
        for path in self._changes:
            child, above = path, _folder_of(path)
            if self._has_folders and above:
                continue
            while child and child not in touched.setdefault(above, set()):
                touched[above].add(child)
                child, above = above, _folder_of(above)
        return touched

    def _make_trees(self, folders: Iterable[FilePath], *, also_hash: Iterable[FilePath]) -> None:
        todo = list(folders)
        ordered = []
        while todo:
            folder = todo.pop()
            if folder not in self._trees:
                ordered.append(folder)
                todo += [child for child in self._touched[folder] if child in self._touched]
        inside = (child for folder in ordered for child in self._touched[folder])
        self._hash({*also_hash, *inside})  # all with one call to git
        for folder in reversed(ordered):
            self._trees[folder] = self._tree(folder)

    def _tree(self, folder: FilePath) -> Entry | None:
        children = dict(self._base.children(folder))
        for child in self._touched[folder]:
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
        for path, found in hash_files(self._repository, unhashed).items():
            told = self._changes[path]
            if found and told and told.is_file and found.is_file:
                # The disk may not tell what is executable (core.fileMode); Git's index does.
                found = found._replace(mode=told.mode)  # noqa: PLW2901
            self._changes[path] = found


def _folder_of(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])


# Other processes may move the listing to their commit as often as this one moves it to its own.
LISTING_ATTEMPTS = 4


def open_commit_tree(
    repository: Repository, store: Store, config: Config, snapshot: Snapshot
) -> tuple[CommitTree, Changes, bool]:
    """The files to stand on, what differs from them, and whether that tells folders too.

    Only HEAD's listing is kept and moved. Another commit is what differs from a stored listing:
    `--ref` and `--base` leave the store as it is.
    """
    commit = snapshot.commit
    if commit is None or snapshot.kind != "commit" or commit == repository.head():
        listing = _bring_listing(repository, store, config, commit) if commit else None
        return CommitTree(repository, store, config, commit, listing), snapshot.changes, False
    for listing in (
        store.listings.at_commit(commit),
        store.listings.of_work_tree(repository.git_dir),
    ):
        if listing is None or listing.scope != scope(config):
            continue
        if listing.commit == commit:
            return CommitTree(repository, store, config, commit, listing), {}, False
        with suppress(RepositoryError):  # its commit is gone: garbage-collected, or a new clone
            changes = diff_trees(repository, listing.commit, commit)
            return CommitTree(repository, store, config, listing.commit, listing), changes, True
    return CommitTree(repository, store, config, commit, None), {}, False


def _bring_listing(
    repository: Repository, store: Store, config: Config, commit: ObjectId
) -> Listing | None:
    """The work tree's listing, made for this commit or moved to it.

    None: other processes keep moving it away.
    """
    wanted = scope(config)
    for _ in range(LISTING_ATTEMPTS):
        listing = store.listings.of_work_tree(repository.git_dir)
        if listing is None:
            _make_listing(repository, store, config, commit)
        elif listing.scope != wanted:
            store.listings.rescope(listing, wanted, document_filter(config))
        elif listing.commit != commit:
            _move_listing(repository, store, config, listing, commit)
        else:
            return listing
    return None


def _make_listing(repository: Repository, store: Store, config: Config, commit: ObjectId) -> None:
    tree = list_tree(repository, commit)
    is_document = document_filter(config)
    store.listings.save(repository.git_dir, commit, scope(config), tree, is_document)


def _move_listing(
    repository: Repository, store: Store, config: Config, listing: Listing, commit: ObjectId
) -> None:
    try:
        changes = diff_trees(repository, listing.commit, commit)
    except RepositoryError:  # its commit is gone: garbage-collected, or the repository made anew
        _make_listing(repository, store, config, commit)
        return
    store.listings.move(listing, commit, changes, document_filter(config))

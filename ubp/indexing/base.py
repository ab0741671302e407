"""The files of the commit that a view stands on: as the store lists them, else in memory."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ubp.config import Config, is_document
from ubp.git.repository import Repository
from ubp.git.trees import list_tree
from ubp.model import MODE_FILE, Entry, FilePath, ObjectId, Page, Snapshot
from ubp.seams import Progress
from ubp.store.listed import ListingMovedError
from ubp.store.listing import Listing
from ubp.store.store import Store

if TYPE_CHECKING:  # modules that `ubp stale` must not load
    from ubp.indexing.holding import Held

T = TypeVar("T")
Tree = Mapping[FilePath, Entry]


# As many facts as the store remembers: 50 MB.
MOST_PAGES = 50_000


class Kept:
    """What outlives a view: a model's vectors, a commit's documents, what was made of blobs."""

    vectors: "Held | None" = None
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
        if self._pages is None or self._pages[0] != commit or len(self._pages[1]) > MOST_PAGES:
            self._pages = commit, {}
        return self._pages[1]


class Ground(NamedTuple):
    """What a view stands on."""

    repository: Repository
    store: Store
    snapshot: Snapshot
    progress: Progress
    kept: Kept


def tells_documents(config: Config) -> Callable[[FilePath, Entry], bool]:
    """Whether an entry is a document: a regular file (never a symlink) that the scope admits."""
    return lambda path, entry: entry.is_file and is_document(config, path)


class Base:
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
        self._is_document = tells_documents(config)
        self._commit = commit
        self._listing = listing
        self._tree: Tree | None = None

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        """What stands at these paths; the root is not among them."""
        if not paths:
            return {}
        return self._ask(
            lambda listing: self._store.listed(listing, paths),
            lambda tree: {path: tree[path] for path in paths if path in tree},
        )

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """All files below a folder ("" is the root): whatever is no folder itself."""
        prefix = f"{folder}/" if folder else ""
        return self._ask(
            lambda listing: self._store.listed_files(listing, folder),
            lambda tree: [
                (path, entry)
                for path, entry in tree.items()
                if path.startswith(prefix) and not entry.is_directory
            ],
        )

    def children(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """What stands in a folder directly ("" is the root)."""
        return self._ask(
            lambda listing: self._store.listed_children(listing, folder),
            lambda tree: [
                (path, entry) for path, entry in tree.items() if path.rpartition("/")[0] == folder
            ],
        )

    def beyond_ascii(self) -> list[FilePath]:
        """The paths that may be written in several Unicode forms."""
        return self._ask(
            self._store.listed_beyond_ascii,
            lambda tree: [path for path in tree if not path.isascii()],
        )

    def documents(self) -> list[tuple[FilePath, ObjectId]]:
        """The documents and their blobs."""
        return self._ask(self._store.listed_documents, self._documents_of)

    def document_paths(self, kept: Kept) -> tuple[FilePath, ...]:
        """The documents in order; those of a commit that was asked about last are remembered.

        Of 26,000 the store tells them in 40 ms.
        """
        if self._commit is None:
            return ()
        if kept.documents is None or kept.documents[0] != self._commit:
            kept.documents = self._commit, tuple(sorted(path for path, _ in self.documents()))
        return kept.documents[1]

    def known_pages(self, kept: Kept) -> dict[FilePath, Page]:
        """The documents that were read already, to be added to: 26,000 take 0.3 s to read."""
        return {} if self._commit is None else kept.pages(self._commit)

    def count_documents(self) -> int:
        """How many documents there are."""
        return self._ask(self._store.count_documents, lambda tree: len(self._documents_of(tree)))

    def is_complete(self, keys: Sequence[str]) -> bool:
        """Whether it is known that every document has facts under these keys."""
        return self._listing is not None and self._listing.is_complete(keys)

    def documents_without_facts(self, keys: Sequence[str]) -> dict[FilePath, Entry]:
        """The documents that nobody has parsed under these keys."""
        documents = self._ask(
            lambda listing: self._store.documents_without_facts(listing, keys),
            lambda tree: self._without_facts(self._documents_of(tree), keys),
        )
        return {path: Entry(MODE_FILE, blob) for path, blob in documents}

    def mark_complete(self, keys: Sequence[str]) -> None:
        """Spare the next runs the search for documents without facts, if there are none left."""
        if self._listing is not None:
            self._store.mark_complete(self._listing, keys)

    def bound_pages(self, keys: Sequence[str]) -> list[Page] | None:
        """The documents whose stored facts have references or problems, in one query.

        None: the store cannot tell; ask it about each of `documents`.
        """
        return self._ask(lambda listing: self._store.bound_pages(listing, keys), lambda _: None)

    def _documents_of(self, tree: Tree) -> list[tuple[FilePath, ObjectId]]:
        return [(path, entry.id) for path, entry in tree.items() if self._is_document(path, entry)]

    def _without_facts(
        self, documents: Sequence[tuple[FilePath, ObjectId]], keys: Sequence[str]
    ) -> list[tuple[FilePath, ObjectId]]:
        missing = self._store.missing_facts({blob for _, blob in documents}, keys)
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

"""Use case: a snapshot made answerable. What has no facts yet is parsed; nothing else is read."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ubp.core.config import Config, is_document
from ubp.core.model import (
    MODE_FILE,
    Entry,
    FilePath,
    ObjectId,
    Page,
    Progress,
    Snapshot,
    ignore_progress,
)
from ubp.core.paths import nfc
from ubp.git.repository import Repository
from ubp.git.snapshot import hash_files, read_documents
from ubp.index.facts import DocumentFacts
from ubp.index.store.store import Store
from ubp.index.tree import (
    ROOT,
    CommitTree,
    IndexContext,
    SessionCache,
    WorktreeOverlay,
    document_filter,
    open_commit_tree,
)

if TYPE_CHECKING:
    from ubp.index.embed.model import Model
    from ubp.index.embedded import EmbeddedCount
    from ubp.index.fulltext import FullTextSearch
    from ubp.index.link_graph import Adjacency, LinkGraph
    from ubp.index.vectors import SemanticIndex

T = TypeVar("T")


class View:
    """Answers about one snapshot. `build_view` makes it; the store must stay open."""

    def __init__(
        self,
        context: IndexContext,
        config: Config,
        base: CommitTree,
        overlay: WorktreeOverlay,
        facts: DocumentFacts,
    ) -> None:
        self.context = context
        self.snapshot = context.snapshot
        self._config = config
        self._is_document = document_filter(config)
        self._base = base
        self._overlay = overlay
        self._facts = facts
        self._derived: dict[str, Any] = {}

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """What `make` has made of this snapshot, kept under this name until `forget`."""
        if name not in self._derived:
            self._derived[name] = make()
        return cast("T", self._derived[name])

    def is_current(self, snapshot: Snapshot) -> bool:
        """Whether the view answers for this snapshot of the work tree, too.

        The snapshots must be equal, and the changed files that the view has hashed must still have
        the same bytes. What it derived is then as true as before: with 1,000 pages, a check of one
        page takes 5 ms of CPU instead of 39.
        """
        if snapshot is self.snapshot:
            return True
        if snapshot != self.snapshot:
            return False
        changes = self._overlay.changes.items()
        hashed = {path: entry for path, entry in changes if entry != snapshot.changes[path]}
        there = hash_files(self.context.repository, hashed)
        return all(_id(there[path]) == _id(entry) for path, entry in hashed.items())

    def forget(self) -> None:
        """Let go of what was made of the snapshot: another has taken its place."""
        self._derived.clear()

    @property
    def parsed(self) -> int:
        """How many blobs were parsed to answer."""
        return self._facts.blobs.parsed

    def entry(self, path: FilePath) -> Entry | None:
        """What stands at a path, file or folder; None: nothing. "" is the root."""
        return self.entries([path])[path]

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """What stands at these paths; see `true_path` for names beyond ASCII."""
        found = self._overlay.entries(paths)
        others = {
            path: other
            for path, entry in found.items()
            if entry is None and (other := self._other_form(path))
        }
        if others:
            there = self._overlay.entries(others.values())
            found.update((path, there[other]) for path, other in others.items())
        return found

    def base_entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """What stands at these paths in the snapshot's commit."""
        if self.snapshot.kind == "commit":
            return self._overlay.entries(paths)
        return self._overlay.under.entries(paths)

    def true_path(self, path: FilePath) -> FilePath | None:
        """The name under which a path stands in the snapshot; None: nothing does.

        The same bytes, else the only name that is equal in Unicode's composed form (NFC): macOS
        writes names decomposed, people type them composed.
        """
        if self._overlay.entries([path])[path] is not None:
            return path
        return self._other_form(path)

    def files(self, prefix: FilePath = ROOT) -> Iterator[tuple[FilePath, Entry]]:
        """Every file below a folder, links and submodules too, in the order of their paths."""
        yield from self._overlay.files(prefix)

    def is_changed(self, path: FilePath) -> bool:
        """Whether the snapshot differs from its commit there."""
        return path in self.snapshot.changes

    def document_paths(self) -> list[FilePath]:
        """The documents, in the order of their paths."""
        of_commit = self._base.document_paths(self.context.cache)
        if not self._overlay.changes:
            return list(of_commit)
        unchanged = [path for path in of_commit if path not in self._overlay]
        return sorted([*unchanged, *self._changed_documents])

    def count_documents(self) -> int:
        """How many documents there are, without naming them."""
        gone = self._base.entries(
            [p for p in self._overlay.changes if is_document(self._config, p)]
        )
        return (
            self._base.count_documents()
            - sum(entry.is_file for entry in gone.values())
            + len(self._changed_documents)
        )

    def bound_pages(self) -> list[Page]:
        """The documents with references or problems, in the order of their paths."""
        return list(self._bound_pages)

    def page(self, path: FilePath) -> Page | None:
        """A document; None: the path is none."""
        name = self.true_path(path)
        return self._pages_of(self._documents_at([name])).get(name) if name is not None else None

    def pages(self) -> list[Page]:
        """All documents, in the order of their paths."""
        return list(self.derived("pages", self._read_all).values())

    def pages_at(self, paths: Collection[FilePath]) -> dict[FilePath, Page]:
        """Those of these paths that are documents; they are spelt as Git spells them."""
        known: dict[FilePath, Page] | None = self._derived.get("pages")
        if known is not None:
            return {path: known[path] for path in paths if path in known}
        of_commit = self._base.known_pages(self.context.cache)
        found = {p: of_commit[p] for p in paths if p in of_commit and p not in self._overlay}
        unknown = [path for path in paths if path not in found]
        if not unknown:
            return found
        for path, page in self._pages_of(self._documents_at(unknown)).items():
            found[path] = page
            if path not in self._overlay and self._facts.blobs.is_saved(page.blob):
                of_commit[path] = page
        return {path: found[path] for path in paths if path in found}

    def read(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """The bytes of these documents as Git stores them; None: not to be had."""
        context, there = self.context, self._documents_at(paths)
        return read_documents(context.repository, context.snapshot, there)

    def link_graph(self) -> "LinkGraph":
        """See that the snapshot's links are known and resolved, and its words; and give them."""
        return self._linked

    def full_text(self) -> "FullTextSearch":
        """The words of the documents."""
        return self._full_text

    def adjacency(self) -> "Adjacency":
        """The links around single pages."""
        return self._adjacency

    def semantic_index(self, model: "Model") -> "SemanticIndex":
        """See that the documents' chunks have vectors of this model; and give them."""
        from ubp.index.vectors import SemanticIndex

        return SemanticIndex(self.context, self._linked, model)

    def count_embedded(self, model: bytes, dimensions: int) -> "EmbeddedCount":
        """How many chunks there are, and how many have no vector of a model (its fingerprint)."""
        from ubp.index.embedded import count_embedded

        return count_embedded(self._linked, self.context.store.database, model, dimensions)

    def learn(self) -> None:
        """See that the store knows what each document says; `build_view` has done so."""
        keys = self._config.keys
        if not self._base.is_complete(keys):
            lacking = self._base.documents_without_facts(keys)
            wanted = {path: entry for path, entry in lacking.items() if path not in self._overlay}
            self._facts.learn(wanted)
            if len(wanted) == len(lacking) and self._facts.blobs.are_all_saved():
                self._base.mark_complete(keys)
        self._facts.learn(self._changed_documents)

    @cached_property
    def _full_text(self) -> "FullTextSearch":
        from ubp.index.fulltext import FullTextSearch

        return FullTextSearch(self.context.store.database, self._linked)

    @cached_property
    def _adjacency(self) -> "Adjacency":
        from ubp.index.link_graph import Adjacency

        return Adjacency(self.context.store.database, self._linked)

    @cached_property
    def _linked(self) -> "LinkGraph":
        from ubp.index.link_graph import link_snapshot

        is_commit = self.snapshot.kind == "commit"
        documents = self._changed_documents
        return link_snapshot(
            self.context,
            self._config,
            changes={
                path: documents.get(path) if entry and is_document(self._config, path) else entry
                for path, entry in self.snapshot.changes.items()
            },
            all_files=lambda: (self._overlay if is_commit else self._base).files(ROOT),
        )

    @cached_property
    def _bound_pages(self) -> list[Page]:
        keys = self._config.keys
        stored = self._base.bound_pages(keys)
        if stored is None:
            documents = self._base.documents()
            stored = self._read_pages({path: Entry(MODE_FILE, blob) for path, blob in documents})
        elif not self._facts.blobs.are_all_saved():
            stored += self._read_pages(
                {
                    path: entry
                    for path, entry in self._base.documents_without_facts(keys).items()
                    if not self._facts.blobs.is_saved(entry.id)
                }
            )
        unchanged = [page for page in stored if page.filepath not in self._overlay]
        changed = self._read_pages(self._changed_documents)
        return sorted([*unchanged, *changed], key=lambda page: page.filepath)

    def _documents_at(self, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        entries = self._overlay.entries(paths)
        return {p: e for p, e in entries.items() if e and self._is_document(p, e)}

    def _read_all(self) -> dict[FilePath, Page]:
        documents = self._overlay.entries(self.document_paths())
        return self._pages_of({path: entry for path, entry in documents.items() if entry})

    def _read_pages(self, documents: Mapping[FilePath, Entry]) -> list[Page]:
        """Those of these documents that have references or problems."""
        pages = self._pages_of(documents).values()
        return [page for page in pages if page.facts.references or page.facts.problems]

    def _pages_of(self, documents: Mapping[FilePath, Entry]) -> dict[FilePath, Page]:
        facts = self._facts.facts(documents)
        return {path: Page(path, entry.id, facts[entry.id]) for path, entry in documents.items()}

    @cached_property
    def _changed_documents(self) -> dict[FilePath, Entry]:
        changes = self._overlay.changes
        paths = [
            path for path, entry in changes.items() if entry and self._is_document(path, entry)
        ]
        there = self._overlay.entries(paths)
        return {path: entry for path, entry in there.items() if entry and entry.is_file}

    def _other_form(self, path: FilePath) -> FilePath | None:
        if path.isascii():  # hardly a name beyond ASCII composes to one within
            return None
        forms = [form for form in self._forms.get(nfc(path), ()) if form != path]
        there = self._overlay.entries(forms)
        standing = [form for form in forms if there[form] is not None]
        return standing[0] if len(standing) == 1 else None

    @cached_property
    def _forms(self) -> Mapping[str, list[FilePath]]:
        forms: dict[str, list[FilePath]] = {}
        for path in self._overlay.paths_beyond_ascii():
            forms.setdefault(nfc(path), []).append(path)
        return forms


def build_view(  # noqa: PLR0913  # a view joins as many
    repository: Repository,
    store: Store,
    config: Config,
    snapshot: Snapshot,
    progress: Progress = ignore_progress,
    *,
    cache: SessionCache | None = None,
) -> View:
    """Make sure that the store knows the snapshot's files and what its documents say.

    Where the store already does, nothing is written. Whatever becomes of the store meanwhile (other
    processes, a full disk, damage), the view answers rightly.
    """
    base, changes, has_folders = open_commit_tree(repository, store, config, snapshot)
    overlay = WorktreeOverlay(repository, base, changes, has_folders=has_folders)
    facts = DocumentFacts(repository, store, config.keys, snapshot, progress)
    context = IndexContext(repository, store, snapshot, progress, cache or SessionCache())
    view = View(context, config, base, overlay, facts)
    view.learn()
    return view


def _id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry else None

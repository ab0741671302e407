"""A view of a snapshot: its files, documents, links and words, indexed as far as needed."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ubp.core.config import Config, is_document
from ubp.core.interruption import with_checkpoints
from ubp.core.model import (
    MODE_FILE,
    MODE_SUBMODULE,
    MODE_SYMLINK,
    Entry,
    FilePath,
    ObjectId,
    Page,
    PageFields,
    Progress,
    Snapshot,
    ignore_progress,
)
from ubp.core.paths import nfc, parent_folders
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.index.facts import DocumentFacts
from ubp.index.store.store import Store
from ubp.index.tree import (
    ROOT,
    CommitTree,
    IndexContext,
    SessionCache,
    WorktreeOverlay,
    document_filter,
    hash_changed,
    open_commit_tree,
)

if TYPE_CHECKING:  # imported where they are used: `ubp stale` needs none of them
    from ubp.git.file_versions import FileVersions
    from ubp.index.embed.protocol import EmbeddingModel
    from ubp.index.embedded import EmbeddedCount
    from ubp.index.fulltext import FullTextSearch
    from ubp.index.link_graph import Adjacency, LinkGraph
    from ubp.index.vectors import SemanticIndex
    from ubp.markdown.sites.site import Sites

T = TypeVar("T")


class View:
    """The answers about one snapshot. `build_view` builds it; the store must stay open."""

    def __init__(
        self,
        context: IndexContext,
        config: Config,
        base: CommitTree,
        committed: WorktreeOverlay,
        facts: DocumentFacts,
    ) -> None:
        self.context = context
        self.snapshot = context.snapshot
        self._config = config
        self._is_document = document_filter(config)
        self._base = base
        self._committed = committed
        self._overlay = committed.with_changes(context.snapshot.changes)
        self._facts = facts
        self._derived: dict[str, Any] = {}
        self._confirmed = context.snapshot  # the last one that the view was found to answer for

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` derived from this snapshot, cached under this name until `forget`."""
        if name not in self._derived:
            self._derived[name] = make()
        return cast("T", self._derived[name])

    def of_commit(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` derived from the snapshot's commit alone.

        Other sessions, in other threads, may use it, too: see `CommonCache`.
        """
        commit = self.snapshot.commit
        if commit is None or commit != self._base.commit:
            return self.derived(name, make)
        return self.context.cache.common.of_commit(commit, name, make)

    def is_current(self, snapshot: Snapshot) -> bool:
        """Return whether the view answers for this snapshot, too.

        The snapshots must be equal, and the changed files that the view has hashed must still have
        the same bytes. Reusing what it derived pays: with 1,000 pages, a check of one page takes 5
        ms of CPU instead of 39.
        """
        if snapshot is self._confirmed or snapshot is self.snapshot:
            return True
        if snapshot != self.snapshot:
            return False
        if snapshot.kind == "commit":
            return True
        changes = self._overlay.changes.items()
        hashed = {path: entry for path, entry in changes if entry != snapshot.changes[path]}
        current = hash_changed(
            self.context.repository,
            self.context.store,
            hashed,
            self.context.cache.hashed_files(snapshot),
        )
        is_current = all(_id(current[path]) == _id(entry) for path, entry in hashed.items())
        if is_current:
            self._confirmed = snapshot
        return is_current

    def forget(self) -> None:
        """Drop what was derived from the snapshot: another one has replaced it."""
        self._derived.clear()

    @property
    def parsed(self) -> int:
        """The number of blobs that were parsed for front matter."""
        return self._facts.blobs.parsed

    def entry(self, path: FilePath) -> Entry | None:
        """Return the entry at a path, file or folder, or None; "" is the root."""
        return self.entries([path])[path]

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """Return the entry at each path, or None; see `true_path` for names beyond ASCII."""
        entries = self._overlay.entries(paths)
        other_forms = {
            path: form
            for path, entry in entries.items()
            if entry is None and (form := self._other_form(path))
        }
        if other_forms:
            others = self._overlay.entries(other_forms.values())
            entries.update((path, others[form]) for path, form in other_forms.items())
        return entries

    def opaque_folder(self, path: FilePath) -> FilePath | None:
        """Return the submodule or symlink that a path goes through, in which Git lists no files."""
        folders = [FilePath(folder) for folder in parent_folders(path)]
        entries = self.entries(folders)
        return next((name for name in folders if _is_opaque(entries[name])), None)

    def base_entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """Return the entry at each path in the snapshot's commit, or None."""
        return self._committed.entries(paths)

    def true_path(self, path: FilePath) -> FilePath | None:
        """Return a path as the snapshot spells it, or None if it does not exist there.

        That is the same bytes, else the only path equal to it in Unicode's composed form (NFC):
        macOS writes names decomposed, people type them composed.
        """
        if self._overlay.entries([path])[path] is not None:
            return path
        return self._other_form(path)

    def files(self, prefix: FilePath = ROOT) -> Iterator[tuple[FilePath, Entry]]:
        """Yield every file below a folder, symlinks and submodules too, in path order."""
        yield from self._overlay.files(prefix)

    def stored_names(
        self, kinds: Sequence[str]
    ) -> tuple[Mapping[ObjectId, bytes], dict[FilePath, Entry]] | None:
        """Return stored names of files by blob, and the other files, whose names must be read.

        The blobs are those of the listed commit: see `unchanged_files`. The other files are those
        of that commit without stored names, and all that differ in the snapshot, which may be of
        another commit. Documents are left out of the former. None: the names of each of `files`
        must be read instead.
        """
        found = self._base.names_of_files(kinds)
        if found is None:
            return None
        stored, missing = found
        unread = {path: entry for path, entry in missing if path not in self._overlay}
        changed = self._overlay.entries(self._overlay.changes)
        return stored, unread | {path: entry for path, entry in changed.items() if entry}

    def unchanged_files(self, blobs: Collection[ObjectId]) -> dict[FilePath, Entry]:
        """Return the files that have one of these blobs in the listed commit and in the snapshot.

        Documents are left out.
        """
        found = self._base.files_of(blobs)
        return {path: entry for path, entry in found if path not in self._overlay}

    def children(self, folder: FilePath = ROOT) -> dict[FilePath, bool]:
        """Return what is directly in a folder, sorted, and whether it is a folder itself."""
        return self._overlay.children(folder)

    def is_changed(self, path: FilePath) -> bool:
        """Return whether the snapshot differs from its commit at this path."""
        return path in self.snapshot.changes

    def document_paths(self) -> list[FilePath]:
        """Return the paths of the documents, sorted."""
        committed = self._base.sorted_documents(self.context.cache)
        if not self._overlay.changes:
            return list(committed)
        unchanged = [path for path in committed if path not in self._overlay]
        return sorted([*unchanged, *self._changed_documents])

    def document_files(self) -> dict[FilePath, Entry]:
        """Return the documents as files that nobody may execute."""
        committed = self._base.sorted_documents(self.context.cache)
        unchanged = {
            path: Entry(MODE_FILE, blob)
            for path, blob in with_checkpoints(committed.items())
            if path not in self._overlay
        }
        return unchanged | self._changed_documents

    def count_documents(self) -> int:
        """Return the number of documents, without listing them."""
        replaced = self._base.entries(
            [p for p in self._overlay.changes if is_document(self._config, p)]
        )
        return (
            self._base.count_documents()
            - sum(entry.is_file for entry in replaced.values())
            + len(self._changed_documents)
        )

    def bound_pages(self) -> list[Page]:
        """Return the documents with references or problems, in path order."""
        return list(self._bound_pages)

    def page(self, path: FilePath) -> Page | None:
        """Return a document, or None if the path is not one."""
        true_path = self.true_path(path)
        if true_path is None:
            return None
        return self._read_pages(self._documents_at([true_path])).get(true_path)

    def pages(self) -> list[Page]:
        """Return all documents, in path order."""
        pages = self.derived("pages", lambda: self.pages_at(self.document_paths()))
        return list(pages.values())

    def pages_at(self, paths: Collection[FilePath]) -> dict[FilePath, Page]:
        """Return those of these paths that are documents; the paths are spelled as in Git."""
        all_pages: dict[FilePath, Page] | None = self._derived.get("pages")
        if all_pages is not None:
            return {path: all_pages[path] for path in paths if path in all_pages}
        cached = self._base.known_pages(self.context.cache)
        pages = {
            path: cached[path]
            for path in with_checkpoints(paths)
            if path in cached and path not in self._overlay
        }
        unknown = [path for path in paths if path not in pages]
        if not unknown:
            return pages
        for path, page in self._read_pages(self._documents_at(unknown)).items():
            pages[path] = page
            if path not in self._overlay and self._facts.blobs.is_saved(page.blob):
                cached[path] = page
        return {path: pages[path] for path in with_checkpoints(paths) if path in pages}

    def read(self, paths: Collection[FilePath]) -> dict[FilePath, bytes | None]:
        """Return the bytes of these documents as Git stores them; None: not available."""
        documents = self._documents_at(paths)
        return read_documents(self.context.repository, self.snapshot, documents)

    def file_versions(self) -> "FileVersions":
        """Return the versions of all files in the history of the snapshot's commit."""
        from ubp.git.file_versions import FileVersions, read_file_versions

        commit = self.snapshot.commit
        if commit is None:
            return FileVersions((), {})
        return self.of_commit(
            "file-versions", lambda: read_file_versions(self.context.repository, commit)
        )

    def sites(self) -> "Sites":
        """Return the sites that publish the documents."""
        return self._sites

    def link_graph(self) -> "LinkGraph":
        """Return the links, resolved; indexes the documents' links and words first."""
        return self._link_graph

    def full_text(self) -> "FullTextSearch":
        """Return the search for the documents' words."""
        return self._full_text

    def adjacency(self) -> "Adjacency":
        """Return the links from and to single documents."""
        return self._adjacency

    def semantic_index(self, model: "EmbeddingModel") -> "SemanticIndex":
        """Return the vectors of the documents' chunks; embeds those that have none first.

        It is kept for the next question once every chunk has a vector.
        """
        from ubp.index.vectors import SemanticIndex

        last: SemanticIndex | None = self._derived.get("semantic index")
        if last is None or last.model is not model or last.embedded or last.pending:
            last = SemanticIndex(self.context, self._link_graph, model)
            self._derived["semantic index"] = last
        return last

    def count_embedded(self, model: bytes, dimensions: int) -> "EmbeddedCount":
        """Count the chunks, and those without a vector of a model (its fingerprint)."""
        from ubp.index.embedded import count_embedded

        return count_embedded(self._link_graph, self.context.store.database, model, dimensions)

    def fields(self, paths: Collection[FilePath]) -> dict[FilePath, PageFields]:
        """Return the front matter's fields of those of these paths that are documents."""
        known: dict[FilePath, PageFields] = self.derived("fields", dict)
        if unknown := [path for path in paths if path not in known]:
            known |= self._link_graph.fields_of(unknown)
        return {path: known[path] for path in paths if path in known}

    def field_names(self) -> frozenset[str]:
        """Return the names of the fields that any document has."""
        return self.derived(
            "field names",
            lambda: frozenset().union(*self.fields(self.document_paths()).values()),
        )

    def learn(self) -> None:
        """Parse and save the documents' front matter, as far as it is unknown."""
        keys = self._config.facts_key
        if not self._base.is_complete(keys):
            unknown = self._base.documents_without_facts(keys)
            unchanged = {path: e for path, e in unknown.items() if path not in self._overlay}
            self._facts.learn(unchanged)
            if len(unchanged) == len(unknown) and self._facts.blobs.are_all_saved():
                self._base.mark_complete(keys)
        self._facts.learn(self._changed_documents)

    @cached_property
    def _full_text(self) -> "FullTextSearch":
        from ubp.index.fulltext import FullTextSearch

        return FullTextSearch(self.context, self._link_graph)

    @cached_property
    def _adjacency(self) -> "Adjacency":
        from ubp.index.link_graph import Adjacency

        return Adjacency(self.context.store.database, self._link_graph)

    @cached_property
    def _sites(self) -> "Sites":
        from ubp.index.sites import read_sites

        overlay = self._overlay
        configs = overlay.site_configs(self.context.cache)
        return read_sites(self.context, self._config, configs, overlay.entries)

    @cached_property
    def _link_graph(self) -> "LinkGraph":
        from ubp.index.link_graph import link_snapshot

        documents = self._changed_documents
        return link_snapshot(
            self.context,
            self._config,
            self._sites,
            changes={
                path: documents.get(path) if entry and self._is_document(path, entry) else entry
                for path, entry in self.snapshot.changes.items()
            },
            all_files=lambda: self._committed.files(ROOT),
        )

    @cached_property
    def _bound_pages(self) -> list[Page]:
        keys = self._config.facts_key
        stored = self._base.bound_pages(keys, self.context.cache)
        if stored is None:
            documents = self._base.documents()
            stored = self._read_bound({path: Entry(MODE_FILE, blob) for path, blob in documents})
        elif not self._facts.blobs.are_all_saved():
            stored += self._read_bound(
                {
                    path: entry
                    for path, entry in self._base.documents_without_facts(keys).items()
                    if not self._facts.blobs.is_saved(entry.id)
                }
            )
        unchanged = [page for page in stored if page.filepath not in self._overlay]
        changed = self._read_bound(self._changed_documents)
        return sorted([*unchanged, *changed], key=lambda page: page.filepath)

    def _documents_at(self, paths: Collection[FilePath]) -> dict[FilePath, Entry]:
        entries = self._overlay.entries(paths)
        return {p: e for p, e in entries.items() if e and self._is_document(p, e)}

    def _read_bound(self, documents: Mapping[FilePath, Entry]) -> list[Page]:
        """Return those of these documents that have references or problems."""
        pages = self._read_pages(documents).values()
        return [page for page in pages if page.facts.references or page.facts.problems]

    def _read_pages(self, documents: Mapping[FilePath, Entry]) -> dict[FilePath, Page]:
        facts = self._facts.facts(documents)
        return {
            path: Page(path, entry.id, facts[entry.id])
            for path, entry in with_checkpoints(documents.items())
        }

    @cached_property
    def _changed_documents(self) -> dict[FilePath, Entry]:
        changes = self._overlay.changes
        paths = [
            path for path, entry in changes.items() if entry and self._is_document(path, entry)
        ]
        entries = self._overlay.entries(paths)  # hashed
        return {path: entry for path, entry in entries.items() if entry and entry.is_file}

    def _other_form(self, path: FilePath) -> FilePath | None:
        if path.isascii():  # hardly a name beyond ASCII composes to one within
            return None
        forms = [form for form in self._forms.get(nfc(path), ()) if form != path]
        entries = self._overlay.entries(forms)
        existing = [form for form in forms if entries[form] is not None]
        return existing[0] if len(existing) == 1 else None

    @cached_property
    def _forms(self) -> Mapping[str, list[FilePath]]:
        """The paths beyond ASCII by their composed form."""
        forms: dict[str, list[FilePath]] = {}
        for path in self._overlay.non_ascii_paths():
            forms.setdefault(nfc(path), []).append(path)
        return forms


def build_view(  # noqa: PLR0913  # a view combines as many
    repository: Repository,
    store: Store,
    config: Config,
    snapshot: Snapshot,
    progress: Progress = ignore_progress,
    *,
    cache: SessionCache | None = None,
    has_facts: bool = True,
    collection: str = "",
) -> View:
    """Build the view of a snapshot; indexes its files and its documents' front matter first.

    Without `has_facts`, front matter is parsed when it is asked for. Nothing is written where the
    store knows everything already. Whatever happens to the store afterwards (other processes, a
    full disk, damage), the view answers correctly.
    """
    cache = cache or SessionCache()
    base, changes = open_commit_tree(repository, store, config, snapshot)
    committed = WorktreeOverlay(
        repository, store, base, changes, cache.hashed_files(snapshot), has_folders=True
    )
    facts = DocumentFacts(repository, store, config, snapshot, progress)
    context = IndexContext(repository, store, snapshot, progress, cache, collection)
    view = View(context, config, base, committed, facts)
    if has_facts:
        view.learn()
    return view


def _is_opaque(entry: Entry | None) -> bool:
    return entry is not None and entry.mode in {MODE_SUBMODULE, MODE_SYMLINK}


def _id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry else None

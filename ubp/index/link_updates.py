"""The stored link graph, moved from commit to commit by resolving again only what may have changed.

That is the links of changed pages, the links that request a name which was added, removed or moved
to another page, and those with an anchor into a page that changed, or includes one that did. Most
edits leave the links, names and anchors of a page as they were, and then nothing is resolved.

Resolving every link of 26,005 notes again takes 4.0 s of CPU, the update 0.10 s after a commit and
0.06 s after an edit (`benchmarks/search/graph_updates.py`): therefore the graph is stored and
updated.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from ubp.core.errors import RepositoryError, StoreError
from ubp.core.model import Entry, FilePath, Link, ObjectId
from ubp.core.paths import doc_id
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees
from ubp.index.ingest import LazyPageFacts
from ubp.index.store.codec import checksums
from ubp.index.store.links import (
    Edges,
    EdgeTable,
    GraphMovedError,
    GraphNode,
    GraphPatch,
    StoredGraphVersion,
)
from ubp.markdown.resolve import (
    INCLUDES,
    PageNameForms,
    Targets,
    page_names,
    requested_names,
    resolve,
    stem,
)
from ubp.markdown.sites.site import Sites

Files = Mapping[FilePath, ObjectId | None]
"""Files by path: a page's blob, or None for any other file."""
ChangedFiles = Mapping[FilePath, tuple[ObjectId | None] | None]
"""The same in a tuple; None: the file was deleted."""

PAGES_PER_BATCH = 500  # whose links are in memory
# Another process may move the graph to its own commit just as often as this one does.
MAX_ATTEMPTS = 8


class GraphVersion(NamedTuple):
    """The snapshot whose links are needed.

    `commit` and `changes` (hashed) are the snapshot's; `all_files` returns the commit's files;
    `is_current`: the commit is the work tree's HEAD, so that the stored graph moves to it.
    """

    git_dir: str
    scope: str
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]
    all_files: Callable[[], Mapping[FilePath, Entry]]
    is_page: Callable[[FilePath, Entry], bool]
    is_current: bool
    sites: Sites


class LinkGraphWriter:
    """Builds and moves the stored graph for one snapshot, whenever it is not where it should be."""

    def __init__(
        self,
        repository: Repository,
        stored: EdgeTable,
        page_facts: LazyPageFacts,
        version: GraphVersion,
    ) -> None:
        self._repository = repository
        self._stored = stored
        self._page_facts = page_facts
        self._version = version
        self.sites = version.sites

    def load(self) -> tuple[StoredGraphVersion | None, GraphPatch]:
        """Return the stored graph, and how the snapshot differs from it.

        Raises:
            StoreError: other processes keep moving the graph.
        """
        version = self._version
        if version.commit is None:
            files = self._files({path: entry for path, entry in version.changes.items() if entry})
            self._page_facts.learn(files)
            return None, resolve_all(files, self._page_facts, version.sites)
        for _ in range(MAX_ATTEMPTS):
            with suppress(GraphMovedError):
                graph = self._update(version.commit)
                if graph is not None:
                    return graph, self._compare(graph, version.commit)
        raise StoreError("Other processes keep changing the index.", hint="Try again.")

    def _update(self, commit: ObjectId) -> StoredGraphVersion | None:
        """Return the stored graph; None: it was built or moved just now, so read it again."""
        graph = self._stored.find(self._version.git_dir)
        if graph is None or graph.scope != self._version.scope:
            self._build(commit)
            return None
        if not graph.is_learned:
            self._page_facts.learn(self._stored.without_facts(graph))
            self._stored.mark_learned(graph)
        is_behind = graph.commit != commit or not graph.is_complete
        if self._version.is_current and is_behind and self._move(graph, commit):
            return None
        return graph

    def _build(self, commit: ObjectId) -> None:
        files = self._files(self._version.all_files())
        self._page_facts.learn(files)
        graph = resolve_all(files, self._page_facts, self._version.sites)
        self._stored.save(self._version.git_dir, commit, self._version.scope, graph)

    def _move(self, graph: StoredGraphVersion, commit: ObjectId) -> bool:
        """Move the graph to a commit; False: nothing that can be read differs."""
        try:
            changes = diff_trees(self._repository, graph.commit, commit)
        except RepositoryError:  # its commit no longer exists (garbage, or a new repository)
            self._build(commit)
            return True
        changed = self._changed_files(changes)
        unread = {} if graph.is_complete else self._stored.unread(graph)
        self._page_facts.learn(unread)
        for path, blob in unread.items():
            if blob and self._page_facts.is_known(blob):
                changed.setdefault(path, (blob,))
        if graph.commit == commit and not changed:
            return False
        self._stored.move(graph, commit, self._patch(graph, changed))
        return True

    def _compare(self, graph: StoredGraphVersion, commit: ObjectId) -> GraphPatch:
        changes: dict[FilePath, Entry | None] = {}
        if graph.commit != commit:
            try:
                changes |= diff_trees(self._repository, graph.commit, commit)
            except RepositoryError as error:
                self._build(commit)
                raise GraphMovedError from error
        changed = self._changed_files(changes | dict(self._version.changes))
        return self._patch(graph, changed) if changed else GraphPatch({}, {})

    def _patch(self, graph: StoredGraphVersion, changed: ChangedFiles) -> GraphPatch:
        self._page_facts.learn({path: file[0] for path, file in changed.items() if file})
        return update_links(self._stored, graph, changed, self._page_facts, self._version.sites)

    def _changed_files(
        self, changes: Mapping[FilePath, Entry | None]
    ) -> dict[FilePath, tuple[ObjectId | None] | None]:
        files = self._files({path: entry for path, entry in changes.items() if entry})
        return {path: (files[path],) if path in files else None for path in changes}

    def _files(self, entries: Mapping[FilePath, Entry]) -> dict[FilePath, ObjectId | None]:
        return {
            path: entry.id if self._version.is_page(path, entry) else None
            for path, entry in entries.items()
            if not entry.is_directory
        }


def resolve_all(files: Files, page_facts: LazyPageFacts, sites: Sites) -> GraphPatch:
    """Resolve every link of a snapshot."""
    names = page_facts.names(files)
    targets = Targets(lambda path: page_facts.anchors(files.get(path)), sites)
    _add_targets(targets, files, names)
    edges: Edges = {}
    for batch in _batches({path: blob for path, blob in files.items() if blob}):
        for path, links in page_facts.links(batch).items():
            if links:
                edges[path] = {
                    number: resolve(path, link, targets) for number, link in enumerate(links)
                }
    return GraphPatch(
        {path: _node(path, files[path], names, page_facts, sites) for path in files}, edges
    )


def update_links(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: ChangedFiles,
    page_facts: LazyPageFacts,
    sites: Sites,
) -> GraphPatch:
    """Return how the graph differs from the stored one when these files change."""
    before = stored.blobs(graph, changed)
    after = {path: file[0] for path, file in changed.items() if file is not None}
    # Pages that could not be read had no links, and no name but their file's.
    unaffected = _find_unaffected(before, after, page_facts) if graph.is_complete else {}
    others = {path: file for path, file in changed.items() if path not in unaffected}
    patch = GraphPatch({}, {})
    if others:
        patch = _resolve_again(stored, graph, others, page_facts, sites)
    names = page_facts.names(unaffected)
    nodes = {path: _node(path, blob, names, page_facts, sites) for path, blob in unaffected.items()}
    edges = stored.out(graph, unaffected)
    for path, resolved in patch.edges.items():
        edges.setdefault(path, {}).update(resolved)
    return GraphPatch({**patch.nodes, **nodes}, edges)


def _find_unaffected(before: Files, after: Files, page_facts: LazyPageFacts) -> Files:
    """Return those of the changed files that links lead from and to as before."""
    files = {path: (before[path], after[path]) for path in before.keys() & after.keys()}
    pages = {path: (old, new) for path, (old, new) in files.items() if old and new}
    alike = page_facts.find_alike(set(pages.values()))
    return {
        path: new
        for path, (old, new) in files.items()
        if pages.get(path) in alike or (old is None and new is None)
    }


def _resolve_again(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: ChangedFiles,
    page_facts: LazyPageFacts,
    sites: Sites,
) -> GraphPatch:
    """Return the nodes of these files, and all edges that may differ because of them."""
    before = stored.blobs(graph, changed)
    after = {path: file[0] for path, file in changed.items() if file is not None}
    names_before, names_after = page_facts.names(before), page_facts.names(after)
    if not graph.is_complete:  # pages that could not be read had no name but their file's
        names_before.update((path, PageNameForms(path, None, ())) for path in stored.unread(graph))
    affected = _affected_names(before, after, names_before, names_after, sites)
    links = {
        path: dict(enumerate(page_links))
        for path, page_links in page_facts.links(after).items()
        if page_links
    }
    links |= _affected_links(stored, graph, changed, affected, page_facts)
    requested = {
        name
        for numbered in links.values()
        for link in numbered.values()
        for name in requested_names(link)
    }
    # a link within its page requests no name, but needs the page's anchors
    candidates = stored.blobs(graph, links.keys()) | stored.named(graph, checksums(requested))
    files = {path: blob for path, blob in candidates.items() if path not in changed} | after

    def request(names: Collection[str]) -> None:
        new = stored.named(graph, checksums(set(names) - requested))
        requested.update(names)
        added = {p: blob for p, blob in new.items() if p not in changed and p not in files}
        files.update(added)
        _add_targets(targets, added, page_facts.names(added))

    targets = Targets(lambda path: page_facts.anchors(files.get(path)), sites, request)
    _add_targets(targets, files, page_facts.names(files))
    edges = {
        path: {number: resolve(path, link, targets) for number, link in numbered.items()}
        for path, numbered in links.items()
    }
    nodes = {
        path: _node(path, after[path], names_after, page_facts, sites) if path in after else None
        for path in changed
    }
    return GraphPatch(nodes, edges)


def _affected_names(
    before: Files,
    after: Files,
    names_before: Mapping[FilePath, PageNameForms],
    names_after: Mapping[FilePath, PageNameForms],
    sites: Sites,
) -> set[str]:
    """Return the names that files were added or removed under, or that no longer mean the same."""
    affected: set[str] = set()
    for path in {*before, *after}:
        is_same = (
            path in before
            and path in after
            and (before[path] is None) == (after[path] is None)
            and names_before.get(path) == names_after.get(path)
        )
        if not is_same:
            for files, names in ((before, names_before), (after, names_after)):
                if path in files:
                    affected |= _names(path, names, sites)
    return affected


def _affected_links(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: ChangedFiles,
    names: Collection[str],
    page_facts: LazyPageFacts,
) -> dict[FilePath, dict[int, Link]]:
    """Return the links of unchanged pages that may resolve to something else now, by number."""
    requesting = page_facts.table.requesting(checksums(names))
    blobs = {p: b for p, b in stored.paths_of(graph, requesting).items() if p not in changed}
    rewritten = _with_including(stored, graph, changed, page_facts)
    with_anchor = {  # into pages whose anchors may be others now
        path: {number for number, edge in edges.items() if edge.has_anchor is not None}
        for path, edges in stored.into(graph, rewritten).items()
        if path not in changed
    }
    blobs |= stored.blobs(graph, [path for path in with_anchor if path not in blobs])
    affected: dict[FilePath, dict[int, Link]] = {}
    for path, links in page_facts.links(blobs).items():
        for number, link in enumerate(links):
            if number in with_anchor.get(path, ()) or not requested_names(link).isdisjoint(names):
                affected.setdefault(path, {})[number] = link
    return affected


def _with_including(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: ChangedFiles,
    page_facts: LazyPageFacts,
) -> set[FilePath]:
    """Return changed files, and the pages that include one, or a page that does.

    A page that includes something counts if it requests the name of such a file at all.
    """
    found = set(changed)
    including = page_facts.table.requesting(checksums({INCLUDES}))
    new = found if including else set()
    while new:
        requesting = page_facts.table.requesting(checksums(map(stem, new)))
        new = stored.paths_of(graph, requesting & including).keys() - found
        found |= new
    return found


def _add_targets(targets: Targets, files: Files, names: Mapping[FilePath, PageNameForms]) -> None:
    for path, blob in files.items():
        if blob is None:
            targets.add_file(path)
        else:
            targets.add_page(names[path])


def _batches(files: Files) -> Iterator[Files]:
    items = iter(files.items())
    while batch := dict(islice(items, PAGES_PER_BATCH)):
        yield batch


def _node(
    path: FilePath,
    blob: ObjectId | None,
    names: Mapping[FilePath, PageNameForms],
    page_facts: LazyPageFacts,
    sites: Sites,
) -> GraphNode:
    answers = frozenset(checksums(_names(path, names, sites)))
    if blob is None:
        return GraphNode(None, None, answers)
    return GraphNode(blob, doc_id(path), answers, not page_facts.is_known(blob))


def _names(path: FilePath, names: Mapping[FilePath, PageNameForms], sites: Sites) -> frozenset[str]:
    page = names.get(path)
    return page_names(page, sites) if page else frozenset({stem(path)})

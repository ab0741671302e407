"""Where links lead; when files change, only what may lead elsewhere is resolved again.

That are the links of changed pages, and those that ask for a name that came, went or was renamed.

The stored links of a commit made ready to stand on: made, moved, and what differs from them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from ubp.markdown.resolve import PageNameForms, Targets, page_names, requested_names, resolve, stem

Files = Mapping[FilePath, ObjectId | None]
"""What is no folder: a page's blob, or None."""
Changed = Mapping[FilePath, tuple[ObjectId | None] | None]
"""The same, where None says that nothing stands there any more."""

PAGES_AT_ONCE = 500  # whose links are in memory


def resolve_all(files: Files, knowledge: LazyPageFacts, roots: Sequence[FilePath]) -> GraphPatch:
    """Resolve every link of a snapshot."""
    names = knowledge.names(files)
    targets = _targets(files, names, knowledge)
    edges = _resolve_all(
        {path: blob for path, blob in files.items() if blob}, targets, knowledge, roots
    )
    return GraphPatch({path: _node(path, files[path], names, knowledge) for path in files}, edges)


def update_links(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: Changed,
    knowledge: LazyPageFacts,
    roots: Sequence[FilePath],
) -> GraphPatch:
    """Tell how a stored graph differs where these files do."""
    before = stored.blobs(graph, changed)
    after = {path: there[0] for path, there in changed.items() if there is not None}
    names_after = knowledge.names(after)
    names_before = knowledge.names(before)
    if not graph.is_complete:  # what could not be read answered to its file's name alone
        names_before.update((path, PageNameForms(path, None, ())) for path in stored.unread(graph))
    touched = _touched(before, after, names_before, names_after)
    again = _links_again(stored, graph, changed, touched, knowledge)
    own = {path: links for path, links in knowledge.links(after).items() if links}
    wanted = {path: dict(enumerate(links)) for path, links in own.items()} | again
    asked = {
        name for links in wanted.values() for one in links.values() for name in requested_names(one)
    }
    around = stored.named(graph, checksums(asked))
    files = {path: blob for path, blob in around.items() if path not in changed} | after
    targets = _targets(files, knowledge.names(files), knowledge)
    edges = {
        path: {number: resolve(path, link, targets, roots) for number, link in links.items()}
        for path, links in wanted.items()
    }
    nodes = {
        path: _node(path, after[path], names_after, knowledge) if path in after else None
        for path in changed
    }
    return GraphPatch(nodes, edges)


def _touched(
    before: Files,
    after: Files,
    names_before: Mapping[FilePath, PageNameForms],
    names_after: Mapping[FilePath, PageNameForms],
) -> set[str]:
    """Return the names under which something came, went, or is called in another way."""
    touched: set[str] = set()
    for path in {*before, *after}:
        is_same = (
            path in before
            and path in after
            and (before[path] is None) == (after[path] is None)
            and names_before.get(path) == names_after.get(path)
        )
        if not is_same:
            for side, names in ((before, names_before), (after, names_after)):
                if path in side:
                    touched |= _names(path, names)
    return touched


def _links_again(
    stored: EdgeTable,
    graph: StoredGraphVersion,
    changed: Changed,
    touched: Collection[str],
    knowledge: LazyPageFacts,
) -> dict[FilePath, dict[int, Link]]:
    """Return the links of unchanged pages that may lead elsewhere now."""
    asking = knowledge.table.asking(checksums(touched))
    pages = {p: b for p, b in stored.paths_of(graph, asking).items() if p not in changed}
    anchored = {
        path: {number for number, one in edges.items() if one.has_anchor is not None}
        for path, edges in stored.into(graph, changed.keys()).items()
        if path not in changed
    }
    blobs = pages | stored.blobs(graph, [path for path in anchored if path not in pages])
    again: dict[FilePath, dict[int, Link]] = {}
    for path, links in knowledge.links(blobs).items():
        for number, link in enumerate(links):
            if number in anchored.get(path, ()) or not requested_names(link).isdisjoint(touched):
                again.setdefault(path, {})[number] = link
    return again


def _targets(
    files: Files, names: Mapping[FilePath, PageNameForms], knowledge: LazyPageFacts
) -> Targets:
    targets = Targets(lambda path: knowledge.anchors(files.get(path)))
    for path, blob in files.items():
        if blob is None:
            targets.add_file(path)
        else:
            targets.add_page(names[path])
    return targets


def _resolve_all(
    pages: Files, targets: Targets, knowledge: LazyPageFacts, roots: Sequence[FilePath]
) -> Edges:
    edges: Edges = {}
    for batch in _batches(pages):
        for path, links in knowledge.links(batch).items():
            if links:
                edges[path] = {
                    number: resolve(path, link, targets, roots) for number, link in enumerate(links)
                }
    return edges


def _batches(pages: Files) -> Iterator[Files]:
    items: Iterable[tuple[FilePath, ObjectId | None]] = iter(pages.items())
    while batch := dict(islice(items, PAGES_AT_ONCE)):
        yield batch


def _node(
    path: FilePath,
    blob: ObjectId | None,
    names: Mapping[FilePath, PageNameForms],
    knowledge: LazyPageFacts,
) -> GraphNode:
    answers = frozenset(checksums(_names(path, names)))
    if blob is None:
        return GraphNode(None, None, answers)
    return GraphNode(blob, doc_id(path), answers, not knowledge.is_known(blob))


def _names(path: FilePath, names: Mapping[FilePath, PageNameForms]) -> frozenset[str]:
    page = names.get(path)
    return page_names(page) if page else frozenset({stem(path)})


# Other processes may move the graph to their commit as often as this one moves it to its own.
ATTEMPTS = 8


class GraphVersion(NamedTuple):
    """What the links of a snapshot are asked about.

    `commit` and `changes` are the snapshot's (hashed); `all_files` tells what stands in the commit;
    `is_current`: the commit is the work tree's HEAD, so that the stored graph moves to it.
    """

    git_dir: str
    scope: str
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]
    all_files: Callable[[], Mapping[FilePath, Entry]]
    is_page: Callable[[FilePath, Entry], bool]
    is_current: bool
    roots: Sequence[FilePath]


class LinkGraphWriter:
    """Lays the links of one snapshot, as often as other processes move the stored graph."""

    def __init__(
        self,
        repository: Repository,
        stored: EdgeTable,
        knowledge: LazyPageFacts,
        standing: GraphVersion,
    ) -> None:
        self._repository = repository
        self._stored = stored
        self._knowledge = knowledge
        self._standing = standing

    def load(self) -> tuple[StoredGraphVersion | None, GraphPatch]:
        """The stored graph to stand on, and what differs from it."""
        standing = self._standing
        if standing.commit is None:
            there = {path: entry for path, entry in standing.changes.items() if entry}
            files = self._files(there)
            self._knowledge.learn(files)
            return None, resolve_all(files, self._knowledge, self._standing.roots)
        for _ in range(ATTEMPTS):
            with suppress(GraphMovedError):
                graph = self._bring(standing.commit)
                if graph is not None:
                    return graph, self._difference(graph, standing.commit)
        raise StoreError("Other processes keep changing the index.", hint="Ask again.")

    def _bring(self, commit: ObjectId) -> StoredGraphVersion | None:
        """The stored graph, made or moved where it must be; None: look again."""
        graph = self._stored.find(self._standing.git_dir)
        if graph is None or graph.scope != self._standing.scope:
            self._make(commit)
            return None
        if not graph.is_learned:
            self._knowledge.learn(self._stored.forgotten(graph))
            self._stored.mark_learned(graph)
        is_behind = graph.commit != commit or not graph.is_complete
        if self._standing.is_current and is_behind and self._move(graph, commit):
            return None
        return graph

    def _make(self, commit: ObjectId) -> None:
        files = self._files(self._standing.all_files())
        self._knowledge.learn(files)
        whole = resolve_all(files, self._knowledge, self._standing.roots)
        self._stored.save(self._standing.git_dir, commit, self._standing.scope, whole)

    def _move(self, graph: StoredGraphVersion, commit: ObjectId) -> bool:
        """Move the graph; False: it stands where it should already, as far as can be known."""
        try:
            changes = diff_trees(self._repository, graph.commit, commit)
        except RepositoryError:  # its commit is gone: collected, or the repository made anew
            self._make(commit)
            return True
        changed = self._changed(changes)
        unread = {} if graph.is_complete else self._stored.unread(graph)
        self._knowledge.learn(unread)
        for path, blob in unread.items():
            if blob and self._knowledge.is_known(blob):
                changed.setdefault(path, (blob,))
        if graph.commit == commit and not changed:
            return False
        self._knowledge.learn({path: there[0] for path, there in changed.items() if there})
        patch = update_links(self._stored, graph, changed, self._knowledge, self._standing.roots)
        self._stored.move(graph, commit, patch)
        return True

    def _difference(self, graph: StoredGraphVersion, commit: ObjectId) -> GraphPatch:
        changes: dict[FilePath, Entry | None] = {}
        if graph.commit != commit:
            try:
                changes |= diff_trees(self._repository, graph.commit, commit)
            except RepositoryError as error:
                self._make(commit)
                raise GraphMovedError from error
        changed = self._changed(changes | dict(self._standing.changes))
        if not changed:
            return GraphPatch({}, {})
        self._knowledge.learn({path: there[0] for path, there in changed.items() if there})
        return update_links(self._stored, graph, changed, self._knowledge, self._standing.roots)

    def _changed(
        self, changes: Mapping[FilePath, Entry | None]
    ) -> dict[FilePath, tuple[ObjectId | None] | None]:
        files = self._files({path: entry for path, entry in changes.items() if entry})
        return {path: (files[path],) if path in files else None for path, entry in changes.items()}

    def _files(self, entries: Mapping[FilePath, Entry]) -> dict[FilePath, ObjectId | None]:
        return {
            path: entry.id if self._standing.is_page(path, entry) else None
            for path, entry in entries.items()
            if not entry.is_directory
        }

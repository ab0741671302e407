"""The links of a snapshot: as they are stored for a commit, and what differs from that."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, TypeVar

from ubp.errors import RepositoryError, StoreError
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees
from ubp.indexing.knowledge import Knowledge
from ubp.indexing.relink import link_all, relink
from ubp.links import Bucket, Resolution
from ubp.model import Entry, FilePath, Link, ObjectId, Section
from ubp.store.database import Database
from ubp.store.edges import Edges, GraphMovedError, Patch, StoredEdges, StoredGraph

T = TypeVar("T")
Is = Callable[[FilePath, Entry], bool]

# Other processes may move the graph to their commit as often as this one moves it to its own.
ATTEMPTS = 8
PAGES_AT_ONCE = 500


class Standing(NamedTuple):
    """What the links of a snapshot are asked about.

    `commit` and `changes` are the snapshot's (hashed); `all_files` tells what stands in the commit;
    `is_current`: the commit is the work tree's HEAD, so that the stored graph moves to it.
    """

    git_dir: str
    scope: str
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]
    all_files: Callable[[], Mapping[FilePath, Entry]]
    is_page: Is
    is_current: bool


class Edge(NamedTuple):
    """A link, the page that has it, and where it leads."""

    source: FilePath
    link: Link
    resolution: Resolution


class Linked:
    """The links of one snapshot, resolved."""

    def __init__(
        self,
        repository: Repository,
        database: Database,
        knowledge: Knowledge,
        standing: Standing,
        roots: Sequence[FilePath],
    ) -> None:
        self._repository = repository
        self._stored = StoredEdges(database)
        self._knowledge = knowledge
        self._standing = standing
        self._roots = roots
        self._graph, self._patch = self._lay()

    def pages(self) -> dict[FilePath, ObjectId]:
        """The pages and their blobs, in the order of their paths."""
        stored = self._ask(self._stored.blobs) if self._graph else {}
        found = {
            path: blob for path, blob in stored.items() if blob and path not in self._patch.nodes
        }
        found.update((p, node.blob) for p, node in self._patch.nodes.items() if node and node.blob)
        return dict(sorted(found.items()))

    def blobs(self, paths: Collection[FilePath]) -> dict[FilePath, ObjectId]:
        """The blobs of those of these paths that are pages."""
        unchanged = [path for path in paths if path not in self._patch.nodes]
        found = self._ask(lambda graph: self._stored.blobs(graph, unchanged)) if self._graph else {}
        for path in paths:
            node = self._patch.nodes.get(path)
            found[path] = node.blob if node else found.get(path)
        return {path: blob for path, blob in found.items() if blob}

    def paths_of(self, blobs: Collection[ObjectId]) -> dict[ObjectId, list[FilePath]]:
        """The pages with these blobs."""
        stored = self._ask(lambda graph: self._stored.paths_of(graph, blobs)) if self._graph else {}
        pages = [(path, blob) for path, blob in stored.items() if path not in self._patch.nodes]
        pages += [(path, node.blob) for path, node in self._patch.nodes.items() if node]
        found: dict[ObjectId, list[FilePath]] = {}
        for path, blob in sorted(pages):
            if blob is not None and blob in blobs:
                found.setdefault(blob, []).append(path)
        return found

    def out(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Edge, ...]]:
        """The links of these pages, in order."""
        blobs = self.blobs(paths)
        self._knowledge.learn(blobs)
        links = self._knowledge.links(blobs)
        edges = self._resolutions(blobs)
        return {
            path: tuple(
                Edge(path, link, edges[path][number])
                for number, link in enumerate(links[path])
                if number in edges.get(path, {})
            )
            for path in blobs
        }

    def into(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Edge, ...]]:
        """The links that lead to these pages (their own to themselves too), by their targets."""
        found: Edges = (
            self._ask(lambda graph: self._stored.into(graph, paths)) if self._graph else {}
        )
        numbers: dict[FilePath, dict[int, Resolution]] = {}
        for source, edges in found.items():
            if source not in self._patch.nodes:
                patched = self._patch.edges.get(source, {})
                numbers[source] = {n: one for n, one in edges.items() if n not in patched}
        wanted = set(paths)
        for source, edges in self._patch.edges.items():
            there = {n: one for n, one in edges.items() if one.target in wanted}
            if there:
                numbers.setdefault(source, {}).update(there)
        return self._backlinks(numbers, paths)

    def edges(self) -> Iterator[Edge]:
        """Every link, page after page in the order of their paths."""
        pages = iter(self.pages())
        while batch := list(islice(pages, PAGES_AT_ONCE)):
            for edges in self.out(batch).values():
                yield from edges

    def buckets(self) -> Counter[Bucket]:
        """How many links are in each bucket."""

        def count(graph: StoredGraph) -> Counter[Bucket]:
            counted = self._stored.buckets(graph)
            for edges in self._replaced(graph).values():
                counted.subtract(one.bucket for one in edges.values())
            return counted

        counted = self._ask(count) if self._graph else Counter()
        counted.update(one.bucket for found in self._patch.edges.values() for one in found.values())
        return +counted

    def pairs(self) -> Iterator[tuple[FilePath, FilePath]]:
        """The source and the target of each link that leads to a page."""

        def read(graph: StoredGraph) -> tuple[list[tuple[FilePath, FilePath]], Edges]:
            return self._stored.pairs(graph), self._replaced(graph)

        if self._graph:
            stored, replaced = self._ask(read)
            left = Counter(
                (source, one.target)
                for source, edges in replaced.items()
                for one in edges.values()
                if one.target is not None
            )
            for pair in stored:
                if left and left[pair] > 0:
                    left[pair] -= 1
                else:
                    yield pair
        for source, found in self._patch.edges.items():
            for one in found.values():
                if one.target is not None:
                    yield source, one.target

    def sections(self, path: FilePath) -> tuple[Section, ...]:
        """The sections of a page."""
        blobs = self.blobs([path])
        self._knowledge.learn(blobs)
        return self._knowledge.sections(blobs[path]) if blobs else ()

    def anchors(self, path: FilePath) -> frozenset[str]:
        """All that a link may name behind a page's path, folded."""
        blobs = self.blobs([path])
        self._knowledge.learn(blobs)
        return self._knowledge.anchors(blobs.get(path))

    def _replaced(self, graph: StoredGraph) -> Edges:
        """The stored edges that do not hold here."""
        stored = self._stored.out(graph, {*self._patch.nodes, *self._patch.edges})
        return {
            path: edges
            if path in self._patch.nodes
            else {n: one for n, one in edges.items() if n in self._patch.edges[path]}
            for path, edges in stored.items()
        }

    def _resolutions(self, paths: Collection[FilePath]) -> Edges:
        unchanged = [path for path in paths if path not in self._patch.nodes]
        found = self._ask(lambda graph: self._stored.out(graph, unchanged)) if self._graph else {}
        for path in paths:
            if path in self._patch.edges:
                found.setdefault(path, {}).update(self._patch.edges[path])
        return found

    def _backlinks(
        self, numbers: Edges, targets: Collection[FilePath]
    ) -> dict[FilePath, tuple[Edge, ...]]:
        blobs = self.blobs(numbers)
        self._knowledge.learn(blobs)
        links = self._knowledge.links(blobs)
        found: dict[FilePath, list[Edge]] = {path: [] for path in targets}
        for source in sorted(numbers.keys() & links.keys()):
            for number, one in sorted(numbers[source].items()):
                if one.target in found:
                    found[one.target].append(Edge(source, links[source][number], one))
        return {path: tuple(edges) for path, edges in found.items()}

    def _ask(self, question: Callable[[StoredGraph], T]) -> T:
        for _ in range(ATTEMPTS):
            if self._graph is not None:
                with suppress(GraphMovedError):
                    return question(self._graph)
            self._graph, self._patch = self._lay()
        raise StoreError("Other processes keep changing the index.", hint="Ask again.")

    def _lay(self) -> tuple[StoredGraph | None, Patch]:
        """The stored graph to stand on, and what differs from it."""
        standing = self._standing
        if standing.commit is None:
            there = {path: entry for path, entry in standing.changes.items() if entry}
            files = self._files(there)
            self._knowledge.learn(files)
            return None, link_all(files, self._knowledge, self._roots)
        for _ in range(ATTEMPTS):
            with suppress(GraphMovedError):
                graph = self._bring(standing.commit)
                if graph is not None:
                    return graph, self._difference(graph, standing.commit)
        raise StoreError("Other processes keep changing the index.", hint="Ask again.")

    def _bring(self, commit: ObjectId) -> StoredGraph | None:
        """The stored graph, made or moved where it must be; None: look again."""
        graph = self._stored.find(self._standing.git_dir)
        if graph is None or graph.scope != self._standing.scope:
            self._make(commit)
        elif self._standing.is_current and (graph.commit != commit or not graph.is_complete):
            return graph if self._move(graph, commit) else None
        else:
            return graph
        return None

    def _make(self, commit: ObjectId) -> None:
        files = self._files(self._standing.all_files())
        self._knowledge.learn(files)
        whole = link_all(files, self._knowledge, self._roots)
        self._stored.save(
            self._standing.git_dir, commit, self._standing.scope, whole, ok=self._is_known(files)
        )

    def _move(self, graph: StoredGraph, commit: ObjectId) -> bool:
        """Move the graph; True: it stands where it should already, as far as can be known."""
        try:
            changed = self._changed(diff_trees(self._repository, graph.commit, commit))
        except (
            RepositoryError
        ):  # its commit is gone: garbage-collected, or the repository made anew
            self._make(commit)
            return False
        lacking = {} if graph.is_complete else self._stored.lacking(graph)
        unread = {path: blob for path, blob in lacking.items() if path not in changed}
        self._knowledge.learn(unread)
        still = {
            path for path, blob in unread.items() if blob and not self._knowledge.is_known(blob)
        }
        changed |= {path: (blob,) for path, blob in unread.items() if path not in still}
        if graph.commit == commit and not changed and still:
            return True
        after = {path: there[0] for path, there in changed.items() if there}
        self._knowledge.learn(after)
        patch = relink(self._stored, graph, changed, self._knowledge, self._roots)
        self._stored.move(graph, commit, patch, ok=not still and self._is_known(after))
        return False

    def _difference(self, graph: StoredGraph, commit: ObjectId) -> Patch:
        changes: dict[FilePath, Entry | None] = {}
        if graph.commit != commit:
            try:
                changes |= diff_trees(self._repository, graph.commit, commit)
            except RepositoryError as error:
                self._make(commit)
                raise GraphMovedError from error
        changed = self._changed(changes | dict(self._standing.changes))
        if not changed:
            return Patch({}, {})
        self._knowledge.learn({path: there[0] for path, there in changed.items() if there})
        return relink(self._stored, graph, changed, self._knowledge, self._roots)

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

    def _is_known(self, files: Mapping[FilePath, ObjectId | None]) -> bool:
        return all(blob is None or self._knowledge.is_known(blob) for blob in files.values())

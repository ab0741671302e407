"""The links of a snapshot: as they are stored for a commit, and what differs from that.

A snapshot's links put together: what is needed to know and to resolve them.

The links around pages of a snapshot, so many of them at most.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, TypeVar

from ubp.core.config import Config, scope
from ubp.core.errors import StoreError
from ubp.core.model import Entry, FilePath, Link, ObjectId, Section
from ubp.index.ingest import LazyPageFacts
from ubp.index.link_updates import ATTEMPTS, GraphVersion, LinkGraphWriter
from ubp.index.store.codec import checksums
from ubp.index.store.database import Database
from ubp.index.store.links import (
    AdjacencyTable,
    Edges,
    EdgeTable,
    GraphMovedError,
    GraphNode,
    Neighbor,
    Neighborhood,
    StoredGraphVersion,
)
from ubp.index.store.page_facts import PageFactsTable
from ubp.index.tree import IndexContext, document_filter
from ubp.markdown.resolve import Bucket, Resolution, requested_names

T = TypeVar("T")

PAGES_AT_ONCE = 500


class GraphEdge(NamedTuple):
    """A link, the page that has it, and where it leads."""

    source: FilePath
    link: Link
    resolution: Resolution


class LinkGraph:
    """The links of one snapshot, resolved.

    `load_count` grows where another process has moved what it stands on, or the database failed.
    """

    def __init__(
        self, stored: EdgeTable, knowledge: LazyPageFacts, writer: LinkGraphWriter
    ) -> None:
        self._stored = stored
        self._knowledge = knowledge
        self._writer = writer
        self._graph, self._patch = writer.load()
        self.load_count = 1

    @property
    def patched(self) -> Mapping[FilePath, GraphNode | None]:
        """What differs from the stored graph; None: nothing stands there any more."""
        return self._patch.nodes

    @property
    def relinked(self) -> frozenset[FilePath]:
        """The pages whose links are others than the stored graph's."""
        return frozenset({*self._patch.nodes, *self._patch.edges})

    def query_stored(self, question: Callable[[StoredGraphVersion], T]) -> T | None:
        """The answer to a question about the stored graph; None: there is none to stand on."""
        return self._ask(question) if self._graph else None

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
        found.update((path, node.blob) for path, node in self._patch.nodes.items() if node)
        return {path: blob for path in paths if (blob := found.get(path))}

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

    def out(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """The links of these pages, in order."""
        blobs = self.blobs(paths)
        self._knowledge.learn(blobs)
        links = self._knowledge.links(blobs)
        edges = self._resolutions(blobs)
        return {
            path: tuple(
                GraphEdge(path, link, edges[path][number])
                for number, link in enumerate(links[path])
                if number in edges.get(path, {})
            )
            for path in blobs
        }

    def into(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """The links that lead to these pages (their own to themselves too), by their targets."""
        return self._backlinks(self._resolutions_into(paths), paths)

    def links_to_names(self, names: Collection[str]) -> tuple[GraphEdge, ...]:
        """The links that ask for one of these names (see `names_asked`), wherever they lead."""
        blobs = self._knowledge.table.asking(checksums(names))
        paths = {path for found in self.paths_of(blobs).values() for path in found}
        return tuple(
            edge
            for edges in self.out(sorted(paths)).values()
            for edge in edges
            if not requested_names(edge.link).isdisjoint(names)
        )

    def edges(self) -> Iterator[GraphEdge]:
        """Every link, page after page in the order of their paths."""
        pages = iter(self.pages())
        while batch := list(islice(pages, PAGES_AT_ONCE)):
            for edges in self.out(batch).values():
                yield from edges

    def buckets(self) -> Counter[Bucket]:
        """How many links are in each bucket."""

        def count(graph: StoredGraphVersion) -> Counter[Bucket]:
            counted = self._stored.buckets(graph)
            for edges in self._replaced(graph).values():
                counted.subtract(one.bucket for one in edges.values())
            return counted

        counted = self._ask(count) if self._graph else Counter()
        counted.update(one.bucket for found in self._patch.edges.values() for one in found.values())
        return +counted

    def pairs(self) -> Iterator[tuple[FilePath, FilePath]]:
        """The source and the target of each link that leads to a page."""

        def read(graph: StoredGraphVersion) -> tuple[list[tuple[FilePath, FilePath]], Edges]:
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

    def pairs_at(self, paths: Collection[FilePath]) -> Iterator[tuple[FilePath, FilePath]]:
        """The same of the links from and to these pages, each of them once."""
        told = set(paths)
        for source, edges in self._resolutions(self.blobs(paths)).items():
            yield from ((source, one.target) for one in edges.values() if one.target is not None)
        for source, edges in self._resolutions_into(paths).items():
            if source not in told:
                yield from ((source, one.target) for one in edges.values() if one.target)

    def sections(self, path: FilePath) -> tuple[Section, ...]:
        """The sections of a page."""
        return self.sections_of([path]).get(path, ())

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """The sections of those of these paths that are pages."""
        blobs = self.blobs(paths)
        self._knowledge.learn(blobs)
        return self._knowledge.sections(blobs)

    def anchors(self, path: FilePath) -> frozenset[str]:
        """All that a link may name behind a page's path, folded."""
        blobs = self.blobs([path])
        self._knowledge.learn(blobs)
        return self._knowledge.anchors(blobs.get(path))

    def _replaced(self, graph: StoredGraphVersion) -> Edges:
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

    def _resolutions_into(self, paths: Collection[FilePath]) -> Edges:
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
        return numbers

    def _backlinks(
        self, numbers: Edges, targets: Collection[FilePath]
    ) -> dict[FilePath, tuple[GraphEdge, ...]]:
        blobs = self.blobs(numbers)
        self._knowledge.learn(blobs)
        links = self._knowledge.links(blobs)
        found: dict[FilePath, list[GraphEdge]] = {path: [] for path in targets}
        for source in sorted(numbers.keys() & links.keys()):
            for number, one in sorted(numbers[source].items()):
                if one.target in found:
                    found[one.target].append(GraphEdge(source, links[source][number], one))
        return {path: tuple(edges) for path, edges in found.items()}

    def _ask(self, question: Callable[[StoredGraphVersion], T]) -> T:
        for _ in range(ATTEMPTS):
            if self._graph is not None:
                with suppress(GraphMovedError):
                    return question(self._graph)
            self._graph, self._patch = self._writer.load()
            self.load_count += 1
        raise StoreError("Other processes keep changing the index.", hint="Ask again.")


def link_snapshot(
    context: IndexContext,
    config: Config,
    *,
    changes: Mapping[FilePath, Entry | None],
    all_files: Callable[[], Iterable[tuple[FilePath, Entry]]],
) -> LinkGraph:
    """Learn what a snapshot's documents say, and resolve its links.

    `changes` are the snapshot's with its documents hashed; `all_files` is called where no links
    are stored yet.
    """
    snapshot, repository = context.snapshot, context.repository
    facts = PageFactsTable(context.store.database)
    if facts.is_outgrown():
        facts.prune()
    roots = config.link_roots
    standing = GraphVersion(
        git_dir=repository.git_dir,
        scope="\n".join([scope(config), *roots]),
        commit=snapshot.commit,
        changes=changes,
        all_files=lambda: dict(all_files()),
        is_page=document_filter(config),
        roots=roots,
        is_current=snapshot.kind != "commit" or snapshot.commit == repository.head(),
    )
    stored, knowledge = (
        EdgeTable(context.store.database),
        LazyPageFacts(repository, context.store.database, snapshot, context.progress),
    )
    return LinkGraph(stored, knowledge, LinkGraphWriter(repository, stored, knowledge, standing))


NO_NEIGHBORS = Neighborhood([], [])  # nobody adds to it


class Adjacency:
    """The links of a snapshot, page by page."""

    def __init__(self, database: Database, linked: LinkGraph) -> None:
        self._stored = AdjacencyTable(database)
        self._linked = linked
        self._load_count = 0
        self._changed: Collection[FilePath] = ()
        self._changed_ties: list[Neighbor] = []

    def neighbors(self, paths: Collection[FilePath], most: int) -> dict[FilePath, Neighborhood]:
        """The first links around each of these pages; of what differs from the commit all."""
        stored = (
            self._linked.query_stored(lambda graph: self._stored.around(graph, paths, most)) or {}
        )
        self._lay()
        return {path: self._changed_around(path, stored.get(path, NO_NEIGHBORS)) for path in paths}

    def _changed_around(self, path: FilePath, stored: Neighborhood) -> Neighborhood:
        if not self._changed:
            return stored
        out, into = ([tie for tie in ties if tie.source not in self._changed] for ties in stored)
        return Neighborhood(
            [*out, *(tie for tie in self._changed_ties if tie.source == path)],
            [*into, *(tie for tie in self._changed_ties if tie.target == path)],
        )

    def _lay(self) -> None:
        if self._load_count == self._linked.load_count:
            return
        self._changed = self._linked.relinked
        edges = self._linked.out(self._changed) if self._changed else {}
        self._changed_ties = [
            tie for found in edges.values() for edge in found for tie in _tie(edge)
        ]
        self._load_count = self._linked.load_count


def _tie(edge: GraphEdge) -> list[Neighbor]:
    """A link to another page; none else."""
    link, target = edge.link, edge.resolution.target
    if target is None or target == edge.source:
        return []
    return [Neighbor(edge.source, target, link.link_type, link.context, link.line)]

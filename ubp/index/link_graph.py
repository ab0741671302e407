"""The resolved links of a snapshot: the graph stored for a commit, and a patch on top of it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, TypeVar, cast, get_args

from ubp.core.config import Config, scope_key
from ubp.core.errors import StoreError
from ubp.core.interruption import with_checkpoints
from ubp.core.model import Entry, FilePath, Link, ObjectId, PageFields, Section
from ubp.index.ingest import LazyPageFacts
from ubp.index.link_updates import MAX_ATTEMPTS, GraphVersion, LinkGraphWriter
from ubp.index.store.codec import checksums
from ubp.index.store.database import Database
from ubp.index.store.links import (
    AdjacencyTable,
    Edges,
    EdgeTable,
    GraphMovedError,
    GraphNode,
    LinkPairs,
    Neighbor,
    Neighborhood,
    StoredGraphVersion,
)
from ubp.index.store.page_facts import PageFactsTable
from ubp.index.tree import IndexContext, document_filter
from ubp.markdown.resolve import Bucket, Resolution, requested_names, whole_anchors
from ubp.markdown.sites.anchors import HeadingName, IncludedPage, PageAnchors
from ubp.markdown.sites.detect import configured_site, site_anchors
from ubp.markdown.sites.site import Sites

T = TypeVar("T")

PAGES_PER_BATCH = 500  # whose links are in memory

NO_NEIGHBORS = Neighborhood([], [])  # shared: nothing is ever added to it


class GraphEdge(NamedTuple):
    """A link, the page that contains it, and what it resolves to."""

    source: FilePath
    link: Link
    resolution: Resolution

    @property
    def bucket(self) -> Bucket:
        """The bucket of the link, which is not an embedded file."""
        return cast("Bucket", self.resolution.bucket)


class LinkGraph:
    """The links of one snapshot, resolved; `sites` are those that publish its pages.

    `load_count` grows when the stored graph had to be loaded again: another process has moved it,
    or the database failed. What was read before and after that does not fit together.
    """

    def __init__(
        self, stored: EdgeTable, page_facts: LazyPageFacts, writer: LinkGraphWriter
    ) -> None:
        self._stored = stored
        self._page_facts = page_facts
        self._writer = writer
        self.sites = writer.sites
        self._graph, self._patch = writer.load()
        self.load_count = 1

    @property
    def patched(self) -> Mapping[FilePath, GraphNode | None]:
        """The files that differ from the stored graph; None: deleted."""
        return self._patch.nodes

    @property
    def relinked(self) -> frozenset[FilePath]:
        """The pages whose links differ from the stored graph's."""
        return frozenset({*self._patch.nodes, *self._patch.edges})

    def query_stored(self, query: Callable[[StoredGraphVersion], T]) -> T | None:
        """Return the result of a query on the stored graph; None: there is no stored graph."""
        return self._query(query) if self._graph else None

    def read_consistently(self, read: Callable[[], T]) -> T:
        """Return what `read` returns; read again if the graph has changed since it was loaded.

        Another process may have moved it, or removed pages whose words or vectors are searched for.
        """
        for _ in range(MAX_ATTEMPTS):
            before = self.load_count
            result = read()
            self.query_stored(self._stored.check)
            if self.load_count == before:
                break
        return result

    def pages(self) -> dict[FilePath, ObjectId]:
        """Return the pages and their blobs, in path order."""
        stored = self._query(self._stored.blobs) if self._graph else {}
        blobs = {
            path: blob
            for path, blob in with_checkpoints(stored.items())
            if blob and path not in self._patch.nodes
        }
        blobs.update((p, node.blob) for p, node in self._patch.nodes.items() if node and node.blob)
        return dict(sorted(blobs.items()))

    def blobs(self, paths: Collection[FilePath]) -> dict[FilePath, ObjectId]:
        """Return the blobs of those of these paths that are pages."""
        blobs: dict[FilePath, ObjectId | None] = {}
        if self._graph:
            blobs = self._query(lambda graph: self._stored.blobs(graph, self._unchanged(paths)))
        blobs.update((path, node.blob) for path, node in self._patch.nodes.items() if node)
        return {path: blob for path in with_checkpoints(paths) if (blob := blobs.get(path))}

    def paths_of(self, blobs: Collection[ObjectId]) -> dict[ObjectId, list[FilePath]]:
        """Return the sorted paths of the pages with each of these blobs."""
        stored = (
            self._query(lambda graph: self._stored.paths_of(graph, blobs)) if self._graph else {}
        )
        pages = [
            (path, blob)
            for path, blob in with_checkpoints(stored.items())
            if path not in self._patch.nodes
        ]
        pages += [(path, node.blob) for path, node in self._patch.nodes.items() if node]
        paths: dict[ObjectId, list[FilePath]] = {}
        for path, blob in with_checkpoints(sorted(pages)):
            if blob is not None and blob in blobs:
                paths.setdefault(blob, []).append(path)
        return paths

    def replaced(self) -> set[ObjectId]:
        """Return the blobs of the stored graph's pages that the snapshot has at no path."""
        if not self._graph:
            return set()
        stored = self._query(lambda graph: self._stored.blobs(graph, list(self._patch.nodes)))
        blobs = {blob for blob in stored.values() if blob}
        return blobs - self.paths_of(blobs).keys()

    def out(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """Return the links of each of these pages, in order."""
        blobs = self.blobs(paths)
        self._page_facts.learn(blobs)
        links = self._page_facts.links(blobs)
        resolutions = self._resolutions(blobs)
        edges: dict[FilePath, tuple[GraphEdge, ...]] = {}
        for path in blobs:
            resolved = resolutions.get(path, {})
            if len(resolved) != len(links[path]) and self._graph and self._graph.is_complete:
                self._stored.replace_damaged()
            edges[path] = tuple(
                GraphEdge(path, link, resolved[number])
                for number, link in enumerate(links[path])
                if number in resolved  # a page may be readable now that was not when they were
                and resolved[number].bucket != "embedded"
            )
        return edges

    def into(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[GraphEdge, ...]]:
        """Return the links to each of these pages (from themselves too), in order."""
        resolutions = self._resolutions_into(paths)
        blobs = self.blobs(resolutions)
        self._page_facts.learn(blobs)
        links = self._page_facts.links(blobs)
        edges: dict[FilePath, list[GraphEdge]] = {path: [] for path in paths}
        for source in sorted(resolutions.keys() & links.keys()):
            for number, resolution in sorted(resolutions[source].items()):
                if resolution.target in edges:
                    edge = GraphEdge(source, links[source][number], resolution)
                    edges[resolution.target].append(edge)
        return {path: tuple(backlinks) for path, backlinks in edges.items()}

    def links_to_names(self, names: Collection[str]) -> tuple[GraphEdge, ...]:
        """Return the links that request one of these names (see `requested_names`)."""
        blobs = self._page_facts.table.requesting(checksums(names))
        paths = {path for copies in self.paths_of(blobs).values() for path in copies}
        return tuple(
            edge
            for edges in self.out(sorted(paths)).values()
            for edge in edges
            if not requested_names(edge.link).isdisjoint(names)
        )

    def edges(self) -> Iterator[GraphEdge]:
        """Yield every link, page by page in path order."""
        pages = iter(self.pages())
        while batch := list(islice(pages, PAGES_PER_BATCH)):
            for edges in self.out(batch).values():
                yield from edges

    def buckets(self) -> Counter[Bucket]:
        """Return the number of links in each bucket."""

        def count(graph: StoredGraphVersion) -> Counter[str]:
            counts = self._stored.buckets(graph)
            for edges in self._replaced(graph).values():
                counts.subtract(resolution.bucket for resolution in edges.values())
            return counts

        counts: Counter[str] = self._query(count) if self._graph else Counter()
        for edges in self._patch.edges.values():
            counts.update(resolution.bucket for resolution in edges.values())
        return +Counter({bucket: counts[bucket] for bucket in get_args(Bucket)})

    def pairs(self) -> Iterator[tuple[FilePath, FilePath]]:
        """Yield the source and the target of each link to a page."""

        def read(graph: StoredGraphVersion) -> tuple[LinkPairs, Edges]:
            return self._stored.pairs(graph), self._replaced(graph)

        if self._graph:
            stored, replaced = self._query(read)
            outdated = Counter(
                (source, resolution.target)
                for source, edges in replaced.items()
                for resolution in edges.values()
                if resolution.target is not None
            )
            for pair in stored:
                if outdated and outdated[pair] > 0:
                    outdated[pair] -= 1
                else:
                    yield pair
        for source, edges in self._patch.edges.items():
            for resolution in edges.values():
                if resolution.target is not None:
                    yield source, resolution.target

    def pairs_at(self, paths: Collection[FilePath]) -> Iterator[tuple[FilePath, FilePath]]:
        """Yield the same for the links from and to these pages, each link once."""
        sources = set(paths)
        for source, edges in self._resolutions(self.blobs(paths)).items():
            for resolution in edges.values():
                if resolution.target is not None:
                    yield source, resolution.target
        for source, edges in self._resolutions_into(paths).items():
            if source not in sources:
                for resolution in edges.values():
                    if resolution.target:
                        yield source, resolution.target

    def sections(self, path: FilePath) -> tuple[Section, ...]:
        """Return the sections of a page."""
        return self.sections_of([path]).get(path, ())

    def sections_of(self, paths: Collection[FilePath]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of those of these paths that are pages."""
        blobs = self.blobs(paths)
        self._page_facts.learn(blobs)
        return self._page_facts.sections(blobs)

    def fields_of(self, paths: Collection[FilePath]) -> dict[FilePath, PageFields]:
        """Return the front matter's fields of those of these paths that are pages."""
        blobs = self.blobs(paths)
        self._page_facts.learn(blobs)
        return self._page_facts.fields(blobs)

    def headings(self, path: FilePath) -> tuple[HeadingName, ...]:
        """Return the headings of all levels of a page, and the terms of its definitions."""
        return self._page_anchors(path).headings

    def anchors(self, path: FilePath) -> frozenset[str]:
        """Return the anchors of a page: those of its site's generator, or of GitHub."""
        github = configured_site("github", FilePath(""), FilePath(""), "")
        return site_anchors(self._page_anchors(path), self.sites.of(path) or github)

    def _page_anchors(self, path: FilePath) -> PageAnchors:
        """Return what a page, with the pages that it includes, says about its anchors."""

        def read(page: FilePath) -> PageAnchors:
            blobs = self.blobs([page])
            self._page_facts.learn(blobs)
            return self._page_facts.anchors(blobs.get(page))

        def find(source: FilePath, include: IncludedPage) -> FilePath | None:
            return next(
                (
                    edge.resolution.target
                    for edge in self.out([source]).get(source, ())
                    if edge.link.kind == "include" and edge.link.target == include.path
                ),
                None,
            )

        return whole_anchors(path, self.sites.of(path), read, find)

    def _replaced(self, graph: StoredGraphVersion) -> Edges:
        """Return the stored edges that the patch replaces."""
        stored = self._stored.out(graph, {*self._patch.nodes, *self._patch.edges})
        return {
            path: edges
            if path in self._patch.nodes
            else {number: edges[number] for number in edges.keys() & self._patch.edges[path]}
            for path, edges in stored.items()
        }

    def _resolutions(self, paths: Collection[FilePath]) -> Edges:
        edges: Edges = {}
        if self._graph:
            edges = self._query(lambda graph: self._stored.out(graph, self._unchanged(paths)))
        for path in paths:
            if path in self._patch.edges:
                edges.setdefault(path, {}).update(self._patch.edges[path])
        return edges

    def _resolutions_into(self, paths: Collection[FilePath]) -> Edges:
        stored: Edges = (
            self._query(lambda graph: self._stored.into(graph, paths)) if self._graph else {}
        )
        edges: Edges = {}
        for source, resolutions in stored.items():
            if source not in self._patch.nodes:
                patched = self._patch.edges.get(source, {})
                edges[source] = {n: r for n, r in resolutions.items() if n not in patched}
        targets = set(paths)
        for source, resolutions in self._patch.edges.items():
            matching = {n: r for n, r in resolutions.items() if r.target in targets}
            if matching:
                edges.setdefault(source, {}).update(matching)
        return edges

    def _unchanged(self, paths: Iterable[FilePath]) -> list[FilePath]:
        """Return the paths that the patch does not change; for queries, which may load another."""
        return [path for path in paths if path not in self._patch.nodes]

    def _query(self, query: Callable[[StoredGraphVersion], T]) -> T:
        for _ in range(MAX_ATTEMPTS):
            if self._graph is not None:
                with suppress(GraphMovedError):
                    return query(self._graph)
            self._graph, self._patch = self._writer.load()
            self.load_count += 1
        raise StoreError("Other processes keep changing the index.", hint="Try again.")


def link_snapshot(
    context: IndexContext,
    config: Config,
    sites: Sites,
    *,
    changes: Mapping[FilePath, Entry | None],
    all_files: Callable[[], Iterable[tuple[FilePath, Entry]]],
) -> LinkGraph:
    """Index what a snapshot's documents say, and resolve its links.

    `changes` are the snapshot's, with its documents hashed; `all_files` is called where no links
    are stored yet.
    """
    snapshot, repository, database = context.snapshot, context.repository, context.store.database
    table = PageFactsTable(database)
    if table.is_outgrown():
        table.prune()
    version = GraphVersion(
        git_dir=repository.git_dir,
        scope="\n".join([scope_key(config), sites.key]),
        commit=snapshot.commit,
        changes=changes,
        all_files=lambda: dict(all_files()),
        is_page=document_filter(config),
        sites=sites,
        is_current=snapshot.kind != "commit" or snapshot.commit == repository.head(),
    )
    stored = EdgeTable(database)
    page_facts = LazyPageFacts(context)
    return LinkGraph(stored, page_facts, LinkGraphWriter(repository, stored, page_facts, version))


class Adjacency:
    """The links from and to single pages of a snapshot."""

    def __init__(self, database: Database, links: LinkGraph) -> None:
        self._stored = AdjacencyTable(database)
        self._links = links
        self._load_count = 0
        self._changed: Collection[FilePath] = ()
        self._changed_links: list[Neighbor] = []

    def neighbors(self, paths: Collection[FilePath], limit: int) -> dict[FilePath, Neighborhood]:
        """Return the first links from and to each of these pages.

        At most `limit` in each direction, and all of those that differ from the stored graph.
        """
        stored = (
            self._links.query_stored(lambda graph: self._stored.around(graph, paths, limit)) or {}
        )
        self._read_changed()
        return {path: self._patched(path, stored.get(path, NO_NEIGHBORS)) for path in paths}

    def _patched(self, path: FilePath, stored: Neighborhood) -> Neighborhood:
        if not self._changed:
            return stored
        out, into = (
            [neighbor for neighbor in neighbors if neighbor.source not in self._changed]
            for neighbors in stored
        )
        return Neighborhood(
            [*out, *(link for link in self._changed_links if link.source == path)],
            [*into, *(link for link in self._changed_links if link.target == path)],
        )

    def _read_changed(self) -> None:
        if self._load_count == self._links.load_count:
            return
        self._changed = self._links.relinked
        edges_by_page = self._links.out(self._changed) if self._changed else {}
        self._changed_links = [
            Neighbor(edge.source, target, edge.link.link_type, edge.link.context, edge.link.line)
            for edges in edges_by_page.values()
            for edge in edges
            if (target := edge.resolution.target) is not None and target != edge.source
        ]
        self._load_count = self._links.load_count

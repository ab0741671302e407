"""The breadth-first traversal of the link graph, and the documents around a document."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from ubp.core.interruption import with_checkpoints
from ubp.core.model import Assessment, FilePath, Link, LinkType
from ubp.index.link_graph import GraphEdge
from ubp.index.store.links import Neighbor
from ubp.search.graph import DocumentRow, Graph

T = TypeVar("T")

Direction = Literal["outlink", "backlink"]

# What a document builds on says more about it than what it merely mentions.
LINK_TYPES_BY_STRENGTH: tuple[LinkType, ...] = (
    "depends_on",
    "implements",
    "extends",
    "conflicts_with",
    "references",
)
LINK_TYPE_RANKS: Mapping[LinkType, int] = {
    link_type: rank for rank, link_type in enumerate(LINK_TYPES_BY_STRENGTH)
}

MAX_USEFUL_DEPTH = "Beyond a few links, nearly every page is connected."
"""Why a depth is limited."""


class Edge(NamedTuple):
    """One or more links of one type from one document to another."""

    source: FilePath
    target: FilePath
    link_type: LinkType


class Path(NamedTuple):
    """The last step to a document: `link` leads from `via` to it, or (`backlink`) from it to `via`.

    `depth` counts the links from where the traversal started, `link_count` those that join the
    document to documents of the previous level.
    """

    filepath: FilePath
    depth: int
    via: FilePath
    direction: Direction
    link: Link | Neighbor
    link_count: int = 1


class Neighborhood(NamedTuple):
    """Documents and the edges between them.

    `hops` are the distances from `center`; empty if all documents were requested. `counts` are
    each document's links to other documents and those of others to it, in the whole snapshot.
    `paths` includes the documents beyond the limit.
    """

    center: FilePath | None
    documents: tuple[DocumentRow, ...]
    edges: tuple[Edge, ...]
    hops: Mapping[FilePath, int]
    counts: Mapping[FilePath, tuple[int, int]]
    paths: Collection[FilePath]

    @property
    def total(self) -> int:
        """The number of documents, with those beyond the limit."""
        return len(self.paths)

    @property
    def left_out(self) -> int:
        """The number of documents beyond the limit."""
        return self.total - len(self.documents)


class PageGraph(NamedTuple):
    """Documents, the edges between them, their assessments and, if wanted, their first lines."""

    near: Neighborhood
    assessments: Mapping[FilePath, Assessment]
    summaries: Mapping[FilePath, str] = {}


Expand = Callable[[Sequence[FilePath], int, Mapping[FilePath, T]], Mapping[FilePath, T]]
"""`expand(frontier, distance, reached)`: the documents one link away from those in `frontier`, each
with a value that describes how it was reached. Those in `reached` are ignored."""


def traverse(start: Mapping[FilePath, int], depth: int, expand: Expand[T]) -> dict[FilePath, T]:
    """Traverse links breadth-first and return the documents reached, nearest first.

    `start` maps documents to the distance at which they count as reached. The documents of a level
    are expanded in the order in which `expand` returned them; those of `start` only at their own
    distance, even if `expand` returns them.
    """
    reached: dict[FilePath, T] = {}
    level: Collection[FilePath] = ()
    last_start = max(start.values(), default=0)
    for distance in range(1, depth + 1):
        frontier = [path for path, at in start.items() if at == distance - 1]
        frontier += [path for path in level if path not in start]
        if not frontier and distance > last_start:
            break
        found = expand(frontier, distance, reached)
        level = [path for path in found if path not in reached]
        reached.update((path, found[path]) for path in level)
    return reached


def neighborhood(
    graph: Graph,
    center: FilePath | None,
    depth: int,
    link_types: Collection[LinkType] = (),
    limit: int | None = None,
) -> Neighborhood:
    """Return the documents within `depth` links of `center`, in either direction; None: all.

    Only links of `link_types` are followed, or all if it is empty. Of more than `limit` documents
    the nearest are kept, and of these those with the most links.
    """
    hops = find_hops(graph, center, depth, link_types) if center is not None else {}
    counts = graph.link_counts(None if center is None else hops)
    ranks = [
        (hops.get(path, 0), -sum(links), path) for path, links in with_checkpoints(counts.items())
    ]
    nearest = sorted(ranks) if limit is None else nsmallest(limit, ranks)
    documents = graph.documents_at(sorted(path for *_, path in nearest))
    edges = _unique_edges(chain.from_iterable(graph.edges_of(documents).values()), link_types)
    return Neighborhood(
        center,
        tuple(documents.values()),
        tuple(edge for edge in edges if edge.target in documents),
        {path: distance for path, distance in hops.items() if path in documents},
        {path: counts[path] for path in documents},
        counts.keys(),
    )


def find_hops(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> dict[FilePath, int]:
    """Return the distance of each document within `depth` links of `center`, nearest first."""

    def expand(
        frontier: Sequence[FilePath], distance: int, _: Mapping[FilePath, int]
    ) -> Mapping[FilePath, int]:
        pairs: Iterable[tuple[FilePath, FilePath]]
        if link_types:
            outgoing, incoming = graph.edges_of(frontier), graph.backlinks_of(frontier)
            edges = chain.from_iterable((*outgoing.values(), *incoming.values()))
            pairs = ((edge.source, edge.target) for edge in _unique_edges(edges, link_types))
        else:
            pairs = graph.pairs_at(set(frontier))  # targets are known without reading the links
        return dict.fromkeys(sorted({path for pair in pairs for path in pair} - {center}), distance)

    return {center: 0, **traverse({center: 0}, depth, expand)}


def find_paths(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> list[Path]:
    """Return the documents within `depth` links of `center`, the most important first.

    Nearer documents come first, then stronger link types, outlinks before backlinks, more links,
    and the alphabet. Only links of `link_types` are followed, or all if it is empty.
    """

    def expand(
        frontier: Sequence[FilePath], distance: int, _: Mapping[FilePath, Path]
    ) -> Mapping[FilePath, Path]:
        candidates: dict[FilePath, list[Path]] = {}
        for path in _steps_from(graph, frontier, distance, link_types):
            if path.filepath != center:
                candidates.setdefault(path.filepath, []).append(path)
        places = {path: place for place, path in enumerate(frontier)}
        best = [_best(paths, places) for paths in candidates.values()]
        return {path.filepath: path for path in sorted(best, key=_importance)}

    return list(traverse({center: 0}, depth, expand).values())


def _unique_edges(edges: Iterable[GraphEdge], link_types: Collection[LinkType]) -> tuple[Edge, ...]:
    unique = {
        Edge(edge.source, edge.resolution.target, edge.link.link_type): None
        for edge in edges
        if edge.resolution.target is not None
        and edge.resolution.target != edge.source
        and (not link_types or edge.link.link_type in link_types)
    }
    return tuple(unique)


def _steps_from(
    graph: Graph, frontier: Collection[FilePath], distance: int, link_types: Collection[LinkType]
) -> Iterator[Path]:
    """Yield the steps along each link from or to the frontier, by their position in the text."""

    def followed(edges: Mapping[FilePath, tuple[GraphEdge, ...]]) -> list[GraphEdge]:
        return sorted(
            (
                edge
                for edge in chain.from_iterable(edges.values())
                if not link_types or edge.link.link_type in link_types
            ),
            key=lambda edge: edge.link.byte_start,
        )

    for edge in followed(graph.edges_of(frontier)):
        if edge.resolution.target is not None:
            yield Path(edge.resolution.target, distance, edge.source, "outlink", edge.link)
    for edge in followed(graph.backlinks_of(frontier)):
        if edge.resolution.target is not None:
            yield Path(edge.source, distance, edge.resolution.target, "backlink", edge.link)


def _best(paths: list[Path], places: Mapping[FilePath, int]) -> Path:
    """Return the strongest of the paths to one document, with their number."""

    def order(path: Path) -> tuple[int, bool, int]:
        is_backlink = path.direction == "backlink"
        return LINK_TYPE_RANKS[path.link.link_type], is_backlink, places[path.via]

    return min(paths, key=order)._replace(link_count=len(paths))


def _importance(path: Path) -> tuple[int, bool, int, FilePath]:
    is_backlink = path.direction == "backlink"
    return LINK_TYPE_RANKS[path.link.link_type], is_backlink, -path.link_count, path.filepath

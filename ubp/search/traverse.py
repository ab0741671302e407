"""The pages around a page, by the links that lead to them and from them.

The pages around a page in the order in which they matter to it, and what leads to each.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, Link, LinkType
from ubp.index.link_graph import GraphEdge
from ubp.search.graph import DocumentRow, Graph


class Edge(NamedTuple):
    """One page leads to another by links of this type, one or more."""

    source: FilePath
    target: FilePath
    link_type: LinkType


class Neighborhood(NamedTuple):
    """Pages and their ties.

    `hops` tells how far each page is from `center`; it is empty where all pages are asked for.
    `counts` are each page's links to other pages and those of others to it, in the whole
    snapshot. `total` is how many pages there are, those included for which there was no room.
    """

    center: FilePath | None
    documents: tuple[DocumentRow, ...]
    ties: tuple[Edge, ...]
    hops: Mapping[FilePath, int]
    counts: Mapping[FilePath, tuple[int, int]]
    total: int

    @property
    def left_out(self) -> int:
        """How many pages there was no room for."""
        return self.total - len(self.documents)


def neighborhood(
    graph: Graph,
    center: FilePath | None,
    depth: int,
    link_types: Collection[LinkType] = (),
    limit: int | None = None,
) -> Neighborhood:
    """Pages within so many links of a page, whichever way they lead; of no page: all there are.

    `link_types` are the links that count; none named: all do. Where there are more than `limit`
    pages, the nearest stay, of these those with the most links.
    """
    hops = find_hops(graph, center, depth, link_types) if center is not None else {}
    counts = graph.link_counts(None if center is None else hops)
    kept = sorted(counts, key=lambda path: (hops.get(path, 0), -sum(counts[path]), path))[:limit]
    there = graph.documents_at(sorted(kept))
    ties = _ties(_edges_of(graph, there), link_types)
    return Neighborhood(
        center,
        tuple(there.values()),
        tuple(tie for tie in ties if tie.target in there),
        {path: distance for path, distance in hops.items() if path in there},
        {path: counts[path] for path in there},
        len(counts),
    )


def find_hops(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> dict[FilePath, int]:
    """How many links each page within `depth` is away from a page; the nearest come first."""
    hops = {center: 0}
    rim = [center]
    for distance in range(1, depth + 1):
        found = {path for pair in _pairs(graph, set(rim), link_types) for path in pair}
        rim = sorted(found - hops.keys())
        if not rim:
            break
        hops |= dict.fromkeys(rim, distance)
    return hops


def _pairs(
    graph: Graph, rim: Collection[FilePath], link_types: Collection[LinkType]
) -> Iterable[tuple[FilePath, FilePath]]:
    if not link_types:  # where links lead is known without reading them
        return graph.pairs_at(rim)
    edges = (*_edges_of(graph, rim), *chain.from_iterable(graph.backlinks_of(rim).values()))
    return ((tie.source, tie.target) for tie in _ties(edges, link_types))


def _edges_of(graph: Graph, paths: Collection[FilePath]) -> Iterator[GraphEdge]:
    return chain.from_iterable(graph.edges_of(paths).values())


def _ties(edges: Iterable[GraphEdge], link_types: Collection[LinkType]) -> tuple[Edge, ...]:
    ties = {
        Edge(edge.source, edge.resolution.target, edge.link.link_type): None
        for edge in edges
        if edge.resolution.target is not None
        and edge.resolution.target != edge.source
        and (not link_types or edge.link.link_type in link_types)
    }
    return tuple(ties)


Direction = Literal["outlink", "backlink"]

# What a page builds on tells more about it than what it merely mentions.
STRENGTH: tuple[LinkType, ...] = (
    "depends_on",
    "implements",
    "extends",
    "conflicts_with",
    "references",
)
RANKS = {link_type: rank for rank, link_type in enumerate(STRENGTH)}


class Path(NamedTuple):
    """How a page is reached: by `link`, from the page `via` (`outlink`) or to it (`backlink`).

    `depth` is how many links it is away; `times` how many links join it to pages that are nearer.
    """

    path: FilePath
    depth: int
    via: FilePath
    direction: Direction
    link: Link
    times: int


def find_paths(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> list[Path]:
    """The pages within so many links of a page, those that matter most first.

    The nearer ones; of these those with the stronger link; those that the page leads to before
    those that lead to it; those with more links; then the alphabet. `link_types` are the links
    that are followed; none named: all are.
    """
    ways: dict[FilePath, Path] = {}
    rim = [center]
    for distance in range(1, depth + 1):
        steps: dict[FilePath, list[Path]] = {}
        for step in _steps(graph, rim, distance, link_types):
            if step.path != center and step.path not in ways:
                steps.setdefault(step.path, []).append(step)
        places = {path: place for place, path in enumerate(rim)}
        found = sorted((_best(several, places) for several in steps.values()), key=_importance)
        ways.update((way.path, way) for way in found)
        rim = [way.path for way in found]
        if not rim:
            break
    return list(ways.values())


def _steps(
    graph: Graph, rim: Collection[FilePath], distance: int, link_types: Collection[LinkType]
) -> Iterator[Path]:
    for edge in _followed(graph.edges_of(rim), link_types):
        if edge.resolution.target is not None:
            yield Path(edge.resolution.target, distance, edge.source, "outlink", edge.link, 1)
    for edge in _followed(graph.backlinks_of(rim), link_types):
        if edge.resolution.target is not None:
            yield Path(edge.source, distance, edge.resolution.target, "backlink", edge.link, 1)


def _followed(
    edges: Mapping[FilePath, tuple[GraphEdge, ...]], link_types: Collection[LinkType]
) -> Iterator[GraphEdge]:
    for found in edges.values():
        for edge in found:
            if not link_types or edge.link.link_type in link_types:
                yield edge


def _best(several: list[Path], places: Mapping[FilePath, int]) -> Path:
    def worth(way: Path) -> tuple[int, bool, int, int]:
        rank = RANKS[way.link.link_type]
        return rank, way.direction == "backlink", places[way.via], way.link.byte_start

    return min(several, key=worth)._replace(times=len(several))


def _importance(way: Path) -> tuple[int, bool, int, FilePath]:
    return RANKS[way.link.link_type], way.direction == "backlink", -way.times, way.path

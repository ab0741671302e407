"""The pages around a page, by the links that lead to them and from them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from ubp.graph.view import DocumentRow, Graph
from ubp.indexing.linked import Edge
from ubp.model import FilePath, LinkType


class Tie(NamedTuple):
    """One page leads to another by links of this type, one or more."""

    source: FilePath
    target: FilePath
    link_type: LinkType


class Neighbourhood(NamedTuple):
    """Pages and their ties.

    `hops` tells how far each page is from `center`; it is empty where all pages are asked for.
    `counts` are each page's links to other pages and those of others to it, in the whole
    snapshot. `total` is how many pages there are, those included for which there was no room.
    """

    center: FilePath | None
    documents: tuple[DocumentRow, ...]
    ties: tuple[Tie, ...]
    hops: Mapping[FilePath, int]
    counts: Mapping[FilePath, tuple[int, int]]
    total: int

    @property
    def left_out(self) -> int:
        """How many pages there was no room for."""
        return self.total - len(self.documents)


def neighbourhood(
    graph: Graph,
    center: FilePath | None,
    depth: int,
    link_types: Collection[LinkType] = (),
    limit: int | None = None,
) -> Neighbourhood:
    """Pages within so many links of a page, whichever way they lead; of no page: all there are.

    `link_types` are the links that count; none named: all do. Where there are more than `limit`
    pages, the nearest stay, of these those with the most links.
    """
    hops = find_hops(graph, center, depth, link_types) if center is not None else {}
    counts = graph.link_counts(None if center is None else hops)
    kept = sorted(counts, key=lambda path: (hops.get(path, 0), -sum(counts[path]), path))[:limit]
    there = graph.documents_at(sorted(kept))
    ties = _ties(_edges_of(graph, there), link_types)
    return Neighbourhood(
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


def _edges_of(graph: Graph, paths: Collection[FilePath]) -> Iterator[Edge]:
    return chain.from_iterable(graph.edges_of(paths).values())


def _ties(edges: Iterable[Edge], link_types: Collection[LinkType]) -> tuple[Tie, ...]:
    ties = {
        Tie(edge.source, edge.resolution.target, edge.link.link_type): None
        for edge in edges
        if edge.resolution.target is not None
        and edge.resolution.target != edge.source
        and (not link_types or edge.link.link_type in link_types)
    }
    return tuple(ties)

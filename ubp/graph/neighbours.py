"""The pages around a page, by the links that lead to them and from them."""

from collections.abc import Collection, Iterable, Mapping
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
    """

    center: FilePath | None
    documents: tuple[DocumentRow, ...]
    ties: tuple[Tie, ...]
    hops: Mapping[FilePath, int]


def neighbourhood(
    graph: Graph, center: FilePath | None, depth: int, link_types: Collection[LinkType] = ()
) -> Neighbourhood:
    """Pages within so many links of a page, whichever way they lead; of no page: all there are.

    `link_types` are the links that count; none named: all do.
    """
    if center is None:
        ties = _ties(graph.all_edges(), link_types)
        return Neighbourhood(None, tuple(graph.documents()), ties, {})
    hops = find_hops(graph, center, depth, link_types)
    edges = (edge for found in graph.edges_of(hops).values() for edge in found)
    ties = tuple(tie for tie in _ties(edges, link_types) if tie.target in hops)
    documents = graph.documents_at(sorted(hops))
    return Neighbourhood(center, tuple(documents.values()), ties, hops)


def find_hops(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> dict[FilePath, int]:
    """How many links each page within `depth` is away from a page; the nearest come first."""
    hops = {center: 0}
    rim = [center]
    for distance in range(1, depth + 1):
        found: set[FilePath] = set()
        for edges in graph.edges_of(rim).values():
            found.update(tie.target for tie in _ties(edges, link_types))
        for edges in graph.backlinks_of(rim).values():
            found.update(tie.source for tie in _ties(edges, link_types))
        rim = sorted(found - hops.keys())
        if not rim:
            break
        hops |= dict.fromkeys(rim, distance)
    return hops


def _ties(edges: Iterable[Edge], link_types: Collection[LinkType]) -> tuple[Tie, ...]:
    ties = {
        Tie(edge.source, edge.resolution.target, edge.link.link_type): None
        for edge in edges
        if edge.resolution.target is not None
        and edge.resolution.target != edge.source
        and (not link_types or edge.link.link_type in link_types)
    }
    return tuple(ties)

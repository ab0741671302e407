"""The pages around a page in the order in which they matter to it, and what leads to each."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from ubp.graph.view import Graph
from ubp.indexing.linked import Edge
from ubp.model import FilePath, Link, LinkType

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


class Way(NamedTuple):
    """How a page is reached: by `link`, from the page `via` (`outlink`) or to it (`backlink`).

    `depth` is how many links it is away; `times` how many links join it to pages that are nearer.
    """

    path: FilePath
    depth: int
    via: FilePath
    direction: Direction
    link: Link
    times: int


def find_ways(
    graph: Graph, center: FilePath, depth: int, link_types: Collection[LinkType] = ()
) -> list[Way]:
    """The pages within so many links of a page, those that matter most first.

    The nearer ones; of these those with the stronger link; those that the page leads to before
    those that lead to it; those with more links; then the alphabet. `link_types` are the links
    that are followed; none named: all are.
    """
    ways: dict[FilePath, Way] = {}
    rim = [center]
    for distance in range(1, depth + 1):
        steps: dict[FilePath, list[Way]] = {}
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
) -> Iterator[Way]:
    for edge in _followed(graph.edges_of(rim), link_types):
        if edge.resolution.target is not None:
            yield Way(edge.resolution.target, distance, edge.source, "outlink", edge.link, 1)
    for edge in _followed(graph.backlinks_of(rim), link_types):
        if edge.resolution.target is not None:
            yield Way(edge.source, distance, edge.resolution.target, "backlink", edge.link, 1)


def _followed(
    edges: Mapping[FilePath, tuple[Edge, ...]], link_types: Collection[LinkType]
) -> Iterator[Edge]:
    for found in edges.values():
        for edge in found:
            if not link_types or edge.link.link_type in link_types:
                yield edge


def _best(several: list[Way], places: Mapping[FilePath, int]) -> Way:
    def worth(way: Way) -> tuple[int, bool, int, int]:
        rank = RANKS[way.link.link_type]
        return rank, way.direction == "backlink", places[way.via], way.link.byte_start

    return min(several, key=worth)._replace(times=len(several))


def _importance(way: Way) -> tuple[int, bool, int, FilePath]:
    return RANKS[way.link.link_type], way.direction == "backlink", -way.times, way.path

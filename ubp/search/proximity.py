"""The links leg: pages near the best hits, by the links that lead to them and from them."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, LinkType
from ubp.index.link_graph import Adjacency
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.search.fusion import RankedChunk, Ranking, make_ranking

Direction = Literal["outlink", "backlink"]

# So many of the best hits are gone out from, and from so many pages on each further hop: every page
# that is looked around costs 0.04 ms.
SEEDS = 8
MAX_HOPS = 8
# A page with more links than these, out or in, is a list of everything: what it lists is not near.
MAX_LINKS = 48
# Whoever typed a link said that it matters; a plain one may be a mere mention.
WEIGHTS: Mapping[LinkType, float] = {
    "depends_on": 1.0,
    "implements": 1.0,
    "extends": 1.0,
    "conflicts_with": 0.8,
    "references": 0.7,
}


class LinkPath(NamedTuple):
    """How a page is reached: by `tie`, from or to the page `near`, so many `hops` from a hit."""

    near: FilePath
    tie: Neighbor
    direction: Direction
    hops: int


class LinkRanking(NamedTuple):
    """The pages near the best hits, and the way to each."""

    leg: Ranking = Ranking()
    ways: Mapping[FilePath, LinkPath] = {}


class _Reached(NamedTuple):
    """A page on the way: the hit it was reached from, that one's score times the links' weights."""

    seed: FilePath
    strength: float
    way: LinkPath


def find_links(
    ties: Adjacency,
    seeds: Mapping[FilePath, float],
    depth: int,
    link_types: Collection[LinkType] = (),
) -> LinkRanking:
    """The pages within so many links of the best hits, `seeds` with scores from 0 to 1.

    A page's proximity is 1 / hops, times the score of the hit that it is near to, times the
    weights of the links between; a hit is near to other hits only. `link_types` are those that are
    followed; none named: all are.
    """
    reached: dict[FilePath, _Reached] = {}
    rim = [(path, path, score) for path, score in seeds.items()]
    for hops in range(1, depth + 1):
        found: dict[FilePath, _Reached] = {}
        around = ties.neighbors([path for path, *_ in rim], MAX_LINKS + 1)
        for path, seed, strength in rim:
            for other, tie, direction in _ends(around[path], link_types):
                reaching = strength * WEIGHTS[tie.link_type]
                if other == seed or other in reached:
                    continue
                if other not in found or reaching > found[other].strength:
                    found[other] = _Reached(seed, reaching, LinkPath(path, tie, direction, hops))
        reached |= found
        rim = sorted(
            ((path, one.seed, one.strength) for path, one in found.items() if path not in seeds),
            key=lambda one: (-one[2], one[0]),
        )[:MAX_HOPS]
    places = [RankedChunk(path, None, one.strength / one.way.hops) for path, one in reached.items()]
    places.sort(key=lambda one: (-one.score, one.path))
    return LinkRanking(make_ranking(places), {path: one.way for path, one in reached.items()})


def _ends(
    around: Neighborhood, link_types: Collection[LinkType]
) -> Iterator[tuple[FilePath, Neighbor, Direction]]:
    """The pages around a page, and the links to them."""
    if len(around.out) <= MAX_LINKS:
        for tie in around.out:
            if not link_types or tie.link_type in link_types:
                yield tie.target, tie, "outlink"
    if len(around.into) <= MAX_LINKS:
        for tie in around.into:
            if not link_types or tie.link_type in link_types:
                yield tie.source, tie, "backlink"

"""The link ranking of a search: documents near the best hits, by links in either direction."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath, LinkType
from ubp.index.store.links import Neighborhood
from ubp.search.fusion import RankedChunk, Ranking, make_ranking
from ubp.search.searched import Links
from ubp.search.traverse import Path, traverse

# The number of hits from which links are followed, and of documents on each further level: to read
# the links around a document takes 0.04 ms.
MAX_SEEDS = 8
MAX_FRONTIER = 8
# A document with more links than this, out or in, lists everything: what it lists is not near.
MAX_LINKS = 48
# The author of a typed link considered it important; an untyped one may be a mere mention.
WEIGHTS: Mapping[LinkType, float] = {
    "depends_on": 1.0,
    "implements": 1.0,
    "extends": 1.0,
    "conflicts_with": 0.8,
    "references": 0.7,
}


class LinkRanking(NamedTuple):
    """The documents near the best hits, and the path to each."""

    ranking: Ranking = Ranking()
    paths: Mapping[FilePath, Path] = {}


class _Reached(NamedTuple):
    """The hit from which a document was reached; `strength`: its score times the links' weights."""

    seed: FilePath
    strength: float
    path: Path


def rank_linked(
    adjacency: Links,
    seeds: Mapping[FilePath, float],
    depth: int,
    link_types: Collection[LinkType] = (),
) -> LinkRanking:
    """Rank the documents within `depth` links of the best hits, `seeds` with scores from 0 to 1.

    A document's proximity is the score of the hit that it was reached from, times the weights of
    the links between them, divided by the number of hops. A hit is near to other hits only. Only
    links of `link_types` are followed, or all if it is empty.
    """

    def expand(
        frontier: Sequence[FilePath], hops: int, reached: Mapping[FilePath, _Reached]
    ) -> Mapping[FilePath, _Reached]:
        if hops == 1:
            origins = [(path, path, seeds[path]) for path in frontier]
        else:
            origins = [(path, reached[path].seed, reached[path].strength) for path in frontier]
            origins = sorted(origins, key=lambda origin: (-origin[2], origin[0]))[:MAX_FRONTIER]
        neighborhoods = adjacency.neighbors([path for path, *_ in origins], MAX_LINKS + 1)
        found: dict[FilePath, _Reached] = {}
        for origin, seed, origin_strength in origins:
            for path in paths_around(origin, neighborhoods[origin], hops, link_types, MAX_LINKS):
                target, strength = path.filepath, origin_strength * WEIGHTS[path.link.link_type]
                if target == seed or target in reached:
                    continue
                if target not in found or strength > found[target].strength:
                    found[target] = _Reached(seed, strength, path)
        return found

    reached = traverse(dict.fromkeys(seeds, 0), depth, expand)
    ranked = [
        RankedChunk(filepath, None, document.strength / document.path.depth)
        for filepath, document in reached.items()
    ]
    ranked.sort(key=lambda document: (-document.score, document.path))
    paths = {filepath: document.path for filepath, document in reached.items()}
    return LinkRanking(make_ranking(ranked), paths)


def paths_around(
    center: FilePath,
    neighborhood: Neighborhood,
    depth: int,
    link_types: Collection[LinkType] = (),
    max_links: int | None = None,
) -> Iterator[Path]:
    """Yield the paths along a document's links, outlinks first.

    Only links of `link_types`, or all if it is empty. A direction with more than `max_links` links
    is skipped.
    """
    if max_links is None or len(neighborhood.out) <= max_links:
        for link in neighborhood.out:
            if not link_types or link.link_type in link_types:
                yield Path(link.target, depth, center, "outlink", link)
    if max_links is None or len(neighborhood.into) <= max_links:
        for link in neighborhood.into:
            if not link_types or link.link_type in link_types:
                yield Path(link.source, depth, center, "backlink", link)

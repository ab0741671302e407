"""The words leg: pages whose chunks, or whose files' names, hold a query's words."""

from ubp.search.boolean import Node, Or
from ubp.search.leg import Leg, Place, make_leg
from ubp.search.query import Query, terms_in
from ubp.search.ranking import Corpus, Ranking, rank


def find_words(corpus: Corpus, query: Query, limit: int) -> tuple[Leg, Ranking]:
    """The best `limit` chunks and more; `corpus.within` has seen to what the query demands.

    So any of its words will do: what a query excludes, or joins by AND, is a matter of whole pages
    here (`scope`).
    """
    tree = _any_of(query.wanted) if query.wanted is not None else None
    ranking = rank(corpus, query._replace(tree=tree), limit)
    places = [
        Place(one.path, one.chunk.number if one.chunk else None, -one.rank)
        for one in ranking.places
    ]
    return make_leg(places, is_cut=ranking.is_cut), ranking


def _any_of(node: Node) -> Node:
    return node if isinstance(node, Or) else Or(tuple(dict.fromkeys(terms_in(node))))

"""How long the steps of a search take, for whoever asks why.

The pages that answer a query: legs asked, joined, shown.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, LinkType
from ubp.index.view import View
from ubp.search.filters import Filters
from ubp.search.fusion import Fused, FusionInput, Ranking, RankingScores, fuse, words_share
from ubp.search.lexical import Corpus, FileNames, LexicalRanking, find_words
from ubp.search.proximity import MAX_SEEDS, LinkRanking, rank_linked
from ubp.search.query import Cut, Query, read_query, write_match
from ubp.search.results import PageHit, Rankings, is_found, show_pages
from ubp.search.scope import Scope, find_literal, find_scope
from ubp.search.semantic import SemanticRanking, add_names, find_meaning
from ubp.search.terms import Term


class Stopwatch:
    """Milliseconds by the name of a step, in the order in which they began; nested ones count."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self.milliseconds: dict[str, float] = {}
        self._clock = clock

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time what is done within."""
        begun = self._clock()
        try:
            yield
        finally:
            spent = (self._clock() - begun) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


Mode = Literal["hybrid", "fulltext", "semantic"]
SearchType = Literal["hybrid", "fulltext", "semantic", "fulltext_fallback"]

# So many chunks each leg offers. They are as many for every usual limit, so that the first pages
# of a longer answer are those of a shorter one.
CHUNKS = 100
USUAL_LIMIT, CHUNKS_A_PAGE = 20, 5


class SearchRequest(NamedTuple):
    """What is asked: a text, and what the options beside it say."""

    text: str
    mode: Mode = "hybrid"
    limit: int = 10
    filters: Filters = Filters()
    link_types: tuple[LinkType, ...] = ()
    depth: int = 2


class SearchContext(NamedTuple):
    """What it is asked with; without `meaning` words answer, in a hybrid search with links."""

    names: FileNames
    meaning: SemanticRanking | None
    watch: Stopwatch


class PageAnswer(NamedTuple):
    """The best pages; `total` is how many were found, at least that many if not `is_exact`.

    `terms` is what was looked for, `cuts` what of that in pieces; `fused`, `legs` and `words_share`
    (of a direct score) tell how the order came about.
    """

    query: Query
    pages: tuple[PageHit, ...]
    total: int
    is_exact: bool
    cuts: tuple[Cut, ...] = ()
    fused: tuple[Fused, ...] = ()
    legs: Rankings = Rankings()
    terms: tuple[Term, ...] = ()
    words_share: float = 0.0


def find_pages(view: View, wish: SearchRequest, means: SearchContext) -> PageAnswer:
    """The best pages for a wish. Whatever its text is, nothing is raised."""
    watch = means.watch
    with watch.step("scope"):
        query = read_query(wish.text)
        query = query._replace(filters=query.filters.joined(wish.filters))
        scope = find_scope(view, query, means.names)
    if query.tree is None:
        return _list_scope(view, query, scope, wish.limit)
    legs, links, ranking = _ask_legs(view, wish, query, scope, means)
    with watch.step("fusion"):
        scores, asked = _join(legs, ranking)
        fused = fuse(scores, asked)
        found = [one for one in fused if is_found(one, legs)]
    with watch.step("sections"):
        pages = show_pages(view, found[: wish.limit], legs, links.paths, ranking.telling)
    is_exact = not any(leg.is_cut for leg in legs)
    share = words_share(scores, asked)
    return PageAnswer(
        *(query, pages, len(found), is_exact, ranking.cuts, tuple(fused), legs),
        *(ranking.terms, share),
    )


def _ask_legs(
    view: View, wish: SearchRequest, query: Query, scope: Scope, means: SearchContext
) -> tuple[Rankings, LinkRanking, LexicalRanking]:
    watch = means.watch
    chunks = CHUNKS if wish.limit <= USUAL_LIMIT else wish.limit * CHUNKS_A_PAGE
    legs, links, ranking = Rankings(), LinkRanking(), LexicalRanking()
    if wish.mode != "semantic":
        with watch.step("words"):
            corpus = Corpus(view.full_text(), means.names, scope)
            words, ranking = find_words(corpus, query, chunks)
            legs = legs._replace(words=words)
    if means.meaning is not None and wish.mode != "fulltext":
        with watch.step("meaning"):
            found = find_meaning(means.meaning, query, chunks, scope)
            found = add_names(means.meaning, query, found, _untitled(view, found))
            legs = legs._replace(meaning=_literally(view, query, means, found, ranking))
    if wish.mode == "hybrid":
        with watch.step("links"):
            best = [one for one in fuse(*_join(legs, ranking)) if is_found(one, legs)][:MAX_SEEDS]
            seeds = {one.path: one.score for one in best}
            links = rank_linked(view.adjacency(), seeds, wish.depth, wish.link_types)
            near = links.ranking.within(scope)
            legs = legs._replace(links=_literally(view, query, means, near, ranking))
    if wish.mode == "semantic" and query.wanted is not None:
        full_text = view.full_text()
        match = write_match(query.wanted, lambda term: full_text.has(term.expression))
        ranking = ranking._replace(telling=match.terms)
    return legs, links, ranking


def _untitled(view: View, leg: Ranking) -> list[FilePath]:
    pages = view.pages_at(leg.scores.keys())
    return [path for path in leg.scores if path in pages and pages[path].facts.title is None]


def _literally(
    view: View, query: Query, means: SearchContext, leg: Ranking, ranking: LexicalRanking
) -> Ranking:
    """What of a leg holds the query where nothing else may answer it."""
    if not query.is_literal or query.is_boolean:
        return leg
    known = {place.path for place in ranking.places}
    # Where words were asked for and told all that they found, only names may hold it elsewhere.
    by_name = bool(ranking.expression) and not ranking.is_cut
    unknown = leg.scores.keys() - known
    return leg.within(known | find_literal(view, query, means.names, unknown, by_name=by_name))


def _join(legs: Rankings, ranking: LexicalRanking) -> tuple[RankingScores, FusionInput]:
    return RankingScores(*(leg.scores for leg in legs)), FusionInput(
        ranking.most, ranking.is_foreign
    )


def _list_scope(view: View, query: Query, scope: Scope, limit: int) -> PageAnswer:
    """Filters alone: the pages that fit them, in the order of their paths."""
    paths: Sequence[FilePath] = sorted(scope or ())
    fused = [Fused(path, 1.0, None, None, None) for path in paths]
    pages = show_pages(view, fused[:limit], Rankings(), {}, ())
    return PageAnswer(query, pages, len(paths), is_exact=True, fused=tuple(fused))

"""The documents that match a query best: ranked by words, meaning and links, and fused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from ubp.core.languages import language_of, languages_of_text, without_language
from ubp.core.model import FilePath, LinkType
from ubp.index.view import View
from ubp.search.filters import Filters
from ubp.search.fusion import (
    COVERAGE_SHARE,
    MIN_ANSWER_SCORE,
    WEAK_SCORE,
    Fused,
    FusionInput,
    Ranking,
    RankingScores,
    fuse,
    words_share,
)
from ubp.search.lexical import Corpus, FileNames, LexicalRanking, find_words
from ubp.search.proximity import MAX_SEEDS, LinkRanking, rank_linked
from ubp.search.query import Cut, Query, read_query, write_match
from ubp.search.results import PageHit, Rankings, build_hits, coverage, is_found
from ubp.search.scope import Scope, find_literal, find_scope
from ubp.search.semantic import SemanticRanking, add_names, find_meaning
from ubp.search.terms import Term

Mode = Literal["hybrid", "fulltext", "semantic"]
SearchType = Literal["hybrid", "fulltext", "semantic", "fulltext_fallback"]

# The number of chunks in each ranking. It is the same for every usual limit, so that the first
# documents of a longer answer are those of a shorter one.
CHUNKS = 100
USUAL_LIMIT, CHUNKS_PER_PAGE = 20, 5


class Stopwatch:
    """The milliseconds of each step, by name, in the order in which the steps began.

    A nested step counts in the outer one, too.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Measure with `clock`, which returns seconds."""
        self.milliseconds: dict[str, float] = {}
        self._clock = clock

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure the body of a `with` statement."""
        start = self._clock()
        try:
            yield
        finally:
            spent = (self._clock() - start) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


class PageQuery(NamedTuple):
    """The text of a query for documents, and the options of the search.

    `is_absolute`: the scores are to be compared with those of other repositories.
    """

    text: str
    mode: Mode = "hybrid"
    limit: int = 10
    filters: Filters = Filters()
    link_types: tuple[LinkType, ...] = ()
    depth: int = 2
    is_absolute: bool = False


class SearchContext(NamedTuple):
    """What a search needs; without `meaning` a hybrid search ranks by words and links."""

    names: FileNames
    meaning: SemanticRanking | None
    watch: Stopwatch


class PageAnswer(NamedTuple):
    """The best documents; `total` is the number of documents found, or the least if not `is_exact`.

    `coverage` is the share of the terms' weights that the best document's best section contains;
    `confidence` is its score, and a share of the coverage (see `fusion`).
    `translations` are the found translations of each document, which count as one with it.
    `terms` are the terms of the search, `cuts` those that were searched for in pieces; `fused`,
    `rankings` and `words_share` (of a direct score) explain the order.
    """

    query: Query
    pages: tuple[PageHit, ...]
    total: int
    is_exact: bool
    cuts: tuple[Cut, ...] = ()
    fused: tuple[Fused, ...] = ()
    rankings: Rankings = Rankings()
    terms: tuple[Term, ...] = ()
    words_share: float = 0.0
    translations: Mapping[FilePath, tuple[FilePath, ...]] = {}
    coverage: float = 0.0
    confidence: float = 0.0

    @property
    def is_weak(self) -> bool:
        """Whether probably no document answers the query; without embeddings it is unknown."""
        has_meaning = bool(self.rankings.meaning.scores) and not self.query.is_literal
        return has_meaning and bool(self.pages) and self.confidence < MIN_ANSWER_SCORE


def find_pages(view: View, asked: PageQuery, context: SearchContext) -> PageAnswer:
    """Return the best documents for a asked.

    Raises:
        UsageError: a filter on a field of front matter cannot be read.
    """
    watch = context.watch
    with watch.step("scope"):
        query = read_query(asked.text, field_names=view.field_names)
        query = query._replace(filters=query.filters.joined(asked.filters))
        scope = find_scope(view, query, context.names)
    if query.tree is None:
        return _list_scope(view, query, scope, asked.limit)
    rankings, links, lexical = _rank(view, asked, query, scope, context)
    with watch.step("fusion"):
        fusion = _fusion_input(rankings, lexical, asked)
        fused = fuse(*fusion)
        found = [document for document in fused if is_found(document.path, rankings)]
        found, translations = fold_translations(found, asked.text)
    with watch.step("sections"):
        shown = found[: asked.limit]
        pages = build_hits(view, shown, rankings, links.paths, lexical.informative)
        covered = coverage(pages[0], lexical.weights) if pages else 0.0
    return PageAnswer(
        query,
        pages,
        total=len(found),
        is_exact=not any(ranking.is_cut for ranking in rankings),
        cuts=lexical.cuts,
        fused=tuple(fused),
        rankings=rankings,
        terms=lexical.terms,
        translations=translations,
        words_share=words_share(*fusion),
        coverage=covered,
        confidence=pages[0].score + COVERAGE_SHARE * covered if pages else 0.0,
    )


def fold_translations(
    found: Sequence[Fused], question: str
) -> tuple[list[Fused], dict[FilePath, tuple[FilePath, ...]]]:
    """Return the documents without those that a translation stands for, and its translations.

    Of a family the document in the question's language stands for all, or else the best one; it
    takes the place and the score of the best one.
    """
    families: dict[str, list[Fused]] = {}
    for document in found:
        families.setdefault(without_language(document.path), []).append(document)
    languages = languages_of_text(question)
    folded: list[Fused] = []
    translations: dict[FilePath, tuple[FilePath, ...]] = {}
    for best, *others in families.values():
        if not others:
            folded.append(best)
            continue
        first = next(
            (
                document
                for language in languages
                for document in (best, *others)
                if language_of(document.path) == language
            ),
            best,
        )
        folded.append(first._replace(score=best.score))
        translations[first.path] = tuple(
            [document.path for document in (best, *others) if document is not first]
        )
    return folded, translations


def _rank(
    view: View, asked: PageQuery, query: Query, scope: Scope, context: SearchContext
) -> tuple[Rankings, LinkRanking, LexicalRanking]:
    watch = context.watch
    is_usual = asked.limit <= USUAL_LIMIT
    chunks = CHUNKS if is_usual else asked.limit * CHUNKS_PER_PAGE
    rankings, links, lexical = Rankings(), LinkRanking(), LexicalRanking()
    if asked.mode != "semantic":
        with watch.step("words"):
            corpus = Corpus(view.full_text(), context.names, scope)
            words, lexical = find_words(corpus, query, chunks)
            rankings = rankings._replace(words=words)
    if context.meaning is not None and asked.mode != "fulltext":
        with watch.step("meaning"):
            found = find_meaning(context.meaning, query, chunks, scope)
            pages = view.pages_at(found.scores.keys())
            untitled = [
                path for path in found.scores if path in pages and pages[path].facts.title is None
            ]
            found = add_names(context.meaning, query, found, untitled)
            found = _keep_literal(view, query, context, found, lexical)
            if asked.mode == "hybrid" and not rankings.words.places:
                # No page contains a word of the query: for nonsense, too, some cosine is best.
                found = found._replace(min_score=WEAK_SCORE)
            rankings = rankings._replace(meaning=found)
    if asked.mode == "hybrid":
        with watch.step("links"):
            fused = fuse(*_fusion_input(rankings, lexical, asked))
            best = [document for document in fused if is_found(document.path, rankings)]
            seeds = {document.path: document.score for document in best[:MAX_SEEDS]}
            links = rank_linked(view.adjacency(), seeds, asked.depth, asked.link_types)
            found = links.ranking.within(scope)
            found = _keep_literal(view, query, context, found, lexical)
            rankings = rankings._replace(links=found)
    if asked.mode == "semantic" and query.included is not None:
        full_text = view.full_text()
        match = write_match(query.included, lambda term: full_text.has(term.expression))
        lexical = lexical._replace(informative=match.terms)
    return rankings, links, lexical


def _keep_literal(
    view: View, query: Query, context: SearchContext, ranking: Ranking, lexical: LexicalRanking
) -> Ranking:
    """Drop the documents that do not contain the query if it must be matched literally."""
    if not query.is_literal or query.is_boolean:
        return ranking
    matching = {place.path for place in lexical.places}
    # If the lexical ranking is complete, other documents can match by their file names only.
    by_name = bool(lexical.expression) and not lexical.is_cut
    others = ranking.scores.keys() - matching
    return ranking.within(
        matching | find_literal(view, query, context.names, others, by_name=by_name)
    )


def _fusion_input(
    rankings: Rankings, lexical: LexicalRanking, asked: PageQuery
) -> tuple[RankingScores, FusionInput]:
    scores = RankingScores(*(ranking.scores for ranking in rankings))
    return scores, FusionInput(lexical.max_score, lexical.is_foreign, asked.is_absolute)


def _list_scope(view: View, query: Query, scope: Scope, limit: int) -> PageAnswer:
    """Return the documents that match the filters of a query without words, sorted by path."""
    paths: Sequence[FilePath] = sorted(scope or ())
    fused = [Fused(path, 1.0, None, None, None) for path in paths]
    pages = build_hits(view, fused[:limit], Rankings(), {}, ())
    return PageAnswer(query, pages, len(paths), is_exact=True, fused=tuple(fused))

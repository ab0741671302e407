"""The documents that match a query best: ranked by words, meaning and links, and fused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from ubp.core.model import FilePath, LinkType, Page
from ubp.search.copies import Folded, Preference, family_of, fold, is_copy
from ubp.search.filters import Filters
from ubp.search.fusion import (
    DOUBTFUL,
    WEAK,
    WEAK_SCORE,
    Fused,
    FusionInput,
    Ranking,
    RankingScores,
    Signs,
    confidence,
    fuse,
    words_share,
)
from ubp.search.galleries import demote_galleries
from ubp.search.lexical import STOP_WORDS, Corpus, LexicalRanking, find_words, name_of
from ubp.search.named import Named, add_headings, find_headed, find_named
from ubp.search.proximity import MAX_SEEDS, LinkRanking, rank_linked
from ubp.search.query import Cut, Query, UnknownWord, make_match, read_query
from ubp.search.results import (
    DocumentText,
    PageHit,
    Rankings,
    best_text,
    build_hits,
    coverage,
    is_found,
    read_texts,
)
from ubp.search.scope import find_literal, find_scope
from ubp.search.searched import Names, Scope, Searched
from ubp.search.semantic import SemanticRanking, add_names, find_meaning
from ubp.search.terms import Term

Mode = Literal["hybrid", "fulltext", "semantic"]
SearchType = Literal["hybrid", "fulltext", "semantic", "fulltext_fallback"]

# The number of chunks in each ranking. It is the same for every usual limit, so that the first
# documents of a longer answer are those of a shorter one.
CHUNKS = 100
USUAL_LIMIT, CHUNKS_PER_PAGE = 20, 5
# Where versions of few pages fill the rankings, they are made again, DEEPER times as long: twenty
# versions of kedacore/keda-docs are five pages in a hundred chunks.
DEEPER, MAX_CHUNKS = 8, 800
COMPARED = 5  # documents of which one may have what the query says in other words
HEADINGS_READ = 10  # number of documents whose headings are compared with the query
UNNAMED = 99


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

    `is_absolute`: scores are comparable with those of other queries: those of words alone are no
    shares of the best one, and galleries keep theirs. `version` is the one that comes first, None:
    the newest.
    """

    text: str
    mode: Mode = "hybrid"
    limit: int = 10
    filters: Filters = Filters()
    link_types: tuple[LinkType, ...] = ()
    depth: int = 2
    is_absolute: bool = False
    version: str | None = None


class SearchContext(NamedTuple):
    """What a search needs; without `meaning` a hybrid search ranks by words and links."""

    names: Names
    meaning: SemanticRanking | None
    watch: Stopwatch


class PageAnswer(NamedTuple):
    """The best documents; `total` is the number of documents found, or the least if not `is_exact`.

    `coverage` is the share of the terms' weights that the best document's best section contains;
    `signs` say whether a document answers, None: unknown.
    `translations` and `copies` are the found translations of each document, and its other versions
    and copies elsewhere, which count as one with it.
    `terms` are the terms of the search, `informative` those that tell documents apart, `cuts` those
    that were searched for in pieces, `unknown` the words that no section contains; `fused`,
    `rankings` and `words_share` (of a direct score)
    explain the order.
    """

    query: Query
    pages: tuple[PageHit, ...]
    total: int
    is_exact: bool
    cuts: tuple[Cut, ...] = ()
    unknown: tuple[UnknownWord, ...] = ()
    fused: tuple[Fused, ...] = ()
    rankings: Rankings = Rankings()
    terms: tuple[Term, ...] = ()
    words_share: float = 0.0
    translations: Mapping[FilePath, tuple[FilePath, ...]] = {}
    copies: Mapping[FilePath, tuple[FilePath, ...]] = {}
    coverage: float = 0.0
    informative: tuple[Term, ...] = ()
    signs: Signs | None = None

    @property
    def confidence(self) -> float:
        """How probable it is that a document answers, from 0 to 1, which also is unknown."""
        return 1.0 if self.signs is None else confidence(self.signs)

    @property
    def is_weak(self) -> bool:
        """Whether probably no document answers the query; without embeddings it is unknown."""
        return self.confidence < WEAK

    @property
    def is_doubtful(self) -> bool:
        """Whether possibly no document answers the query."""
        return self.confidence < DOUBTFUL


def find_pages(view: Searched, asked: PageQuery, context: SearchContext) -> PageAnswer:
    """Return the best documents for a query.

    Raises:
        UsageError: a filter on a field of front matter cannot be read.
    """
    watch = context.watch
    with watch.step("scope"):
        query = read_query(asked.text, field_names=view.field_names)
        query = query._replace(filters=query.filters.joined(asked.filters))
        scope = find_scope(query, context.names)
    if query.tree is None:
        return _list_scope(view, query, scope, asked.limit)
    found = _find(view, asked, query, scope, context)
    rankings, lexical, folded, named = found.rankings, found.lexical, found.folded, found.named
    with watch.step("sections"):
        folded, texts = _read_distinct(view, folded, max(asked.limit, HEADINGS_READ))
        if asked.mode != "semantic":
            sections = {path: text.sections for path, text in texts.items()}
            named = add_headings(query, named, sections, family_of)
            folded = _first_named(folded, named)
        shown = [document for document in folded.found if document.path in texts][: asked.limit]
        pages = build_hits(
            view,
            shown,
            texts,
            rankings,
            lexical.informative,
            weights=lexical.weights,
            link_paths=found.links.paths,
            named=named,
        )
        covered = coverage(pages[0], lexical.weights) if pages else 0.0
        signs = _signs(query, rankings, context.meaning, pages, covered)
    return PageAnswer(
        query,
        pages,
        total=len(folded.found),
        is_exact=not any(ranking.is_cut for ranking in rankings),
        cuts=lexical.cuts,
        unknown=lexical.unknown,
        fused=tuple(found.fused),
        rankings=rankings,
        terms=lexical.terms,
        translations=folded.translations,
        copies=folded.copies,
        words_share=words_share(*_fusion_input(rankings, lexical, asked)),
        coverage=covered,
        informative=tuple(lexical.informative),
        signs=signs,
    )


def _signs(
    query: Query,
    rankings: Rankings,
    meaning: SemanticRanking | None,
    pages: Sequence[PageHit],
    covered: float,
) -> Signs | None:
    """Return what says that a document answers; None: without embeddings, and for names."""
    is_known = meaning is not None and rankings.meaning.places and not query.is_literal
    if meaning is None or not is_known or not pages or pages[0].name is not None:
        return None
    telling = [word for word in query.wording.split() if word.lower() not in STOP_WORDS]
    overlaps = meaning.overlaps(" ".join(telling), [best_text(hit) for hit in pages[:COMPARED]])
    return Signs(rankings.meaning.places[0].score, covered, max(overlaps, default=None))


class _Found(NamedTuple):
    """What a search found, and why."""

    fused: Sequence[Fused]
    folded: Folded
    named: Named
    rankings: Rankings
    links: LinkRanking
    lexical: LexicalRanking


def _find(
    view: Searched, asked: PageQuery, query: Query, scope: Scope, context: SearchContext
) -> _Found:
    """Return what was found; deeper where versions of few pages fill the rankings."""
    named = Named()
    if asked.mode != "semantic":
        with context.watch.step("names"):
            named = find_named(view, query, context.names, scope)
            if not named.kinds:
                headed = view.link_graph().sections_of(find_headed(view, query, scope))
                named = add_headings(query, named, headed, family_of)
    chunks = CHUNKS if asked.limit <= USUAL_LIMIT else asked.limit * CHUNKS_PER_PAGE
    while True:
        rankings, links, lexical = _rank(view, asked, query, scope, context, chunks=chunks)
        with context.watch.step("fusion"):
            fused = fuse(*_fusion_input(rankings, lexical, asked))
            found = [document for document in fused if is_found(document.path, rankings)]
            is_weighed = asked.mode == "hybrid" and not asked.is_absolute
            ordered = demote_galleries(found) if is_weighed else found
            folded = _fold(view, ordered, named, asked)
        is_cut = rankings.words.is_cut or rankings.meaning.is_cut
        if not (folded.copies and is_cut and len(folded.found) < asked.limit < chunks < MAX_CHUNKS):
            break
        chunks *= DEEPER
    return _Found(fused, folded, named, rankings, links, lexical)


def _fold(view: Searched, found: Sequence[Fused], named: Named, asked: PageQuery) -> Folded:
    """Return what was found, with what the query names first, versions and translations as one."""
    present = {document.path for document in found}
    absent = [Fused(path, 0.0, None, None, None) for path in named.kinds if path not in present]
    documents = [*found, *absent]

    def read_titles(paths: Sequence[FilePath]) -> Mapping[FilePath, str | None]:
        return {path: page.facts.title for path, page in view.pages_at(paths).items()}

    folded = fold(documents, read_titles, Preference(asked.text, asked.version))
    return _first_named(folded, named)


def _read_distinct(
    view: Searched, folded: Folded, limit: int
) -> tuple[Folded, dict[FilePath, DocumentText]]:
    """Return what was found without copies of the first documents elsewhere, and their texts."""
    distinct: list[Fused] = []
    texts: dict[FilePath, DocumentText] = {}
    copies = dict(folded.copies)
    unread = list(folded.found)
    while unread and len(distinct) < limit:
        batch = unread[: limit - len(distinct)]
        del unread[: len(batch)]
        read = read_texts(view, [document.path for document in batch])
        for document in batch:
            path, text = document.path, read.get(document.path)
            original = text and next((p for p in texts if _is_same_page(texts[p], text)), None)
            if original:
                copies[original] = (*copies.get(original, ()), path, *copies.pop(path, ()))
                continue
            distinct.append(document)
            if text:
                texts[path] = text
    return folded._replace(found=[*distinct, *unread], copies=copies), texts


def _is_same_page(text: DocumentText, other: DocumentText) -> bool:
    """Return whether two documents of a repository are copies in different places."""
    page, other_page = text.page, other.page
    return (
        page.repository == other_page.repository
        and _title_of(page) == _title_of(other_page)
        and (page.blob == other_page.blob or is_copy(text.data, other.data))
    )


def _title_of(page: Page) -> str:
    return page.facts.title or name_of(page.filepath).lower()


def _first_named(folded: Folded, named: Named) -> Folded:
    """Return the same with the documents that the query names first, titles before headings."""
    if not named.kinds:
        return folded

    def kind(document: Fused) -> int:
        family = (
            document.path,
            *folded.copies.get(document.path, ()),
            *folded.translations.get(document.path, ()),
        )
        return min(named.kinds.get(path, UNNAMED) for path in family)

    best = max(document.score for document in folded.found)
    found = [
        document if kind(document) == UNNAMED else document._replace(score=best)
        for document in sorted(folded.found, key=kind)
    ]
    return folded._replace(found=found)


def _rank(  # noqa: PLR0913  # a ranking depends on as many
    view: Searched,
    asked: PageQuery,
    query: Query,
    scope: Scope,
    context: SearchContext,
    *,
    chunks: int,
) -> tuple[Rankings, LinkRanking, LexicalRanking]:
    watch = context.watch
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
            is_unknown = not (rankings.words.places or lexical.lacks_language)
            if asked.mode == "hybrid" and is_unknown:
                # No page contains a word of the query: for nonsense, too, some cosine is best. In
                # another language than the pages' that says nothing, and cosines are lower: of 200
                # headings of FastAPI's Japanese documentation 0.875 find the English page among
                # the first five with this limit, 0.915 without, by meaning alone 0.900.
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
        wanted = make_match(query.included, lambda term: full_text.has(term.phrase))
        lexical = lexical._replace(informative=wanted.terms)
    return rankings, links, lexical


def _keep_literal(
    view: Searched, query: Query, context: SearchContext, ranking: Ranking, lexical: LexicalRanking
) -> Ranking:
    """Drop the documents that do not contain the query if it must be matched literally."""
    if not query.is_literal or query.is_boolean:
        return ranking
    matching = {place.path for place in lexical.places}
    # Beside the best by words, others count for the names of their files only: to look into the
    # texts of those near in meaning takes longer than all else where most pages match.
    by_name = lexical.match is not None
    others = ranking.scores.keys() - matching
    return ranking.within(
        matching | find_literal(view, query, context.names, others, by_name=by_name)
    )


def _fusion_input(
    rankings: Rankings, lexical: LexicalRanking, asked: PageQuery
) -> tuple[RankingScores, FusionInput]:
    scores = RankingScores(*(ranking.scores for ranking in rankings))
    return scores, FusionInput(lexical.max_score, lexical.is_foreign, asked.is_absolute)


def _list_scope(view: Searched, query: Query, scope: Scope, limit: int) -> PageAnswer:
    """Return the documents that match the filters of a query without words, sorted by path."""
    paths: Sequence[FilePath] = sorted(scope or ())
    fused = [Fused(path, 1.0, None, None, None) for path in paths]
    shown = fused[:limit]
    texts = read_texts(view, [document.path for document in shown])
    pages = build_hits(view, shown, texts, Rankings(), ())
    return PageAnswer(query, pages, len(paths), is_exact=True, fused=tuple(fused))

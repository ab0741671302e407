"""Records of search results."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from ubp.core.model import FilePath, LinkType, Section
from ubp.core.paths import doc_id
from ubp.frame.fields import (
    Count,
    DocId,
    DocType,
    Fraction,
    Keyword,
    Line,
    Moment,
    PageLevel,
    PagePath,
    Span,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import LinkContext, StaleRefRecord, moment_or_none, stale_refs, title_of
from ubp.index.facts import why_unreadable
from ubp.output.relevance import RANKINGS, ranking_scores, relevance_text
from ubp.search.pages import PageAnswer, SearchType
from ubp.search.query import Cut, Query
from ubp.search.results import LinkedPage, PageHit, Reason, SectionHit
from ubp.search.run import FoundPages, own_path
from ubp.search.sections import Hit, SectionAnswer
from ubp.search.traverse import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRecord:
    """A run of characters that was split."""

    run: Annotated[str, "text that no section contains as a whole"]
    pieces: Annotated[tuple[str, ...], "what was searched for instead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRecord:
    """How the query was parsed."""

    text: Annotated[str, "the query as typed"]
    is_boolean: Annotated[bool, "whether AND, OR and NOT are operators"] = False
    is_shortened: Annotated[
        bool, "whether the query was too long and only its beginning was searched for"
    ] = False
    cuts: Annotated[
        tuple[CutRecord, ...], "runs of CJK characters and punctuated words that were split"
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSectionRecord:
    """A section that contains words of the query."""

    doc_id: Annotated[DocId | None, "UUIDv5 of the path; for agents only with `verbose`"] = None
    filepath: PagePath
    title: Title
    section_heading: Annotated[
        str | None, "heading (H2 or H3); null for the text before the first heading"
    ] = None
    line: Annotated[Line, "line of the first highlight, else first line of the passage"]
    snippet: Annotated[str | None, "matching passage on one line; null with --no-content"] = None
    highlights: Annotated[tuple[Span, ...], "matches in `snippet`, in order"] = ()
    rank: Annotated[
        float, "BM25 with a bonus for the file name; smaller is better", Keyword("maximum", 0)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsRecord:
    """Sections that match a query's words, best first."""

    results: Annotated[tuple[FoundSectionRecord, ...], "sections, best first"]
    total_found: Annotated[
        Count, "number of matching places; a long section may count several times"
    ]
    is_total_exact: Annotated[bool, "whether the total is exact; if false, it is a lower bound"] = (
        False
    )
    search_type: Annotated[Literal["fulltext"], "always fulltext: words only"]
    query: QueryRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownRecord:
    """Scores of the page in each ranking."""

    vector_similarity: Annotated[
        Fraction | None,
        "cosine similarity of the query and the page's closest chunk, with a bonus for the file"
        " name if the page has no title; null if not among the closest or not requested",
    ] = None
    graph_proximity: Annotated[
        Fraction | None,
        "inverse distance in links from another top page, weighted by its score and the link"
        " types; null if none is near or links were not requested",
    ] = None
    fulltext: Annotated[
        Fraction | None,
        "BM25 relative to the best page; null if the page has none of the words or words were not"
        " requested",
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPageRecord:
    """The page by whose link a page was found."""

    doc_id: Annotated[DocId | None, "UUIDv5 of the path; for agents only with `verbose`"] = None
    filepath: PagePath
    title: Title
    direction: Annotated[
        Direction | None,
        "outlink: that page links to this one; backlink: this one links to it",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionHitRecord:
    """A section of a found page."""

    section_id: Annotated[
        str | None,
        "the page's doc_id, followed by # and the heading's anchor; for agents only with `verbose`",
    ] = None
    heading: Annotated[
        str | None, "heading (H2 or H3); null for the text before the first heading"
    ] = None
    heading_path: Annotated[
        tuple[str, ...],
        "headings above the best section, starting with the page's H1, and its own",
    ] = ()
    line_start: Annotated[Line, "its first line"]
    line_end: Annotated[Line, "last line"]
    line: Annotated[
        Line | None,
        "line of the first highlight in `content`, else its first line; null if there is no"
        " content",
    ] = None
    score: Annotated[Fraction, "the page's score for its best section, lower for others"]
    content: Annotated[
        str | None,
        "passage on one line, for the best section only; null with --no-content",
        Keyword("maxLength", 240),
    ] = None
    highlights: Annotated[tuple[Span, ...], "matches in `content`, in order"] = ()
    text: Annotated[
        str | None,
        "Markdown of the section, or of a long one the part that matches: of the best section, and"
        " of all sections of the first five pages, which list a long one with each such part; null"
        " with --no-content, and where max_tokens leaves no room",
    ] = None
    text_start: Annotated[Line | None, "first line of `text`"] = None
    text_end: Annotated[Line | None, "last line of `text`"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPageRecord:
    """A page that a found page is linked with."""

    doc_id: Annotated[DocId | None, "UUIDv5 of the path; for agents only with `verbose`"] = None
    filepath: PagePath
    title: Title
    link_type: Annotated[LinkType, "type of the link"]
    link_context: LinkContext = ""
    direction: Annotated[
        Direction,
        "outlink: the found page links to this one; backlink: this one links to it",
    ]
    summary: Annotated[str, "beginning of the page, on one line", Keyword("maxLength", 120)] = ""
    staleness: PageLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingScoreRecord:
    """Score of the page in one ranking."""

    place: Annotated[Line, "rank of the page in this ranking"]
    raw: Annotated[
        float,
        "words: BM25, with a bonus for the file name; meaning: cosine similarity, with a bonus for"
        " the file name if the page has no title; links: proximity",
    ]
    normalised: Annotated[float | None, "normalized score, as combined with the other rankings"] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingScoresRecord:
    """Scores of the page in each ranking; null where it is not ranked."""

    words: Annotated[RankingScoreRecord | None, "keywords"]
    meaning: Annotated[RankingScoreRecord | None, "closeness in meaning"]
    links: Annotated[RankingScoreRecord | None, "links from the best pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPageRecord:
    """A page that was found, why, and whether it can be relied on."""

    collection: Annotated[str | None, "the collection; null: this repository"] = None
    doc_id: Annotated[DocId | None, "UUIDv5 of the path; for agents only with `verbose`"] = None
    filepath: PagePath
    title: Title
    doc_type: DocType
    updated_at: Annotated[
        Moment | None,
        "committer date of its last commit; null if never committed or before the start of a"
        " shallow clone",
    ] = None
    score: Annotated[Fraction, "1 is the maximum; comparable only within one result"]
    score_breakdown: Annotated[
        BreakdownRecord | None, "scores in each ranking; for agents only with `verbose`"
    ] = None
    relevance_reason: Annotated[
        Reason,
        "direct_match: by its own text; otherwise by links, one, two or more links away from a"
        " direct match",
    ]
    relevance_text: Annotated[
        str, "the same as a sentence: matching words, similarity, linking page"
    ]
    link_type: Annotated[
        LinkType | None, "type of the link by which it was found; null for a direct match"
    ] = None
    link_context: Annotated[str | None, "text around that link"] = None
    link_page: Annotated[LinkPageRecord | None, "page at the other end of the link"] = None
    staleness: PageLevel
    stale_refs: Annotated[
        tuple[StaleRefRecord, ...], "sources that changed since their baseline"
    ] = ()
    unreadable: WhyUnreadable = None
    sections: Annotated[
        tuple[SectionHitRecord, ...],
        "matching passages, best first; the beginning of a page found by links or filters",
        Keyword("maxItems", 3),
    ]
    translations: Annotated[
        tuple[PagePath, ...],
        "translations of the page that were found too and count as one with it",
    ] = ()
    linked_pages: Annotated[
        tuple[LinkedPageRecord, ...],
        "linked pages, strongest links first; only if requested",
        Keyword("maxItems", 3),
    ] = ()
    legs: Annotated[RankingScoresRecord | None, "with --explain: the scores of each ranking"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackRecord:
    """Why semantic search was not available."""

    reason: Annotated[str, "why there is no model"]
    hint: Annotated[str, "how to fix it"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesRecord:
    """The candidates of a ranking."""

    pages: Annotated[Count, "number of pages"]
    places: Annotated[Count, "number of chunks, or of whole pages"]
    is_cut: Annotated[bool, "whether there are more"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingsRecord:
    """Number of candidates per ranking."""

    words: Annotated[CandidatesRecord, "sections that match words"]
    meaning: Annotated[CandidatesRecord, "closest in meaning"]
    links: Annotated[CandidatesRecord, "pages linked to the best results"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationRecord:
    """How the results were computed."""

    looked_for: Annotated[tuple[str, ...], "words, phrases and runs of CJK characters"]
    in_all_forms: Annotated[bool, "whether English words also match their inflected forms"]
    words_share: Annotated[
        Fraction, "weight of words in a direct score; the rest is semantic similarity"
    ]
    candidates: RankingsRecord
    milliseconds: Annotated[Mapping[str, float], "time per step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """Pages that match a query, best first."""

    results: Annotated[tuple[FoundPageRecord, ...], "pages, best first"]
    total_found: Annotated[Count, "number of pages found"]
    is_total_exact: Annotated[bool, "whether the total is exact; if false, it is a lower bound"] = (
        False
    )
    is_weak: Annotated[bool, "whether probably no page answers the query"]
    truncated_count: Annotated[Count, "number of entries omitted"] = 0
    search_type: Annotated[
        SearchType,
        "retrieval used: hybrid (words, meaning and links), words only, or meaning only;"
        " fulltext_fallback: words and links, because there is no model",
    ]
    fallback: Annotated[
        FallbackRecord | None, "why semantic search was not available; null if it was"
    ] = None
    query: QueryRecord
    explanation: Annotated[
        ExplanationRecord | None, "with --explain: how the results were computed"
    ] = None


class Shown(NamedTuple):
    """Which optional parts of results a record contains."""

    has_content: bool
    is_explained: bool = False
    is_verbose: bool = True


def search_record(
    pages: FoundPages,
    *,
    has_content: bool = True,
    is_explained: bool = False,
    is_verbose: bool = True,
) -> SearchRecord:
    """Return the record of `ubp search`; without `has_content` texts are null.

    Without `is_verbose` ids, highlights and scores of single rankings are left out.
    """
    answer = pages.answer
    show = Shown(has_content=has_content, is_explained=is_explained, is_verbose=is_verbose)
    return SearchRecord(
        results=tuple(_found_page(hit, pages, show) for hit in answer.pages),
        total_found=answer.total,
        is_total_exact=answer.is_exact,
        is_weak=answer.is_weak,
        truncated_count=answer.total - len(answer.pages),
        search_type=pages.search_type,
        fallback=FallbackRecord(**pages.fallback._asdict()) if pages.fallback else None,
        query=_query(answer.query, answer.cuts),
        explanation=_explanation(pages) if is_explained else None,
    )


def sections_record(
    answer: SectionAnswer, *, has_content: bool = True, is_verbose: bool = True
) -> SectionsRecord:
    """Return the record of `ubp search --fulltext`; without `has_content` snippets are null."""
    show = Shown(has_content=has_content, is_verbose=is_verbose)
    return SectionsRecord(
        results=tuple(_found_section(hit, answer.collection, show) for hit in answer.hits),
        total_found=answer.total,
        is_total_exact=answer.is_exact,
        search_type="fulltext",
        query=_query(answer.query, answer.ranking.cuts),
    )


def _found_section(hit: Hit, collection: str, show: Shown) -> FoundSectionRecord:
    return FoundSectionRecord(
        doc_id=doc_id(hit.page.filepath, collection) if show.is_verbose else None,
        filepath=hit.page.filepath,
        title=title_of(hit.page),
        section_heading=hit.section and hit.section.heading,
        line=hit.line,
        snippet=hit.snippet.text if show.has_content else None,
        highlights=hit.snippet.highlights if show.has_content and show.is_verbose else (),
        rank=round(hit.rank, 6),
    )


def _query(query: Query, cuts: Iterable[Cut]) -> QueryRecord:
    return QueryRecord(
        text=query.text,
        is_boolean=query.is_boolean,
        is_shortened=query.is_shortened,
        cuts=tuple(CutRecord(run=cut.run, pieces=tuple(cut.pieces)) for cut in cuts),
    )


def _found_page(hit: PageHit, pages: FoundPages, show: Shown) -> FoundPageRecord:
    labelled, breakdown = hit.page.filepath, hit.breakdown
    path = own_path(labelled, hit.collection)
    assessment = pages.assessments[labelled]
    return FoundPageRecord(
        collection=hit.collection or None,
        doc_id=doc_id(path, hit.collection) if show.is_verbose else None,
        filepath=path,
        title=title_of(hit.page),
        doc_type=hit.page.facts.doc_type,
        updated_at=moment_or_none(pages.updated_at.get(labelled)),
        score=round(hit.score, 4),
        score_breakdown=BreakdownRecord(
            vector_similarity=_rounded(breakdown.meaning),
            graph_proximity=_rounded(breakdown.links),
            fulltext=_rounded(breakdown.words),
        )
        if show.is_verbose
        else None,
        relevance_reason=hit.reason,
        relevance_text=relevance_text(hit),
        link_type=hit.link_path and hit.link_path.link.link_type,
        link_context=hit.link_path and hit.link_path.link.context,
        link_page=_link_page(hit, show),
        staleness=assessment.level,
        stale_refs=stale_refs(assessment),
        unreadable=why_unreadable(assessment.page),
        sections=tuple(
            _section_hit(doc_id(path, hit.collection), section, show, is_best=not place)
            for place, section in enumerate(hit.sections)
        ),
        translations=pages.answer.translations.get(path, ()),
        linked_pages=tuple(
            _linked(linked, pages, hit.collection, show)
            for linked in pages.linked.get(labelled, ())
        ),
        legs=_scores(pages.answer, path) if show.is_explained else None,
    )


def _link_page(hit: PageHit, show: Shown) -> LinkPageRecord | None:
    if hit.near is None:
        return None
    path = own_path(hit.near.filepath, hit.collection)
    return LinkPageRecord(
        doc_id=doc_id(path, hit.collection) if show.is_verbose else None,
        filepath=path,
        title=title_of(hit.near),
        direction=hit.link_path and hit.link_path.direction,
    )


def _section_hit(page_id: str, hit: SectionHit, show: Shown, *, is_best: bool) -> SectionHitRecord:
    section, passage = hit.section, hit.passage if show.has_content else None
    extract = hit.extract if show.has_content else None
    return SectionHitRecord(
        section_id=_section_id(page_id, section) if show.is_verbose else None,
        heading=section and section.heading,
        heading_path=tuple(section.heading_path) if section and is_best else (),
        line_start=section.line_start if section else 1,
        line_end=section.line_end if section else 1,
        line=hit.line if hit.passage else None,
        score=round(hit.score, 4),
        content=passage and passage.content,
        highlights=passage.highlights if passage and show.is_verbose else (),
        text=extract and extract.text,
        text_start=extract and extract.line_start,
        text_end=extract and extract.line_end,
    )


def _linked(
    linked: LinkedPage, pages: FoundPages, collection: str, show: Shown
) -> LinkedPageRecord:
    path = own_path(linked.page.filepath, collection)
    return LinkedPageRecord(
        doc_id=doc_id(path, collection) if show.is_verbose else None,
        filepath=path,
        title=title_of(linked.page),
        link_type=linked.link.link_type,
        link_context=linked.link.context,
        direction=linked.direction,
        summary=linked.summary,
        staleness=pages.assessments[linked.page.filepath].level,
    )


def _section_id(page_id: str, section: Section | None) -> str:
    """Return the page's id, and after a # the heading's anchor."""
    return f"{page_id}#{section.anchor}" if section and section.anchor else page_id


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _explanation(pages: FoundPages) -> ExplanationRecord:
    answer = pages.answer
    candidates = {
        name: CandidatesRecord(
            pages=len(ranking.scores), places=len(ranking.places), is_cut=ranking.is_cut
        )
        for name, ranking in zip(RANKINGS, answer.rankings, strict=True)
    }
    return ExplanationRecord(
        looked_for=tuple(term.written for term in answer.terms),
        in_all_forms=answer.query.is_stemmed,
        words_share=answer.words_share,
        candidates=RankingsRecord(**candidates),
        milliseconds={name: round(time, 2) for name, time in pages.milliseconds.items()},
    )


def _scores(answer: PageAnswer, path: FilePath) -> RankingScoresRecord:
    scores = {
        name: score
        and RankingScoreRecord(
            place=score.place,
            raw=float(f"{score.raw:.4g}"),
            normalised=_rounded(score.normalised),
        )
        for name, score in ranking_scores(answer, path).items()
    }
    return RankingScoresRecord(**scores)

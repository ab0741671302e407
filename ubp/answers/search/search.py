"""`ubp search` and `ubp_search`: the best pages for a query, why, and whether they are stale."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

from ubp.answers.search.identifier import (
    IdentifierRecord,
    Place,
    agents_lines,
    find_identifier,
    fit_identifier,
    labelled,
    peoples_lines,
    texts_of,
)
from ubp.answers.search.query import (
    NO_CONTENT,
    QueryRecord,
    QueryText,
    query_notes,
    query_record,
    results_line,
    share_line,
    word_notes,
)
from ubp.core.config import EXCERPT_ONLY
from ubp.core.model import (
    QUIET_LEVELS,
    Assessment,
    FilePath,
    LinkType,
    Section,
    plain_path,
    repository_of,
)
from ubp.core.paths import doc_id
from ubp.core.versions import NEXT, read_version
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import DocTypes, LinkTypes, MaxTokens, Ref, Tags, between
from ubp.frame.budget import ELLIPSIS, TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import (
    GIVEN,
    NO_ROOM,
    REVISION,
    Count,
    DocId,
    DocType,
    Fraction,
    Keyword,
    Line,
    Moment,
    Option,
    PageLevel,
    PagePath,
    Span,
    Title,
    WhyUnreadable,
)
from ubp.frame.records import (
    DAY,
    LinkContext,
    StaleRefRecord,
    moment_or_none,
    stale_refs,
    title_of,
)
from ubp.frame.wording import ARROWS, count, printable
from ubp.frame.writer import Writer, stale_ref_text
from ubp.index.facts import why_unreadable
from ubp.index.session import Session
from ubp.search.choose import GAP
from ubp.search.dates import updated_at
from ubp.search.filters import page_filters
from ubp.search.named import ALIAS, FILE_NAME, HEADING, TITLE
from ubp.search.pages import Mode, PageAnswer, PageQuery, SearchType
from ubp.search.results import LinkedPage, PageHit, Reason, SectionHit, find_linked
from ubp.search.run import FoundPages, name_repositories, search_pages
from ubp.search.semantic import CLOSE_COSINE, MIN_COSINE
from ubp.search.suggest_links import is_boilerplate
from ubp.search.traverse import MAX_USEFUL_DEPTH, Direction
from ubp.staleness.state import assess_paths

LIMIT, MAX_LIMIT = 10, 20
MAX_DEPTH = 3
# benchmarks/agents/agent_answers.py measures how often so many tokens contain the answer.
SEARCH_TOKENS = 920
# Of a budget, for places and headings. Texts of all pages' best sections follow in the order of
# their scores: the key term was in 0.84 of 75 responses (benchmarks/agents/agent_answers.py), with
# the three best pages' best sections, and 0.4 for the lines, in 0.73. Changelogs and the like come
# last, since they say what changed and not how things are: 0.85, and the answering section of 115
# questions about specifications is in 88 responses instead of 81.
LINES_SHARE = 0.25
# As JSON, a result takes 95 tokens without any text, as a line 25: for as many results as in a text
# (8 of 10 by default), they need more of the budget.
RECORD_LINES_SHARE, VERBOSE_SHARE = 0.75, 0.5
# What a record has besides what the text says, left out first where not all results fit.
SPARE = ("updated_at", "doc_type", "relevance_reason", "link_context")
SPARE_OF_SECTIONS = ("heading",)
SPARE_OF_LINKED = ("link_context", "summary")
MIN_EXTRACT = 60  # less of a section says less than its best passage
EXTRACT_KEYS = ("text", "text_start", "text_end")
PASSAGE_KEYS = ("content", "highlights", "line")
RANKINGS = ("words", "meaning", "links")
NEAR_MISSES = 5  # lines where probably no page answers
MAX_COPIES = 6  # named
MAX_WORDS = 4  # named as the reason why a page was found
INDENT = "   "
NAMES = {
    TITLE: "its title is the query",
    ALIAS: "an alias is the query",
    FILE_NAME: "the query names its file",
    HEADING: "a heading is the query",
}


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
        "headings above it, starting with the page's H1, and its own; for agents without `verbose`"
        " only those of the best section",
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
    doc_type: Annotated[DocType | None, NO_ROOM] = None
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
        Reason | None,
        "direct_match: by its own text; otherwise by links, one, two or more links away from a"
        " direct match; null where max_tokens leaves no room",
    ] = None
    relevance_text: Annotated[
        str,
        "the same as a sentence: matching words, similarity, linking page; empty where max_tokens"
        " leaves no room",
    ] = ""
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
    copies: Annotated[
        tuple[PagePath, ...],
        "other versions of the page and copies elsewhere, which were found too and count as one"
        " with it",
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

    identifier: Annotated[
        IdentifierRecord | None, "if the query is an identifier: each line with it, its definition"
    ] = None
    results: Annotated[tuple[FoundPageRecord, ...], "pages, best first"]
    total_found: Annotated[Count, "number of pages found"]
    is_total_exact: Annotated[bool, "whether the total is exact; if false, it is a lower bound"] = (
        False
    )
    is_weak: Annotated[bool, "whether probably no page answers the query"]
    is_doubtful: Annotated[bool, "whether possibly no page answers the query"] = False
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


@dataclass(frozen=True, slots=True)
class SearchRequest(Request[SearchRecord]):
    """A question or topic, which pages may answer it, and how they are ranked.

    `hybrid` combines words, meaning and links (without a model words and links); the other modes
    use words alone, or meaning alone. Pages of one of the types that have all tags match; with
    `link_types` no other links are followed.
    """

    query: QueryText
    limit: Annotated[
        int,
        *between(1, MAX_LIMIT),
        Option(
            "Maximum number of results, 1 to 20, with --fulltext to 50 (10).",
            metavar="N",
            name=("--limit", "-n"),
        ),
    ] = LIMIT
    mode: Annotated[
        Mode,
        "hybrid combines keywords, meaning and links",
        Option(
            "Search by keywords, meaning and links (hybrid), keywords only, or meaning only.",
            metavar="MODE",
        ),
    ] = "hybrid"
    doc_type: Annotated[
        DocTypes,
        Option(
            "Only pages of this type (spec, design, api, …); repeatable (match any).",
            metavar="TYPE",
        ),
    ] = ()
    tags: Annotated[
        Tags,
        Option("Only pages with this tag; repeatable (match all).", metavar="TAG", name="--tag"),
    ] = ()
    include_linked: Annotated[
        bool,
        "list linked pages, too",
        Option("Show the pages linked with each result.", name="--include-links"),
    ] = False
    depth: Annotated[
        int,
        *between(1, MAX_DEPTH),
        "hops when ranking by links",
        Option(
            "Follow links from the best results up to this many links, 1 to 3 (2).",
            metavar="N",
            why=MAX_USEFUL_DEPTH,
        ),
    ] = 2
    link_types: Annotated[
        LinkTypes,
        Option("Follow only links of this type; repeatable.", metavar="TYPE", name="--link-type"),
    ] = ()
    no_content: Annotated[bool, NO_CONTENT] = False
    verbose: Annotated[
        bool,
        "with ids, scores, reasons",
        Option("", default=True),  # a command's record is complete
    ] = False
    max_tokens: (
        Annotated[
            MaxTokens,
            Option(
                "With --json: maximum number of tokens; the least relevant parts are dropped.",
                metavar="N",
                default=None,
            ),
        ]
        | None
    ) = SEARCH_TOKENS
    explain: Annotated[
        bool,
        Option(
            "Show the score of each page by search method, and the time of each step.",
            is_only=True,
        ),
    ] = False
    ref: Annotated[Ref, REVISION] | None = None
    others: Annotated[tuple[Session, ...], GIVEN] = ()  # further collections


def run(session: Session, request: SearchRequest, *, is_dated: bool = True) -> SearchRecord:
    """Return the best pages by keywords, meaning and links; several collections are ranked as one.

    Without `is_dated` the dates of their last changes are left out. Until they are known, each
    search walks through history, over 26,000 pages for 2 s.

    Raises:
        UsageError: the mode is `semantic`, and there is no model; or a filter on a field of front
            matter cannot be read.
        ModelError: the mode is `semantic`, and the configured model cannot be used.
    """
    query = PageQuery(
        request.query,
        request.mode,
        request.limit,
        page_filters(request.doc_type, request.tags),
        request.link_types,
        request.depth,
    )
    found = search_pages(session, query, request.ref, request.others)
    answer, fallback = found.answer, found.fallback
    sessions = name_repositories((session, *request.others))
    results = {
        name: _read_results(each, found, name, request, is_dated=is_dated)
        for name, each in sessions.items()
    }
    records = tuple(
        _found_page(hit, results[repository_of(hit.page.filepath)]) for hit in answer.pages
    )
    identifier = None
    if request.mode != "semantic" and not request.no_content:
        places = [
            Place(sessions[name], found.views[name], each.paths) for name, each in results.items()
        ]
        identifier = find_identifier(request.query, query.filters, places)
    return SearchRecord(
        identifier=identifier,
        results=records,
        total_found=answer.total,
        is_total_exact=answer.is_exact,
        is_weak=bool(records) and not identifier and answer.is_weak,
        is_doubtful=bool(records) and not identifier and answer.is_doubtful,
        truncated_count=answer.total - len(records),
        search_type=found.search_type,
        fallback=fallback and FallbackRecord(reason=fallback.reason, hint=fallback.hint),
        query=query_record(answer.query, answer.cuts, answer.unknown),
        explanation=_explanation(found) if request.explain else None,
    )


class _Results(NamedTuple):
    """What is known of the pages that were found in one repository, and which of it is shown.

    `paths` and those in mappings are as its view knows them.
    """

    request: SearchRequest
    answer: PageAnswer
    paths: Sequence[FilePath]
    collection: str
    policy: str
    assessments: Mapping[FilePath, Assessment]
    updated_at: Mapping[FilePath, int | None]
    linked: Mapping[FilePath, Sequence[LinkedPage]]


def _read_results(
    session: Session, found: FoundPages, name: str, request: SearchRequest, *, is_dated: bool
) -> _Results:
    view, watch, collection = found.views[name], found.watch, session.collection
    pages = [hit.page.filepath for hit in found.answer.pages]
    paths = [plain_path(path) for path in pages if repository_of(path) == name]
    with watch.step("linked"):
        linked = find_linked(view, paths, request.link_types) if request.include_linked else {}
    others = [page.page.filepath for pages in linked.values() for page in pages]
    with watch.step("staleness"):
        assessments = assess_paths(session, view, [*paths, *others])
    with watch.step("dates"):
        dates = updated_at(session, view, paths) if is_dated else {}
    return _Results(
        request,
        found.answer,
        paths,
        collection.name if collection else "",
        collection.policy if collection else "",
        assessments,
        dates,
        linked,
    )


def _found_page(hit: PageHit, results: _Results) -> FoundPageRecord:
    found_at, collection, request = hit.page.filepath, results.collection, results.request
    path = plain_path(found_at)
    assessment, breakdown, link = results.assessments[path], hit.breakdown, hit.link_path
    page_id = doc_id(path, collection)
    return FoundPageRecord(
        collection=collection or None,
        doc_id=page_id if request.verbose else None,
        filepath=path,
        title=title_of(hit.page),
        doc_type=hit.page.facts.doc_type,
        updated_at=moment_or_none(results.updated_at.get(path)),
        score=round(hit.score, 4),
        score_breakdown=BreakdownRecord(
            vector_similarity=_rounded(breakdown.meaning),
            graph_proximity=_rounded(breakdown.links),
            fulltext=_rounded(breakdown.words),
        )
        if request.verbose
        else None,
        relevance_reason=hit.reason,
        relevance_text=relevance_text(hit, collection),
        link_type=link and link.link.link_type,
        link_context=link and link.link.context,
        link_page=hit.near
        and LinkPageRecord(
            doc_id=doc_id(hit.near.filepath, collection) if request.verbose else None,
            filepath=plain_path(hit.near.filepath),
            title=title_of(hit.near),
            direction=link and link.direction,
        ),
        staleness=assessment.level,
        stale_refs=stale_refs(assessment),
        unreadable=why_unreadable(assessment.page),
        sections=tuple(
            _section_hit(page_id, section, results, is_best=not place)
            for place, section in enumerate(hit.sections)
        ),
        translations=tuple(map(plain_path, results.answer.translations.get(found_at, ()))),
        copies=tuple(map(plain_path, results.answer.copies.get(found_at, ()))),
        linked_pages=tuple(_linked_page(page, results) for page in results.linked.get(path, ())),
        legs=_scores(results.answer, found_at) if request.explain else None,
    )


def _section_hit(
    page_id: str, hit: SectionHit, results: _Results, *, is_best: bool
) -> SectionHitRecord:
    section, request = hit.section, results.request
    passage = None if request.no_content else hit.passage
    # Where a policy allows excerpts only, passages are short enough; near misses are lines.
    is_listed = request.no_content or results.policy == EXCERPT_ONLY or results.answer.is_weak
    extract = None if is_listed else hit.extract
    return SectionHitRecord(
        section_id=_section_id(page_id, section) if request.verbose else None,
        heading=section and section.heading,
        heading_path=section.heading_path if section and (is_best or request.verbose) else (),
        line_start=section.line_start if section else 1,
        line_end=section.line_end if section else 1,
        line=hit.line if hit.passage else None,
        score=round(hit.score, 4),
        content=passage and passage.content,
        highlights=passage.highlights if passage and request.verbose else (),
        text=extract and extract.text,
        text_start=extract and extract.line_start,
        text_end=extract and extract.line_end,
    )


def _section_id(page_id: str, section: Section | None) -> str:
    """Return the page's id, and after a # the heading's anchor."""
    return f"{page_id}#{section.anchor}" if section and section.anchor else page_id


def _linked_page(linked: LinkedPage, results: _Results) -> LinkedPageRecord:
    path = linked.page.filepath
    return LinkedPageRecord(
        doc_id=doc_id(path, results.collection) if results.request.verbose else None,
        filepath=path,
        title=title_of(linked.page),
        link_type=linked.link.link_type,
        link_context=linked.link.context,
        direction=linked.direction,
        summary=linked.summary,
        staleness=results.assessments[path].level,
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def relevance_text(hit: PageHit, collection: str = "") -> str:
    """Return which words a page contains and how close it is, or from where it was reached."""
    if hit.link_path is not None:
        return _link_text(hit, collection)
    parts = [] if hit.name is None else [NAMES[hit.name]]
    if hit.breakdown.words is not None:
        parts.append(_words_text(hit.matched) if hit.matched else "holds common words only")
    cosine = hit.breakdown.meaning
    if cosine is not None and cosine >= CLOSE_COSINE:
        parts.append(f"close in meaning ({cosine:.2f})")
    elif cosine is not None and cosine >= MIN_COSINE and not parts:
        parts.append(f"perhaps close in meaning ({cosine:.2f})")
    if not parts:
        return "Fits the filters."
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _words_text(terms: tuple[str, ...]) -> str:
    quoted = ", ".join(f"“{term}”" for term in terms[:MAX_WORDS])
    more = len(terms) - MAX_WORDS
    return f"holds {quoted} and {more} more" if more > 0 else f"holds {quoted}"


def _link_text(hit: PageHit, collection: str) -> str:
    path, origin = hit.link_path, hit.near
    if path is None or origin is None:
        return ""
    name = f"{title_of(origin)} ({labelled(origin.filepath, collection)})"
    verb = "Linked from" if path.direction == "outlink" else "Links to"
    link_type = "" if path.link.link_type == "references" else f" as {path.link.link_type}"
    distance = "" if path.depth == 1 else f", {path.depth} links away from a page that answers"
    return f"{verb} {name}{link_type}{distance}."


def _explanation(found: FoundPages) -> ExplanationRecord:
    answer = found.answer
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
        milliseconds={name: round(time, 2) for name, time in found.watch.milliseconds.items()},
    )


def _scores(answer: PageAnswer, path: FilePath) -> RankingScoresRecord:
    fused = next(fused for fused in answer.fused if fused.path == path)
    scores = {
        name: RankingScoreRecord(
            place=list(ranking.scores).index(path) + 1,
            raw=float(f"{ranking.scores[path]:.4g}"),
            normalised=_rounded(getattr(fused, name)),
        )
        if path in ranking.scores
        else None
        for name, ranking in zip(RANKINGS, answer.rankings, strict=True)
    }
    return RankingScoresRecord(**scores)


class Removed(NamedTuple):
    """A text, taken from a section of a result, to be given back if there is room."""

    result: Json
    section: Json
    text: Json


def fit_search(record: Json, limit: TokenLimit) -> None:
    """Keep a line for each result, then the best sections' texts, then passages, while they fit."""
    if limit.excess(record) <= 0:
        return
    results = record["results"]
    texts = [
        Removed(result, section, {key: limit.clear(section, key) for key in EXTRACT_KEYS})
        for result in results
        for section in result["sections"]
    ]
    bests = [result["sections"][0] for result in results if result["sections"]]
    passages = [{key: limit.clear(best, key) for key in PASSAGE_KEYS} for best in bests]
    for result in results:
        del result["sections"][1:]
    is_verbose = any("doc_id" in result for result in results)
    share = LINES_SHARE if limit.is_text else VERBOSE_SHARE if is_verbose else RECORD_LINES_SHARE
    taken = fit_identifier(record, limit)
    share = max(share, VERBOSE_SHARE) if taken else share
    lines = limit._replace(most=taken + int((limit.most - taken) * share))
    if not limit.is_text and limit.is_lean:
        lines.drop(record, _spare_parts(results, limit))
    if not limit.drop(record, _removable_parts(record, limit)):
        return
    lines.drop(record, _last_results(record))
    kept = {id(result) for result in results}
    texts = [text for text in texts if text.text["text"] and id(text.result) in kept]
    room = -limit.excess(record)
    for removed in sorted(texts, key=_order_of_texts):
        if room < MIN_EXTRACT:
            break
        room = _restore_text(record, limit, removed, room)
    for best, passage in zip(bests[: len(results)], passages, strict=False):
        if not best.get("text"):
            room = _restore_passage(record, limit, best, passage, room)


def _order_of_texts(removed: Removed) -> tuple[bool, float]:
    return is_boilerplate(removed.result["filepath"]), -removed.section["score"]


def _restore_text(record: Json, limit: TokenLimit, removed: Removed, room: int) -> int:
    """Give a section its text back, or as much of it as fits; return the room that is left."""
    section, sections = removed.section, removed.result["sections"]
    if section is not sections[0]:
        sections.append(section)
    section |= removed.text
    is_whole = limit.excess(record) <= 0
    if not is_whole:
        section["text_end"] = section["line_end"] - 1  # the answer says that it is cut
        limit.truncate(record, section, "text", mark=ELLIPSIS)
        section["text_end"] = _text_end(removed.text, section["text"])
    if not is_whole and limit.weigh(section["text"]) < MIN_EXTRACT:
        for key in EXTRACT_KEYS:
            limit.clear(section, key)
        if section is not sections[0]:
            sections.pop()
        return room
    return -limit.excess(record)


def _text_end(whole: Json, beginning: str) -> int:
    """Return the last line of the beginning of a text, in which gaps stand for other lines."""
    shown = beginning.removesuffix(ELLIPSIS).removesuffix(f"\n{GAP}")
    if GAP not in shown:
        return int(whole["text_start"]) + shown.count("\n")
    left_out: str = whole["text"][len(shown) :]
    return int(whole["text_end"]) - left_out.count("\n")  # a gap is a line, or more


def _restore_passage(record: Json, limit: TokenLimit, best: Json, passage: Json, room: int) -> int:
    """Give a section its passage back if it fits; return the room that is left."""
    if not passage["content"] or limit.measure(passage["content"]) > room:
        return room
    before = {key: best.get(key) for key in passage}
    best.update({key: value for key, value in passage.items() if value is not None})
    excess = limit.excess(record)
    if excess <= 0:
        return -excess
    for key, value in before.items():
        best[key] = value
        if value is None and limit.is_lean:
            del best[key]
    return room


def _spare_parts(results: list[Json], limit: TokenLimit) -> Iterator[Any]:
    for result in results:
        for page in result.get("linked_pages", ()):
            yield [limit.clear(page, key) for key in SPARE_OF_LINKED]
    is_verbose = any("doc_id" in result for result in results)  # why is asked for, too
    for result in results:
        yield [limit.clear(result, key) for key in SPARE]
        for section in result["sections"]:
            yield [limit.clear(section, key) for key in SPARE_OF_SECTIONS]
        if not is_verbose:
            yield limit.clear(result, "relevance_text")


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    results = record["results"]
    for key in ("linked_pages", "stale_refs") if limit.is_text else ("stale_refs",):
        for result in reversed(results):
            yield limit.clear(result, key)
    yield from _last_results(record)
    yield from (limit.clear(result, "linked_pages") for result in results)


def _last_results(record: Json) -> Iterator[Any]:
    while len(record["results"]) > 1:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield record["results"].pop()


def text(record: SearchRecord, write: Writer) -> Iterator[str]:
    """Yield the pages, best first: for agents their sections whole, for people passages."""
    if write.is_quiet:
        yield from (_place(page, write) for page in record.results)
    elif write.is_agent:
        yield from _agents_text(record, write)
    else:
        yield from _peoples_text(record, write)


def _agents_text(record: SearchRecord, write: Writer) -> Iterator[str]:
    pages, number = record.results, record.truncated_count
    pages = pages[:NEAR_MISSES] if record.is_weak else pages
    if not pages and not number and not record.identifier:
        yield "No results. Try different words, or ubp_list_pages."
        yield from word_notes(record.query)
        return
    sections = [section for page in pages for section in page.sections]
    places = record.identifier
    texts = texts_of(places)
    marker = write.marker(*texts, *(section.text or "" for section in sections))
    is_exact = record.is_total_exact
    found = share_line(len(pages), record.total_found, "page", is_exact=is_exact)
    if record.fallback and record.search_type == "fulltext_fallback":
        reason = printable(record.fallback.reason)
        yield f"{found}, keyword and link search only: {reason} {write.notice(marker)}"
    else:
        yield f"{found}. {write.notice(marker)}"
    yield from word_notes(record.query)
    if record.is_weak:
        best = f": the best score is {pages[0].score:.2f}" if pages else ""
        yield f"Probably no page answers this{best}. Nearest:"
        yield from (_agents_place(page, write) for page in pages)
        return
    if record.is_doubtful:
        yield "Possibly no page answers this. Nearest:"
    if places:
        yield from agents_lines(places, write, marker)
    for page in pages:
        yield from _agents_page(page, marker, write)
    if any(map(_is_cut, sections)):
        call = f'ubp_get_page(filepath, lines="FIRST-LAST"{write.arguments()})'
        yield f"[a whole section: {call}]"
    if number:
        yield f"[{count(number, 'more page')}: use a larger limit or max_tokens]"


def _agents_page(page: FoundPageRecord, marker: str, write: Writer) -> Iterator[str]:
    """Yield `path:lines > headings [stale since …]`, and what there is of the best sections."""
    best, *others = page.sections
    yield f"{_agents_place(page, write)}{_shown_lines(best)}"
    if page.unreadable:
        yield f"  {page.unreadable}"
    if page.doc_id:
        yield from _verbose(page, write)
    if best.text:
        yield from write.enclose(best.text, marker)
    elif best.content:
        yield f"  {write.quote(best.content)}"
    for section in others:
        if section.text:
            yield f"{_lines(section, write)}{_shown_lines(section)}"
            yield from write.enclose(section.text, marker)
    if page.translations:
        yield f"  Also as {', '.join(map(write.name, page.translations))}"
    if page.copies:
        yield f"  {_also_in(page, write)}"
    if page.linked_pages:
        yield f"  {', '.join(_link(linked, write) for linked in page.linked_pages)}"


def _agents_place(page: FoundPageRecord, write: Writer) -> str:
    best = page.sections[0]
    place = f"{write.path(page.filepath)}:{best.line_start}-{best.line_end}"
    headings = " > ".join(map(write.title, best.heading_path or (page.title,)))
    return f"{place} > {headings}{_staleness(page)}"


def _also_in(page: FoundPageRecord, write: Writer) -> str:
    """Return the versions of the other copies, or where a path has none, the path."""
    has_version = bool(read_version(page.filepath).version)
    names = [
        read_version(path).version or (NEXT if has_version else path)
        if is_same_page(path, page)
        else path
        for path in page.copies
    ]
    more = len(names) - MAX_COPIES
    shown = ", ".join(map(write.name, names[:MAX_COPIES]))
    return f"Also in {shown}{f' and {more} more' if more > 0 else ''}"


def is_same_page(path: str, page: FoundPageRecord) -> bool:
    """Return whether a path is that of another version of a page, not of a copy elsewhere."""
    return read_version(path).family == read_version(page.filepath).family


def _staleness(page: FoundPageRecord) -> str:
    if page.staleness in QUIET_LEVELS:
        return ""
    dates = [reference.since for reference in page.stale_refs if reference.since]
    return f" [{page.staleness}{f' since {min(dates)[:DAY]}' if dates else ''}]"


def _shown_lines(section: SectionHitRecord) -> str:
    """Return the lines of the text where they differ from the section's.

    A tiny section is shown with its neighbors.
    """
    shown = section.text_start, section.text_end
    if not section.text or shown == (section.line_start, section.line_end):
        return ""
    return f", lines {section.text_start}-{section.text_end}:"


def _is_cut(section: SectionHitRecord) -> bool:
    """Return whether a section's text is only a part of it."""
    return bool(section.text) and (
        (section.text_start or 1) > section.line_start
        or (section.text_end or section.line_end) < section.line_end
    )


def _verbose(page: FoundPageRecord, write: Writer) -> Iterator[str]:
    breakdown, best = page.score_breakdown or BreakdownRecord(), page.sections[0]
    names = ("vector_similarity", "graph_proximity", "fulltext")
    scores = [f", {name} {score:.2f}" for name in names if (score := getattr(breakdown, name))]
    yield f"  {printable(page.relevance_text)} Score {page.score:.2f}{''.join(scores)}."
    yield f"  id {best.section_id or page.doc_id}"
    if page.stale_refs:
        yield f"  {'; '.join(stale_ref_text(reference, write) for reference in page.stale_refs)}"
    if others := _other_sections(page):
        yield f"  Also {', '.join(_lines(section, write) for section in others)}"


def _other_sections(page: FoundPageRecord) -> list[SectionHitRecord]:
    """Return a page's sections after the best one, each once: parts of a long one are hits."""
    sections: dict[int, SectionHitRecord] = {}
    for section in page.sections:
        sections.setdefault(section.line_start, section)
    return list(sections.values())[1:]


def _lines(section: SectionHitRecord, write: Writer) -> str:
    lines = f"{section.line_start}-{section.line_end}"
    return f"{lines} > {write.title(section.heading)}" if section.heading else lines


def _link(linked: LinkedPageRecord, write: Writer, collection: str = "") -> str:
    link_type = "" if linked.link_type == "references" else f" ({linked.link_type})"
    path = write.name(labelled(linked.filepath, collection))
    return f"{ARROWS[linked.direction]} {path}{link_type}"


def _peoples_text(record: SearchRecord, write: Writer) -> Iterator[str]:
    pages, style = record.results, write.style
    if pages:
        total, is_exact = record.total_found, record.is_total_exact
        yield results_line(record.query, len(pages), total, "page", is_exact=is_exact)
        if record.is_weak:
            best = max(page.score for page in pages)
            yield style.yellow(f"Probably no page answers this: the best score is {best:.2f}.")
        elif record.is_doubtful:
            yield style.yellow("Possibly no page answers this.")
        yield ""
    if record.identifier:
        yield from peoples_lines(record.identifier, write)
    for number, page in enumerate(pages, 1):
        yield from _peoples_page(number, page, write)
        yield ""
    yield from query_notes(record.query, write, has_results=bool(pages))
    if record.fallback:
        yield style.dim(f"Keyword and link search only: {record.fallback.reason}")
        yield style.dim(f"Hint: {record.fallback.hint}")
    if record.explanation:
        yield from _explanation_lines(record.explanation)


def _peoples_page(number: int, page: FoundPageRecord, write: Writer) -> Iterator[str]:
    style, collection = write.style, page.collection or ""
    best, others = page.sections[0], _other_sections(page)
    level = "" if page.staleness in QUIET_LEVELS else f"  {write.level(page.staleness)}"
    yield f"{number}. {_place(page, write)}  score: {page.score:.2f}{level}"
    if page.unreadable:
        yield f"{INDENT}{style.yellow(page.unreadable)}"
    # A passage may have nothing that the line above it has not.
    if best.content and best.content.strip() not in {"", *best.heading_path[-1:]}:
        yield f"{INDENT}{write.highlighted(best.content, best.highlights)}"
    if page.link_context is not None:
        yield f"{INDENT}{style.dim(write.quote(page.link_context))}"
    yield f"{INDENT}{style.dim(write.quote(page.relevance_text))}"
    if others:
        places = (
            f":{section.line_start} {write.title(' > '.join(section.heading_path))}".rstrip()
            for section in others
        )
        yield f"{INDENT}{style.dim('Also at ' + '; '.join(places))}"
    if page.translations:
        yield f"{INDENT}{style.dim('Also as ' + ', '.join(map(write.name, page.translations)))}"
    if page.copies:
        yield f"{INDENT}{style.dim(_also_in(page, write))}"
    if page.linked_pages:
        links = (_link(linked, write, collection) for linked in page.linked_pages)
        yield f"{INDENT}Links: {', '.join(links)}"
    if page.legs:
        yield f"{INDENT}{_scores_line(page.legs)}"


def _place(page: FoundPageRecord, write: Writer) -> str:
    best = page.sections[0]
    path = labelled(page.filepath, page.collection or "")
    place = write.path(f"{path}:{best.line or best.line_start}")
    return f"{place}  {write.title(' > '.join(best.heading_path))}".rstrip()


def _scores_line(scores: RankingScoresRecord) -> str:
    by_name = {name: getattr(scores, name) for name in RANKINGS}
    return "; ".join(
        f"{name} #{score.place} {score.raw:.4g} -> {score.normalised or 0:.3f}"
        if score
        else f"{name} -"
        for name, score in by_name.items()
    )


def _explanation_lines(explanation: ExplanationRecord) -> Iterator[str]:
    terms = printable(", ".join(explanation.looked_for)) or "no words"
    forms = " with their inflected forms" if explanation.in_all_forms else ""
    share = explanation.words_share
    yield f"Terms: {terms}{forms}; words make up {share:.2f} of a direct score."
    candidates = (
        f"{name} {count(ranking.pages, 'page')} in {count(ranking.places, 'place')}"
        for name in RANKINGS
        if (ranking := getattr(explanation.candidates, name))
    )
    yield f"Candidates: {'; '.join(candidates)}."
    times = (f"{name} {spent:.1f}" for name, spent in explanation.milliseconds.items())
    yield f"Milliseconds: {', '.join(times)}."


SEARCH = Answer(
    request=SearchRequest,
    record=SearchRecord,
    run=run,
    run_for_text=partial(run, is_dated=False),
    text=text,
    fit=fit_search,
    reads_collections=True,
    tool=ToolTraits(
        title="Search pages",
        description=(
            "Search the documentation by question or topic: the best sections whole, then "
            "passages, with lines and staleness. Use it before grep; an identifier alone gives "
            "every line with it and its definition in code. ubp_fulltext_search finds phrases."
        ),
    ),
)

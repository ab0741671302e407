"""`rag_search`: the passages of a project that answer a question."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Annotated, Literal, NamedTuple

from ubp.core.config import EXCERPT_ONLY
from ubp.core.dates import parse_date
from ubp.core.model import QUIET_LEVELS, FilePath, Level
from ubp.core.paths import doc_id
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, Query, Tags, between
from ubp.frame.budget import TokenLimit, count_breaks
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, DocId, Fraction, PagePath
from ubp.frame.wording import count, moment
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.index.view import View
from ubp.kits.rag import projects
from ubp.kits.rag.fields import (
    MAX_TOP_K,
    Category,
    Metadata,
    PositionRecord,
    Project,
    Success,
    about,
    position,
)
from ubp.search.dates import created_at
from ubp.search.excerpt import drop_overlaps
from ubp.search.fields import make_filter
from ubp.search.filters import Filters, page_filters
from ubp.search.match import find_terms
from ubp.search.pages import Mode, PageQuery
from ubp.search.results import SectionHit, read_texts
from ubp.search.run import search_pages
from ubp.staleness.state import assess_paths

SearchType = Literal["vector", "keyword", "hybrid"]
MODES: dict[SearchType, Mode] = {"vector": "semantic", "keyword": "fulltext", "hybrid": "hybrid"}
Day = Annotated[str, "e.g. 2026-01-31"]


MAX_TEXT = 4_000  # characters of a passage; sections that are longer are cut
# The first of these fields says when a document was created, else its first commit does.
CREATED_FIELDS = ("created", "date")


@dataclass(frozen=True, slots=True)
class HighlightRecord:
    """A place of a word of the query in the text, in characters from 0."""

    start: Annotated[Count, "first character"]
    end: Annotated[Count, "character after the last one"]


@dataclass(frozen=True, slots=True)
class RagResultRecord:
    """A passage that answers."""

    text: Annotated[str, "the section, or a part of it"]
    score: Annotated[Fraction, "how well it answers"]
    file_path: PagePath
    position: Annotated[PositionRecord, "where the text is"]
    metadata: Metadata
    highlights: Annotated[tuple[HighlightRecord, ...], "words of the query"]
    document_id: DocId
    staleness: Annotated[Level, "whether the document still matches its sources"]


@dataclass(frozen=True, slots=True)
class RagSearchRecord:
    """The passages that answer a query best."""

    success: Success
    results: Annotated[tuple[RagResultRecord, ...], "best first"]
    total_found: Annotated[Count, "passages that were found, at least"]
    search_time_ms: Annotated[float, "time taken"]
    truncated_count: Annotated[Count, "passages that are left out because of max_tokens"] = 0
    is_cut: Annotated[bool, "whether the end of the text is left out because of max_tokens"] = False


@dataclass(frozen=True, slots=True)
class RagSearchFilters:
    """Which documents may answer."""

    category: Category = ""
    tags: Tags = ()
    created_after: Day = ""
    created_before: Day = ""


EVERY_DOCUMENT = RagSearchFilters()


@dataclass(frozen=True, slots=True)
class RagSearchRequest(Request[RagSearchRecord]):
    """A question about a project."""

    query: Query
    project: Project | None = None
    search_type: SearchType = "hybrid"
    top_k: Annotated[int, *between(1, MAX_TOP_K)] = 5
    filters: RagSearchFilters | None = None
    max_tokens: MaxTokens | None = None


def run(session: Session, request: RagSearchRequest) -> RagSearchRecord:
    """Return the record of the best passages."""
    started = perf_counter()
    filters, mode = request.filters or RagSearchFilters(), MODES[request.search_type]
    results, total = projects.ask(
        session,
        request.project,
        lambda project: find_passages(project, request.query, request.top_k, mode, filters),
    )
    return RagSearchRecord(
        success=True,
        results=results,
        total_found=total,
        search_time_ms=round((perf_counter() - started) * 1000, 1),
    )


def find_passages(
    project: projects.Project,
    query: str,
    limit: int,
    mode: Mode = "hybrid",
    filters: RagSearchFilters = EVERY_DOCUMENT,
) -> tuple[tuple[RagResultRecord, ...], int]:
    """Return the best passages of a project, and how many were found at least.

    Raises:
        UsageError: a date cannot be read, or the mode needs a model and there is none.
    """
    session, collection = project.session, project.collection
    view = session.view()
    found = search_pages(session, PageQuery(query, mode, limit, _filters(project, view, filters)))
    policy = collection.policy if collection else ""
    name = project.collection_name
    hits = {hit.page.filepath: hit for hit in found.answer.pages}
    texts = read_texts(view, set(hits))
    fields = view.fields(set(hits))
    assessments = assess_paths(session, view, list(hits))
    results: list[RagResultRecord] = []
    for path, hit in hits.items():
        for section in hit.sections[:1] if policy == EXCERPT_ONLY else hit.sections:
            passage = _passage(section, texts[path].cut if path in texts else None, policy)
            spans = drop_overlaps(find_terms(passage.text, found.answer.terms))
            results.append(
                RagResultRecord(
                    passage.text,
                    section.score,
                    path,
                    position(passage.line_start, passage.line_end, passage.section),
                    dict(fields.get(path, {})),
                    tuple(HighlightRecord(span.start, span.end) for span in spans),
                    doc_id(path, name),
                    assessments[path].level,
                )
            )
    results.sort(key=lambda result: -result.score)
    rounded = (replace(result, score=round(result.score, 3)) for result in results[:limit])
    others = found.answer.total - len(hits)  # documents, each with a passage at least
    return tuple(rounded), len(results) + others


class _Passage(NamedTuple):
    """A part of a document, and its place."""

    text: str
    line_start: int
    line_end: int
    section: tuple[str, ...]


def _passage(hit: SectionHit, cut: object, policy: str) -> _Passage:
    headings = hit.section.heading_path if hit.section else ()
    if policy == EXCERPT_ONLY or (hit.extract is None and hit.section is None):
        text = hit.passage.content if hit.passage else ""
        return _Passage(text, hit.line, hit.line, headings)
    if hit.extract is not None:
        return _Passage(hit.extract.text, hit.extract.line_start, hit.extract.line_end, headings)
    if hit.section is None or not callable(cut):
        return _Passage("", hit.line, hit.line, headings)
    text = str(cut(hit.section)).rstrip("\n")[:MAX_TEXT]
    start = hit.section.line_start
    return _Passage(text, start, start + text.count("\n"), headings)


def _filters(project: projects.Project, view: View, wanted: RagSearchFilters) -> Filters:
    filters = page_filters((), wanted.tags)
    if wanted.category:
        filters = filters._replace(fields=((make_filter("category", ":", wanted.category),),))
    if wanted.created_after or wanted.created_before:
        filters = filters._replace(within=_created_within(project, view, wanted))
    return filters


def _created_within(
    project: projects.Project, view: View, wanted: RagSearchFilters
) -> frozenset[FilePath]:
    bounds = [
        make_filter("created", operator, bound)
        for operator, bound in ((">=", wanted.created_after), ("<=", wanted.created_before))
        if bound
    ]
    dates = view.derived("creation", lambda: _creation_dates(project, view))
    return frozenset(
        path for path, date in dates.items() if all(bound.matches_value(date) for bound in bounds)
    )


def _creation_dates(project: projects.Project, view: View) -> Mapping[FilePath, str]:
    """Return when each document was created: as it says, else when it was committed first."""
    dates: dict[FilePath, str] = {}
    paths = view.document_paths()
    for path, fields in view.fields(paths).items():
        written = next((value for name in CREATED_FIELDS if (value := fields.get(name))), "")
        if isinstance(written, str) and parse_date(written):
            dates[path] = written
    unknown = [path for path in paths if path not in dates]
    committed = created_at(project.session, view, unknown) if unknown else {}
    return dates | {path: moment(date) for path, date in committed.items() if date is not None}


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop the places of words, then the last passages, then the end of the first one."""
    results = record["results"]
    if limit.drop(record, _last_parts(record, results)) or not results:
        return
    record["is_cut"] = True
    lines = count_breaks(results[0]["text"])
    limit.shorten(record, results)
    # Lines may be left out within a passage: those that were cut off are counted, not the rest.
    results[0]["position"]["line_end"] -= lines - count_breaks(results[0]["text"])


def _last_parts(record: Json, results: list[Json]) -> Iterator[Json]:
    for result in reversed(results):
        places, result["highlights"] = result["highlights"], []
        yield {"highlights": places}
    while len(results) > 1:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield results.pop()


def text(record: RagSearchRecord, write: Writer) -> Iterator[str]:
    """Yield the passages, each with its place, its score and its fields."""
    if not record.results:
        yield "No document answers this. Try different words, or another project."
        return
    marker = write.marker(*(result.text for result in record.results))
    passages = count(len(record.results), "passage")
    yield f"{passages}, best first, of at least {record.total_found} found. {write.notice(marker)}"
    for result in record.results:
        place = result.position
        headings = f" > {write.title(place.section)}" if place.section else ""
        level = [] if result.staleness in QUIET_LEVELS else [result.staleness]
        facts = [f"score {result.score:.2f}", *level, about(result.metadata, write)]
        facts.append(f"id {result.document_id}")
        known = "; ".join(filter(None, facts))
        lines = f"{place.line_start}-{place.line_end}"
        yield f"{write.path(result.file_path)}:{lines}{headings} ({known})"
        yield from write.enclose(result.text, marker)
    if record.is_cut:
        yield "[The end of the text is omitted: use a larger max_tokens]"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more passage')}: use a larger max_tokens]"


RAG_SEARCH = Answer(
    request=RagSearchRequest,
    record=RagSearchRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Search a project",
        description=(
            "Search the documents of a project: by keywords, by meaning (vector) or both, with "
            "links (hybrid). Returns passages, best first, with file, lines, metadata and "
            "staleness."
        ),
        failure="search_failed",
    ),
)

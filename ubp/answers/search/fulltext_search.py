"""`ubp search --fulltext` and `ubp_fulltext_search`: sections that contain words or phrases."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

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
from ubp.core.paths import doc_id
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import DocTypes, MaxTokens, Ref, between
from ubp.frame.fields import REVISION, Count, DocId, Keyword, Line, Option, PagePath, Span, Title
from ubp.frame.records import title_of
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.search.filters import page_filters
from ubp.search.run import file_names
from ubp.search.sections import Hit, find_sections

MAX_LIMIT = 50
INDENT = "   "


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
        float | None,
        "BM25 with a bonus for the file name; smaller is better; null where max_tokens leaves no"
        " room",
        Keyword("maximum", 0),
    ] = None


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


@dataclass(frozen=True, slots=True)
class FulltextRequest(Request[SectionsRecord]):
    """The words to find, in which pages, and how many sections to return."""

    query: QueryText
    limit: Annotated[
        int, *between(1, MAX_LIMIT), Option("Maximum number of results (10).", metavar="N")
    ] = 10
    doc_type: Annotated[DocTypes, Option("Only pages of this type.")] = ()
    tags: Annotated[tuple[str, ...], Option("Only pages with this tag.", is_only=True)] = ()
    no_content: Annotated[bool, NO_CONTENT] = False
    max_tokens: MaxTokens | None = None
    ref: Annotated[Ref, REVISION] | None = None


def run(session: Session, request: FulltextRequest) -> SectionsRecord:
    """Return the best sections by their words alone; operators apply to a section, not a page.

    Raises:
        UsageError: a filter on a field of front matter cannot be read.
    """
    view = session.view(Target(request.ref))
    filters = page_filters(request.doc_type, request.tags)
    found = find_sections(view, request.query, request.limit, file_names(view), filters)
    return SectionsRecord(
        results=tuple(
            _found_section(hit, view.context.collection, has_content=not request.no_content)
            for hit in found.hits
        ),
        total_found=found.total,
        is_total_exact=found.is_exact,
        search_type="fulltext",
        query=query_record(found.query, found.ranking.cuts, found.ranking.unknown),
    )


def _found_section(hit: Hit, collection: str, *, has_content: bool) -> FoundSectionRecord:
    return FoundSectionRecord(
        doc_id=doc_id(hit.page.filepath, collection),
        filepath=hit.page.filepath,
        title=title_of(hit.page),
        section_heading=hit.section and hit.section.heading,
        line=hit.line,
        snippet=hit.snippet.text if has_content else None,
        highlights=hit.snippet.highlights if has_content else (),
        rank=round(hit.rank, 6),
    )


def text(record: SectionsRecord, write: Writer) -> Iterator[str]:
    """Yield the sections, best first, each with its passage."""
    results = record.results
    if write.is_quiet:
        yield from (_place(result, write) for result in results)
    elif write.is_agent and not results:
        yield "No section contains these words. Try fewer or different words, or ubp_search."
        yield from word_notes(record.query)
    elif write.is_agent:
        total, is_exact = record.total_found, record.is_total_exact
        found = share_line(len(results), total, "section", is_exact=is_exact)
        yield f"{found}. {write.notice()}"
        yield from word_notes(record.query)
        for result in results:
            heading = result.section_heading or result.title
            yield f"{write.name(result.filepath)}:{result.line} {write.title(heading)}"
            if result.snippet:
                yield f"  {write.quote(result.snippet)}"
    else:
        yield from _peoples_text(record, write)


def _peoples_text(record: SectionsRecord, write: Writer) -> Iterator[str]:
    results = record.results
    if results:
        total, is_exact = record.total_found, record.is_total_exact
        yield results_line(record.query, len(results), total, "place", is_exact=is_exact)
        yield ""
    for number, result in enumerate(results, 1):
        yield f"{number}. {_place(result, write)}"
        if result.snippet:
            yield f"{INDENT}{write.highlighted(result.snippet, result.highlights)}"
        yield ""
    yield from query_notes(record.query, write, has_results=bool(results))


def _place(result: FoundSectionRecord, write: Writer) -> str:
    headings = dict.fromkeys(filter(None, (result.title, result.section_heading)))
    place = write.path(f"{result.filepath}:{result.line}")
    return f"{place}  {write.title(' > '.join(headings))}"


FULLTEXT_SEARCH = Answer(
    request=FulltextRequest,
    record=SectionsRecord,
    run=run,
    text=text,
    items="results",
    spare=(("doc_id", "highlights"), ("rank",)),
    reads_collections=True,
    tool=ToolTraits(
        title="Find exact words",
        description=(
            "Find documentation sections with exact words or phrases, such as an error message,"
            " with file and line. Use it when you know the wording."
        ),
    ),
)

"""`search_spec`: the sections of a specification that answer a question."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, Query, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.fields import (
    Address,
    CitedId,
    CitedLanguage,
    DocName,
    Language,
    LicencePolicy,
    SectionPath,
    SectionTitle,
    Version,
    VersionCommit,
    VersionName,
    cited,
)
from ubp.kits.specs.reader import SpecificationReader, joined_path
from ubp.kits.specs.sections import find_spec_sections
from ubp.markdown.outline import HeadingSpan
from ubp.search.run import open_search

LIMIT, MAX_LIMIT = 10, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSnippetRecord:
    """A part of a section's text around the first word of the query."""

    text: Annotated[str, "at most 300 characters"]
    start_char: Annotated[Count, "its start in the section's own text, in characters"]
    end_char: Annotated[Count, "its end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecResultRecord:
    """A section that was found, with its citation."""

    title: SectionTitle
    section_path: SectionPath
    section_id: CitedId
    url: Address
    language: CitedLanguage
    doc: DocName
    version: VersionName
    commit: VersionCommit
    source_policy: LicencePolicy
    snippet: SpecSnippetRecord
    score: Annotated[float, "negative; the smaller, the better"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSearchRecord:
    """The sections that answer a question."""

    query: Annotated[str, "the question"]
    results: Annotated[tuple[SpecResultRecord, ...], "best first"]
    truncated_count: Annotated[Count, "results that are left out because of max_tokens"] = 0


@dataclass(frozen=True, slots=True)
class SpecFilters:
    """Which sections may answer."""

    doc: Annotated[str, "document, from list_languages"] = ""
    section_path_prefix: Annotated[str, "e.g. Types > Slice"] = ""
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIMIT


@dataclass(frozen=True, slots=True)
class SpecSearchRequest(Request[SpecSearchRecord]):
    """A question about a language."""

    query: Query
    language: Language
    version: Version | None = None
    filters: SpecFilters | None = None
    max_tokens: MaxTokens | None = None


def run(session: Session, request: SpecSearchRequest) -> SpecSearchRecord:
    """Return the sections that answer a question best.

    Raises:
        CollectionError: there is no such language, document or version.
        UsageError: a filter in the query cannot be read.
        RepositoryError: a document cannot be read.
    """
    filters, version = request.filters or SpecFilters(), request.version or ""
    prefix = filters.section_path_prefix.casefold()

    def is_wanted(heading: HeadingSpan) -> bool:
        return any(
            joined_path(heading.path[start:]).casefold().startswith(prefix)
            for start in range(min(2, len(heading.path)))
        )

    reader = SpecificationReader(session)
    hits = []
    for specification in reader.choose(request.language, version, filters.doc):
        with reader.open(specification, version) as opened:
            view, context = open_search(opened.session)
            found = find_spec_sections(
                view,
                request.query,
                filters.limit,
                context,
                is_wanted=is_wanted if prefix else None,
            )
            hits += [
                (section.score, opened.cite(section.page.filepath, section.heading), section)
                for section in found
            ]
    best = sorted(hits, key=lambda hit: -hit[0])[: filters.limit]
    return SpecSearchRecord(
        query=request.query,
        results=tuple(
            SpecResultRecord(
                **asdict(citation),
                snippet=SpecSnippetRecord(
                    text=section.snippet.text,
                    start_char=section.snippet.start,
                    end_char=section.snippet.end,
                ),
                score=-round(score, 4),
            )
            for score, citation, section in best
        ),
    )


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop the last results."""
    limit.keep_first(record, record["results"], counter="truncated_count")


def text(record: SpecSearchRecord, write: Writer) -> Iterator[str]:
    """Yield the sections, each with its citation and a snippet."""
    if not record.results:
        yield "No section answers this. Try different words or filters, or another version."
        return
    yield f"{count(len(record.results), 'section')}, best first. {write.notice()}"
    for result in record.results:
        yield from cited(result, write)
        if result.snippet.text:
            yield f"  {write.quote(' '.join(result.snippet.text.split()))}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more section')}: use a larger max_tokens]"


SEARCH_SPEC = Answer(
    request=SpecSearchRequest,
    record=SpecSearchRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Search a specification",
        description=(
            "Search a language specification. Returns sections, best first, each with its citation:"
            " title, path, address, version and commit. Read one with get_section, and cite it."
        ),
    ),
)

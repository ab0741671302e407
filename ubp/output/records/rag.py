"""The records of the tool set `rag`: projects, their documents and passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import Level, ObjectId, PageFields
from ubp.frame.fields import Count, DocId, Fraction, GitId, Line, Moment, PagePath
from ubp.rag import (
    Document,
    PageSuggestion,
    ProjectSummary,
    RagAnswer,
    RagHit,
    Statistics,
    moment,
)

HEADING_SEPARATOR = " > "

Metadata = Annotated[Mapping[str, str | tuple[str, ...]], "the fields of its front matter"]
ProjectName = Annotated[str, "name of the project"]


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """Where a text is in its document."""

    line_start: Annotated[Line, "first line, from 1"]
    line_end: Annotated[Line, "last line"]
    section: Annotated[str, "headings, the outermost first"] = ""


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

    results: Annotated[tuple[RagResultRecord, ...], "best first"]
    total_found: Annotated[Count, "documents that were found, at least"]
    search_time_ms: Annotated[float, "time taken"]


@dataclass(frozen=True, slots=True)
class RagIndexRecord:
    """What was indexed of a path."""

    project: ProjectName
    indexed_files: Annotated[tuple[str, ...], "documents of the project"]
    total_chunks: Annotated[Count, "parts of these documents"]
    errors: Annotated[tuple[str, ...], "files that could not be indexed, and why"]
    time_taken_ms: Annotated[float, "time taken"]


@dataclass(frozen=True, slots=True)
class RagDeleteRecord:
    """What was deleted."""

    deleted_count: Annotated[Count, "number of documents"]
    deleted_ids: Annotated[tuple[DocId, ...], "their ids"]


@dataclass(frozen=True, slots=True)
class RagSuggestionRecord:
    """A document that belongs to the context."""

    text: Annotated[str, "title of the document"]
    relevance: Annotated[Fraction, "how certainly it belongs to the context"]
    reason: Annotated[str, "why it is relevant"]
    file_path: PagePath
    snippet: Annotated[str, "the part that is relevant"]
    document_id: DocId


@dataclass(frozen=True, slots=True)
class RagSuggestRecord:
    """The documents that belong to a context."""

    suggestions: Annotated[tuple[RagSuggestionRecord, ...], "most relevant first"]


@dataclass(frozen=True, slots=True)
class RagSyncRecord:
    """What a synchronization changed."""

    added: Annotated[tuple[PagePath, ...], "new documents"]
    updated: Annotated[tuple[PagePath, ...], "documents whose files have changed"]
    deleted: Annotated[tuple[PagePath, ...], "also what had expired"]
    unchanged: Annotated[Count, "documents that were up to date"]
    errors: Annotated[tuple[str, ...], "what could not be read or listed; it stays as it was"] = ()


@dataclass(frozen=True, slots=True)
class RagExternalRecord:
    """A text that was stored."""

    document_id: DocId
    expires_at: Annotated[Moment | None, "when it answers no more; null: never"] = None


@dataclass(frozen=True, slots=True)
class RagProjectRecord:
    """A project."""

    id: ProjectName
    name: Annotated[str, "where it is from, or its name"]
    document_count: Annotated[Count, "number of documents"]
    last_updated: Annotated[Moment | None, "its last commit; null: there is none"]


@dataclass(frozen=True, slots=True)
class RagProjectsRecord:
    """The projects that can be searched."""

    projects: Annotated[tuple[RagProjectRecord, ...], "the repository first"]


@dataclass(frozen=True, slots=True)
class RagCachedSearchRecord:
    """The answer to a query, as it was at a commit."""

    query: Annotated[str, "what was searched for"]
    project: ProjectName
    results: Annotated[tuple[RagResultRecord, ...], "best first"]
    cached_at: Annotated[Moment, "when it was computed"]
    commit: Annotated[GitId | None, "what was searched; null: nothing is committed yet"]


@dataclass(frozen=True, slots=True)
class RagChunkRecord:
    """A part of a document."""

    text: Annotated[str, "text of the part"]
    position: Annotated[PositionRecord, "where it is"]


@dataclass(frozen=True, slots=True)
class RagDocumentRecord:
    """A document."""

    id: DocId
    project: ProjectName
    file_path: PagePath
    content: Annotated[str, "the Markdown, with its front matter"]
    metadata: Metadata
    chunks: Annotated[tuple[RagChunkRecord, ...], "its parts, as they are searched"]


@dataclass(frozen=True, slots=True)
class RagStatisticsRecord:
    """Counts of a project."""

    project: ProjectName
    total_documents: Annotated[Count, "number of documents"]
    total_chunks: Annotated[Count, "number of their parts"]
    categories: Annotated[Mapping[str, int], "documents by category"]
    tags: Annotated[tuple[str, ...], "the most frequent first"]
    last_indexed: Annotated[Moment | None, "its last commit; null: there is none"]


def rag_search_record(answer: RagAnswer, milliseconds: float) -> RagSearchRecord:
    """Return the record of an answer."""
    return RagSearchRecord(tuple(map(_result, answer.hits)), answer.total, round(milliseconds, 1))


def rag_suggest_record(suggestions: Sequence[PageSuggestion]) -> RagSuggestRecord:
    """Return the record of suggested documents."""
    return RagSuggestRecord(
        tuple(
            RagSuggestionRecord(
                suggestion.title,
                round(suggestion.relevance, 3),
                suggestion.reason,
                suggestion.path,
                suggestion.snippet,
                suggestion.document_id,
            )
            for suggestion in suggestions
        )
    )


def rag_projects_record(projects: Sequence[ProjectSummary]) -> RagProjectsRecord:
    """Return the record of the projects."""
    return RagProjectsRecord(
        tuple(
            RagProjectRecord(
                project.name,
                project.title,
                project.documents,
                None if project.updated_at is None else moment(project.updated_at),
            )
            for project in projects
        )
    )


def rag_cached_search_record(
    query: str, project: str, answer: RagAnswer, cached_at: float, commit: ObjectId | None
) -> RagCachedSearchRecord:
    """Return the record of an answer that is kept for the next one who asks."""
    results = tuple(map(_result, answer.hits))
    return RagCachedSearchRecord(query, project, results, moment(cached_at), commit)


def rag_document_record(document: Document) -> RagDocumentRecord:
    """Return the record of a document."""
    return RagDocumentRecord(
        document.document_id,
        document.project,
        document.path,
        document.content,
        _metadata(document.fields),
        tuple(
            RagChunkRecord(
                passage.text, _position(passage.line_start, passage.line_end, passage.section)
            )
            for passage in document.passages
        ),
    )


def rag_statistics_record(project: str, statistics: Statistics) -> RagStatisticsRecord:
    """Return the record of counts."""
    indexed_at = statistics.indexed_at
    return RagStatisticsRecord(
        project,
        statistics.documents,
        statistics.chunks,
        statistics.categories,
        statistics.tags,
        None if indexed_at is None else moment(indexed_at),
    )


def _result(hit: RagHit) -> RagResultRecord:
    return RagResultRecord(
        hit.text,
        round(hit.score, 3),
        hit.path,
        _position(hit.line_start, hit.line_end, hit.section),
        _metadata(hit.fields),
        tuple(HighlightRecord(start, end) for start, end in hit.highlights),
        hit.document_id,
        hit.level,
    )


def _position(start: int, end: int, section: Sequence[str]) -> PositionRecord:
    return PositionRecord(start, max(start, end), HEADING_SEPARATOR.join(section))


def _metadata(fields: PageFields) -> Mapping[str, str | tuple[str, ...]]:
    return dict(fields)

"""Resources about projects: `rag://…`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from ubp.core.config import EXCERPT_ONLY
from ubp.core.errors import CollectionError, DocumentNotFoundError
from ubp.core.model import FilePath
from ubp.core.paths import doc_id
from ubp.core.policy import excerpt
from ubp.frame.fields import Count, DocId, GitId, Moment, PagePath
from ubp.frame.kit import KitResource, KitResources
from ubp.frame.wording import moment
from ubp.index.session import Session
from ubp.index.view import View
from ubp.kits.rag.fields import Metadata, PositionRecord, ProjectName, position
from ubp.kits.rag.projects import (
    Project,
    ask,
    open_project,
    project_names,
    read_settings,
    unless_purged,
)
from ubp.kits.rag.rag_search import RagResultRecord, find_passages
from ubp.search.results import read_texts

MAX_CACHED = 200
RESULTS = 5


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


def read(session: Session, uri: str) -> object | None:
    """Return the record of the resource at an address; None: no resource has it.

    Raises:
        CollectionError: there is no such project.
        PageNotFoundError: there is no such document.
    """
    kind, _, rest = uri.removeprefix("rag://").partition("/")
    if kind == "projects" and not rest:
        return unless_purged(session, lambda: _projects(session))
    if kind == "document" and rest:
        wanted = unquote(rest)
        return unless_purged(session, lambda: _document(session, wanted))
    if kind == "stats" and rest:
        return ask(session, unquote(rest), _statistics)
    name, _, query = rest.partition("/")
    if kind == "search" and name and query.strip():
        return ask(session, unquote(name), lambda project: _search(project, unquote(query)))
    return None


def _projects(session: Session) -> RagProjectsRecord:
    """Return the projects that can be read."""
    settings = read_settings(session.environment)
    found = []
    for name in project_names(session, settings):
        try:
            with open_project(session, name) as project:
                view = project.session.view()
                title = project.collection.address if project.collection else ""
                count = view.count_documents()
                found.append(
                    RagProjectRecord(name, title or name, count, _updated_at(project, view))
                )
        except CollectionError:  # not fetched yet
            continue
    return RagProjectsRecord(tuple(found))


def _search(project: Project, query: str) -> RagCachedSearchRecord:
    """Return an answer that was given before, unless the documents have changed since."""
    session = project.session
    view = session.view()
    cache: dict[str, RagCachedSearchRecord] = view.derived("rag://search", dict)
    if query not in cache:
        results, _ = find_passages(project, query, RESULTS)
        while len(cache) >= MAX_CACHED:
            cache.pop(next(iter(cache)))
        cache[query] = RagCachedSearchRecord(
            query, project.name, results, moment(int(session.clock())), view.snapshot.commit
        )
    return cache[query]


def _document(session: Session, document_id: str) -> RagDocumentRecord:
    """Return the document with an id, of whichever project.

    Raises:
        DocumentNotFoundError: no project has it.
    """
    settings = read_settings(session.environment)
    for name in project_names(session, settings):
        try:
            with open_project(session, name) as project:
                paths = project.session.view().document_paths()
                own = project.collection_name
                path = next((path for path in paths if doc_id(path, own) == document_id), None)
                if path is not None:
                    return _read_document(project, path, document_id)
        except CollectionError:
            continue
    raise DocumentNotFoundError(f"There is no document {document_id}.")


def _read_document(project: Project, path: FilePath, document_id: str) -> RagDocumentRecord:
    view = project.session.view()
    text = read_texts(view, {path})[path]
    policy = project.collection.policy if project.collection else ""
    chunks = []
    for chunk in () if policy == EXCERPT_ONLY else text.chunks:
        headings = text.sections[chunk.section].heading_path if text.sections else ()
        place = position(chunk.line_start, chunk.line_end, headings)
        chunks.append(RagChunkRecord(text.cut(chunk).rstrip("\n"), place))
    return RagDocumentRecord(
        document_id,
        project.name,
        path,
        excerpt(text.data.decode("utf-8", "replace"), policy),
        dict(view.fields([path]).get(path, {})),
        tuple(chunks),
    )


def _statistics(project: Project) -> RagStatisticsRecord:
    """Return counts of the documents of a project."""
    view = project.session.view()
    paths = view.document_paths()
    categories: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for page in view.pages_at(paths).values():
        tags.update(page.facts.tags)
    for fields in view.fields(paths).values():
        category = fields.get("category", ())
        categories.update((category,) if isinstance(category, str) else category)
    blobs = view.link_graph().blobs(paths)
    chunks = view.full_text().chunks(set(blobs.values()))
    return RagStatisticsRecord(
        project.name,
        len(paths),
        sum(len(chunks.get(blob, ())) for blob in blobs.values()),
        dict(categories.most_common()),
        tuple(tag for tag, _ in tags.most_common()),
        _updated_at(project, view),
    )


def _updated_at(project: Project, view: View) -> str | None:
    commit = view.snapshot.commit
    if commit is None:
        return None
    records = project.session.history.commits({commit})
    return moment(records[commit].date) if commit in records else None


RESOURCES = KitResources(
    scheme="rag://",
    rows=(
        KitResource(
            "rag://projects",
            "projects",
            "Projects",
            "The projects that rag_search can search, with the number of their documents.",
            "rag-projects",
            RagProjectsRecord,
        ),
        KitResource(
            "rag://search/{project}/{query}",
            "project-search",
            "Search of a project",
            "The five best passages for a query, when they were found, and at which commit.",
            "rag-search-cached",
            RagCachedSearchRecord,
        ),
        KitResource(
            "rag://document/{document_id}",
            "project-document",
            "Document of a project",
            "The content, metadata and parts of a document.",
            "rag-document",
            RagDocumentRecord,
        ),
        KitResource(
            "rag://stats/{project}",
            "project-statistics",
            "Statistics of a project",
            "Counts of documents, parts, categories and tags.",
            "rag-stats",
            RagStatisticsRecord,
        ),
    ),
    read=read,
)

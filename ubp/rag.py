"""Questions about projects: the repository that is served, and collections of documents.

A project is addressed by its name.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ubp.bindings.features import Evidence
from ubp.bindings.pages import explain_page, find_file, find_pages
from ubp.code.names import read_names
from ubp.core.config import EXCERPT_ONLY
from ubp.core.dates import parse_date
from ubp.core.errors import (
    CollectionError,
    ConfigError,
    DocumentNotFoundError,
    RepositoryError,
)
from ubp.core.files import read_regular_file
from ubp.core.model import FilePath, Level, ObjectId, PageFields
from ubp.core.paths import doc_id
from ubp.core.policy import excerpt
from ubp.core.text import closest_name
from ubp.index.collections import (
    Collection,
    collections_dir,
    purge_stamp,
    read_collections,
)
from ubp.index.view import View
from ubp.markdown.yaml_nodes import BadYamlError, Node, read_yaml
from ubp.search.dates import created_at
from ubp.search.excerpt import drop_overlaps
from ubp.search.fields import make_filter
from ubp.search.filters import Filters, page_filters
from ubp.search.match import find_terms
from ubp.search.pages import Mode
from ubp.search.results import SectionHit, read_texts
from ubp.search.run import own_path
from ubp.workspace import Workspace

PROJECT_VARIABLE, CONFIG_VARIABLE = "RAG_PROJECT", "RAG_CONFIG_PATH"
T = TypeVar("T")
MAX_ATTEMPTS, PAUSE_SECONDS = 8, 0.1  # a purge takes some tenths of a second
MAX_CONFIG_BYTES = 100_000
MAX_TEXT = 4_000  # characters of a passage; sections that are longer are cut
# The first of these fields says when a document was created, else its first commit does.
CREATED_FIELDS = ("created", "date")

# A search decides between documents that describe a source about equally well. By the confidence
# alone the right one is among the first five for 0.81 of sources (the mean of five repositories),
# with a share of 0.3 for 0.80, by a search alone for 0.62 (benchmarks/kits/README.md).
SEARCH_SHARE = 0.1
MAX_FOUND = 30
QUERY_CHARACTERS = 990
MAX_QUERY_NAMES, MAX_QUERY_COMMENTS = 8, 12


class Settings(NamedTuple):
    """What the environment and the configuration file say.

    `project` is the default one. `roots` are folders that documents may be imported from, beside
    the repository that is served. `projects` are those that may be used; None: all of them.
    """

    project: str = ""
    roots: tuple[str, ...] = ()
    projects: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project that is open; the repository that is served has no collection."""

    name: str
    workspace: Workspace
    collection: Collection | None

    @property
    def collection_name(self) -> str:
        """The name that is part of its documents' ids."""
        return self.collection.name if self.collection else ""

    @property
    def is_written(self) -> bool:
        """Whether agents add documents to it."""
        return self.collection is not None and self.collection.kind == "written"


class ProjectSummary(NamedTuple):
    """A project, how many documents it has, and when it changed last (seconds; None: never)."""

    name: str
    title: str
    documents: int
    updated_at: int | None


class RagFilters(NamedTuple):
    """Which documents may answer; dates as in filters of a query."""

    category: str = ""
    tags: tuple[str, ...] = ()
    created_after: str = ""
    created_before: str = ""


class RagHit(NamedTuple):
    """A passage that answers; `section` are its headings, `highlights` spans of the text."""

    text: str
    score: float
    path: FilePath
    document_id: str
    line_start: int
    line_end: int
    section: tuple[str, ...]
    fields: PageFields
    level: Level
    highlights: tuple[tuple[int, int], ...]


class RagAnswer(NamedTuple):
    """The best passages, and how many documents were found at least."""

    hits: tuple[RagHit, ...]
    total: int


class Passage(NamedTuple):
    """A part of a document, and its place."""

    text: str
    line_start: int
    line_end: int
    section: tuple[str, ...]


class Document(NamedTuple):
    """A document and its parts."""

    document_id: str
    project: str
    path: FilePath
    content: str
    fields: PageFields
    passages: tuple[Passage, ...]


class Statistics(NamedTuple):
    """Counts of a project; tags by how many documents have them, the most first."""

    documents: int
    chunks: int
    categories: Mapping[str, int]
    tags: tuple[str, ...]
    indexed_at: int | None


class PageSuggestion(NamedTuple):
    """A document that belongs to a text, and why."""

    path: FilePath
    document_id: str
    title: str
    relevance: float
    reason: str
    snippet: str


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the environment and of the file that it names.

    Raises:
        ConfigError: the file cannot be read, or has something else in it.
    """
    project = environment.get(PROJECT_VARIABLE, "").strip()
    path = environment.get(CONFIG_VARIABLE, "").strip()
    if not path:
        return Settings(project)
    path = os.path.expanduser(path)
    try:
        text = read_regular_file(path, MAX_CONFIG_BYTES).decode()
        root = read_yaml(text)
    except (OSError, UnicodeDecodeError, BadYamlError) as error:
        raise ConfigError(f"Cannot read {path}.", cause=str(error)) from error
    settings: dict[str, tuple[str, ...] | None] = {"roots": (), "projects": None}
    pairs = root.pairs if root and root.kind == "mapping" else ()
    for key, value in pairs:
        if key.value not in settings:
            raise ConfigError(
                f"Unknown key {key.value} in {path}.", hint="The keys are roots and projects."
            )
        settings[key.value] = _texts(path, key.value, value)
    folder = os.path.dirname(os.path.abspath(path))
    roots = tuple(
        os.path.realpath(os.path.join(folder, os.path.expanduser(written)))
        for written in settings["roots"] or ()
    )
    return Settings(project, roots, settings["projects"])


def _texts(path: str, name: str, node: Node) -> tuple[str, ...]:
    texts = [item.text for item in node.items]
    if node.kind != "sequence" or not all(texts):
        raise ConfigError(f"{name} in {path} must be a list of texts.")
    return tuple(text for text in texts if text)


def served_name(workspace: Workspace) -> str:
    """Return the name of the project that is the repository itself: its folder's."""
    repository = workspace.session.repository
    return os.path.basename(os.path.realpath(repository.root or repository.git_dir))


def default_project(workspace: Workspace, settings: Settings) -> str:
    """Return the project that is meant where none is named."""
    return settings.project or served_name(workspace)


def project_names(workspace: Workspace, settings: Settings) -> tuple[str, ...]:
    """Return the projects: the repository and its collections, and some of this machine.

    Those are the ones that agents write, and repositories in configured folders.
    """
    session = workspace.session
    names = [served_name(workspace), *(setting.name for setting in session.config.collections)]
    folder = collections_dir(session.environment)
    names += [
        collection.name
        for collection in read_collections(folder)
        if collection.kind == "written"
        or collection.name == settings.project
        or (collection.kind == "local" and is_below(collection.address, settings.roots))
    ]
    return tuple(name for name in dict.fromkeys(names) if is_allowed(workspace, settings, name))


def is_allowed(workspace: Workspace, settings: Settings, name: str) -> bool:
    """Return whether a project may be used."""
    return (
        settings.projects is None
        or name in settings.projects
        or name in {settings.project, served_name(workspace)}
    )


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path is one of these folders, or in one; all are absolute and real."""
    return any(
        path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders
    )


@contextmanager
def open_project(workspace: Workspace, name: str | None) -> Iterator[Project]:
    """Open a project; None: the default one.

    Raises:
        CollectionError: there is none of this name, or it cannot be read.
        ConfigError: the configuration file cannot be used.
    """
    settings = read_settings(workspace.session.environment)
    name = name or default_project(workspace, settings)
    if name == served_name(workspace):
        yield Project(name, workspace, None)
        return
    names = project_names(workspace, settings)
    if name not in names:
        closest = closest_name(name, names)
        raise CollectionError(
            f"There is no project {name}.",
            cause=f"The projects are: {', '.join(names)}.",
            hint=f"Did you mean {closest}?" if closest else "",
        )
    opened = workspace.kept_collection(name)
    yield Project(name, opened, opened.collection)


def ask(workspace: Workspace, name: str | None, question: Callable[[Project], T]) -> T:
    """Return the answer of a project (None: the default one).

    The question is asked again where a purge has taken away what was read meanwhile.

    Raises:
        CollectionError: there is no such project, or it cannot be read.
        ConfigError: the configuration file cannot be used.
    """

    def answer() -> T:
        with open_project(workspace, name) as project:
            return question(project)

    return unless_purged(workspace, answer)


def unless_purged(workspace: Workspace, read: Callable[[], T]) -> T:
    """Return what `read` returns; read again where a purge began or ended meanwhile."""
    folder = collections_dir(workspace.session.environment)
    for attempt in range(MAX_ATTEMPTS):
        before = purge_stamp(folder)
        try:
            result = read()
        except RepositoryError:
            if purge_stamp(folder) == before or attempt == MAX_ATTEMPTS - 1:
                raise
        else:
            if purge_stamp(folder) == before:
                break
        time.sleep(PAUSE_SECONDS * attempt)
    return result


def list_projects(workspace: Workspace) -> tuple[ProjectSummary, ...]:
    """Return the projects that can be read."""
    settings = read_settings(workspace.session.environment)
    summaries = []
    for name in project_names(workspace, settings):
        try:
            with open_project(workspace, name) as project:
                view = project.workspace.session.view()
                title = project.collection.address if project.collection else ""
                updated = _updated_at(project, view)
                summaries.append(
                    ProjectSummary(name, title or name, view.count_documents(), updated)
                )
        except CollectionError:  # not fetched yet
            continue
    return tuple(summaries)


def search(
    project: Project, query: str, *, mode: Mode, limit: int, filters: RagFilters
) -> RagAnswer:
    """Return the best passages of a project.

    Raises:
        UsageError: a date cannot be read, or the mode needs a model and there is none.
    """
    workspace = project.workspace
    view = workspace.session.view()
    found = workspace.search(
        query,
        mode=mode,
        limit=limit,
        filters=_filters(project, view, filters),
        is_dated=False,
    )
    policy = project.collection.policy if project.collection else ""
    name = project.collection_name
    hits = {own_path(hit.page.filepath, name): hit for hit in found.answer.pages}
    texts = read_texts(view, set(hits))
    fields = view.fields(set(hits))
    results: list[RagHit] = []
    for path, hit in hits.items():
        for section in hit.sections[:1] if policy == EXCERPT_ONLY else hit.sections:
            passage = _passage(section, texts[path].cut if path in texts else None, policy)
            spans = drop_overlaps(find_terms(passage.text, found.answer.terms))
            results.append(
                RagHit(
                    passage.text,
                    section.score,
                    path,
                    doc_id(path, name),
                    passage.line_start,
                    passage.line_end,
                    passage.section,
                    fields.get(path, {}),
                    found.assessments[hit.page.filepath].level,
                    tuple((span.start, span.end) for span in spans),
                )
            )
    results.sort(key=lambda result: -result.score)
    return RagAnswer(tuple(results[:limit]), found.answer.total)


def read_document(workspace: Workspace, document_id: str) -> Document:
    """Return the document with an id, of whichever project.

    Raises:
        DocumentNotFoundError: no project has it.
    """
    settings = read_settings(workspace.session.environment)
    for name in project_names(workspace, settings):
        try:
            with open_project(workspace, name) as project:
                if (path := find_document(project, document_id)) is not None:
                    return _read_document(project, path, document_id)
        except CollectionError:
            continue
    raise DocumentNotFoundError(f"There is no document {document_id}.")


def find_document(project: Project, document_id: str) -> FilePath | None:
    """Return the path of the document with an id, if the project has one."""
    paths, name = project.workspace.session.view().document_paths(), project.collection_name
    return next((path for path in paths if doc_id(path, name) == document_id), None)


def read_statistics(project: Project) -> Statistics:
    """Return counts of the documents of a project."""
    view = project.workspace.session.view()
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
    return Statistics(
        len(paths),
        sum(len(chunks.get(blob, ())) for blob in blobs.values()),
        dict(categories.most_common()),
        tuple(tag for tag, _ in tags.most_common()),
        _updated_at(project, view),
    )


def suggest(
    project: Project, text: str, limit: int, *, is_code: bool
) -> tuple[PageSuggestion, ...]:
    """Return the documents that belong to a text: code, a document, or a part of one.

    A text that is a file of the repository, as it is or edited, belongs to the documents that
    describe this file, as `ubp bind` would find them. The rest is a search for its names, its
    comments and its first words.
    """
    workspace = project.workspace
    session, view = workspace.session, workspace.session.view()
    source = find_file(session, view, text) if is_code and not project.collection else None
    confidences = {
        page.filepath: page.confidence
        for page in (find_pages(session, view, source) if source else ())
    }
    found = workspace.search(query_of(text, source), limit=MAX_FOUND, is_dated=False)
    name = project.collection_name
    hits = {own_path(hit.page.filepath, name): hit for hit in found.answer.pages}
    relevance = {
        path: min(
            1.0,
            confidences.get(path, 0.0) + SEARCH_SHARE * (hits[path].score if path in hits else 0.0),
        )
        if source
        else hits[path].score
        for path in {*confidences, *hits}
    }
    own = _same_text(view, text)
    best = sorted(relevance.keys() - own, key=lambda path: (-relevance[path], path))[:limit]
    texts = read_texts(view, set(best))
    policy = project.collection.policy if project.collection else ""
    suggestions = []
    for path in best:
        hit = hits.get(path)
        snippet = hit.sections[0].passage if hit and hit.sections else None
        body = snippet.content if snippet else _beginning(texts[path].data)
        reason = _reason(view, source, path, confidences.get(path, 0.0), hit.matched if hit else ())
        title = texts[path].page.facts.title or path
        suggestions.append(
            PageSuggestion(
                path, doc_id(path, name), title, relevance[path], reason, excerpt(body, policy)
            )
        )
    return tuple(suggestions)


def query_of(text: str, source: FilePath | None) -> str:
    """Return the words to search for: of code its file's name, names and comments; else all."""
    names = read_names(text.encode("utf-8", "replace")).defined
    comments = _COMMENT.findall(text)[:MAX_QUERY_COMMENTS]
    stem = source.rpartition("/")[2].partition(".")[0] if source else ""
    longest = sorted(names, key=lambda name: (-len(name), name))[:MAX_QUERY_NAMES]
    words = " ".join([stem, *longest, *comments]) if source or comments else text
    return _SYNTAX.sub(" ", words)[:QUERY_CHARACTERS] or "?"


_COMMENT = re.compile(r"(?:#|//|\*|\"\"\")[ \t]?(\S.{9,200})")
_SYNTAX = re.compile(r"[\"():*<>=-]|\b(?:AND|OR|NOT)\b")


def _reason(
    view: View, source: FilePath | None, path: FilePath, confidence: float, matched: Sequence[str]
) -> str:
    if source and confidence == 1.0:
        return f"names {source} as a source"
    evidence = explain_page(view, source, path) if source and confidence else ()
    reasons = [_in_words(reason) for reason in evidence[:2] if reason.detail]
    if matched and len(reasons) < 2:  # noqa: PLR2004  # two reasons are enough
        reasons.append("contains " + ", ".join(f"“{word}”" for word in matched[:4]))
    described = f"seems to describe {source}: " if source and confidence else ""
    return described + "; ".join(reasons or ["close in meaning"])


def _in_words(evidence: Evidence) -> str:
    verbs = {"path": "mentions", "file_name": "mentions", "identifier": "names"}
    where = f" (line {evidence.line})" if evidence.line else ""
    verb = verbs.get(evidence.kind)
    return f"{verb} {evidence.detail}{where}" if verb else f"{evidence.detail}{where}"


def _same_text(view: View, text: str) -> set[FilePath]:
    """Return the documents that are the text itself."""
    from ubp.git.output import blob_id

    blobs = {blob_id(text.encode("utf-8", "replace") + ending) for ending in (b"", b"\n")}
    return {path for paths in view.link_graph().paths_of(blobs).values() for path in paths}


def _beginning(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    body = text.partition("\n---\n")[2] if text.startswith("---\n") else text
    return " ".join(body.split())[:240]


def _filters(project: Project, view: View, wanted: RagFilters) -> Filters:
    filters = page_filters((), wanted.tags)
    if wanted.category:
        filters = filters._replace(fields=((make_filter("category", ":", wanted.category),),))
    if wanted.created_after or wanted.created_before:
        filters = filters._replace(within=_created_within(project, view, wanted))
    return filters


def _created_within(project: Project, view: View, wanted: RagFilters) -> frozenset[FilePath]:
    bounds = [
        make_filter("created", operator, bound)
        for operator, bound in ((">=", wanted.created_after), ("<=", wanted.created_before))
        if bound
    ]
    dates = view.derived("creation", lambda: _creation_dates(project, view))
    return frozenset(
        path for path, date in dates.items() if all(bound.matches_value(date) for bound in bounds)
    )


def _creation_dates(project: Project, view: View) -> Mapping[FilePath, str]:
    """Return when each document was created: as it says, else when it was committed first."""
    dates: dict[FilePath, str] = {}
    paths = view.document_paths()
    for path, fields in view.fields(paths).items():
        written = next((value for name in CREATED_FIELDS if (value := fields.get(name))), "")
        if isinstance(written, str) and parse_date(written):
            dates[path] = written
    unknown = [path for path in paths if path not in dates]
    committed = created_at(project.workspace.session, view, unknown) if unknown else {}
    return dates | {path: moment(date) for path, date in committed.items() if date is not None}


def moment(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def commit_of(project: Project) -> ObjectId | None:
    """Return the commit that a project is read at."""
    return project.workspace.session.view().snapshot.commit


def _updated_at(project: Project, view: View) -> int | None:
    commit = view.snapshot.commit
    if commit is None:
        return None
    records = project.workspace.session.history.commits({commit})
    return records[commit].date if commit in records else None


def _passage(hit: SectionHit, cut: object, policy: str) -> Passage:
    headings = hit.section.heading_path if hit.section else ()
    if policy == EXCERPT_ONLY or (hit.extract is None and hit.section is None):
        text = hit.passage.content if hit.passage else ""
        return Passage(text, hit.line, hit.line, headings)
    if hit.extract is not None:
        return Passage(hit.extract.text, hit.extract.line_start, hit.extract.line_end, headings)
    if hit.section is None or not callable(cut):
        return Passage("", hit.line, hit.line, headings)
    text = str(cut(hit.section)).rstrip("\n")[:MAX_TEXT]
    start = hit.section.line_start
    return Passage(text, start, start + text.count("\n"), headings)


def _read_document(project: Project, path: FilePath, document_id: str) -> Document:
    view = project.workspace.session.view()
    text = read_texts(view, {path})[path]
    policy = project.collection.policy if project.collection else ""
    passages = [
        Passage(
            text.cut(chunk).rstrip("\n"),
            chunk.line_start,
            chunk.line_end,
            text.sections[chunk.section].heading_path if text.sections else (),
        )
        for chunk in text.chunks
    ]
    return Document(
        document_id,
        project.name,
        path,
        excerpt(text.data.decode("utf-8", "replace"), policy),
        view.fields([path]).get(path, {}),
        () if policy == EXCERPT_ONLY else tuple(passages),
    )

"""Resources and prompts about projects: `rag://…`, `rag_search_context`, `rag_code_docs`.

Loaded where the tools about projects are offered.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from ubp.output.records.rag import (
    RagCachedSearchRecord,
    rag_cached_search_record,
    rag_document_record,
    rag_projects_record,
    rag_statistics_record,
)
from ubp.rag import (
    Project,
    RagFilters,
    ask,
    list_projects,
    read_document,
    read_statistics,
    search,
    suggest,
    unless_purged,
)
from ubp.server.tools.tool import NOTICE
from ubp.workspace import Workspace

MAX_CACHED = 200
RESULTS, PROMPT_RESULTS = 5, 3
MAX_SHOWN = 200  # characters of each passage in a prompt

SEARCH_CONTEXT = """\
Based on the search query "{query}", here are related documents from the knowledge base:

{results}

You can use this information to provide more accurate and contextual responses.

{notice}
"""

CODE_DOCS = """\
Here are the documents that belong to this code:

{results}

You can use this information to provide more accurate and contextual responses.

{notice}
"""

Record = Mapping[str, Any]


class ProjectTemplate(NamedTuple):
    """The template of resources about projects."""

    template: str
    name: str
    title: str
    description: str


class ProjectPrompt(NamedTuple):
    """A prompt with its one argument, and the function that writes its text."""

    name: str
    title: str
    description: str
    argument: str
    meaning: str
    write: Callable[[Workspace, str], str]


def read_project_resource(workspace: Workspace, uri: str) -> object | None:
    """Return the record of the resource at an address; None: no resource has it.

    Raises:
        CollectionError: there is no such project.
        PageNotFoundError: there is no such document.
    """
    kind, _, rest = uri.removeprefix("rag://").partition("/")
    if kind == "projects" and not rest:
        return rag_projects_record(unless_purged(workspace, lambda: list_projects(workspace)))
    if kind == "document" and rest:
        wanted = unquote(rest)
        found = unless_purged(workspace, lambda: read_document(workspace, wanted))
        return rag_document_record(found)
    if kind == "stats" and rest:
        return ask(
            workspace,
            unquote(rest),
            lambda project: rag_statistics_record(project.name, read_statistics(project)),
        )
    name, _, query = rest.partition("/")
    if kind == "search" and name and query.strip():
        return ask(
            workspace,
            unquote(name),
            lambda project: _cached_search(project, unquote(query)),
        )
    return None


def _cached_search(project: Project, query: str) -> RagCachedSearchRecord:
    """Return an answer that was given before, unless the documents have changed since."""
    session = project.workspace.session
    view = session.view()
    cache: dict[str, RagCachedSearchRecord] = view.derived("rag://search", dict)
    if query not in cache:
        answer = search(project, query, mode="hybrid", limit=RESULTS, filters=RagFilters())
        while len(cache) >= MAX_CACHED:
            cache.pop(next(iter(cache)))
        cache[query] = rag_cached_search_record(
            query, project.name, answer, session.clock(), view.snapshot.commit
        )
    return cache[query]


def _write_search_context(workspace: Workspace, query: str) -> str:
    answer = ask(
        workspace,
        None,
        lambda project: search(
            project, query, mode="hybrid", limit=PROMPT_RESULTS, filters=RagFilters()
        ),
    )
    lines = [(hit.path, hit.text) for hit in answer.hits]
    return SEARCH_CONTEXT.format(query=query, results=_list(lines), notice=NOTICE)


def _write_code_docs(workspace: Workspace, code: str) -> str:
    found = ask(
        workspace, None, lambda project: suggest(project, code, PROMPT_RESULTS, is_code=True)
    )
    lines = [(f"{page.path} ({page.reason})", page.snippet) for page in found]
    return CODE_DOCS.format(results=_list(lines), notice=NOTICE)


def _list(lines: Sequence[tuple[str, str]]) -> str:
    """Return numbered passages, each on one line in quotation marks, which it cannot end."""
    import json

    shown = [
        f"{number}. {name}:\n   {json.dumps(_cut(text), ensure_ascii=False)}"
        for number, (name, text) in enumerate(lines, 1)
    ]
    return "\n\n".join(shown) or "None were found."


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


TEMPLATES = (
    ProjectTemplate(
        "rag://search/{project}/{query}",
        "project-search",
        "Search of a project",
        "The five best passages for a query, when they were found, and at which commit.",
    ),
    ProjectTemplate(
        "rag://document/{document_id}",
        "project-document",
        "Document of a project",
        "The content, metadata and parts of a document.",
    ),
    ProjectTemplate(
        "rag://stats/{project}",
        "project-statistics",
        "Statistics of a project",
        "Counts of documents, parts, categories and tags.",
    ),
)

PROMPTS = (
    ProjectPrompt(
        "rag_search_context",
        "Context for a search query",
        "Provides the passages of the knowledge base that answer a query.",
        "query",
        "the query",
        _write_search_context,
    ),
    ProjectPrompt(
        "rag_code_docs",
        "Documents for code",
        "Provides the documents that belong to a piece of code.",
        "code",
        "the code",
        _write_code_docs,
    ),
)

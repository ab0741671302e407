"""`rag_search`: the passages of a project that answer a question."""

from dataclasses import dataclass
from time import perf_counter
from typing import Annotated, Literal

from ubp.frame.arguments import MaxTokens, Query, Tags, between
from ubp.output.records.rag import RagSearchRecord, rag_search_record
from ubp.rag import RagFilters, ask, search
from ubp.search.pages import Mode
from ubp.server.tools.rag.arguments import MAX_TOP_K, Category, DropLast, Project, json_text
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

SearchType = Literal["vector", "keyword", "hybrid"]
MODES: dict[SearchType, Mode] = {"vector": "semantic", "keyword": "fulltext", "hybrid": "hybrid"}
Day = Annotated[str, "e.g. 2026-01-31"]


@dataclass(frozen=True, slots=True)
class RagSearchFilters:
    """Which documents may answer."""

    category: Category = ""
    tags: Tags = ()
    created_after: Day = ""
    created_before: Day = ""


@dataclass(frozen=True, slots=True)
class RagSearchRequest:
    """A question about a project."""

    query: Query
    project: Project | None = None
    search_type: SearchType = "hybrid"
    top_k: Annotated[int, *between(1, MAX_TOP_K)] = 5
    filters: RagSearchFilters | None = None
    max_tokens: MaxTokens | None = None


def run(workspace: Workspace, request: RagSearchRequest) -> RagSearchRecord:
    """Return the record of the best passages."""
    started = perf_counter()
    filters = request.filters or RagSearchFilters()
    wanted = RagFilters(
        filters.category, filters.tags, filters.created_after, filters.created_before
    )
    mode = MODES[request.search_type]
    answer = ask(
        workspace,
        request.project,
        lambda project: search(
            project, request.query, mode=mode, limit=request.top_k, filters=wanted
        ),
    )
    return rag_search_record(answer, (perf_counter() - started) * 1000)


RAG_SEARCH = Tool(
    name="rag_search",
    title="Search a project",
    description=(
        "Search the documents of a project: by keywords, by meaning (vector) or both, with links "
        "(hybrid). Returns passages, best first, with file, lines, metadata and staleness."
    ),
    request=RagSearchRequest,
    record=RagSearchRecord,
    run=run,
    text=json_text,
    fit=DropLast("results"),
    failure="search_failed",
)

"""`search_spec`: the sections of a specification that answer a question."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.arguments import MaxTokens, Query, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.specifications import spec_search_text
from ubp.output.records.specifications import SpecSearchRecord, spec_search_record
from ubp.server.tools.specs.arguments import Language, Version
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace

LIMIT, MAX_LIMIT = 10, 50


@dataclass(frozen=True, slots=True)
class SpecFilters:
    """Which sections may answer."""

    doc: Annotated[str, "document, from list_languages"] = ""
    section_path_prefix: Annotated[str, "e.g. Types > Slice"] = ""
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIMIT


@dataclass(frozen=True, slots=True)
class SpecSearchRequest:
    """A question about a language."""

    query: Query
    language: Language
    version: Version | None = None
    filters: SpecFilters | None = None
    max_tokens: MaxTokens | None = None


def run(workspace: Workspace, request: SpecSearchRequest) -> SpecSearchRecord:
    """Return the record of the best sections."""
    filters = request.filters or SpecFilters()
    hits = SpecificationReader(workspace).search(
        request.language,
        request.query,
        version=request.version or "",
        document=filters.doc,
        section_path_prefix=filters.section_path_prefix,
        limit=filters.limit,
    )
    return spec_search_record(request.query, hits)


def fit_search(record: Json, limit: TokenLimit) -> None:
    """Drop the last results."""
    limit.drop(record, iter(lambda: record["results"].pop() if record["results"] else None, None))


SEARCH_SPEC = Tool(
    name="search_spec",
    title="Search a specification",
    description=(
        "Search a language specification. Returns sections, best first, each with its citation: "
        "title, path, address, version and commit. Read one with get_section, and cite it."
    ),
    request=SpecSearchRequest,
    record=SpecSearchRecord,
    run=run,
    text=spec_search_text,
    fit=fit_search,
)

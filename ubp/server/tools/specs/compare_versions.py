"""`compare_versions`: the sections that differ between two versions of a specification."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.frame.arguments import MaxTokens
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.specifications import spec_comparison_text
from ubp.output.records.specifications import SpecComparisonRecord, spec_comparison_record
from ubp.server.tools.specs.arguments import Language, SectionId
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace

COMPARISON_TOKENS = 8_000


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Two versions, and perhaps one section."""

    language: Language
    from_: Annotated[str, "older version, from list_versions"]
    to: Annotated[str, "newer version"]
    section_id: SectionId | None = None
    max_tokens: MaxTokens = COMPARISON_TOKENS


def run(workspace: Workspace, request: CompareRequest) -> SpecComparisonRecord:
    """Return the record of the sections that differ."""
    changes = SpecificationReader(workspace).compare(
        request.language, request.from_, request.to, request.section_id or ""
    )
    return spec_comparison_record(request.language, (request.from_, request.to), changes)


def fit_comparison(record: Json, limit: TokenLimit) -> None:
    """Drop the words of the longest changes, then the last changes."""
    limit.drop(record, _removable_parts(record, limit))


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    changes = record["changes"]
    for change in sorted(changes, key=lambda change: -limit.weigh(change.get("words", []))):
        if change.get("words"):
            yield limit.clear(change, "words")
    while changes:
        yield changes.pop()


COMPARE_VERSIONS = Tool(
    name="compare_versions",
    title="Compare two versions of a specification",
    description=(
        "List the sections that were added, changed, moved or removed between two versions of a "
        "specification, with the words that differ and a citation in each version."
    ),
    request=CompareRequest,
    record=SpecComparisonRecord,
    run=run,
    text=spec_comparison_text,
    fit=fit_comparison,
)

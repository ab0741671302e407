"""`get_section`: a section of a specification, as much of it as the licence allows."""

from dataclasses import dataclass

from ubp.frame.arguments import MaxTokens
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.specifications import spec_section_text
from ubp.output.records.specifications import SpecSectionRecord, spec_section_record
from ubp.server.tools.specs.arguments import Language, SectionId, Version
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace

SECTION_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class SectionRequest:
    """A section of a version."""

    language: Language
    section_id: SectionId
    version: Version | None = None
    max_tokens: MaxTokens = SECTION_TOKENS


def run(workspace: Workspace, request: SectionRequest) -> SpecSectionRecord:
    """Return the record of the section."""
    reader = SpecificationReader(workspace)
    section = reader.section(request.language, request.section_id, request.version or "")
    return spec_section_record(section)


def fit_section(record: Json, limit: TokenLimit) -> None:
    """Cut off the end of the text; where hardly any is left, the excerpt is enough."""
    content = record["content"]
    if limit.excess(record) <= 0:
        return
    if content.get("fulltext"):
        limit.truncate(record, content, "fulltext")
        content["is_truncated"] = True
    if limit.excess(record) > 0:
        limit.clear(content, "fulltext")
        limit.truncate(record, content, "excerpt")


GET_SECTION = Tool(
    name="get_section",
    title="Read a section of a specification",
    description=(
        "Read a section that search_spec found, with everything below its heading and its "
        "citation. Where the licence allows only excerpts, it is the first 1200 characters."
    ),
    request=SectionRequest,
    record=SpecSectionRecord,
    run=run,
    text=spec_section_text,
    fit=fit_section,
)

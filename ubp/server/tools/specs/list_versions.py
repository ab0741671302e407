"""`list_versions`: the versions of a specification that are here."""

from dataclasses import dataclass

from ubp.output.agent.specifications import versions_text
from ubp.output.records.specifications import SpecVersionsRecord, spec_versions_record
from ubp.server.tools.specs.arguments import Language
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VersionsRequest:
    """The language."""

    language: Language


def run(workspace: Workspace, request: VersionsRequest) -> SpecVersionsRecord:
    """Return the record of the versions."""
    versions = SpecificationReader(workspace).versions(request.language)
    return spec_versions_record(request.language, versions)


LIST_VERSIONS = Tool(
    name="list_versions",
    title="List versions of a specification",
    description="List the versions of a specification that are here, newest first.",
    request=VersionsRequest,
    record=SpecVersionsRecord,
    run=run,
    text=versions_text,
    budgets=(),
)

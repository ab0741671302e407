"""`list_languages`: the languages that have a specification here."""

from dataclasses import dataclass

from ubp.output.agent.specifications import languages_text
from ubp.output.records.specifications import LanguagesRecord, languages_record
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LanguagesRequest:
    """There is nothing to choose."""


def run(workspace: Workspace, _: LanguagesRequest) -> LanguagesRecord:
    """Return the record of the languages."""
    return languages_record(SpecificationReader(workspace).languages())


LIST_LANGUAGES = Tool(
    name="list_languages",
    title="List specifications",
    description="List the languages and formats whose specifications are here.",
    request=LanguagesRequest,
    record=LanguagesRecord,
    run=run,
    text=languages_text,
    budgets=(),
)

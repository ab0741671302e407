"""`build_learning_plan`: the sections of a specification, divided among weeks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.frame.arguments import MaxTokens, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.output.agent.specifications import learning_plan_text
from ubp.output.records.specifications import LearningPlanRecord, learning_plan_record
from ubp.server.tools.specs.arguments import Language, Version
from ubp.server.tools.tool import Tool
from ubp.specifications import SpecificationReader
from ubp.workspace import Workspace

MAX_WEEKS = 52
PLAN_TOKENS = 8_000


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """How long, and what first."""

    language: Language
    total_weeks: Annotated[int, *between(1, MAX_WEEKS)]
    focus_areas: Annotated[tuple[str, ...], "topics that come first, e.g. Types"] = ()
    version: Version | None = None
    max_tokens: MaxTokens = PLAN_TOKENS


def run(workspace: Workspace, request: PlanRequest) -> LearningPlanRecord:
    """Return the record of the plan."""
    weeks = SpecificationReader(workspace).plan(
        request.language, request.total_weeks, request.focus_areas, request.version or ""
    )
    return learning_plan_record(weeks)


def fit_plan(record: Json, limit: TokenLimit) -> None:
    """Drop addresses, then the last sections of each week; themes and times stay."""
    limit.drop(record, _removable_parts(record, limit))


def _removable_parts(record: Json, limit: TokenLimit) -> Iterator[Any]:
    for week in record["weeks"]:
        for section in week["sections"]:
            yield limit.clear(section, "url")
    while any(week["sections"] for week in record["weeks"]):
        longest = max(record["weeks"], key=lambda week: len(week["sections"]))
        longest["omitted_sections"] = longest.get("omitted_sections", 0) + 1
        yield longest["sections"].pop()


BUILD_LEARNING_PLAN = Tool(
    name="build_learning_plan",
    title="Plan how to learn a specification",
    description=(
        "Divide the sections of a specification among weeks of equal length, by topic, with "
        "reading times. Topics of focus_areas come first, after the introduction."
    ),
    request=PlanRequest,
    record=LearningPlanRecord,
    run=run,
    text=learning_plan_text,
    fit=fit_plan,
)

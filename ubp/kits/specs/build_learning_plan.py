"""`build_learning_plan`: the sections of a specification, divided among weeks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.fields import (
    Address,
    CitedId,
    CitedLanguage,
    DocName,
    Language,
    SectionPath,
    SectionTitle,
    Version,
    VersionCommit,
    VersionName,
)
from ubp.kits.specs.reader import Opened, SpecificationReader
from ubp.kits.specs.sections import PlannedSection, minutes, plan_learning, sections_about

MAX_WEEKS = 52
PLAN_TOKENS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSectionRecord:
    """A section to read."""

    title: SectionTitle
    section_path: SectionPath
    section_id: CitedId
    url: Address = ""
    estimated_minutes: Annotated[Count, "reading time at 800 characters a minute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekRecord:
    """A week of a plan."""

    week: Annotated[Count, "its number, from 1"]
    theme: Annotated[str, "its topics"]
    sections: Annotated[tuple[PlannedSectionRecord, ...], "what to read, in order"]
    estimated_minutes: Annotated[Count, "reading time"]
    omitted_sections: Annotated[Count, "sections left out because of max_tokens"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPlanRecord:
    """A plan for reading a specification."""

    language: CitedLanguage
    doc: DocName
    version: VersionName
    commit: VersionCommit
    total_weeks: Annotated[Count, "number of weeks"]
    weeks: Annotated[tuple[WeekRecord, ...], "the weeks"]
    unknown_areas: Annotated[tuple[str, ...], "focus_areas that no heading contains"] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest(Request[LearningPlanRecord]):
    """How long, and what first."""

    language: Language
    total_weeks: Annotated[int, *between(1, MAX_WEEKS)]
    focus_areas: Annotated[tuple[str, ...], "topics or headings that come first, e.g. Types"] = ()
    version: Version | None = None
    max_tokens: MaxTokens = PLAN_TOKENS


def run(session: Session, request: PlanRequest) -> LearningPlanRecord:
    """Divide the first document of a language among weeks, by topic.

    Raises:
        CollectionError: there is no such language or version.
        RepositoryError: the document cannot be read.
    """
    reader, version = SpecificationReader(session), request.version or ""
    specification = reader.choose(request.language, version)[0]
    with reader.open(specification, version) as opened:
        planned = plan_learning(opened.session.view(), request.total_weeks, request.focus_areas)
        sections = [section for week in planned for section in week.sections]
        return LearningPlanRecord(
            language=specification.language,
            doc=specification.collection.name,
            version=opened.version,
            commit=opened.commit,
            total_weeks=len(planned),
            weeks=tuple(
                WeekRecord(
                    week=week.number,
                    theme=", ".join(week.topics),
                    sections=tuple(_planned(section, opened) for section in week.sections),
                    estimated_minutes=week.minutes,
                )
                for week in planned
            ),
            unknown_areas=tuple(
                area for area in request.focus_areas if not sections_about(sections, area)
            ),
        )


def _planned(section: PlannedSection, opened: Opened) -> PlannedSectionRecord:
    citation = opened.cite(section.page.filepath, section.heading)
    return PlannedSectionRecord(
        title=citation.title,
        section_path=citation.section_path,
        section_id=citation.section_id,
        url=citation.url,
        estimated_minutes=minutes(section.characters),
    )


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop addresses, then the last sections of each week; themes and times stay."""
    limit.drop(record, _removable_parts(record["weeks"], limit))


def _removable_parts(weeks: list[Json], limit: TokenLimit) -> Iterator[Any]:
    for week in weeks:
        for section in week["sections"]:
            yield limit.clear(section, "url")
    while sum(len(week["sections"]) for week in weeks) > 1:
        longest = max(weeks, key=lambda week: len(week["sections"]))
        longest["omitted_sections"] = longest.get("omitted_sections", 0) + 1
        yield longest["sections"].pop()


def text(record: LearningPlanRecord, write: Writer) -> Iterator[str]:
    """Yield the weeks with their sections, by ids."""
    place = f"{write.name(record.doc)} {write.name(record.version)}"
    weeks = count(record.total_weeks, "week")
    yield f"{weeks} for {place}, commit {record.commit[:SHORT_ID]}. {write.notice()}"
    if record.unknown_areas:
        yield f"No heading contains {', '.join(map(write.quote, record.unknown_areas))}."
    for week in record.weeks:
        yield f"Week {week.week}, {week.estimated_minutes} minutes: {write.title(week.theme)}"
        for section in week.sections:
            address = f" {printable(section.url)}" if section.url else ""
            yield (
                f"  {section.estimated_minutes} min {write.title(section.section_path)} "
                f"({write.name(section.section_id)}){address}"
            )
        if week.omitted_sections:
            yield f"  [{count(week.omitted_sections, 'more section')}: use a larger max_tokens]"


BUILD_LEARNING_PLAN = Answer(
    request=PlanRequest,
    record=LearningPlanRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Plan how to learn a specification",
        description=(
            "Divide the sections of a specification among weeks of equal length, by topic, with "
            "reading times. Topics and headings of focus_areas come first, after the introduction."
        ),
    ),
)

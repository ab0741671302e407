"""Records of specifications: languages, versions, sections with their citations, plans, changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ubp.answers.search.diff import WordsRecord
from ubp.frame.fields import Count, GitId, Moment
from ubp.frame.records import moment_or_none
from ubp.index.specifications import SpecificationVersion
from ubp.search.compare import ChangeKind
from ubp.specifications import (
    Citation,
    PlannedReading,
    PlannedWeek,
    SpecificationChange,
    SpecificationHit,
    SpecificationSection,
    joined_path,
)

Policy = Literal["local_fulltext_ok", "excerpt_only"]
SectionTitle = Annotated[str, "heading of the section"]
SectionPath = Annotated[str, "headings above it and its own: Types > Slice types"]
SectionId = Annotated[str, "what get_section takes"]
Address = Annotated[str, "address of the section"]
Language = Annotated[str, "the language"]
DocName = Annotated[str, "the document"]
VersionName = Annotated[str, "the version"]
VersionCommit = Annotated[GitId, "commit of the version"]
LicencePolicy = Annotated[Policy, "whether the licence allows more than excerpts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRecord:
    """A language that has a specification here."""

    language: Annotated[str, "its name, the argument of the other tools"]
    docs: Annotated[tuple[str, ...], "names of its documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagesRecord:
    """The languages that have specifications here."""

    languages: Annotated[tuple[LanguageRecord, ...], "by name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVersionRecord:
    """A version that is here, complete."""

    version: Annotated[str, "its name, the argument of the other tools"]
    fetched_at: Annotated[Moment | None, "when it was fetched; null if unknown"] = None
    source_url: Annotated[str, "where it comes from"]
    doc: DocName
    commit: Annotated[GitId, "its commit"]
    is_current: Annotated[bool, "whether it is used where no version is given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVersionsRecord:
    """The versions of a language's documents that are here."""

    language: Language
    versions: Annotated[tuple[SpecVersionRecord, ...], "of each document the newest first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationRecord:
    """Where a text is from."""

    title: SectionTitle
    section_path: SectionPath
    section_id: SectionId
    url: Address
    language: Language
    doc: DocName
    version: VersionName
    commit: VersionCommit
    source_policy: LicencePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSnippetRecord:
    """A part of a section's text around the first word of the query."""

    text: Annotated[str, "at most 300 characters"]
    start_char: Annotated[Count, "its start in the section's own text, in characters"]
    end_char: Annotated[Count, "its end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecResultRecord:
    """A section that was found, with its citation."""

    title: SectionTitle
    section_path: SectionPath
    section_id: SectionId
    url: Address
    language: Language
    doc: DocName
    version: VersionName
    commit: VersionCommit
    source_policy: LicencePolicy
    snippet: SpecSnippetRecord
    score: Annotated[float, "negative; the smaller, the better"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSearchRecord:
    """The sections that answer a question."""

    query: Annotated[str, "the question"]
    results: Annotated[tuple[SpecResultRecord, ...], "best first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecContentRecord:
    """The text of a section with everything below its heading, as Markdown."""

    excerpt: Annotated[str, "its first 1200 characters"]
    is_truncated: Annotated[bool, "whether there is more"]
    fulltext_available: Annotated[bool, "whether the licence allows to show all of it"]
    fulltext: Annotated[str | None, "all of it, or as much as max_tokens allows"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSectionRecord:
    """A section."""

    citation: CitationRecord
    content: SpecContentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSectionRecord:
    """A section to read."""

    title: SectionTitle
    section_path: SectionPath
    section_id: SectionId
    url: Address
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

    language: Language
    doc: DocName
    version: VersionName
    commit: VersionCommit
    total_weeks: Annotated[Count, "number of weeks"]
    weeks: Annotated[tuple[WeekRecord, ...], "the weeks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecChangeRecord:
    """A section that differs."""

    kind: Annotated[ChangeKind, "what happened to it"]
    old: Annotated[CitationRecord | None, "where it was; null if it was added"] = None
    new: Annotated[CitationRecord | None, "where it is; null if it was removed"] = None
    words: Annotated[tuple[WordsRecord, ...], "what differs; empty if only its place does"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecComparisonRecord:
    """What changed between two versions of a specification."""

    language: Language
    old_version: Annotated[str, "the older version, as it was given"]
    new_version: Annotated[str, "the newer version, as it was given"]
    total_changes: Annotated[Count, "number of sections that differ"]
    changes: Annotated[tuple[SpecChangeRecord, ...], "in the order of the newer version"]


def languages_record(languages: Mapping[str, Iterable[str]]) -> LanguagesRecord:
    """Return the record of `list_languages`."""
    return LanguagesRecord(
        languages=tuple(
            LanguageRecord(language=language, docs=tuple(names))
            for language, names in languages.items()
        )
    )


def spec_versions_record(
    language: str, versions: Iterable[SpecificationVersion]
) -> SpecVersionsRecord:
    """Return the record of `list_versions`."""
    return SpecVersionsRecord(
        language=language,
        versions=tuple(
            SpecVersionRecord(
                version=version.version,
                fetched_at=moment_or_none(version.fetched_at),
                source_url=version.source_url,
                doc=version.document,
                commit=version.commit,
                is_current=version.is_current,
            )
            for version in versions
        ),
    )


def spec_search_record(query: str, hits: Iterable[SpecificationHit]) -> SpecSearchRecord:
    """Return the record of `search_spec`."""
    return SpecSearchRecord(
        query=query,
        results=tuple(
            SpecResultRecord(
                **_citation_fields(hit.citation),
                snippet=SpecSnippetRecord(
                    text=hit.snippet.text, start_char=hit.snippet.start, end_char=hit.snippet.end
                ),
                score=-round(hit.score, 4),
            )
            for hit in hits
        ),
    )


def spec_section_record(section: SpecificationSection) -> SpecSectionRecord:
    """Return the record of `get_section`."""
    return SpecSectionRecord(
        citation=_citation(section.citation),
        content=SpecContentRecord(
            excerpt=section.excerpt,
            is_truncated=section.is_truncated,
            fulltext_available=section.text is not None,
            fulltext=section.text,
        ),
    )


def learning_plan_record(weeks: tuple[PlannedWeek, ...]) -> LearningPlanRecord:
    """Return the record of `build_learning_plan`; there is at least one section."""
    cited = weeks[0].sections[0].citation
    return LearningPlanRecord(
        language=cited.language,
        doc=cited.document,
        version=cited.version,
        commit=cited.commit,
        total_weeks=len(weeks),
        weeks=tuple(
            WeekRecord(
                week=week.number,
                theme=", ".join(week.topics),
                sections=tuple(map(_planned, week.sections)),
                estimated_minutes=week.minutes,
            )
            for week in weeks
        ),
    )


def spec_comparison_record(
    language: str, versions: tuple[str, str], changes: tuple[SpecificationChange, ...]
) -> SpecComparisonRecord:
    """Return the record of `compare_versions`; equal words are left out."""
    return SpecComparisonRecord(
        language=language,
        old_version=versions[0],
        new_version=versions[1],
        total_changes=len(changes),
        changes=tuple(
            SpecChangeRecord(
                kind=change.change.kind,
                old=change.old and _citation(change.old),
                new=change.new and _citation(change.new),
                words=tuple(
                    WordsRecord(kind=words.kind, text=words.text)
                    for words in change.change.words
                    if words.kind != "equal"
                ),
            )
            for change in changes
        ),
    )


def _planned(section: PlannedReading) -> PlannedSectionRecord:
    cited = section.citation
    return PlannedSectionRecord(
        title=cited.title,
        section_path=joined_path(cited.section_path),
        section_id=cited.section_id,
        url=cited.url,
        estimated_minutes=section.minutes,
    )


def _citation(cited: Citation) -> CitationRecord:
    return CitationRecord(**_citation_fields(cited))


def _citation_fields(cited: Citation) -> dict[str, Any]:
    return {
        "title": cited.title,
        "section_path": joined_path(cited.section_path),
        "section_id": cited.section_id,
        "url": cited.url,
        "language": cited.language,
        "doc": cited.document,
        "version": cited.version,
        "commit": cited.commit,
        "source_policy": "excerpt_only" if cited.policy == "excerpt_only" else "local_fulltext_ok",
    }

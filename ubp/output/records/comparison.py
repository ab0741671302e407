"""The record of `ubp diff`: the sections that differ between two versions."""

from dataclasses import dataclass
from typing import Annotated

from ubp.frame.fields import Count
from ubp.search.compare import ChangeKind, SectionChange, SectionPlace, VersionComparison, WordKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlaceRecord:
    """Where a section is in one version."""

    filepath: Annotated[str, "path of the page"]
    id: Annotated[str, "id of the heading; empty before the first heading"]
    heading_path: Annotated[tuple[str, ...], "the headings above it and its own"]
    line: Annotated[Count, "line of the heading, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsRecord:
    """Consecutive words of a changed section."""

    kind: Annotated[WordKind, "which version has them: equal means both"]
    text: Annotated[
        str, "the words, without markup; 10,000 at most of a section that is not compared"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChangeRecord:
    """A section that differs."""

    kind: Annotated[ChangeKind, "what happened to it"]
    old: Annotated[SectionPlaceRecord | None, "where it was; null if it was added"]
    new: Annotated[SectionPlaceRecord | None, "where it is; null if it was removed"]
    words: Annotated[tuple[WordsRecord, ...], "its words; empty if only its place changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiffRecord:
    """What changed between two versions."""

    collection: Annotated[str | None, "the collection; null: this repository"]
    old: Annotated[str, "commit of the old version"]
    new: Annotated[str, "commit of the new version"]
    sections: Annotated[Count, "number of sections of the pages that differ, in the new version"]
    changes: Annotated[tuple[SectionChangeRecord, ...], "the sections that differ"]


def comparison_record(comparison: VersionComparison, collection: str | None) -> VersionDiffRecord:
    """Return the record of a comparison; `collection` is None for the repository itself."""
    return VersionDiffRecord(
        collection=collection,
        old=comparison.old,
        new=comparison.new,
        sections=comparison.sections,
        changes=tuple(_change(change) for change in comparison.changes),
    )


def _change(change: SectionChange) -> SectionChangeRecord:
    return SectionChangeRecord(
        kind=change.kind,
        old=_place(change.old),
        new=_place(change.new),
        words=tuple(WordsRecord(kind=words.kind, text=words.text) for words in change.words),
    )


def _place(place: SectionPlace | None) -> SectionPlaceRecord | None:
    if place is None:
        return None
    return SectionPlaceRecord(
        filepath=place.filepath, id=place.id, heading_path=place.heading_path, line=place.line
    )

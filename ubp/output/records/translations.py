"""The record of `ubp stale --translations`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from ubp.answers.staleness.stale_record import AssessedPageRecord, assessed_page_record
from ubp.core.model import Assessment, FilePath, ReferenceVerdict
from ubp.frame.fields import Count
from ubp.frame.records import SnapshotRecord, snapshot_record
from ubp.staleness.model import LanguageCount, SourceDiff, StaleReport


class LanguageRecord(NamedTuple):
    """The translations of a language."""

    language: Annotated[str, "language, as the paths name it"]
    fresh: Annotated[Count, "number of translations that are up to date"]
    stale: Annotated[Count, "number of translations whose original changed"]
    missing: Annotated[Count, "number of originals without a translation"]
    orphaned: Annotated[Count, "number of translations whose original does not exist"]
    unknown: Annotated[Count, "number of translations that could not be verified"]
    missing_originals: Annotated[tuple[str, ...], "paths of the originals without a translation"]


class TranslationsRecord(NamedTuple):
    """Translations by language, and those that are not up to date."""

    languages: Annotated[tuple[LanguageRecord, ...], "languages, in alphabetical order"]
    documents: Annotated[
        tuple[AssessedPageRecord, ...],
        "translations with the reference to their original: those that are not up to date (with"
        " --staged or --base: any more), with --all every one; worst level first, then by path",
    ]
    snapshot: SnapshotRecord
    is_shallow: Annotated[bool, "whether this clone is shallow"]


def translations_record(
    report: StaleReport,
    languages: Sequence[LanguageCount],
    listed: Sequence[Assessment],
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> TranslationsRecord:
    """Return the record of the translations of a report, of which some are `listed`."""
    return TranslationsRecord(
        languages=tuple(map(language_record, languages)),
        documents=tuple(assessed_page_record(page, report, diffs) for page in listed),
        snapshot=snapshot_record(report.snapshot),
        is_shallow=report.is_shallow,
    )


def language_record(language: LanguageCount) -> LanguageRecord:
    """Return the record of the translations of a language."""
    return LanguageRecord(
        language=language.language,
        fresh=language.fresh,
        stale=language.stale,
        missing=len(language.missing),
        orphaned=language.orphaned,
        unknown=language.unknown,
        missing_originals=language.missing,
    )

"""`list_versions`: the releases of a specification, and which of them are here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.shell import ubp_command
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import Count, GitId, Moment
from ubp.frame.records import DAY, moment_or_none
from ubp.frame.wording import SHORT_ID, count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.fields import CitedLanguage, DocName, Language
from ubp.kits.specs.reader import SpecificationReader

MAX_ABSENT = 20  # releases that are not here


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVersionRecord:
    """A release, or a commit that is here."""

    version: Annotated[str, "its name, the argument of the other tools"]
    fetched_at: Annotated[Moment | None, "when it was fetched; null if it was not, or unknown"] = (
        None
    )
    source_url: Annotated[str, "where it comes from"]
    doc: DocName
    commit: Annotated[GitId, "its commit"]
    is_release: Annotated[bool, "whether it is a release (a tag), and not a commit"]
    is_fetched: Annotated[bool, "whether it is here; a person can fetch others"]
    is_current: Annotated[bool, "whether it is used where no version is given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVersionsRecord:
    """The versions of a language's documents."""

    language: CitedLanguage
    versions: Annotated[
        tuple[SpecVersionRecord, ...],
        "of each document releases, newest first, then commits that are here",
    ]
    omitted_count: Annotated[Count, "older releases that are not here and not listed"] = 0


@dataclass(frozen=True, slots=True)
class VersionsRequest(Request[SpecVersionsRecord]):
    """The language."""

    language: Language


def run(session: Session, request: VersionsRequest) -> SpecVersionsRecord:
    """Return the versions of a language's documents.

    Raises:
        CollectionError: there is no such language.
        RepositoryError: a document cannot be read.
    """
    reader = SpecificationReader(session)
    versions = reader.versions(request.language)
    absent = [version for version in versions if not version.is_fetched]
    left_out = {*absent[MAX_ABSENT:]}
    return SpecVersionsRecord(
        language=reader.choose(request.language)[0].language,
        omitted_count=len(left_out),
        versions=tuple(
            SpecVersionRecord(
                version=version.version,
                fetched_at=moment_or_none(version.fetched_at),
                source_url=version.source_url,
                doc=version.document,
                commit=version.commit,
                is_release=version.is_release,
                is_fetched=version.is_fetched,
                is_current=version.is_current,
            )
            for version in versions
            if version not in left_out
        ),
    )


def text(record: SpecVersionsRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each version."""
    number = count(len(record.versions), "version")
    yield f"{number} of {write.name(record.language)}. {write.notice()}"
    for version in record.versions:
        fetched = f", fetched {version.fetched_at[:DAY]}" if version.fetched_at else ""
        fetched = fetched if version.is_fetched else ", not fetched"
        current = ", current" if version.is_current else ""
        current += "" if version.is_release else ", not a release"
        yield (
            f"{write.name(version.version)} of {write.name(version.doc)}, commit "
            f"{version.commit[:SHORT_ID]}{fetched}{current}: {printable(version.source_url)}"
        )
    if record.omitted_count:
        yield f"Not listed: {count(record.omitted_count, 'older release')}, not fetched."
    if any(not version.is_fetched for version in record.versions):
        wanted = f"{record.versions[0].doc}@VERSION"
        yield f"A person can fetch another: {ubp_command('collections', 'sync', wanted)}"


LIST_VERSIONS = Answer(
    request=VersionsRequest,
    record=SpecVersionsRecord,
    run=run,
    text=text,
    budgets=(),
    tool=ToolTraits(
        title="List versions of a specification",
        description=(
            "List the releases of a specification, newest first, and which versions are here."
        ),
    ),
)

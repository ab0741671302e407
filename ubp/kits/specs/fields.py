"""Types of fields of several requests and records about specifications, and citations."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from ubp.frame.fields import GitId
from ubp.frame.wording import SHORT_ID, printable
from ubp.frame.writer import Writer

# Of requests.
Language = Annotated[str, "from list_languages"]
Version = Annotated[str, "from list_versions; by default the pinned or newest one"]
SectionId = Annotated[str, "section_id of a result of search_spec"]

# Of records.
Policy = Literal["local_fulltext_ok", "excerpt_only"]
SectionTitle = Annotated[str, "heading of the section"]
SectionPath = Annotated[str, "headings above it and its own: Types > Slice types"]
CitedId = Annotated[str, "what get_section takes"]
Address = Annotated[str, "address of the section"]
CitedLanguage = Annotated[str, "the language"]
DocName = Annotated[str, "the document"]
VersionName = Annotated[str, "the version"]
VersionCommit = Annotated[GitId, "commit of the version"]
LicencePolicy = Annotated[Policy, "whether the licence allows more than excerpts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationRecord:
    """Where a text is from."""

    title: SectionTitle
    section_path: SectionPath
    section_id: CitedId
    url: Address
    language: CitedLanguage
    doc: DocName
    version: VersionName
    commit: VersionCommit
    source_policy: LicencePolicy


class Cited(Protocol):
    """A record with the fields of a citation that texts show."""

    @property
    def section_path(self) -> str:
        """The headings."""

    @property
    def section_id(self) -> str:
        """The id of the section."""

    @property
    def url(self) -> str:
        """Its address."""

    @property
    def doc(self) -> str:
        """The document."""

    @property
    def version(self) -> str:
        """The version."""

    @property
    def commit(self) -> str:
        """Its commit."""

    @property
    def source_policy(self) -> Policy:
        """Whether the licence allows more than excerpts."""


def cited(citation: Cited, write: Writer) -> Iterator[str]:
    """Yield the lines of a citation."""
    place = f"{write.name(citation.doc)} {write.name(citation.version)}"
    policy = ", excerpts only" if citation.source_policy == "excerpt_only" else ""
    yield f"{write.title(citation.section_path)} ({write.name(citation.section_id)})"
    yield f"  {place}, commit {citation.commit[:SHORT_ID]}{policy}: {printable(citation.url)}"

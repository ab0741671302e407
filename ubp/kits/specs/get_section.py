"""`get_section`: a section of a specification, as much of it as the licence allows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.config import EXCERPT_ONLY
from ubp.core.policy import EXCERPT_CHARACTERS, excerpt
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.fields import CitationRecord, Language, SectionId, Version, cited
from ubp.kits.specs.reader import Opened, SpecificationReader
from ubp.kits.specs.sections import ReadSection

SECTION_TOKENS = 20_000
ONLY_EXCERPT = "The licence allows only excerpts: this is the beginning."


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecContentRecord:
    """The text of a section with everything below its heading, as Markdown."""

    excerpt: Annotated[str, "its first 1200 characters"]
    is_truncated: Annotated[bool, "whether there is more"]
    fulltext_available: Annotated[bool, "whether the licence allows to show all of it"]
    fulltext: Annotated[str | None, "all of it, or as much as max_tokens allows"] = None
    is_cut: Annotated[bool, "whether its end is left out because of max_tokens"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecSectionRecord:
    """A section."""

    citation: CitationRecord
    content: SpecContentRecord


@dataclass(frozen=True, slots=True)
class SectionRequest(Request[SpecSectionRecord]):
    """A section of a version."""

    language: Language
    section_id: SectionId
    version: Version | None = None
    max_tokens: MaxTokens = SECTION_TOKENS


def run(session: Session, request: SectionRequest) -> SpecSectionRecord:
    """Return a section by its id: its first characters, and all of it where its policy allows that.

    Raises:
        CollectionError: there is no such language or version.
        SectionNotFoundError: no section has the id, or several have.
        RepositoryError: a document cannot be read.
    """
    reader, version = SpecificationReader(session), request.version or ""
    places = [(chosen, version) for chosen in reader.choose(request.language, version)]
    return reader.find_section(places, request.section_id, _record)


def _record(opened: Opened, found: ReadSection) -> SpecSectionRecord:
    is_open = opened.specification.collection.policy != EXCERPT_ONLY
    return SpecSectionRecord(
        citation=opened.cite(found.page.filepath, found.heading),
        content=SpecContentRecord(
            excerpt=excerpt(found.text, EXCERPT_ONLY),
            is_truncated=len(found.text) > EXCERPT_CHARACTERS,
            fulltext_available=is_open,
            fulltext=found.text if is_open else None,
        ),
    )


def fit(record: Json, limit: TokenLimit) -> None:
    """Cut off the end of the text; where hardly any is left, the excerpt is enough."""
    content = record["content"]
    if limit.excess(record) <= 0:
        return
    content["is_truncated"] = content["is_cut"] = True
    if content.get("fulltext"):
        limit.truncate(record, content, "fulltext")
        if content["fulltext"] and limit.excess(record) <= 0:
            return
        limit.clear(content, "fulltext")
    limit.truncate(record, content, "excerpt")


def text(record: SpecSectionRecord, write: Writer) -> Iterator[str]:
    """Yield the text of a section with its citation."""
    content = record.content
    body = content.excerpt if content.fulltext is None else content.fulltext
    marker = write.marker(body or " ")  # where nothing fits, the text is shown to be empty
    yield write.notice(marker)
    yield from cited(record.citation, write)
    yield from write.enclose(body, marker)
    if content.is_truncated and not content.fulltext_available:
        yield ONLY_EXCERPT
    if content.is_cut:
        yield "[The end of the text is omitted: use a larger max_tokens]"


GET_SECTION = Answer(
    request=SectionRequest,
    record=SpecSectionRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Read a section of a specification",
        description=(
            "Read a section that search_spec found, with everything below its heading and its "
            "citation. Where the licence allows only excerpts, it is the first 1200 characters."
        ),
    ),
)

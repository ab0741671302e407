"""`compare_versions`: the sections that differ between two versions of a specification."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from ubp.core.model import FilePath
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count
from ubp.frame.wording import count
from ubp.frame.words import WordsRecord
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.specs.collections import version_name
from ubp.kits.specs.fields import CitationRecord, CitedLanguage, Language, SectionId, cited
from ubp.kits.specs.reader import Opened, SpecificationReader
from ubp.kits.specs.sections import ReadSection
from ubp.search.compare import ChangeKind, compare_versions

COMPARISON_TOKENS = 8_000
MORE = "use section_id or a larger max_tokens"
NOTICE_TOKENS = 20  # what it takes to say that words are left out: fewer are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecChangeRecord:
    """A section that differs."""

    kind: Annotated[ChangeKind, "what happened to it"]
    old: Annotated[
        CitationRecord | None, "where it was; null if it was added, or because of max_tokens"
    ] = None
    new: Annotated[CitationRecord | None, "where it is; null if it was removed"] = None
    words: Annotated[tuple[WordsRecord, ...], "what differs; empty if only its place does"] = ()
    omitted_words: Annotated[Count, "words that differ and are left out because of max_tokens"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecComparisonRecord:
    """What changed between two versions of a specification."""

    language: CitedLanguage
    old_version: Annotated[str, "the older version, as it was given"]
    new_version: Annotated[str, "the newer version, as it was given"]
    total_changes: Annotated[Count, "number of sections that differ"]
    changes: Annotated[tuple[SpecChangeRecord, ...], "in the order of the newer version"]


@dataclass(frozen=True, slots=True)
class CompareRequest(Request[SpecComparisonRecord]):
    """Two versions, and perhaps one section."""

    language: Language
    from_: Annotated[str, "older version, from list_versions"]
    to: Annotated[str, "newer version"]
    section_id: SectionId | None = None
    max_tokens: MaxTokens = COMPARISON_TOKENS


def run(session: Session, request: CompareRequest) -> SpecComparisonRecord:
    """Return the sections that differ, of each document that has both versions.

    Raises:
        CollectionError: there is no such language or version.
        SectionNotFoundError: no section of the two versions has the id, or several have.
        RepositoryError: a document cannot be read.
    """
    reader, old, new = SpecificationReader(session), request.from_, request.to
    changes: list[SpecChangeRecord] = []
    chosen = reader.having(request.language, new, reader.choose(request.language, old))
    for specification in chosen:
        path, section = None, None
        if request.section_id:
            versions = [(specification, new), (specification, old)]
            path, section = reader.find_section(versions, request.section_id, _place)
        with reader.open(specification, new) as opened:
            changes += _changes(opened, old, new, path, section)
    return SpecComparisonRecord(
        language=chosen[0].language,
        old_version=old,
        new_version=new,
        total_changes=len(changes),
        changes=tuple(changes),
    )


def _place(_: Opened, found: ReadSection) -> tuple[FilePath, str | None]:
    return found.page.filepath, found.heading.id or None


def _changes(
    opened: Opened, old: str, new: str, path: FilePath | None, section: str | None
) -> Iterator[SpecChangeRecord]:
    """Yield the sections that differ; equal words are left out."""
    comparison = compare_versions(opened.session, old, new, path, section)
    name = version_name(opened.session.repository, comparison.old, old)
    before = opened._replace(commit=comparison.old, version=name)
    for change in comparison.changes:
        yield SpecChangeRecord(
            kind=change.kind,
            old=before.cite_place(change.old) if change.old else None,
            new=opened.cite_place(change.new) if change.new else None,
            words=tuple(
                WordsRecord(kind=words.kind, text=words.text)
                for words in change.words
                if words.kind != "equal"
            ),
        )


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop old places that equal the new ones, the words of the longest changes, the last changes.

    Words are dropped from the end of a change, and counted.
    """
    if not limit.drop(record, _details(record["changes"], limit)):
        limit.keep_first(record, record["changes"])


def _details(changes: list[Json], limit: TokenLimit) -> Iterator[Any]:
    yield [limit.clear(change, "old") for change in changes if _is_in_place(change)]
    for change in sorted(changes, key=lambda change: -limit.weigh(change.get("words", []))):
        words = change.get("words", [])
        if limit.weigh(words) <= NOTICE_TOKENS:
            return
        while words:
            last = words.pop()
            change["omitted_words"] = change.get("omitted_words", 0) + len(last["text"].split())
            yield last


def _is_in_place(change: Json) -> bool:
    places = [change[name] for name in ("old", "new") if change.get(name)]
    ids = {(place["doc"], place["section_id"], place["section_path"]) for place in places}
    return len(places) > len(ids)


def text(record: SpecComparisonRecord, write: Writer) -> Iterator[str]:
    """Yield the sections that differ, each with the words that do."""
    versions = f"{write.name(record.old_version)} and {write.name(record.new_version)}"
    if not record.total_changes:
        yield f"No section differs between {versions}."
        return
    number = count(record.total_changes, "section")
    verb = "differs" if record.total_changes == 1 else "differ"
    yield f"{number} {verb} between {versions}. {write.notice()}"
    for change in record.changes:
        yield f"{change.kind}:"
        citations = filter(None, (change.new, change.old))
        yield from dict.fromkeys(line for each in citations for line in cited(each, write))
        for words in change.words:
            quoted = write.quote(words.text) if words.text.strip() else "an empty line of code"
            yield f"  {'+' if words.kind == 'added' else '-'} {quoted}"
        if change.omitted_words:
            yield f"  [{count(change.omitted_words, 'word')} omitted: {MORE}]"
    if uncited := sum(change.old is None and change.kind != "added" for change in record.changes):
        places = f"{count(uncited, 'citation')} in {write.name(record.old_version)}"
        yield f"[{places} omitted, with the ids of the newer ones: {MORE}]"
    if omitted := record.total_changes - len(record.changes):
        yield f"[{count(omitted, 'more section')}: {MORE}]"


COMPARE_VERSIONS = Answer(
    request=CompareRequest,
    record=SpecComparisonRecord,
    run=run,
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Compare two versions of a specification",
        description=(
            "List the sections that were added, changed, moved or removed between two versions of a"
            " specification, with the words that differ and a citation in each version."
        ),
    ),
)

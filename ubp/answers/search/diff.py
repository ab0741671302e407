"""`ubp diff`: what changed between two versions of documents, by sections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from ubp.core.model import FilePath
from ubp.core.paths import normalize_path
from ubp.frame.answer import Answer, Request
from ubp.frame.fields import Count
from ubp.frame.wording import SHORT_ID, count, joined, printable
from ubp.frame.words import WordsRecord
from ubp.frame.writer import Writer
from ubp.index.select import path_from_root
from ubp.index.session import Session
from ubp.search.compare import ChangeKind, SectionChange, SectionPlace, compare_versions

# Of words that both versions have, so many are shown beside a change.
CONTEXT_WORDS = 8
# Of a section that is only in one version.
MAX_WORDS = 60
GAP = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlaceRecord:
    """Where a section is in one version."""

    filepath: Annotated[str, "path of the page"]
    id: Annotated[str, "id of the heading; empty before the first heading"]
    heading_path: Annotated[tuple[str, ...], "the headings above it and its own"]
    line: Annotated[Count, "line of the heading, from 1"]


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


@dataclass(frozen=True, slots=True)
class DiffRequest(Request[VersionDiffRecord]):
    """Two versions to compare, in all documents, in a page or in one of its sections.

    A version is a revision, or what a collection calls one; the section is the id or the words of
    its heading.
    """

    old: Annotated[str, "the old version"]
    new: Annotated[str, "the new version"] = "HEAD"
    filepath: Annotated[str, "only this page"] | None = None
    section: Annotated[str, "only this section of the page, and those below it"] | None = None


def run(session: Session, request: DiffRequest) -> VersionDiffRecord:
    """Return the sections that differ between two versions.

    Raises:
        RevisionNotFoundError: there is no such version.
        CollectionError: the collection has no such version.
        UsageError: neither version has this path or section.
    """
    path, collection = request.filepath, session.collection
    if path and collection:
        path = normalize_path(path) or path
    elif path:
        path = path_from_root(path, session.repository)
    found = compare_versions(
        session, request.old, request.new, FilePath(path) if path else None, request.section
    )
    return VersionDiffRecord(
        collection=collection.name if collection else None,
        old=found.old,
        new=found.new,
        sections=found.sections,
        changes=tuple(map(_change, found.changes)),
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


def text(record: VersionDiffRecord, write: Writer) -> Iterator[str]:
    """Yield the changed sections, each with its words as `git diff --word-diff` writes them."""
    style = write.style
    for change in record.changes:
        paint = {"added": style.green, "removed": style.red}.get(change.kind, style.yellow)
        yield f"{paint(f'{change.kind:<8}')} {write.name(_name(change))}"
        if write.is_quiet:
            continue
        if change.old and change.new and change.kind == "moved":
            yield f"  {style.dim(f'from {write.name(_place_name(change.old))}')}"
        if change.words:
            yield f"  {_words(change, write)}"
    if not write.is_quiet:
        yield from [*([""] if record.changes else []), _summary(record)]


def markdown(record: VersionDiffRecord) -> str:
    """Return the changed sections as a Markdown list."""
    lines = [f"**{_escape(_summary(record))}**", ""]
    for change in record.changes:
        lines.append(f"- **{change.kind}** {_escape(_name(change))}")
        if change.old and change.new and change.kind == "moved":
            lines.append(f"  from {_escape(_place_name(change.old))}")
        if change.words:
            lines.append("  " + "".join(_markdown_words(change)))
    return joined(lines)


def _summary(record: VersionDiffRecord) -> str:
    """Return how many sections changed: `go (1.21..1.22): 3 sections: 2 changed, 1 added.`."""
    counts = dict.fromkeys(("added", "changed", "moved", "removed"), 0)
    for change in record.changes:
        counts[change.kind] += 1
    parts = [f"{number} {kind}" for kind, number in counts.items() if number]
    versions = f"{record.old[:SHORT_ID]}..{record.new[:SHORT_ID]}"
    name = record.collection
    label = f"{printable(name)} ({versions})" if name else versions
    if not parts:
        return f"{label}: no section changed."
    return f"{label}: {count(len(record.changes), 'section')}: {', '.join(parts)}."


def _name(change: SectionChangeRecord) -> str:
    place = change.new or change.old
    return _place_name(place) if place else ""


def _place_name(place: SectionPlaceRecord) -> str:
    fragment = f"#{place.id}" if place.id else ""
    path = f"  {' > '.join(place.heading_path)}" if place.heading_path else ""
    return f"{place.filepath}{fragment}{path}"


def _words(change: SectionChangeRecord, write: Writer) -> str:
    parts = []
    for words in _shortened(change):
        text = write.quote(words.text)
        if words.kind == "added":
            parts.append(write.style.green(f"{{+{text}+}}"))
        elif words.kind == "removed":
            parts.append(write.style.red(f"[-{text}-]"))
        else:
            parts.append(text)
    return " ".join(parts)


def _markdown_words(change: SectionChangeRecord) -> Iterator[str]:
    for number, words in enumerate(_shortened(change)):
        mark = {"added": "**", "removed": "~~", "equal": ""}[words.kind]
        yield f"{' ' if number else ''}{mark}{_escape(words.text)}{mark}"


def _shortened(change: SectionChangeRecord) -> Iterator[WordsRecord]:
    """Yield the words with less of what both versions have, and of long additions."""
    last = len(change.words) - 1
    for number, words in enumerate(change.words):
        tokens = words.text.split(" ")
        if words.kind != "equal":
            is_long = len(tokens) > MAX_WORDS
            text = " ".join([*tokens[:MAX_WORDS], GAP] if is_long else tokens)
            yield WordsRecord(kind=words.kind, text=text)
            continue
        before = [] if number == 0 else tokens[:CONTEXT_WORDS]
        after = [] if number == last else tokens[-CONTEXT_WORDS:]
        if len(tokens) <= len(before) + len(after):
            yield words
        else:
            yield WordsRecord(kind="equal", text=" ".join([*before, GAP, *after]))


def _escape(text: str) -> str:
    escaped = re.sub(r"[\\`*_\[\]<>~|#]", r"\\\g<0>", printable(text))
    # Where it becomes a comment, @name would notify somebody and #12 refer to an issue: hosts look
    # for them in the text that Markdown yields, so that no escape of Markdown's helps.
    return re.sub(r"@(?=\w)|#(?=\d)", r"\g<0><!-- -->", escaped)


DIFF = Answer(
    request=DiffRequest,
    record=VersionDiffRecord,
    run=run,
    text=text,
    has_facts=False,
    formats={"markdown": markdown},
)

"""The names in sources and the mentions in pages: from the store, or read and put there."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from ubp.code.names import SourceNames, read_names
from ubp.core.model import Entry, FilePath, ObjectId
from ubp.git.output import blob_id
from ubp.index.facts import FileContents
from ubp.index.store.facts import NameTable
from ubp.index.tree import IndexContext
from ubp.markdown.mentions import Mention, PageMentions, read_mentions

# Their bytes are held together, and what was learned is saved together.
FILES_A_BATCH = 256

T = TypeVar("T")


def read_source_names(
    ground: IndexContext, sources: Mapping[FilePath, Entry]
) -> dict[ObjectId, SourceNames]:
    """What each of these sources names, by blob; their entries must be hashed."""
    stored = NameTable(ground.store, "source")
    found = _learn(ground, sources, stored, "Reading sources", read_names, _pack_names)
    return {blob: _unpack_names(text) for blob, text in found.items()}


def read_page_mentions(
    ground: IndexContext, pages: Mapping[FilePath, Entry]
) -> dict[ObjectId, PageMentions]:
    """What each of these pages mentions, by blob; their entries must be hashed."""
    stored = NameTable(ground.store, "page")
    found = _learn(ground, pages, stored, "Reading pages", read_mentions, _pack_mentions)
    return {blob: _unpack_mentions(text) for blob, text in found.items()}


def _learn(  # noqa: PLR0913, PLR0917  # sources and pages differ in as much
    ground: IndexContext,
    files: Mapping[FilePath, Entry],
    stored: NameTable,
    title: str,
    read: Callable[[bytes], T],
    pack: Callable[[T], str],
) -> dict[ObjectId, str]:
    found = stored.read({entry.id for entry in files.values()})
    missing = {e.id: (path, e) for path, e in files.items() if e.id not in found}
    contents = FileContents(ground.repository, ground.snapshot)
    done = 0
    for batch in _batches(missing.values()):
        ground.progress(title, done, len(missing))
        learned: dict[ObjectId, str] = {}
        passing: dict[ObjectId, str] = {}
        for path, data in contents.read(batch).items():
            if data is None:  # too large, or absent: another time it may be there
                continue
            blob = batch[path].id
            own = blob_id(data) == blob  # else a filter's: what it says is not the blob's
            (learned if own else passing)[blob] = pack(read(data))
        stored.save(learned)
        found |= learned | passing
        done += len(batch)
    if missing:
        ground.progress(title, done, done)
    return found


def _batches(files: Iterable[tuple[FilePath, Entry]]) -> Iterator[dict[FilePath, Entry]]:
    iterator = iter(files)
    while batch := dict(islice(iterator, FILES_A_BATCH)):
        yield batch


def _pack_names(names: SourceNames) -> str:
    parts = (names.defined, names.used - names.defined, names.paths)
    return "\n".join(" ".join(sorted(part)) for part in parts)


def _unpack_names(text: str) -> SourceNames:
    defined, others, paths = (frozenset(part.split()) for part in text.split("\n"))
    return SourceNames(defined, defined | others, paths)


def _pack_mentions(mentions: PageMentions) -> str:
    return json.dumps([*mentions[:3], sorted(mentions.fenced)], separators=(",", ":"))


def _unpack_mentions(text: str) -> PageMentions:
    headings, paths, identifiers, fenced = json.loads(text)
    return PageMentions(
        headings,
        tuple([Mention(*one) for one in paths]),
        tuple([Mention(*one) for one in identifiers]),
        frozenset(fenced),
    )

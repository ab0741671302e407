"""The names that sources define and use, and the mentions in documents."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping

from ubp.code.names import SourceNames, read_names
from ubp.core.interruption import with_checkpoints
from ubp.core.model import Entry, FilePath, ObjectId
from ubp.index.facts import BlobFacts, Contents, FileContents
from ubp.index.store.facts import NameTable
from ubp.index.tree import IndexContext
from ubp.index.view import View
from ubp.markdown.mentions import Mention, PageMentions, read_mentions

# What was read is stored for each: a parser that finds other names needs another kind.
SOURCE_KIND, PAGE_KIND = "source", "page 6"


def read_source_names(
    context: IndexContext, sources: Mapping[FilePath, Entry]
) -> dict[ObjectId, SourceNames]:
    """Return the names in each of these sources, by blob; their entries must be hashed."""
    table = NameTable(context.store.database, SOURCE_KIND)
    texts = _read(
        context, sources, table, "Reading sources", lambda data: _pack_names(read_names(data))
    )
    return {blob: _unpack_names(text) for blob, text in texts.items()}


def read_page_mentions(view: View, pages: Collection[FilePath]) -> dict[FilePath, PageMentions]:
    """Return the mentions in each of these documents; those that cannot be read are left out."""
    context = view.context
    entries = {path: entry for path, entry in view.entries(pages).items() if entry}
    table = NameTable(context.store.database, PAGE_KIND)
    texts = _read(
        context, entries, table, "Reading pages", lambda data: _pack_mentions(read_mentions(data))
    )
    mentions = {blob: _unpack_mentions(text) for blob, text in texts.items()}
    return {path: mentions[entry.id] for path, entry in entries.items() if entry.id in mentions}


def _read(
    context: IndexContext,
    files: Mapping[FilePath, Entry],
    table: NameTable,
    title: str,
    parse: Callable[[bytes], str],
) -> dict[ObjectId, str]:
    def parse_batches(batches: Iterator[Contents], total: int) -> Iterator[dict[ObjectId, str]]:
        context.progress(title, 0, total)
        for batch in with_checkpoints(batches, 1):
            yield {blob: parse(data) for blob, data in batch.items()}

    contents = FileContents(context.repository, context.snapshot)
    blobs = BlobFacts(
        contents,
        parse_batches,
        table.save,
        lambda done, total: context.progress(title, done, total),
    )
    return blobs.get(files, table.read)


def _pack_names(names: SourceNames) -> str:
    parts = (names.defined, names.used - names.defined, names.paths)
    return "\n".join(" ".join(sorted(part)) for part in parts)


def _unpack_names(text: str) -> SourceNames:
    defined, others, paths = (frozenset(part.split()) for part in text.split("\n"))
    return SourceNames(defined, defined | others, paths)


def _pack_mentions(mentions: PageMentions) -> str:
    lists = [*mentions[:3], *map(sorted, mentions[3:])]
    return json.dumps(lists, separators=(",", ":"))


def _unpack_mentions(text: str) -> PageMentions:
    headings, paths, identifiers, *sets = json.loads(text)
    return PageMentions(
        headings,
        tuple([Mention(*path) for path in paths]),
        tuple([Mention(*identifier) for identifier in identifiers]),
        *map(frozenset, sets),
    )

"""What the Markdown of a snapshot's documents says: links, sections, words, names.

Learned once for each blob, by several processes where it is much.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from ubp.core.model import (
    MODE_FILE,
    Entry,
    FilePath,
    Link,
    ObjectId,
    PageFields,
    Section,
)
from ubp.index.facts import BlobFacts, Contents, FileContents
from ubp.index.store.codec import (
    NO_ROWS,
    PageNames,
    PageRows,
    unpack_addresses,
    unpack_anchors,
    unpack_fields,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.index.store.page_facts import PageFactsTable
from ubp.index.tree import IndexContext
from ubp.markdown.resolve import PageNameForms
from ubp.markdown.sites.anchors import NO_ANCHORS, PageAnchors

# Starting the processes takes 0.2 s of CPU each, as long as reading this many pages of 2 KB.
MIN_PAGES_FOR_PROCESSES = 300
# The contents of a batch wait for the processes in memory.
MAX_BATCH_BYTES = 2 << 20
# Given to a process at a time: it must not wait for the next task, nor the others for its last one.
PAGES_PER_TASK = 32
# Saved in one transaction (0.3 s): the fewer, the more often the full text is merged and rewritten.
PAGES_PER_SAVE = 512

PROGRESS_TITLE = "Reading links and words"

T = TypeVar("T")
Pair = tuple[ObjectId, ObjectId]
Files = Mapping[FilePath, ObjectId | None]
"""Files by path: a document's blob, or None for any other file."""


# A filter reads the fields of all pages; unpacking those of 1,000 takes 4 ms.
MAX_CACHED_FIELDS = 50_000
MAX_CACHED_PAIRS = 10_000  # 2 MB


class LazyPageFacts:
    """The graph facts of a snapshot's documents; one that cannot be read has none."""

    def __init__(self, context: IndexContext) -> None:
        self._database = context.store.database
        self.table = PageFactsTable(self._database)
        self._progress = context.progress
        self._blobs = BlobFacts(
            FileContents(context.repository, context.snapshot),
            self._parse,
            self.table.save,
            lambda done, total: self._progress(PROGRESS_TITLE, done, total),
            max_batch_bytes=MAX_BATCH_BYTES,
            files_per_save=PAGES_PER_SAVE,
        )
        self._anchors: dict[ObjectId, PageAnchors] = {}
        # Of saved pages, for all snapshots of the session.
        self._fields: dict[ObjectId, PageFields] = context.cache.derived("fields", dict)
        self._alike: dict[Pair, bool] = context.cache.derived("alike pages", dict)

    def learn(self, files: Files) -> None:
        """Parse and save the facts of these documents that the store lacks."""
        entries = {path: Entry(MODE_FILE, blob) for path, blob in files.items() if blob}
        self._blobs.learn(entries, self.table.missing)

    def is_known(self, blob: ObjectId) -> bool:
        """Return whether the store has the facts of a blob that was learned."""
        return self._blobs.is_saved(blob)

    def names(self, files: Files) -> dict[FilePath, PageNameForms]:
        """Return the names under which links may refer to these pages."""
        names = self._read(
            files,
            self.table.names,
            lambda rows: PageNames(
                rows.title, unpack_names(rows.aliases), unpack_addresses(rows.addresses)
            ),
        )
        return {path: PageNameForms(path, *names[blob]) for path, blob in files.items() if blob}

    def links(self, files: Files) -> dict[FilePath, tuple[Link, ...]]:
        """Return the links of these pages, in order."""
        links = self._read(files, self.table.links, lambda rows: unpack_links(rows.links))
        return {path: links[blob] for path, blob in files.items() if blob}

    def sections(self, files: Mapping[FilePath, ObjectId]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of these pages."""
        sections = self._read(
            files, self.table.sections, lambda rows: unpack_sections(rows.sections)
        )
        return {path: sections[blob] for path, blob in files.items()}

    def fields(self, files: Mapping[FilePath, ObjectId]) -> dict[FilePath, PageFields]:
        """Return the fields of these pages' front matter."""
        if len(self._fields) > MAX_CACHED_FIELDS:
            self._fields.clear()
        fields = self._read(
            {path: blob for path, blob in files.items() if blob not in self._fields},
            self.table.fields,
            lambda rows: unpack_fields(rows.fields),
        )
        known = {
            path: self._fields[blob] if blob in self._fields else fields[blob]
            for path, blob in files.items()
        }
        self._fields.update((b, f) for b, f in fields.items() if self._blobs.is_saved(b))
        return known

    def find_alike(self, pairs: Collection[Pair]) -> set[Pair]:
        """Return those of these pairs of saved pages whose names, anchors and links are the same.

        Where in the page a link is does not matter.
        """
        if len(self._alike) > MAX_CACHED_PAIRS:
            self._alike.clear()
        unknown = [pair for pair in pairs if pair not in self._alike]
        blobs = {blob for pair in unknown for blob in pair}
        facts = self.table.names(blobs), self.table.anchors(blobs), self._destinations(blobs)
        for first, second in unknown:
            if all(first in known and second in known for known in facts):
                self._alike[first, second] = all(known[first] == known[second] for known in facts)
        return {pair for pair in pairs if self._alike.get(pair)}

    def _destinations(self, blobs: Collection[ObjectId]) -> dict[ObjectId, list[Link]]:
        """Return the links of these saved pages, without their places."""
        return {
            blob: [
                link._replace(line=0, column=0, byte_start=0, byte_end=0, context="", section=0)
                for link in links
            ]
            for blob, links in self.table.links(blobs).items()
        }

    def anchors(self, blob: ObjectId | None) -> PageAnchors:
        """Return what a page says about its anchors."""
        if blob is None:
            return NO_ANCHORS
        if blob not in self._anchors:
            stored = self.table.anchors([blob]).get(blob)
            if stored is None:
                stored = unpack_anchors(self._unsaved(blob).anchors)
            self._anchors[blob] = stored
        return self._anchors[blob]

    def _read(
        self,
        files: Files,
        read: Callable[[Collection[ObjectId]], dict[ObjectId, T]],
        unpack: Callable[[PageRows], T],
    ) -> dict[ObjectId, T]:
        """Return facts by blob: from the store, or from the rows of pages that are not saved."""
        facts = read({blob for blob in files.values() if blob})
        missing = {path: blob for path, blob in files.items() if blob and blob not in facts}
        if missing:
            self.learn(missing)
            facts |= read({blob for blob in missing.values() if self._blobs.is_saved(blob)})
            unsaved = set(missing.values()) - facts.keys()
            facts |= {blob: unpack(self._unsaved(blob)) for blob in unsaved}
        return facts

    def _unsaved(self, blob: ObjectId) -> PageRows:
        if self._blobs.is_saved(blob):  # but it was not found
            self._database.replace_damaged()
        return self._blobs.transient.get(blob, NO_ROWS)

    def _parse(self, batches: Iterator[Contents], total: int) -> Iterator[dict[ObjectId, PageRows]]:
        from ubp.index.worker import read_pages

        self._progress(PROGRESS_TITLE, 0, total)  # the callback may refuse so many by raising
        tasks = _split(batches)
        if total < MIN_PAGES_FOR_PROCESSES:
            yield from map(read_pages, tasks)
            return
        from ubp.index.workers import count_processes, read_in_parallel

        self._database.save_memory()
        yield from read_in_parallel(tasks, count_processes())


def _split(batches: Iterator[Contents]) -> Iterator[Contents]:
    for batch in batches:
        items = iter(batch.items())
        while task := dict(islice(items, PAGES_PER_TASK)):
            yield task

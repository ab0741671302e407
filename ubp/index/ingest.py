"""What the Markdown of a snapshot's documents says: links, sections, words, names.

Learned once for each blob, by several processes where it is much.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from ubp.core.model import MODE_FILE, Entry, FilePath, Link, ObjectId, Progress, Section, Snapshot
from ubp.git.repository import Repository
from ubp.index.facts import BlobFacts, Contents, FileContents
from ubp.index.store.codec import (
    NO_ROWS,
    PageRows,
    unpack_links,
    unpack_names,
    unpack_sections,
)
from ubp.index.store.database import Database
from ubp.index.store.page_facts import PageFactsTable
from ubp.markdown.resolve import PageNameForms

# Starting the processes takes 0.2 s of CPU each, as long as reading this many pages of 2 KB.
MIN_PAGES_FOR_PROCESSES = 300
# The contents of a batch wait for the processes in memory.
MAX_BATCH_BYTES = 2 << 20
# Given to a process at a time: it must not wait for the next task, nor the others for its last one.
PAGES_PER_TASK = 32
# Saved in one transaction (0.3 s): the fewer, the more often the full text is merged and rewritten.
PAGES_PER_SAVE = 512

PROGRESS_TITLE = "Reading links and words"

Files = Mapping[FilePath, ObjectId | None]
"""Files by path: a document's blob, or None for any other file."""


class LazyPageFacts:
    """The graph facts of a snapshot's documents; one that cannot be read has none."""

    def __init__(
        self, repository: Repository, database: Database, snapshot: Snapshot, progress: Progress
    ) -> None:
        self.table = PageFactsTable(database)
        self._database = database
        self._progress = progress
        self._blobs = BlobFacts(
            FileContents(repository, snapshot),
            self._parse,
            self.table.save,
            lambda done, total: progress(PROGRESS_TITLE, done, total),
            max_batch_bytes=MAX_BATCH_BYTES,
            files_per_save=PAGES_PER_SAVE,
        )
        self._anchors: dict[ObjectId, frozenset[str]] = {}

    def learn(self, files: Files) -> None:
        """Parse and save the facts of these documents that the store lacks."""
        entries = {path: Entry(MODE_FILE, blob) for path, blob in files.items() if blob}
        self._blobs.learn(entries, self.table.missing)

    def is_known(self, blob: ObjectId) -> bool:
        """Return whether the store has the facts of a blob that was learned."""
        return self._blobs.is_saved(blob)

    def names(self, files: Files) -> dict[FilePath, PageNameForms]:
        """Return the names under which links may refer to these pages."""
        stored = self.table.names({blob for blob in files.values() if blob})
        names: dict[FilePath, PageNameForms] = {}
        for path, blob in files.items():
            if blob in stored:
                names[path] = PageNameForms(path, *stored[blob])
            elif blob is not None:
                rows = self._transient(blob)
                names[path] = PageNameForms(path, rows.title, unpack_names(rows.aliases))
        return names

    def links(self, files: Files) -> dict[FilePath, tuple[Link, ...]]:
        """Return the links of these pages, in order."""
        stored = self.table.links({blob for blob in files.values() if blob})
        return {
            path: stored[blob] if blob in stored else unpack_links(self._transient(blob).links)
            for path, blob in files.items()
            if blob is not None
        }

    def sections(self, files: Mapping[FilePath, ObjectId]) -> dict[FilePath, tuple[Section, ...]]:
        """Return the sections of these pages."""
        stored = self.table.sections(set(files.values()))
        return {
            path: stored[blob]
            if blob in stored
            else unpack_sections(self._transient(blob).sections)
            for path, blob in files.items()
        }

    def anchors(self, blob: ObjectId | None) -> frozenset[str]:
        """Return all that a link may name as an anchor in a page, case-folded."""
        if blob is None:
            return frozenset()
        if blob not in self._anchors:
            stored = self.table.anchors([blob])
            transient = frozenset(unpack_names(self._transient(blob).anchors))
            self._anchors[blob] = stored.get(blob, transient)
        return self._anchors[blob]

    def _transient(self, blob: ObjectId) -> PageRows:
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

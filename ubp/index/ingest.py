"""What documents' Markdown says: learned once for each blob, by several processes if it is much.

What pages say, by their paths: from the store, from memory, read now where it is neither.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from ubp.core.model import MODE_FILE, Entry, FilePath, Link, ObjectId, Progress, Section, Snapshot
from ubp.git.output import blob_id
from ubp.git.repository import Repository
from ubp.index.facts import FileContents
from ubp.index.store.codec import (
    NO_ROWS,
    PageNames,
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
# Read from Git with one call; the bytes bound the memory where pages are large.
PAGES_A_PARSE_BATCH = 256
BYTES_A_PARSE_BATCH = 2 << 20
FIRST_PARSE_BATCH = 16  # how large pages are is not known before some were read
# Given to a process at a time: it must not wait for the next, nor the others for it at the end.
PAGES_A_TASK = 32
# Saved in one transaction (0.3 s): fewer make the full text write more than once.
PAGES_A_TRANSACTION = 512

Documents = Mapping[FilePath, Entry]


class Ingest:
    """Learns the graph facts of one snapshot's documents; their entries must be hashed.

    `learned` counts the blobs that were read. `passing` holds what the store must not keep: what
    bytes say that are not the blob's own (see `PageReader`); `absent` are blobs that cannot be had.
    """

    def __init__(
        self, repository: Repository, database: Database, snapshot: Snapshot, progress: Progress
    ) -> None:
        self.facts = PageFactsTable(database)
        self.learned = 0
        self.passing: dict[ObjectId, PageRows] = {}
        self.absent: set[ObjectId] = set()
        self._contents = FileContents(repository, snapshot)
        self._database = database
        self._progress = progress

    def learn(self, documents: Documents) -> None:
        """See that the store knows what these documents say."""
        missing = self.facts.missing({entry.id for entry in documents.values()})
        missing -= self.passing.keys() | self.absent
        by_blob = {e.id: (path, e) for path, e in documents.items() if e.id in missing}
        if by_blob:
            self._learn(dict(by_blob.values()))

    def _learn(self, wanted: Documents) -> None:
        ready: dict[ObjectId, PageRows] = {}
        saved = 0
        self._progress("Reading links and words", saved, len(wanted))  # may refuse so much
        for answers in self._read(wanted):
            ready |= answers
            if len(ready) >= PAGES_A_TRANSACTION:
                saved += self._save(ready)
                ready = {}
                self._progress("Reading links and words", saved, len(wanted))
        saved += self._save(ready)
        self._progress("Reading links and words", len(wanted), len(wanted))

    def _save(self, pages: dict[ObjectId, PageRows]) -> int:
        self.learned += len(pages)
        self.facts.save({b: rows for b, rows in pages.items() if b not in self.passing})
        return len(pages)

    def _read(self, wanted: Documents) -> Iterator[dict[ObjectId, PageRows]]:
        from ubp.index.worker import read_pages

        batches = self._batches(wanted)
        if len(wanted) < MIN_PAGES_FOR_PROCESSES:
            yield from self._told(map(read_pages, batches))
            return
        from ubp.index.workers import count_processes, read_in_parallel

        self._database.spare_memory()
        yield from self._told(read_in_parallel(batches, count_processes()))

    def _told(
        self, answers: Iterator[dict[ObjectId, PageRows]]
    ) -> Iterator[dict[ObjectId, PageRows]]:
        for answer in answers:
            self.passing.update((b, answer[b]) for b in self.passing.keys() & answer.keys())
            yield answer

    def _batches(self, wanted: Documents) -> Iterator[dict[ObjectId, bytes]]:
        for blobs in self._contents_of(wanted):
            items = iter(blobs.items())
            while batch := dict(islice(items, PAGES_A_TASK)):
                yield batch

    def _contents_of(self, wanted: Documents) -> Iterator[dict[ObjectId, bytes]]:
        paths = iter(wanted)
        size = FIRST_PARSE_BATCH
        while names := list(islice(paths, size)):
            # Another process may have saved some of them since they were looked for.
            missing = self.facts.missing({wanted[path].id for path in names})
            todo = {path: wanted[path] for path in names if wanted[path].id in missing}
            contents = {todo[path].id: data for path, data in self._contents.read(todo).items()}
            blobs = {blob: data for blob, data in contents.items() if data is not None}
            self.absent |= contents.keys() - blobs.keys()
            self.passing |= {b: NO_ROWS for b, data in blobs.items() if blob_id(data) != b}
            yield blobs
            mean = max(1, sum(map(len, blobs.values())) // max(1, len(blobs)))
            size = max(1, min(PAGES_A_PARSE_BATCH, BYTES_A_PARSE_BATCH // mean))


Files = Mapping[FilePath, ObjectId | None]


class LazyPageFacts:
    """The graph facts of a snapshot's pages. A page that cannot be had says nothing."""

    def __init__(self, learning: Ingest) -> None:
        self._learning = learning
        self._anchors: dict[ObjectId, frozenset[str]] = {}

    @property
    def facts(self) -> PageFactsTable:
        """Those in the store."""
        return self._learning.facts

    def learn(self, files: Files) -> None:
        """See that everything is known about these pages, as far as they can be had."""
        entries = {path: Entry(MODE_FILE, blob) for path, blob in files.items() if blob}
        self._learning.learn(entries)

    def is_known(self, blob: ObjectId) -> bool:
        """Whether the store has learned this page, or could."""
        return blob not in self._learning.passing and blob not in self._learning.absent

    def names(self, files: Files) -> dict[FilePath, PageNameForms]:
        """What links may call these pages."""
        blobs = {blob for blob in files.values() if blob}
        known = self.facts.naming(blobs)
        return {
            path: PageNameForms(path, *self._naming(blob, known))
            for path, blob in files.items()
            if blob is not None
        }

    def links(self, files: Files) -> dict[FilePath, tuple[Link, ...]]:
        """The links of these pages, in order."""
        blobs = {blob for blob in files.values() if blob}
        known = self.facts.links(blobs)
        return {
            path: known[blob] if blob in known else unpack_links(self._passing(blob).links)
            for path, blob in files.items()
            if blob is not None
        }

    def sections(self, files: Mapping[FilePath, ObjectId]) -> dict[FilePath, tuple[Section, ...]]:
        """The sections of these pages."""
        known = self.facts.sections(set(files.values()))
        return {
            path: known[blob] if blob in known else unpack_sections(self._passing(blob).sections)
            for path, blob in files.items()
        }

    def anchors(self, blob: ObjectId | None) -> frozenset[str]:
        """All that a link may name behind a page's path."""
        if blob is None:
            return frozenset()
        if blob not in self._anchors:
            known = self.facts.anchors([blob])
            passing = frozenset(unpack_names(self._passing(blob).anchors))
            self._anchors[blob] = known.get(blob, passing)
        return self._anchors[blob]

    def _naming(self, blob: ObjectId, known: Mapping[ObjectId, PageNames]) -> PageNames:
        if blob in known:
            return known[blob]
        rows = self._passing(blob)
        return PageNames(rows.title, unpack_names(rows.aliases))

    def _passing(self, blob: ObjectId) -> PageRows:
        return self._learning.passing.get(blob, NO_ROWS)

"""What documents' Markdown says: learned once for each blob, by several processes if it is much."""

from collections.abc import Iterator, Mapping
from itertools import islice

from ubp.git.objects import blob_id
from ubp.git.repository import Repository
from ubp.indexing.contents import Contents
from ubp.model import Entry, FilePath, ObjectId, Snapshot
from ubp.seams import Progress
from ubp.store.database import Database
from ubp.store.graph_facts import GraphFacts
from ubp.store.graph_rows import NOTHING, PageRows

# Starting the processes takes 0.2 s of CPU each, as long as reading this many pages of 2 KB.
PAGES_WORTH_PROCESSES = 300
# Read from Git with one call; the bytes bound the memory where pages are large.
PAGES_A_BATCH = 256
BYTES_A_BATCH = 2 << 20
FIRST_BATCH = 16  # how large pages are is not known before some were read
# Given to a process at a time: it must not wait for the next, nor the others for it at the end.
PAGES_A_TASK = 32
# Saved in one transaction (0.3 s): fewer make the full text write more than once.
PAGES_A_TRANSACTION = 512

Documents = Mapping[FilePath, Entry]


class Learning:
    """Learns the graph facts of one snapshot's documents; their entries must be hashed.

    `learned` counts the blobs that were read. `passing` holds what the store must not keep: what
    bytes say that are not the blob's own (see `Pages`); `absent` are blobs that cannot be had.
    """

    def __init__(
        self, repository: Repository, database: Database, snapshot: Snapshot, progress: Progress
    ) -> None:
        self.facts = GraphFacts(database)
        self.learned = 0
        self.passing: dict[ObjectId, PageRows] = {}
        self.absent: set[ObjectId] = set()
        self._contents = Contents(repository, snapshot)
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
        from ubp.indexing.worker import read_pages  # markdown-it takes 70 ms of CPU

        batches = self._batches(wanted)
        if len(wanted) < PAGES_WORTH_PROCESSES:
            yield from self._told(map(read_pages, batches))
            return
        from ubp.indexing.processes import count_processes, read_in_parallel

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
        size = FIRST_BATCH
        while names := list(islice(paths, size)):
            # Another process may have saved some of them since they were looked for.
            missing = self.facts.missing({wanted[path].id for path in names})
            todo = {path: wanted[path] for path in names if wanted[path].id in missing}
            contents = {todo[path].id: data for path, data in self._contents.read(todo).items()}
            blobs = {blob: data for blob, data in contents.items() if data is not None}
            self.absent |= contents.keys() - blobs.keys()
            self.passing |= {b: NOTHING for b, data in blobs.items() if blob_id(data) != b}
            yield blobs
            mean = max(1, sum(map(len, blobs.values())) // max(1, len(blobs)))
            size = max(1, min(PAGES_A_BATCH, BYTES_A_BATCH // mean))

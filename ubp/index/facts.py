"""What the documents of a snapshot say, each blob read and parsed once.

Bytes come from the work tree where it differs from the commit, else from Git; facts come from the
store where they are known, else from a parser, and are saved.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

from ubp.core.config import Config
from ubp.core.interruption import with_checkpoints
from ubp.core.model import Entry, FilePath, ObjectId, Page, PageFacts, Problem, Progress, Snapshot
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.index.store.store import Store

T = TypeVar("T")
Files = Mapping[FilePath, Entry]
Contents = dict[ObjectId, bytes]
Missing = Callable[[Collection[ObjectId]], set[ObjectId]]

# A batch is read with one call to git (3 ms); its bytes bound the memory where files are large.
MAX_BATCH_FILES = 256
MAX_BATCH_BYTES = 16 << 20
FIRST_BATCH_FILES = 16  # the mean size is unknown until some files have been read

UNREADABLE_REASON = (
    "Cannot read this page: it is larger than "
    f"{MAX_BLOB_BYTES >> 20} MB, or not available in this (partial) clone."
)
UNREADABLE = PageFacts(None, "spec", (), (), (), (Problem(1, UNREADABLE_REASON),))


def why_unreadable(page: Page) -> str | None:
    """Return why a document, which looks empty, could not be read; None: it was."""
    return UNREADABLE_REASON if page.facts == UNREADABLE else None


def files_per_batch(read: Collection[bytes], max_bytes: int = MAX_BATCH_BYTES) -> int:
    """Return how many files to read at once, judged by the mean size of those just read."""
    mean = max(1, sum(map(len, read)) // max(1, len(read)))
    return max(1, min(MAX_BATCH_FILES, max_bytes // mean))


class FileContents:
    """The bytes of one snapshot's files; their entries must be hashed."""

    def __init__(self, repository: Repository, snapshot: Snapshot) -> None:
        self._repository = repository
        self._snapshot = snapshot

    def is_unsaved(self, path: FilePath) -> bool:
        """Return whether an editor has not saved the bytes of a file."""
        return path in self._snapshot.buffers

    def read(self, files: Files) -> dict[FilePath, bytes | None]:
        """Return the bytes of these files; None: too large, or not available."""
        changed = {p: entry for p, entry in files.items() if p in self._snapshot.changes}
        contents = read_documents(self._repository, self._snapshot, changed)
        committed = {p: entry.id for p, entry in files.items() if p not in changed}
        blobs = self._repository.read_blobs(set(committed.values())) if committed else {}
        return contents | {path: blobs[blob] for path, blob in committed.items()}


class BlobFacts(Generic[T]):
    """Facts of one kind about a snapshot's blobs: parsed and saved once, where they are unknown.

    `parse` receives an iterator over batches of contents and the number of files, and yields facts
    by blob, in batches of its own. `save` stores them when at least `files_per_save` are ready: an
    interruption loses no more than that.

    Two kinds of facts are never saved: `transient` ones, parsed from bytes that are not the blob's
    own (a filter changes them between the disk and Git, or the file is being written) or that an
    editor has not saved, and those of `unreadable` blobs (too large, or not available).
    """

    def __init__(  # noqa: PLR0913  # the kinds of facts differ in as much
        self,
        contents: FileContents,
        parse: Callable[[Iterator[Contents], int], Iterator[dict[ObjectId, T]]],
        save: Callable[[dict[ObjectId, T]], None],
        progress: Callable[[int, int], None],
        *,
        max_batch_bytes: int = MAX_BATCH_BYTES,
        files_per_save: int = 1,
    ) -> None:
        self.parsed = 0
        self.transient: dict[ObjectId, T] = {}
        self.unreadable: set[ObjectId] = set()
        self._contents = contents
        self._parse = parse
        self._save = save
        self._progress = progress
        self._max_batch_bytes = max_batch_bytes
        self._files_per_save = files_per_save
        self._altered: set[ObjectId] = set()  # read, but not from the blob

    def is_saved(self, blob: ObjectId) -> bool:
        """Return whether the store has the facts of a blob that was asked for."""
        return blob not in self.transient and blob not in self.unreadable

    def are_all_saved(self) -> bool:
        """Return whether the store has the facts of every blob that was asked for."""
        return not self.transient and not self.unreadable

    def get(
        self, files: Files, load: Callable[[Collection[ObjectId]], dict[ObjectId, T]]
    ) -> dict[ObjectId, T]:
        """Return the facts by blob, unreadable blobs excepted; `load` reads them from the store."""
        facts: dict[ObjectId, T] = {}

        def missing(blobs: Collection[ObjectId]) -> set[ObjectId]:
            facts.update(load(blobs))
            return {blob for blob in with_checkpoints(blobs) if blob not in facts}

        for parsed in self._learn(files, missing):
            facts |= parsed
        if self.transient:
            blobs = {entry.id for entry in files.values()} - facts.keys()
            facts |= {blob: self.transient[blob] for blob in blobs & self.transient.keys()}
        return facts

    def learn(self, files: Files, missing: Missing) -> None:
        """Parse and save the facts of these files that the store lacks; `missing` asks it."""
        for _ in self._learn(files, missing):
            pass

    def _learn(self, files: Files, missing: Missing) -> Iterator[dict[ObjectId, T]]:
        unknown = missing({entry.id for entry in with_checkpoints(files.values())})
        unknown -= self.transient.keys() | self.unreadable
        if not unknown:
            return
        by_blob = {entry.id: (path, entry) for path, entry in files.items() if entry.id in unknown}
        pending = set(by_blob)
        ready: dict[ObjectId, T] = {}
        done, total = 0, len(by_blob)
        for facts in self._parse(self._read(by_blob, missing, pending), total):
            self.parsed += len(facts)
            self.transient |= {blob: facts[blob] for blob in facts.keys() & self._altered}
            ready |= {blob: fact for blob, fact in facts.items() if blob not in self.transient}
            pending -= facts.keys()
            if len(ready) >= self._files_per_save:
                self._save(ready)
                ready = {}
                done = total - len(pending)
                self._progress(done, total)
            yield facts
        if ready:
            self._save(ready)
        if done < total:
            self._progress(total, total)

    def _read(
        self,
        by_blob: Mapping[ObjectId, tuple[FilePath, Entry]],
        missing: Missing,
        pending: set[ObjectId],
    ) -> Iterator[Contents]:
        """Yield the contents in batches; take what needs no parsing from `pending`."""
        remaining = iter(by_blob)
        size = FIRST_BATCH_FILES
        while batch := list(islice(remaining, size)):
            # Another process may have saved some of them in the meantime.
            unknown = missing(batch)
            files = dict(by_blob[blob] for blob in batch if blob in unknown)
            read = {files[path].id: data for path, data in self._contents.read(files).items()}
            contents = {blob: data for blob, data in read.items() if data is not None}
            self.unreadable |= read.keys() - contents.keys()
            self._altered |= {blob for blob, data in contents.items() if blob_id(data) != blob}
            self._altered |= {e.id for path, e in files.items() if self._contents.is_unsaved(path)}
            pending.difference_update(blob for blob in batch if blob not in contents)
            yield contents
            size = files_per_batch(contents.values(), self._max_batch_bytes)


class DocumentFacts:
    """The front matter facts of a snapshot's documents; their entries must be hashed."""

    def __init__(
        self,
        repository: Repository,
        store: Store,
        config: Config,
        snapshot: Snapshot,
        progress: Progress,
    ) -> None:
        keys = config.facts_key
        self.blobs = BlobFacts(
            FileContents(repository, snapshot),
            self._parse,
            lambda facts: store.facts.save(facts, keys),
            lambda done, total: progress("Reading pages", done, total),
        )
        self._store = store
        self._config = config
        self._keys = keys

    def facts(self, documents: Files) -> dict[ObjectId, PageFacts]:
        """Return the facts of each document's blob."""
        facts = self.blobs.get(documents, lambda blobs: self._store.facts.read(blobs, self._keys))
        unreadable = self.blobs.unreadable
        if unreadable:
            facts |= {e.id: UNREADABLE for e in documents.values() if e.id in unreadable}
        return facts

    def learn(self, documents: Files) -> None:
        """Parse and save the facts of these documents that the store lacks."""
        self.blobs.learn(documents, lambda blobs: self._store.facts.missing(blobs, self._keys))

    def _parse(self, batches: Iterator[Contents], _: int) -> Iterator[dict[ObjectId, PageFacts]]:
        from ubp.markdown.document import parse_page  # not where every document is known

        config = self._config
        pins = config.pin_key, config.translation_pins
        for batch in batches:
            yield {blob: parse_page(data, config.keys, *pins) for blob, data in batch.items()}

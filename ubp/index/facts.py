"""Documents' bytes as Git stores them: from the work tree where it differs, else from Git.

What documents say: from the store where it is known, else parsed and kept there.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ubp.core.model import Entry, FilePath, ObjectId, PageFacts, Problem, Progress, Snapshot
from ubp.git.output import MAX_BLOB_BYTES, blob_id
from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.index.store.store import Store


class FileContents:
    """Reads the documents of one snapshot; their entries must be hashed."""

    def __init__(self, repository: Repository, snapshot: Snapshot) -> None:
        self._repository = repository
        self._snapshot = snapshot

    def read(self, wanted: Mapping[FilePath, Entry]) -> dict[FilePath, bytes | None]:
        """The bytes of these documents; None: too large, or not to be had."""
        changed = {p: entry for p, entry in wanted.items() if p in self._snapshot.changes}
        contents = read_documents(self._repository, self._snapshot, changed)
        committed = {p: entry.id for p, entry in wanted.items() if p not in changed}
        blobs = self._repository.read_blobs(set(committed.values())) if committed else {}
        return contents | {path: blobs[blob] for path, blob in committed.items()}


# A batch is read with one call to git (3 ms), and saved in one transaction; who is killed loses
# a batch, half a second of parsing. The bytes bound the memory where pages are large.
PAGES_A_BATCH = 256
BYTES_A_BATCH = 16 << 20
FIRST_BATCH = 16  # how large pages are is not known before some were read

UNREADABLE_REASON = (
    "The page could not be read: it is larger than "
    f"{MAX_BLOB_BYTES >> 20} MB, or neither on the disk nor in this (partial) clone."
)
UNREADABLE = PageFacts(None, "spec", (), (), (), (Problem(1, UNREADABLE_REASON),))

Documents = Mapping[FilePath, Entry]


class PageReader:
    """The facts of a snapshot's documents; their entries must be hashed.

    `parsed` counts the blobs that were parsed. `passing` holds what the store must not learn: that
    a blob could not be had, and what bytes say that are not the blob's own (a filter stands between
    the disk and Git, or somebody is writing the file just now).
    """

    def __init__(
        self,
        repository: Repository,
        store: Store,
        keys: Sequence[str],
        snapshot: Snapshot,
        progress: Progress,
    ) -> None:
        self.parsed = 0
        self.passing: dict[ObjectId, PageFacts] = {}
        self._repository = repository
        self._store = store
        self._keys = keys
        self._snapshot = snapshot
        self._progress = progress

    def facts(self, documents: Documents) -> dict[ObjectId, PageFacts]:
        """The facts of each document's blob."""
        blobs = {entry.id for entry in documents.values()}
        found = self._store.facts(blobs, self._keys)
        missing = {path: entry for path, entry in documents.items() if entry.id not in found}
        for batch in self._parse(missing):
            found |= batch
        return found

    def learn(self, documents: Documents) -> None:
        """See that the store knows the facts of these documents."""
        missing = self._store.missing_facts({e.id for e in documents.values()}, self._keys)
        for _ in self._parse({p: e for p, e in documents.items() if e.id in missing}):
            pass

    def _parse(self, documents: Documents) -> Iterator[dict[ObjectId, PageFacts]]:
        by_blob = {entry.id: path for path, entry in documents.items()}
        paths = iter(by_blob.values())
        done, size = 0, FIRST_BATCH
        while batch := list(islice(paths, size)):
            facts, read_bytes = self._parse_batch({path: documents[path] for path in batch})
            yield facts
            done += len(batch)
            self._progress("Reading pages", done, len(by_blob))
            mean = max(1, read_bytes // len(batch))
            size = max(1, min(PAGES_A_BATCH, BYTES_A_BATCH // mean))

    def _parse_batch(self, batch: Documents) -> tuple[dict[ObjectId, PageFacts], int]:
        blobs = {entry.id for entry in batch.values()}
        found = {blob: self.passing[blob] for blob in blobs & self.passing.keys()}
        # Another process may have saved some of them since they were looked for.
        found |= self._store.facts(blobs - found.keys(), self._keys)
        wanted = {path: entry for path, entry in batch.items() if entry.id not in found}
        contents = {wanted[path].id: data for path, data in self._read(wanted).items()}
        read = {blob: data for blob, data in contents.items() if data is not None}
        parsed = _parse_all(read, self._keys)
        self.parsed += len(parsed)
        self.passing.update(
            (blob, parsed.get(blob, UNREADABLE))
            for blob, data in contents.items()
            if data is None or blob_id(data) != blob
        )
        lasting = {blob: facts for blob, facts in parsed.items() if blob not in self.passing}
        self._store.save_facts(lasting, self._keys)
        told = {blob: parsed.get(blob, UNREADABLE) for blob in contents}
        return found | told, sum(map(len, read.values()))

    def _read(self, wanted: Documents) -> dict[FilePath, bytes | None]:
        changed = {p: entry for p, entry in wanted.items() if p in self._snapshot.changes}
        contents = read_documents(self._repository, self._snapshot, changed)
        committed = {p: entry.id for p, entry in wanted.items() if p not in changed}
        blobs = self._repository.read_blobs(set(committed.values())) if committed else {}
        return contents | {path: blobs[blob] for path, blob in committed.items()}


def _parse_all(blobs: Mapping[ObjectId, bytes], keys: Sequence[str]) -> dict[ObjectId, PageFacts]:
    if not blobs:
        return {}
    from ubp.markdown.document import parse_page

    return {blob: parse_page(data, keys) for blob, data in blobs.items()}

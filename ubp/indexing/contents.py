"""Documents' bytes as Git stores them: from the work tree where it differs, else from Git."""

from collections.abc import Mapping

from ubp.git.repository import Repository
from ubp.git.snapshot import read_documents
from ubp.model import Entry, FilePath, Snapshot


class Contents:
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

"""How many chunks of each repository contain a common phrase, as a process has counted them.

To count the half of a million chunks that contain a word takes PostgreSQL 0.2 s. So common phrases
are counted once, and then only in the repositories that have changed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Lock

from ubp.hub.mirror import MirroredTip
from ubp.index.match import Phrase
from ubp.index.store.fulltext import Table

MIN_CHUNKS = 500  # fewer are counted in a millisecond
MAX_PHRASES = 500  # each takes up to 200 kB with 2,000 repositories


@dataclass(frozen=True, slots=True)
class _Counts:
    """The chunks with a phrase by repository, and the versions of the repositories then."""

    chunks: Mapping[int, int]
    versions: Mapping[int, int]


class Frequencies:
    """The numbers of chunks with common phrases; for several threads.

    A reader's number is the sum over the repositories that he may read.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[Phrase, Table], _Counts] = {}

    def known(
        self, what: tuple[Phrase, Table], tips: Mapping[int, MirroredTip]
    ) -> tuple[int, Collection[int]]:
        """Return the number of chunks in these tips, and which of them must be counted first."""
        with self._lock:
            counts = self._counts.pop(what, None)
            if counts is None:
                return 0, tips.keys()
            self._counts[what] = counts  # the last to be forgotten
        versions = counts.versions
        changed = [n for n, tip in tips.items() if versions.get(n) != tip.tip.version]
        return sum(counts.chunks.get(repository, 0) for repository in tips), changed

    def add(
        self,
        what: tuple[Phrase, Table],
        tips: Mapping[int, MirroredTip],
        chunks: Mapping[int, int],
    ) -> int:
        """Keep the chunks that were counted where they must be; return the number in these tips."""
        with self._lock:
            known = self._counts.get(what, _Counts({}, {}))
            versions = {repository: tip.tip.version for repository, tip in tips.items()}
            same = {
                repository: number
                for repository, number in known.chunks.items()
                if known.versions[repository] == versions.get(repository)
                or repository not in versions
            }
            counts = _Counts({**same, **chunks}, {**known.versions, **versions})
            total = sum(counts.chunks.get(repository, 0) for repository in tips)
            if what in self._counts or total >= MIN_CHUNKS:
                self._counts[what] = counts
            if len(self._counts) > MAX_PHRASES:
                del self._counts[next(iter(self._counts))]
        return total

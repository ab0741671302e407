"""How many chunks of each repository contain a common phrase, as a process has counted them.

To count the half of a million chunks that contain a word takes PostgreSQL 0.2 s. So common phrases
are counted once, and then only in the repositories that have changed.
"""

from collections.abc import Mapping
from threading import Lock

from ubp.hub.mirror import MirroredTip
from ubp.index.match import Phrase
from ubp.index.store.tokenizer import Table

MIN_CHUNKS = 500  # fewer are counted in a millisecond
MAX_PHRASES = 500  # each takes up to 200 kB with 2,000 repositories

Counted = tuple[Phrase, Table]


class Frequencies:
    """The numbers of chunks with common phrases; for several threads.

    A reader's number is the sum over the repositories that he may read.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # By repository: the version whose chunks were counted, and their number.
        self._counts: dict[Counted, dict[int, tuple[int, int]]] = {}

    def known(self, what: Counted, tips: Mapping[int, MirroredTip]) -> dict[int, int]:
        """Return the numbers of those of these repositories that were counted as they are now."""
        with self._lock:
            counts = self._counts.pop(what, None)
            if counts is None:
                return {}
            self._counts[what] = counts  # the last to be forgotten
            return {
                repository: counts[repository][1]
                for repository, tip in tips.items()
                if repository in counts and counts[repository][0] == tip.tip.version
            }

    def keep(
        self, what: Counted, tips: Mapping[int, MirroredTip], chunks: Mapping[int, int]
    ) -> None:
        """Keep the numbers of these repositories; one that `chunks` lacks has none."""
        with self._lock:
            if what not in self._counts and sum(chunks.values()) < MIN_CHUNKS:
                return
            self._counts.setdefault(what, {}).update(
                (repository, (tip.tip.version, chunks.get(repository, 0)))
                for repository, tip in tips.items()
            )
            if len(self._counts) > MAX_PHRASES:
                del self._counts[next(iter(self._counts))]

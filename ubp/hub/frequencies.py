"""How many chunks of each repository contain a common phrase, as a process has counted them.

The number of a word, or of a pair of CJK characters, is what its pushes have listed. A phrase is
found in each search (`HubWords.find_phrases`); one that is very common, or beside a condition, is
counted in the chunks: in a million of them PostgreSQL takes 1 to 5 ms for the one, 0.1 s and more
for the other. Both numbers are asked for once, and then only where repositories have changed.
"""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ubp.hub.tokens import lexemes_of
from ubp.index.match import Phrase
from ubp.index.store.tokenizer import Table

MIN_CHUNKS = 500  # a word that fewer contain is not kept: there are too many
MAX_PHRASES = 4_000  # each takes 8 kB with 2,000 repositories
UNKNOWN = -1

Counted: TypeAlias = tuple[Phrase, Table]
Numbers: TypeAlias = npt.NDArray[np.int64]


class Versions(NamedTuple):
    """Repositories, each once, and the versions of their texts."""

    repositories: Numbers
    versions: Numbers

    @classmethod
    def of(cls, versions: Iterable[tuple[int, int]]) -> "Versions":
        """Return pairs of repositories and versions."""
        repositories, numbers = np.array([*versions], dtype=np.int64).reshape(-1, 2).T
        return cls(repositories, numbers)

    def __len__(self) -> int:
        return len(self.repositories)

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Versions":
        """Return those that are chosen."""
        return Versions(self.repositories[chosen], self.versions[chosen])


class Frequencies:
    """The numbers of chunks with common phrases; for several threads.

    A reader's number is the sum over the repositories that he may read.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # By repository: the newest version whose chunks any phrase was counted in.
        self._versions: Numbers = np.zeros(0, dtype=np.int64)
        # By the row of a phrase and by repository: the chunks of that version.
        self._counts: npt.NDArray[np.int32] = np.zeros((0, 0), dtype=np.int32)
        self._rows: dict[Counted, int] = {}

    def known(self, what: Counted, asked: Versions) -> tuple[int, Versions]:
        """Return the chunks of the repositories that were counted as they are, and the others."""
        with self._lock:
            row = self._rows.pop(what, None)
            if row is None:
                return 0, asked
            self._rows[what] = row  # the last to be forgotten
            self._make_room(asked)
            counts = self._counts[row, asked.repositories]
            is_same = self._versions[asked.repositories] == asked.versions
        is_known = is_same & (counts != UNKNOWN)
        return int(counts[is_known].sum()), asked.only(~is_known)

    def keep(self, what: Counted, asked: Versions, chunks: Mapping[int, int]) -> None:
        """Keep the numbers of these repositories; one that `chunks` lacks has none."""
        if not len(asked):
            return
        with self._lock:
            is_word = len(lexemes_of(*what)) == 1
            if is_word and sum(chunks.values()) < MIN_CHUNKS and what not in self._rows:
                return
            self._make_room(asked)
            known = self._versions[asked.repositories]
            changed = asked.only(asked.versions > known)
            self._versions[changed.repositories] = changed.versions
            self._counts[:, changed.repositories] = UNKNOWN
            counted = asked.only(asked.versions >= known).repositories.tolist()
            numbers = [chunks.get(repository, 0) for repository in counted]
            row = self._row(what)
            self._counts[row, counted] = numbers

    def _make_room(self, asked: Versions) -> None:
        """Make room for these repositories."""
        needed = int(asked.repositories.max(initial=0)) + 1
        if (added := needed - len(self._versions)) > 0:
            self._versions = np.pad(self._versions, (0, added))
            pad = (0, 0), (0, added)
            self._counts = np.pad(self._counts, pad, constant_values=UNKNOWN)

    def _row(self, what: Counted) -> int:
        """Return the row of a phrase, which may be that of the one asked for longest ago."""
        if what in self._rows:
            return self._rows[what]
        row = len(self._rows)
        if row == MAX_PHRASES:
            row = self._rows.pop(next(iter(self._rows)))
            self._counts[row] = UNKNOWN
        elif row == len(self._counts):
            pad = (0, max(16, row)), (0, 0)
            self._counts = np.pad(self._counts, pad, constant_values=UNKNOWN)
        self._rows[what] = row
        return row

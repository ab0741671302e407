"""Evidence in history: the commits that changed a document and a source; small ones count more."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.git.change_log import LoggedChange

# One or two commits do not show what belongs together: an import adds everything at once.
PRIOR = 0.7
# A commit of ten files has 0.3 of the weight of a commit of one file.
MIN_INFORMATIVE = 0.25


class CoChangeCount(NamedTuple):
    """How a document and a source changed together, as shares from 0 to 1, and in how many commits.

    `of_page`: of the document's commits, `of_source`: of the source's, each weighted by its size;
    `at_birth`: the weight of the commit that added the document.
    """

    of_page: float
    of_source: float
    at_birth: float
    commits: int


class _Change(NamedTuple):
    """The weight of a commit, and the numbers of the sources that it changed."""

    weight: float
    sources: Sequence[int]


class CoChangeHistory:
    """Which sources changed with which documents, from a log with the newest commit first."""

    def __init__(
        self,
        log: Iterable[LoggedChange],
        numbers: Mapping[FilePath, int],
        pages: Collection[FilePath],
    ) -> None:
        self._commits: list[list[int]] = [[] for _ in numbers]
        self._source_weights = [0.0] * len(numbers)
        self._page_changes: dict[FilePath, list[_Change]] = {page: [] for page in pages}
        self.commits = 0
        for change in log:
            self.commits += 1
            self._add(change.paths, numbers)

    def activities(self) -> list[float]:
        """Return how much busier each source is than average, in logarithms of its commits."""
        logs = [math.log1p(len(commits)) for commits in self._commits]
        average = sum(logs) / (len(logs) or 1)
        return [value - average for value in logs]

    def count_commits(self, numbers: Iterable[int]) -> int:
        """Return the number of commits in which any of these sources changed."""
        return len(set().union(*(self._commits[number] for number in numbers)))

    def has_history(self, page: FilePath) -> bool:
        """Return whether a document has more history than an import of everything."""
        changes = self._page_changes.get(page, ())
        return sum(change.weight for change in changes) >= MIN_INFORMATIVE

    def co_changes(self, page: FilePath) -> dict[int, CoChangeCount]:
        """Return the sources that changed together with a document."""
        changes = self._page_changes.get(page, [])
        total = sum(change.weight for change in changes)
        shared: dict[int, float] = {}
        counts: dict[int, int] = {}
        for weight, sources in changes:
            for number in sources:
                shared[number] = shared.get(number, 0.0) + weight
                counts[number] = counts.get(number, 0) + 1
        birth = changes[-1] if changes else _Change(0.0, ())
        added = frozenset(birth.sources)
        return {
            number: CoChangeCount(
                weight / (total + PRIOR),
                weight / (self._source_weights[number] + PRIOR),
                birth.weight if number in added else 0.0,
                counts[number],
            )
            for number, weight in shared.items()
        }

    def _add(self, paths: Sequence[FilePath], numbers: Mapping[FilePath, int]) -> None:
        sources = [numbers[path] for path in paths if path in numbers]
        weight = 1 / math.log2(1 + len(paths)) if paths else 0.0
        for number in sources:
            self._commits[number].append(self.commits)
            self._source_weights[number] += weight
        change = _Change(weight, sources)
        for path in paths:
            if path in self._page_changes:
                self._page_changes[path].append(change)

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


class CoChanges(NamedTuple):
    """Which documents and sources the commits of a log changed; the sources are numbers.

    `commits` is their number, `of_sources` the commits that changed each source, `weights` the sum
    of theirs; `changes` are the weight and the sources of each commit that changed a document, and
    `of_pages` their indices for each document, the newest first.
    """

    commits: int
    of_sources: Sequence[Sequence[int]]
    weights: Sequence[float]
    changes: Sequence[tuple[float, Sequence[int]]]
    of_pages: Mapping[FilePath, Sequence[int]]


def count_co_changes(
    log: Iterable[LoggedChange], numbers: Mapping[FilePath, int], pages: Collection[FilePath]
) -> CoChanges:
    """Return what changed together in a log with the newest commit first."""
    of_sources: list[list[int]] = [[] for _ in numbers]
    weights = [0.0] * len(numbers)
    changes: list[tuple[float, Sequence[int]]] = []
    of_pages: dict[FilePath, list[int]] = {page: [] for page in pages}
    commits = 0
    for change in log:
        commits += 1
        sources = [numbers[path] for path in change.paths if path in numbers]
        weight = 1 / math.log2(1 + len(change.paths)) if change.paths else 0.0
        for number in sources:
            of_sources[number].append(commits)
            weights[number] += weight
        edited = [path for path in change.paths if path in of_pages]
        for path in edited:
            of_pages[path].append(len(changes))
        if edited:
            changes.append((weight, sources))
    return CoChanges(commits, of_sources, weights, changes, of_pages)


class CoChangeHistory:
    """Which sources changed with which documents."""

    def __init__(self, co_changes: CoChanges) -> None:
        self._changes = co_changes
        self.commits = co_changes.commits

    def activities(self) -> list[float]:
        """Return how much busier each source is than average, in logarithms of its commits."""
        logs = [math.log1p(len(commits)) for commits in self._changes.of_sources]
        average = sum(logs) / (len(logs) or 1)
        return [value - average for value in logs]

    def count_commits(self, numbers: Iterable[int]) -> int:
        """Return the number of commits in which any of these sources changed."""
        return len(set().union(*(self._changes.of_sources[number] for number in numbers)))

    def has_history(self, page: FilePath) -> bool:
        """Return whether a document has more history than an import of everything."""
        return sum(weight for weight, _ in self._of_page(page)) >= MIN_INFORMATIVE

    def co_changes(self, page: FilePath) -> dict[int, CoChangeCount]:
        """Return the sources that changed together with a document."""
        changes = self._of_page(page)
        total = sum(weight for weight, _ in changes)
        shared: dict[int, float] = {}
        counts: dict[int, int] = {}
        for weight, sources in changes:
            for number in sources:
                shared[number] = shared.get(number, 0.0) + weight
                counts[number] = counts.get(number, 0) + 1
        birth, sources_at_birth = changes[-1] if changes else (0.0, ())
        added = frozenset(sources_at_birth)
        return {
            number: CoChangeCount(
                weight / (total + PRIOR),
                weight / (self._changes.weights[number] + PRIOR),
                birth if number in added else 0.0,
                counts[number],
            )
            for number, weight in shared.items()
        }

    def _of_page(self, page: FilePath) -> list[tuple[float, Sequence[int]]]:
        changes = self._changes.changes
        return [changes[index] for index in self._changes.of_pages.get(page, ())]

"""Evidence in history: the commits that changed a page and a source; a small one tells more."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.git.change_log import LoggedChange

# One or two commits do not yet tell what belongs together: an import brings everything at once.
PRIOR = 0.7
# A commit of ten files has 0.3 of the weight that a commit of one has.
MIN_INFORMATIVE = 0.25


class CoChangeCount(NamedTuple):
    """How a page and a source changed together, in shares from 0 to 1, and in how many commits.

    `of_page`: of the page's commits, `of_source`: of the source's, each weighed by its size;
    `at_birth`: how telling the commit was that brought the page.
    """

    of_page: float
    of_source: float
    at_birth: float
    commits: int


class CoChangeHistory:
    """Which sources changed with which pages."""

    def __init__(
        self,
        log: Iterable[LoggedChange],
        numbers: Mapping[FilePath, int],
        pages: Collection[FilePath],
    ) -> None:
        self._commits: list[list[int]] = [[] for _ in numbers]
        self._of_sources = [0.0] * len(numbers)
        self._of_pages: dict[FilePath, list[_Change]] = {page: [] for page in pages}
        self.commits = 0
        for change in log:
            self.commits += 1
            self._add(change.paths, numbers)

    def activities(self) -> list[float]:
        """How much busier each source is than usual, in logarithms of its commits."""
        logs = [math.log1p(len(commits)) for commits in self._commits]
        usual = sum(logs) / (len(logs) or 1)
        return [one - usual for one in logs]

    def count_touching(self, numbers: Iterable[int]) -> int:
        """In how many commits any of these sources changed."""
        return len(set().union(*(self._commits[number] for number in numbers)))

    def knows(self, page: FilePath) -> bool:
        """Whether a page has more history than an import of everything."""
        return sum(one.weight for one in self._of_pages.get(page, ())) >= MIN_INFORMATIVE

    def with_page(self, page: FilePath) -> dict[int, CoChangeCount]:
        """What changed together with a page."""
        changes = self._of_pages.get(page, [])
        whole = sum(one.weight for one in changes)
        shared: dict[int, float] = {}
        counts: dict[int, int] = {}
        for weight, sources in changes:
            for number in sources:
                shared[number] = shared.get(number, 0.0) + weight
                counts[number] = counts.get(number, 0) + 1
        birth = changes[-1] if changes else _Change(0.0, ())  # the log is read backwards
        brought = frozenset(birth.sources)
        return {
            number: CoChangeCount(
                weight / (whole + PRIOR),
                weight / (self._of_sources[number] + PRIOR),
                birth.weight if number in brought else 0.0,
                counts[number],
            )
            for number, weight in shared.items()
        }

    def _add(self, paths: Sequence[FilePath], numbers: Mapping[FilePath, int]) -> None:
        sources = [numbers[path] for path in paths if path in numbers]
        weight = 1 / math.log2(1 + len(paths)) if paths else 0.0
        for number in sources:
            self._commits[number].append(self.commits)
            self._of_sources[number] += weight
        change = _Change(weight, sources)
        for path in paths:
            if path in self._of_pages:
                self._of_pages[path].append(change)


class _Change(NamedTuple):
    """How telling a commit is, and which sources it changed."""

    weight: float
    sources: Sequence[int]

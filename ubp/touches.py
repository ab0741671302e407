"""Which of a row of commits touched a file, a folder or what a glob matches; pure text."""

from collections.abc import Collection, Iterable, Sequence

from ubp.model import FilePath
from ubp.paths import Glob, is_glob


class Touches:
    """For each of these names the numbers of the commits that touched it; the first has number 0.

    A name is a file's path, a folder's or a glob; `commits` are the files that each commit touched.
    """

    def __init__(self, commits: Iterable[Collection[FilePath]], names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._globs = [Glob(name) for name in sorted(self._names) if is_glob(name)]
        self._meeting: dict[FilePath, tuple[str, ...]] = {}  # most files are touched many times
        self._numbers: dict[str, list[int]] = {name: [] for name in self._names}
        for number, paths in enumerate(commits):
            for name in {name for path in paths for name in self._names_of(path)}:
                self._numbers[name].append(number)

    def of(self, name: str) -> Sequence[int]:
        """The numbers of the commits that touched it, in order."""
        return self._numbers[name]

    def _names_of(self, path: FilePath) -> tuple[str, ...]:
        found = self._meeting.get(path)
        if found is None:
            found = self._meeting[path] = tuple(self._find_names(path))
        return found

    def _find_names(self, path: FilePath) -> Iterable[str]:
        at: str = path
        while at:
            if at in self._names:
                yield at
            at = at.rpartition("/")[0]
        if "" in self._names:
            yield ""
        for glob in self._globs:
            if glob.pattern != path and glob.matches(path):
                yield glob.pattern

"""Where the pages went that a change took away."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from ubp.git.repository import Repository
from ubp.git.trees import similar_file
from ubp.index import View
from ubp.model import Entry, FilePath
from ubp.paths import closest, normalise
from ubp.targets import stem, without_suffix

Lookup = Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]]

# A page that was edited while it moved is known by its lines, each of the gone ones compared with
# each of the new ones: 2 ms a pair.
MOST_PAIRS = 400


class Renames:
    """The renames of a change: from what `before` tells of its paths to what stands in the view."""

    def __init__(
        self,
        repository: Repository,
        view: View,
        before: Lookup,
        changes: Mapping[FilePath, Entry | None],
    ) -> None:
        self._repository = repository
        self._view = view
        self._before = before
        self._changes = changes
        self._found: dict[FilePath, FilePath | None] = {}

    def of_path(self, path: str) -> FilePath | None:
        """Where the page went that stood at this path, with or without its suffix."""
        wanted = normalise(path)
        gone = [old for old in self._gone if wanted in {old, without_suffix(old)}]
        return self._follow(gone[0]) if gone else None

    def of_name(self, name: str) -> FilePath | None:
        """Where the only page of this name went."""
        gone = [old for old in self._gone if stem(old) == stem(name)]
        return self._follow(gone[0]) if len(gone) == 1 else None

    def origin(self, path: FilePath) -> FilePath | None:
        """Where the page was before, which stands at this path now; None: it did not move."""
        return self._origins.get(path)

    @cached_property
    def _origins(self) -> dict[FilePath, FilePath]:
        return {new: old for old in self._gone if (new := self._follow(old))}

    @cached_property
    def _gone(self) -> dict[FilePath, Entry]:
        removed = [path for path, entry in self._changes.items() if entry is None]
        there = self._before(removed)
        return {p: entry for p, entry in there.items() if entry and entry.is_file}

    @cached_property
    def _added(self) -> dict[FilePath, Entry]:
        before = self._before([path for path, entry in self._changes.items() if entry])
        there = self._view.entries([path for path, entry in before.items() if entry is None])
        return {path: e for path, e in there.items() if e and e.is_file and self._is_page(path)}

    def _is_page(self, path: FilePath) -> bool:
        return self._view.page(path) is not None

    def _follow(self, path: FilePath) -> FilePath | None:
        if path not in self._found:
            self._found[path] = self._look(path, self._gone[path])
        return self._found[path]

    def _look(self, path: FilePath, old: Entry) -> FilePath | None:
        equal = [new for new, entry in self._added.items() if entry.id == old.id]
        if equal:
            return closest(path, equal)
        if not 0 < len(self._added) * len(self._gone) <= MOST_PAIRS:
            return None
        candidates = {new: entry.id for new, entry in self._added.items()}
        return similar_file(self._repository, old.id, candidates)

"""Where the files went that a change took away."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from ubp.core.model import Entry, FilePath, ObjectId
from ubp.core.paths import closest_path, normalize_path
from ubp.git.repository import Repository
from ubp.git.trees import similar_file
from ubp.index.view import View
from ubp.markdown.resolve import stem, without_suffix

Lookup = Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]]

# A file that was edited while it moved is known by its lines, each of the gone ones compared with
# each of the new ones: 2 ms a pair.
MAX_PAIRS = 400


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

    def of_path(self, path: str) -> FilePath | None:
        """Where the file went that stood at this path; a page's suffix may be missing."""
        wanted = normalize_path(path)
        old = self._gone_pages.get(wanted, wanted) if wanted else None
        return self._found.get(old) if old else None

    def of_name(self, name: str) -> FilePath | None:
        """Where the only page of this name went."""
        gone = self._gone_names.get(stem(name), [])
        return self._found.get(gone[0]) if len(gone) == 1 else None

    def origin(self, path: FilePath) -> FilePath | None:
        """Where the file was before, which stands at this path now; None: it did not move."""
        return self._origins.get(path)

    @cached_property
    def _found(self) -> dict[FilePath, FilePath]:
        by_blob: dict[ObjectId, list[FilePath]] = {}
        for path, entry in self._added.items():
            by_blob.setdefault(entry.id, []).append(path)
        found = {
            old: new
            for old, entry in self._gone.items()
            if (new := closest_path(old, by_blob.get(entry.id, ())))
        }
        return found | self._similar(self._gone.keys() - found, set(found.values()))

    def _similar(
        self, gone: Collection[FilePath], taken: Collection[FilePath]
    ) -> dict[FilePath, FilePath]:
        free = {path: entry.id for path, entry in self._added.items() if path not in taken}
        if not 0 < len(gone) * len(free) <= MAX_PAIRS:
            return {}
        found = {}
        for old in sorted(gone):
            alike = {path: blob for path, blob in free.items() if _ending(path) == _ending(old)}
            new = similar_file(self._repository, self._gone[old].id, alike) if alike else None
            if new:
                found[old] = new
        return found

    @cached_property
    def _origins(self) -> dict[FilePath, FilePath]:
        return {new: old for old, new in self._found.items()}

    @cached_property
    def _gone_pages(self) -> dict[str, FilePath]:
        return {without_suffix(old): old for old in self._gone if without_suffix(old) != old}

    @cached_property
    def _gone_names(self) -> dict[str, list[FilePath]]:
        names: dict[str, list[FilePath]] = {}
        for old in self._gone_pages.values():
            names.setdefault(stem(old), []).append(old)
        return names

    @cached_property
    def _gone(self) -> dict[FilePath, Entry]:
        removed = [path for path, entry in self._changes.items() if entry is None]
        there = self._before(removed)
        return {p: entry for p, entry in there.items() if entry and entry.is_file}

    @cached_property
    def _added(self) -> dict[FilePath, Entry]:
        before = self._before([path for path, entry in self._changes.items() if entry])
        there = self._view.entries([path for path, entry in before.items() if entry is None])
        return {path: entry for path, entry in there.items() if entry and entry.is_file}


def _ending(path: FilePath) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()

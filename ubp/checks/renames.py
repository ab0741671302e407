"""Renames of a change: where the files went that it removed."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from ubp.core.model import MODE_SYMLINK, Entry, FilePath, ObjectId
from ubp.core.paths import closest_path, normalize_path
from ubp.git.repository import Repository
from ubp.git.trees import similar_file
from ubp.index.view import View
from ubp.markdown.resolve import stem, without_suffix

# A file that was edited and moved is recognized by its lines: each removed file is compared with
# each new one, which takes 2 ms a pair.
MAX_PAIRS = 400


class Renames:
    """The renames from a state, in which `before` looks up entries, to that of `view`."""

    def __init__(
        self,
        repository: Repository,
        view: View,
        before: Callable[[Collection[FilePath]], Mapping[FilePath, Entry | None]],
        changes: Mapping[FilePath, Entry | None],
    ) -> None:
        self._repository = repository
        self._view = view
        self._before = before
        self._changes = changes

    def new_path(self, path: str) -> FilePath | None:
        """Return the new path of the file that was at this one; a page's suffix may be missing."""
        normalized = normalize_path(path)
        if not normalized:
            return None
        return self.new_paths.get(self._removed_pages.get(normalized, normalized))

    def new_path_by_name(self, name: str) -> FilePath | None:
        """Return the new path of the only removed page of this name."""
        removed = self._removed_pages_by_stem.get(stem(name), [])
        return self.new_paths.get(removed[0]) if len(removed) == 1 else None

    def similar_path(self, path: FilePath) -> FilePath | None:
        """Return the most similar new file to a removed one, whatever its suffix.

        Where too many files would have to be compared, only the nearest of the same name is.
        """
        entry = self.removed.get(path)
        if entry is None:
            return None
        candidates = self._unmatched
        if len(candidates) * len(self.removed) > MAX_PAIRS:
            namesake = closest_path(path, self._unmatched_by_name.get(_name(path), ()))
            candidates = {namesake: candidates[namesake]} if namesake else {}
        return similar_file(self._repository, entry.id, candidates) if candidates else None

    def origin(self, path: FilePath) -> FilePath | None:
        """Return the old path of the file that is now at this one, None if it did not move."""
        return self._old_paths.get(path)

    @cached_property
    def new_paths(self) -> dict[FilePath, FilePath]:
        """The new path of each file that moved, by its old one."""
        added_by_blob: dict[ObjectId, list[FilePath]] = {}
        for path, entry in self._added.items():
            added_by_blob.setdefault(entry.id, []).append(path)
        identical = {
            old: new
            for old, entry in self.removed.items()
            if (new := closest_path(old, added_by_blob.get(entry.id, ())))
        }
        files = {path for path, entry in self.removed.items() if entry.is_file}
        remaining = files - identical.keys()
        return identical | self._match_similar(remaining, set(identical.values()))

    def _match_similar(
        self, removed: Collection[FilePath], taken: Collection[FilePath]
    ) -> dict[FilePath, FilePath]:
        candidates = {
            path: entry.id
            for path, entry in self._added.items()
            if entry.is_file and path not in taken
        }
        if not 0 < len(removed) * len(candidates) <= MAX_PAIRS:
            return {}
        new_paths = {}
        for old in sorted(removed):
            same_suffix = {
                path: blob for path, blob in candidates.items() if _suffix(path) == _suffix(old)
            }
            if same_suffix:
                new = similar_file(self._repository, self.removed[old].id, same_suffix)
                if new:
                    new_paths[old] = new
        return new_paths

    @cached_property
    def _old_paths(self) -> dict[FilePath, FilePath]:
        return {new: old for old, new in self.new_paths.items()}

    @cached_property
    def _unmatched(self) -> dict[FilePath, ObjectId]:
        """The blobs of the new files that no removed one was found to have become."""
        taken = self._old_paths
        return {path: entry.id for path, entry in self._added.items() if path not in taken}

    @cached_property
    def _unmatched_by_name(self) -> dict[str, list[FilePath]]:
        paths: dict[str, list[FilePath]] = {}
        for path in self._unmatched:
            paths.setdefault(_name(path), []).append(path)
        return paths

    @cached_property
    def _removed_pages(self) -> dict[str, FilePath]:
        """The removed pages by their paths without suffix."""
        return {without_suffix(old): old for old in self.removed if without_suffix(old) != old}

    @cached_property
    def _removed_pages_by_stem(self) -> dict[str, list[FilePath]]:
        pages: dict[str, list[FilePath]] = {}
        for old in self._removed_pages.values():
            pages.setdefault(stem(old), []).append(old)
        return pages

    @cached_property
    def removed(self) -> dict[FilePath, Entry]:
        """The files and symlinks that are at their paths no more."""
        entries = self._before([path for path, entry in self._changes.items() if entry is None])
        return {path: entry for path, entry in entries.items() if entry and _can_move(entry)}

    @cached_property
    def replaced(self) -> dict[FilePath, Entry]:
        """The files that the change removed or edited, as they were."""
        entries = self._before(list(self._changes))
        return {path: entry for path, entry in entries.items() if entry and entry.is_file}

    @cached_property
    def _added(self) -> dict[FilePath, Entry]:
        before = self._before([path for path, entry in self._changes.items() if entry])
        after = self._view.entries([path for path, entry in before.items() if entry is None])
        return {path: entry for path, entry in after.items() if entry and _can_move(entry)}


def _can_move(entry: Entry) -> bool:
    return entry.is_file or entry.mode == MODE_SYMLINK


def _name(path: FilePath) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _suffix(path: FilePath) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()

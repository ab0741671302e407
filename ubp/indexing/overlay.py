"""Files that differ from a commit, laid over the commit's files: the whole snapshot."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from ubp.git.repository import Repository
from ubp.git.snapshot import hash_files
from ubp.git.trees import tree_id
from ubp.indexing.base import Base
from ubp.model import MODE_TREE, UNHASHED, Entry, FilePath

ROOT = FilePath("")
Changes = Mapping[FilePath, Entry | None]


class Overlay:
    """What stands where in a snapshot; files of the work tree are hashed once they are asked for.

    `has_folders`: the changes tell folders too, with their trees (they come from comparing two
    commits); else the tree of a folder with changes below it is computed as Git would.
    """

    def __init__(
        self, repository: Repository, base: Base, changes: Changes, *, has_folders: bool
    ) -> None:
        self._repository = repository
        self._base = base
        self._changes = dict(changes)
        self._has_folders = has_folders
        self._trees: dict[FilePath, Entry | None] = {}

    def __contains__(self, path: FilePath) -> bool:
        """Whether a path differs from the commit."""
        return path in self._changes

    @property
    def under(self) -> "Overlay":
        """The same without the changes: the commit."""
        return Overlay(self._repository, self._base, {}, has_folders=True)

    @property
    def changes(self) -> Changes:
        """What differs, as far as it is hashed."""
        return self._changes

    def entries(self, paths: Collection[FilePath]) -> dict[FilePath, Entry | None]:
        """What stands at these paths, files and folders; None: nothing. "" is the root."""
        folders = [path for path in paths if path in self._touched]
        self._make_trees(folders, also_hash=paths)
        unchanged = [p for p in paths if p not in self._changes and p not in self._trees]
        found = self._base.entries(unchanged)
        return {
            path: self._changes.get(path) or self._trees.get(path) or found.get(path)
            for path in paths
        }

    def files(self, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        """Every file below a folder, in the order of their paths: whatever is no folder itself."""
        prefix = f"{folder}/" if folder else ""
        changed = [path for path in self._changes if path.startswith(prefix)]
        self._hash(changed)
        files: dict[FilePath, Entry | None] = dict(self._base.files(folder))
        files.update((path, self._changes[path]) for path in changed)
        return sorted(
            (path, entry) for path, entry in files.items() if entry and not entry.is_directory
        )

    def paths_beyond_ascii(self) -> set[FilePath]:
        """The paths, some of them gone perhaps, that may be written in several Unicode forms."""
        changed = self._changes.keys() | self._touched.keys()
        return {*self._base.beyond_ascii(), *(path for path in changed if not path.isascii())}

    @cached_property
    def _touched(self) -> Mapping[FilePath, set[FilePath]]:
        """The folders whose trees must be computed, and what differs in each of them directly."""
        touched: dict[FilePath, set[FilePath]] = {ROOT: set()}
        for path in self._changes:
            child, above = path, _folder_of(path)
            if self._has_folders and above:
                continue
            while child and child not in touched.setdefault(above, set()):
                touched[above].add(child)
                child, above = above, _folder_of(above)
        return touched

    def _make_trees(self, folders: Iterable[FilePath], *, also_hash: Iterable[FilePath]) -> None:
        todo = list(folders)
        ordered = []
        while todo:
            folder = todo.pop()
            if folder not in self._trees:
                ordered.append(folder)
                todo += [child for child in self._touched[folder] if child in self._touched]
        inside = (child for folder in ordered for child in self._touched[folder])
        self._hash({*also_hash, *inside})  # all with one call to git
        for folder in reversed(ordered):
            self._trees[folder] = self._tree(folder)

    def _tree(self, folder: FilePath) -> Entry | None:
        children = dict(self._base.children(folder))
        for child in self._touched[folder]:
            entry = self._changes.get(child) or self._trees.get(child)
            if entry is not None:
                children[child] = entry
            else:
                children.pop(child, None)
        if folder and not children:
            return None
        start = len(folder) + 1 if folder else 0
        names = ((FilePath(path[start:]), entry) for path, entry in children.items())
        return Entry(MODE_TREE, tree_id(names))

    def _hash(self, paths: Iterable[FilePath]) -> None:
        unhashed = [
            path for path in paths if (entry := self._changes.get(path)) and entry.id == UNHASHED
        ]
        if not unhashed:
            return
        for path, found in hash_files(self._repository, unhashed).items():
            told = self._changes[path]
            if found and told and told.is_file and found.is_file:
                # The disk may not tell what is executable (core.fileMode); Git's index does.
                found = found._replace(mode=told.mode)  # noqa: PLW2901
            self._changes[path] = found


def _folder_of(path: FilePath) -> FilePath:
    return FilePath(path.rpartition("/")[0])

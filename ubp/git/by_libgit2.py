"""Libgit2's answers: for many trees at once, for partial clones, and where there is no git."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ubp.git.libgit2 import git_needed, missing_object, open_libgit2
from ubp.git.libgit2_index import Listed, list_index, open_index
from ubp.git.location import Location
from ubp.git.objects import EMPTY_TREE, MAX_BLOB_BYTES
from ubp.git.records import Changes, is_possible, mode_of, path_of, raw_of
from ubp.model import MODE_TREE, UNHASHED, Entry, FilePath, ObjectId

if TYPE_CHECKING:
    import pygit2  # 80 ms of CPU: imported where it is used

ON_DISK = Entry(0, UNHASHED)
KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
OUTSIDE_FILTERS = ("filter", "working-tree-encoding")  # attributes that libgit2 does not know


class Libgit2Engine:
    """Asks libgit2; what it cannot answer ends with GitMissingError."""

    def __init__(
        self, location: Location, environment: Mapping[str, str], *, is_trusted: bool
    ) -> None:
        self._location = location
        self._environment = environment
        self._is_trusted = is_trusted
        self._repository: pygit2.Repository | None = None

    def libgit2(self) -> "pygit2.Repository":
        """Libgit2's handle, opened on first use."""
        if self._repository is None:
            self._repository = open_libgit2(
                self._location, self._environment, is_trusted=self._is_trusted
            )
        return self._repository

    def close(self) -> None:
        """Let go of the handle."""
        if self._repository is not None:
            self._repository.free()
            self._repository = None

    def resolve(self, revision: str) -> tuple[ObjectId | None, bool]:
        """The commit that a revision names, and whether it names anything."""
        import pygit2

        try:
            found = self.libgit2().revparse_single(revision)
        except (KeyError, ValueError, pygit2.GitError):
            return None, False
        try:
            return ObjectId(str(found.peel(pygit2.Commit).id)), True
        except (ValueError, pygit2.GitError):
            return None, True

    def merge_base(self, one: ObjectId, other: ObjectId) -> ObjectId | None:
        """The best common ancestor."""
        base = self.libgit2().merge_base(one, other)
        return None if base is None else ObjectId(str(base))

    def read_objects(
        self, ids: Collection[ObjectId]
    ) -> Mapping[ObjectId, tuple[str, bytes] | None]:
        """Types and bytes; None: absent or too large."""
        odb = self.libgit2().odb
        objects: dict[ObjectId, tuple[str, bytes] | None] = {}
        for name in ids:
            try:
                kind, size = odb.read_header(name)
                is_small = size <= MAX_BLOB_BYTES
                objects[name] = (KINDS[int(kind)], odb.read(name)[1]) if is_small else None
            except KeyError:
                objects[name] = None
        return objects

    def begin_worktree_changes(self) -> Callable[[], tuple[ObjectId | None, Changes]]:
        """HEAD, and the files of the work tree that differ from it: looked at when called."""
        return self._worktree_changes

    def _worktree_changes(self) -> tuple[ObjectId | None, Changes]:
        from pygit2.enums import DeltaStatus, DiffOption

        index = open_index(self.libgit2(), self._location, self._environment)
        listed = list_index(index)
        changes = self._changes(listed, self._location.head)
        changes |= dict.fromkeys(listed.intended, ON_DISK)
        keeps_mode = not self.trusts_file_mode()
        flags = DiffOption.INCLUDE_UNTRACKED | DiffOption.RECURSE_UNTRACKED_DIRS
        for delta in index.diff_to_workdir(flags | DiffOption.INCLUDE_TYPECHANGE).deltas:
            path = path_of(delta.new_file.raw_path or delta.old_file.raw_path)
            # A nested repository ends with a slash.
            if path.endswith("/") or path in listed.unwatched:
                continue
            changes[path] = None if delta.status == DeltaStatus.DELETED else ON_DISK
            if keeps_mode and delta.status == DeltaStatus.MODIFIED:
                changes[path] = listed.files[path]._replace(id=UNHASHED)
        return self._location.head, changes

    def index_changes(self, head: ObjectId | None) -> Changes:
        """The files of the index that differ from a commit."""
        index = open_index(self.libgit2(), self._location, self._environment)
        return self._changes(list_index(index), head)

    def _changes(self, listed: Listed, head: ObjectId | None) -> Changes:
        old = {} if head is None else self._files(head)
        new = listed.files
        changes: Changes = {path: entry for path, entry in new.items() if old.get(path) != entry}
        gone = old.keys() - new.keys() - listed.unmerged
        return changes | dict.fromkeys(gone)

    def _files(self, commit: ObjectId) -> dict[FilePath, Entry]:
        listing = self.list_tree(commit)
        return {path: entry for path, entry in listing.items() if not entry.is_directory}

    def hash_regular_files(self, paths: Collection[FilePath]) -> dict[FilePath, ObjectId]:
        """The blob ids of files of the work tree, filters applied; unreadable ones are left out."""
        import pygit2

        repository = self.libgit2()
        hashed: dict[FilePath, ObjectId] = {}
        for path in paths:
            try:
                self._check_filters(path)
                hashed[path] = ObjectId(str(repository.hashfile(path)))
            except (OSError, pygit2.GitError):
                continue
        return hashed

    def _check_filters(self, path: FilePath) -> None:
        """Refuse a file whose id libgit2 would get wrong."""
        repository = self.libgit2()
        for attribute in OUTSIDE_FILTERS:
            if isinstance(repository.get_attr(raw_of(path), attribute), str):
                raise git_needed(f"{path} has the attribute {attribute}")
        if repository.get_attr(raw_of(path), "ident"):
            with open(os.path.join(self._location.root or "", path), "rb") as file:
                if file.read().count(b"$Id") > 1:  # it sees the first only
                    raise git_needed(f"{path} has the attribute ident")

    def stored_bytes(
        self,
        wanted: Mapping[FilePath, ObjectId],  # noqa: ARG002 - as the other engine's
    ) -> dict[FilePath, bytes]:
        """Nothing: `hash_regular_files` refuses the files that would need it."""
        return {}

    def trusts_file_mode(self) -> bool:
        """Whether the disk's executable bits mean anything."""
        config = self.libgit2().config
        return "core.filemode" not in config or config.get_bool("core.filemode")

    def list_tree(self, commit: ObjectId) -> dict[FilePath, Entry]:
        """Every file and directory."""
        listing: dict[FilePath, Entry] = {}
        folders = [(FilePath(""), ObjectId(str(self._tree(commit).id)))]
        while folders:
            children = self._children(*folders.pop())
            listing |= children
            folders += [(path, entry.id) for path, entry in children.items() if entry.is_directory]
        return listing

    def _children(self, folder: FilePath, tree: ObjectId) -> dict[FilePath, Entry]:
        if tree == EMPTY_TREE:  # known to git without standing anywhere
            return {}
        try:
            raw = self.libgit2().odb.read(tree)[1]
        except KeyError as error:
            raise missing_object(tree) from error
        before = f"{folder}/" if folder else ""
        return {FilePath(before + name): entry for name, entry in _parse_tree(raw)}

    def _tree(self, commit: ObjectId) -> "pygit2.Tree":
        import pygit2

        try:
            return self.libgit2()[commit].peel(pygit2.Tree)
        except KeyError as error:
            raise missing_object(commit) from error

    def diff_trees(self, old: ObjectId, new: ObjectId) -> Changes:
        """Files and directories that differ."""
        changes: Changes = {}
        roots = [ObjectId(str(self._tree(commit).id)) for commit in (old, new)]
        folders: list[tuple[FilePath, ObjectId | None, ObjectId | None]]
        folders = [(FilePath(""), roots[0], roots[1])]
        while folders:
            folder, old_tree, new_tree = folders.pop()
            before = self._children(folder, old_tree) if old_tree else {}
            after = self._children(folder, new_tree) if new_tree else {}
            for path in before.keys() | after.keys():
                one, other = before.get(path), after.get(path)
                if one != other:
                    changes[path] = other
                    folders.append((path, _tree_id(one), _tree_id(other)))
        return changes

    def entries_at(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """What stands at paths of commits; "" is the root's tree."""
        found: dict[tuple[ObjectId, FilePath], Entry | None] = {}
        for commit, paths in wanted.items():
            folders: Folders = {"": self._tree(commit)}
            for path in paths:
                found[commit, path] = _entry_at(folders, path)
        return found


Folders = dict[str, "pygit2.Tree | None"]


def _entry_at(folders: Folders, path: FilePath) -> Entry | None:
    if path and not is_possible(path):
        return None
    found = _object_at(folders, path) if path else folders[""]
    if found is None:  # an empty tree is something, but false
        return None
    return Entry(_mode(int(found.filemode)) if path else MODE_TREE, ObjectId(str(found.id)))


def _object_at(folders: Folders, path: str) -> Any:
    """What stands there; `folders` remembers trees, for reading a large one takes 10 ms."""
    import pygit2

    folder, _, name = path.rpartition("/")
    unread = []
    while folder not in folders:
        unread.append(folder)
        folder = folder.rpartition("/")[0]
    try:
        for below in reversed(unread):
            found = _child(folders[below.rpartition("/")[0]], below.rpartition("/")[2])
            folders[below] = found if isinstance(found, pygit2.Tree) else None
        return _child(folders[path.rpartition("/")[0]], name)
    except pygit2.GitError as error:  # a folder on the way has no tree here
        raise missing_object(_id_in(str(error)) or path) from error


def _child(tree: "pygit2.Tree | None", name: str) -> Any:
    return tree[name] if tree is not None and name in tree else None


def _id_in(said: str) -> str:
    """The id in libgit2's "object not found - no match for id (...)"."""
    return said.partition("(")[2].partition(")")[0]


def _tree_id(entry: Entry | None) -> ObjectId | None:
    return entry.id if entry and entry.is_directory else None


def _mode(mode: int) -> int:
    return mode_of(b"%06o" % mode)


def _parse_tree(raw: bytes) -> Iterator[tuple[str, Entry]]:
    """A tree object's entries: names without their folder."""
    start = 0
    while start < len(raw):
        space = raw.index(b" ", start)
        end = raw.index(b"\0", space)
        entry = Entry(
            mode_of(raw[start:space].rjust(6, b"0")), ObjectId(raw[end + 1 : end + 21].hex())
        )
        yield path_of(raw[space + 1 : end]), entry
        start = end + 21

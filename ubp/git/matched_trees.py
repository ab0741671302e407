"""The tree ids that Git would give to the files which match a glob, commit after commit."""

import os
from typing import Any

import pygit2

from ubp.git.objects import object_id
from ubp.model import FilePath, ObjectId
from ubp.paths import Glob

MAX_REMEMBERED = 100_000  # folders: 20 MB; beyond, all is forgotten and learnt anew


class MatchedTrees:
    """Remembers what matched in every folder it saw: the next commit has nearly all of them too."""

    def __init__(self) -> None:
        self._globs: dict[str, Glob] = {}
        self._ids: dict[tuple[str, str, Any], ObjectId | None] = {}

    def find(self, tree: Any, path: FilePath, pattern: str) -> ObjectId | None:
        """The id of a whole tree that holds the matching files; None where there are none.

        `tree` is what stands at `path` (anything but a tree holds no files), the glob's literal
        folder.
        """
        if not isinstance(tree, pygit2.Tree):
            return None
        glob = self._globs.get(pattern)
        if glob is None:
            glob = self._globs[pattern] = Glob(pattern)
        if len(self._ids) > MAX_REMEMBERED:
            self._ids.clear()
        found = self._matched(tree, path, glob)
        for name in reversed(path.split("/") if path else ()):
            if found is not None:
                found = object_id("tree", _line(0o40000, os.fsencode(name), found))
        return found

    def _matched(self, tree: pygit2.Tree, path: str, glob: Glob) -> ObjectId | None:
        key = (glob.pattern, path, tree.id)
        if key not in self._ids:
            # Git's own order: leaving entries out keeps it.
            lines = [line for entry in tree if (line := self._entry(entry, path, glob))]
            self._ids[key] = object_id("tree", b"".join(lines)) if lines else None
        return self._ids[key]

    def _entry(self, entry: Any, path: str, glob: Glob) -> bytes | None:
        name: bytes = entry.raw_name
        below = f"{path}/{entry.name}" if path else entry.name
        if not isinstance(entry, pygit2.Tree):
            matches = glob.matches(below)
            return _line(entry.filemode, name, entry.id) if matches else None
        if "**" not in glob.pattern and below.count("/") >= glob.pattern.count("/"):
            return None  # no match lies so deep
        inner = self._matched(entry, below, glob)
        return _line(0o40000, name, inner) if inner is not None else None


def _line(mode: int, name: bytes, id_: Any) -> bytes:
    return b"%o %s\0%s" % (mode, name, bytes.fromhex(str(id_)))

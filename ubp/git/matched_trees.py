"""The tree ids that Git would give to the files which match a glob, commit after commit."""

import os
import re
from typing import Any

import pygit2

from ubp.git.objects import object_id
from ubp.git.records import mode_of, path_of
from ubp.model import FilePath, ObjectId
from ubp.paths import Glob

MAX_REMEMBERED = 100_000  # folders: 20 MB; beyond, all is forgotten and learnt anew

MAX_DEPTH = 400  # folders; no glob matches below. Python's stack ends at 1,000 calls

TREE = b"40000"  # as trees have it, without the 0 that git prints
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class MatchedTrees:
    """Remembers what matched in every folder it saw: the next commit has nearly all of them too."""

    def __init__(self, libgit2: pygit2.Repository) -> None:
        self._libgit2 = libgit2
        self._matchers: dict[str, _Matcher] = {}
        self._ids: dict[tuple[str, bytes, bytes], bytes | None] = {}

    def find(self, tree: Any, path: FilePath, pattern: str) -> ObjectId | None:
        """The id of a whole tree that holds the matching files; None where there are none.

        `tree` is what stands at `path` (anything but a tree holds no files), the glob's literal
        folder.
        """
        if not isinstance(tree, pygit2.Tree):
            return None
        if pattern not in self._matchers:
            self._matchers[pattern] = _Matcher(pattern)
        if len(self._ids) > MAX_REMEMBERED:
            self._ids.clear()
        names = os.fsencode(path).split(b"/") if path else []
        lead = b"".join(name + b"/" for name in names)
        found = self._matched(tree.id.raw, lead, self._matchers[pattern])
        for name in reversed(names):
            found = _tree([_line(TREE, name, found)]) if found else None
        return ObjectId(found.hex()) if found else None

    def _matched(self, tree: bytes, lead: bytes, matcher: "_Matcher") -> bytes | None:
        key = (matcher.pattern, lead, tree)
        if key not in self._ids:
            # Raw bytes: an object for each entry would take five times as long.
            _, raw = self._libgit2.read(pygit2.Oid(raw=tree))
            lines = []
            for mode, name, entry in _ENTRY.findall(raw):  # in Git's order, which stays
                if mode != TREE:
                    if matcher.matches(lead + name):
                        lines.append(_line(mode, name, entry))
                elif matcher.reaches_below(lead):
                    inner = self._matched(entry, lead + name + b"/", matcher)
                    if inner is not None:
                        lines.append(_line(TREE, name, inner))
            self._ids[key] = _tree(lines) if lines else None
        return self._ids[key]


class _Matcher:
    """A glob that remembers its answers: the same paths come again in every commit."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._glob = Glob(pattern)
        self._depth = MAX_DEPTH if "**" in pattern else min(pattern.count("/"), MAX_DEPTH)
        self._answers: dict[bytes, bool] = {}

    def matches(self, path: bytes) -> bool:
        answer = self._answers.get(path)
        if answer is None:
            answer = self._answers[path] = self._glob.matches(path_of(path))
        return answer

    def reaches_below(self, lead: bytes) -> bool:
        """Whether files in the folders of a folder may match."""
        return lead.count(b"/") < self._depth


def _line(mode: bytes, name: bytes, entry: bytes) -> bytes:
    if mode in {TREE, b"100644"}:
        return b"%s %s\0%s" % (mode, name, entry)
    return b"%o %s\0%s" % (mode_of(mode), name, entry)


def _tree(lines: list[bytes]) -> bytes:
    return bytes.fromhex(object_id("tree", b"".join(lines)))

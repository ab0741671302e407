"""The index as libgit2 reads it: which one, and what stands in it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ubp.git.libgit2 import git_needed, opening_error
from ubp.git.location import Location
from ubp.git.records import mode_of, path_of
from ubp.model import Entry, FilePath, ObjectId

if TYPE_CHECKING:
    import pygit2  # 80 ms of CPU: imported where it is used

# GIT_INDEX_ENTRY_*: the first two in an entry's flags, the others in its extended flags.
STAGE, VALID = 0x3000, 0x8000
INTENT_TO_ADD, SKIP_WORKTREE = 0x2000, 0x4000


def open_index(
    repository: "pygit2.Repository", location: Location, environment: Mapping[str, str]
) -> "pygit2.Index":
    """The index that git would read: hooks of `git commit -a` name their own."""
    import pygit2

    named = environment.get("GIT_INDEX_FILE")
    try:
        path = os.path.join(location.root or "", named or "")
        index: pygit2.Index = pygit2.Index(path) if named else repository.index
        index.read()
    except pygit2.GitError as error:
        if "extension" in str(error):
            raise git_needed("This repository has a split or sparse index") from error
        raise opening_error(error, location.git_dir) from error
    # Private, and the only way to compare an index of another name with the work tree.
    setattr(index, "_repo", repository)  # noqa: B010 - see above
    return index


class Listed(NamedTuple):
    """An index: its files, and the paths that are no plain files of it."""

    files: dict[FilePath, Entry]
    unmerged: set[FilePath]  # of a merge that is not settled yet
    intended: set[FilePath]  # `git add --intent-to-add`
    unwatched: set[FilePath]  # assumed unchanged, or outside a sparse checkout


def list_index(index: "pygit2.Index") -> Listed:
    """Read an index through cffi: libgit2's Python objects tell no flags."""
    from pygit2.ffi import C, ffi

    listed = Listed({}, set(), set(), set())
    pointer = index._index  # noqa: SLF001 - see above
    for position in range(len(index)):
        item = C.git_index_get_byindex(pointer, position)
        path = path_of(ffi.string(item.path))
        if item.flags & STAGE:
            listed.unmerged.add(path)
        elif item.flags_extended & INTENT_TO_ADD:
            listed.intended.add(path)
        else:
            name = bytes(ffi.buffer(ffi.addressof(item, "id"))[:]).hex()
            listed.files[path] = Entry(mode_of(b"%06o" % item.mode), ObjectId(name))
        if item.flags & VALID or item.flags_extended & SKIP_WORKTREE:
            listed.unwatched.add(path)
    return listed

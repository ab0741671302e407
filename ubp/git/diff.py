"""What differs between two versions of a file, as git shows it.

Libgit2 has it 60 times faster than difflib (400 lines, 45 of them changed: 0.05 ms instead of 3),
and no two files make it slow: 0.3 s for 100,000 lines that repeat in another order.
"""

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pygit2


class FileDiff(NamedTuple):
    """A unified diff, and how many lines were added and removed; none of a binary file.

    `line` is the first one of the new version that differs (from 1); where lines were only removed
    the one that follows them, or the last.
    """

    text: str
    added: int
    removed: int
    line: int | None = None


def diff_blobs(name: str, old: bytes, new: bytes) -> FileDiff:
    """Compare two versions of the file of this name; bytes that are no UTF-8 are replaced."""
    import pygit2

    patch = pygit2.Patch.create_from(old, new)
    shown = name.replace("\n", "\\n")
    if patch.delta.is_binary:
        return FileDiff(f"Binary file {shown} differs", 0, 0)
    _, mark, hunks = patch.data.partition(b"\n@@ ")
    if not mark:
        return FileDiff("", 0, 0)
    text = (mark[1:] + hunks).decode("utf-8", "replace").removesuffix("\n")
    _, added, removed = patch.line_stats
    line = _first_line(patch.hunks[0])
    return FileDiff(f"--- a/{shown}\n+++ b/{shown}\n{text}", added, removed, line)


def _first_line(hunk: "pygit2.DiffHunk") -> int:
    same = sum(1 for _ in takewhile(lambda line: line.origin == " ", hunk.lines))
    return max(1, hunk.new_start + min(same, hunk.new_lines - 1))

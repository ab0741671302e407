"""Unified diffs of two versions of a file, as git shows them.

Libgit2 is 60 times as fast as difflib (400 lines, 45 of them changed: 0.05 ms instead of 3), and it
has no slow case: 100,000 lines that repeat in another order take 0.3 s.
"""

from itertools import takewhile
from typing import NamedTuple


class FileDiff(NamedTuple):
    """A unified diff with its numbers of added and removed lines; of a binary file both are 0.

    `line` is the first line of the new version that differs (from 1); where lines were only
    removed, the line after them, or the last one.
    """

    text: str
    added: int
    removed: int
    line: int | None = None


def diff_blobs(name: str, old: bytes, new: bytes) -> FileDiff:
    """Compare two versions of a file; bytes that are not UTF-8 are replaced."""
    import pygit2

    patch = pygit2.Patch.create_from(old, new)
    escaped_name = name.replace("\n", "\\n")
    if patch.delta.is_binary:
        return FileDiff(f"Binary file {escaped_name} differs", 0, 0)
    _, mark, hunks = patch.data.partition(b"\n@@ ")
    if not mark:
        return FileDiff("", 0, 0)
    text = (mark[1:] + hunks).decode("utf-8", "replace").removesuffix("\n")
    _, added, removed = patch.line_stats
    hunk = patch.hunks[0]
    unchanged = sum(1 for _ in takewhile(lambda line: line.origin == " ", hunk.lines))
    line = max(1, hunk.new_start + min(unchanged, hunk.new_lines - 1))
    return FileDiff(f"--- a/{escaped_name}\n+++ b/{escaped_name}\n{text}", added, removed, line)

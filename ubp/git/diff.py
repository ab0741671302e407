"""Unified diffs of two versions of a file, as git shows them.

Libgit2 is 60 times as fast as difflib (400 lines, 45 of them changed: 0.05 ms instead of 3), and it
has no slow case: 100,000 lines that repeat in another order take 0.3 s.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

NO_FILE = "/dev/null"

_HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@", re.MULTILINE)


class FileDiff(NamedTuple):
    """A unified diff with its numbers of added and removed lines; of a binary file both are 0.

    `line` is the first line of the new version that differs (from 1); where lines were only
    removed, the line after them, or the last one.
    """

    text: str
    added: int
    removed: int
    line: int | None = None


def diff_blobs(
    name: str, old: bytes | None, new: bytes | None, first_lines: tuple[int, ...] = (1, 1)
) -> FileDiff:
    """Compare two versions of a file; bytes that are not UTF-8 are replaced.

    None: there is no such file; its name in the diff is `/dev/null`. `first_lines` are the numbers
    of the first lines, where these are parts of a file.
    """
    import pygit2

    patch = pygit2.Patch.create_from(old or b"", new or b"")
    escaped_name = name.replace("\n", "\\n")
    old_name = NO_FILE if old is None else f"a/{escaped_name}"
    new_name = NO_FILE if new is None else f"b/{escaped_name}"
    head = f"--- {old_name}\n+++ {new_name}"
    if patch.delta.is_binary:
        return FileDiff(f"Binary file {escaped_name} differs", 0, 0)
    _, mark, hunks = patch.data.partition(b"\n@@ ")
    if not mark:
        return FileDiff(head if (old is None) != (new is None) else "", 0, 0)
    text = (mark[1:] + hunks).decode("utf-8", "replace").removesuffix("\n")
    _, added, removed = patch.line_stats
    hunk = patch.hunks[0]
    unchanged = sum(1 for _ in takewhile(lambda line: line.origin == " ", hunk.lines))
    line = max(1, hunk.new_start + min(unchanged, hunk.new_lines - 1))
    if first_lines != (1, 1):
        line += first_lines[1] - 1
        text = _HUNK.sub(lambda match: _shift(match, first_lines), text)
    return FileDiff(f"{head}\n{text}", added, removed, line)


def changed_spans(old: Sequence[str], new: Sequence[str]) -> list[tuple[range, range]]:
    """Return which items of one sequence became which of the other; what is between is equal."""
    import pygit2

    numbers: dict[str, int] = {}
    before, after = (
        "".join(f"{numbers.setdefault(item, len(numbers))}\n" for item in items).encode()
        for items in (old, new)
    )
    patch = pygit2.Patch.create_from(before, after, context_lines=0)
    return [
        (_span(hunk.old_start, hunk.old_lines), _span(hunk.new_start, hunk.new_lines))
        for hunk in patch.hunks
    ]


def _span(start: int, length: int) -> range:
    """Return the indexes of the lines of a hunk; an empty one is after the line that it names."""
    first = start - 1 if length else start
    return range(first, first + length)


def keep_lines(diff: FileDiff, first: int, last: int) -> FileDiff:
    """Return the hunks of a diff that touch these lines of the old version."""
    hunks = list(_HUNK.finditer(diff.text))
    ends = [*(hunk.start() for hunk in hunks[1:]), len(diff.text)]
    kept = [
        (hunk, diff.text[hunk.start() : end].rstrip("\n"))
        for hunk, end in zip(hunks, ends, strict=True)
        if int(hunk[1]) <= last and int(hunk[1]) + int(hunk[2][1:] or 1) > first
    ]
    if not kept:
        return FileDiff("", 0, 0)
    texts = [text for _, text in kept]
    signs = Counter(line[:1] for text in texts for line in text.splitlines()[1:])
    head = diff.text[: hunks[0].start()]
    return FileDiff(head + "\n".join(texts), signs["+"], signs["-"], int(kept[0][0][3]))


def _shift(match: re.Match[str], first_lines: tuple[int, ...]) -> str:
    old, new = int(match[1]) + first_lines[0] - 1, int(match[3]) + first_lines[1] - 1
    return f"@@ -{old}{match[2]} +{new}{match[4]} @@"

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


class DiffPart(NamedTuple):
    """A hunk of a unified diff with its `@@` line, and the lines above it that name its file.

    What is not a hunk, such as a sentence about a submodule, is a part with an empty `text`.
    """

    head: str
    text: str


def split_hunks(diff: str) -> list[DiffPart]:
    """Return the parts of a unified diff; each hunk of a file repeats the file's two lines."""
    parts: list[DiffPart] = []
    head: list[str] = []
    is_used = False
    lines = iter(diff.split("\n"))
    for line in lines:
        match = _HUNK.match(line)
        if match is None:
            if is_used:
                head, is_used = [], False
            head.append(line)
            continue
        old, new = (int(number[1:] or 1) for number in (match[2], match[4]))
        body = [line]
        while (old > 0 or new > 0) and (text := next(lines, None)) is not None:
            body.append(text)
            if text[:1] != "\\":
                old -= text[:1] != "+"
                new -= text[:1] != "-"
        parts.append(DiffPart("\n".join(head), "\n".join(body)))
        is_used = True
    return parts if is_used else [*parts, DiffPart("\n".join(head), "")]


def join_hunks(parts: Sequence[DiffPart]) -> str:
    """Return the diff of these parts; what names a file is written once for adjacent hunks."""
    lines: list[str] = []
    head = None
    for part in parts:
        if part.head != head:
            lines += filter(None, [part.head])
            head = part.head
        lines += filter(None, [part.text])
    return "\n".join(lines)


def _shift(match: re.Match[str], first_lines: tuple[int, ...]) -> str:
    old, new = int(match[1]) + first_lines[0] - 1, int(match[3]) + first_lines[1] - 1
    return f"@@ -{old}{match[2]} +{new}{match[4]} @@"

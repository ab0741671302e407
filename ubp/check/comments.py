"""Obsidian's comments, `%% … %%`: readers do not see what stands there."""

import re
from bisect import bisect_right
from collections.abc import Iterator

_INLINE = re.compile(rb"%%(?:(?!%%)[^\r\n])*%%")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class Comments:
    """Where the comments of one page are, in bytes.

    They lie within a line, or between lines that hold nothing else than `%%`. What merely has a
    `%%` here and another one below (formats, batch files) is none.
    """

    def __init__(self, data: bytes) -> None:
        self._spans = sorted(_spans(data)) if b"%%" in data else []

    def cover(self, place: int) -> bool:
        """Whether a byte stands in a comment."""
        found = bisect_right(self._spans, place, key=lambda span: span[0])
        return found > 0 and place < self._spans[found - 1][1]


def _spans(data: bytes) -> Iterator[tuple[int, int]]:
    opened: int | None = None
    for line in _LINE.finditer(data):
        if line[0].strip() == b"%%":
            if opened is not None:
                yield opened, line.end()
            opened = line.start() if opened is None else None
        elif opened is None:
            yield from (
                (line.start() + m.start(), line.start() + m.end())
                for m in _INLINE.finditer(line[0])
            )

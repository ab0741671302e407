"""Obsidian's comments, `%% … %%`: readers do not see what stands there.

Findings that a page's own comments, or the configuration, say to ignore.

A comment names the rules: `<!-- ubp: ignore[broken-link] -->`, several with commas between; in
front matter it is `# ubp: ignore[stale-doc]`. Beside something else it is about its own line; on a
line of its own it is about the next line that is not empty and no such comment. There is no comment
that ignores every rule: it would hide what nobody has looked at.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ubp.checks.finding import Finding, Suppression
from ubp.core.config import Ignored
from ubp.core.model import FilePath
from ubp.core.paths import match_any, nfc
from ubp.index.view import View

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


# Pages read at once; together they should not take much memory.
PAGES_AT_ONCE = 200

_COMMENT = re.compile(rb"(?:<!--|#)[ \t]*ubp:[ \t]*ignore\[([a-z, \t-]*)\][ \t]*(?:-->)?")
_LINE_END = re.compile(rb"\r\n|\r|\n")

_COMMENTED = Suppression("comment", "A comment beside it in the page says so.")

Lines = Mapping[int, frozenset[str]]


def split_ignored(
    findings: Sequence[Finding], ignored: Sequence[Ignored], view: View
) -> tuple[list[Finding], list[Finding]]:
    """Tell the findings that count from those that are ignored, which say by whom."""
    comments = _comments({one.filepath for one in findings}, view)
    counted: list[Finding] = []
    left_out: list[Finding] = []
    for one in findings:
        is_told = one.rule in comments.get(one.filepath, {}).get(one.line, ())
        suppression = _COMMENTED if is_told else _configured(one, ignored)
        if suppression:
            left_out.append(one._replace(suppression=suppression))
        else:
            counted.append(one)
    return counted, left_out


def read_comments(data: bytes) -> Lines:
    """The rules that a page's comments ignore, by line from 1."""
    if b"ubp:" not in data:
        return {}
    found: dict[int, frozenset[str]] = {}
    pending: frozenset[str] = frozenset()
    for number, line in enumerate(_LINE_END.split(data), 1):
        rules = _rules(_COMMENT.findall(line))
        is_alone = bool(rules) and not _COMMENT.sub(b"", line).strip()
        if rules:
            found[number] = rules
        if is_alone:
            pending |= rules
        elif pending and line.strip():
            found[number] = found.get(number, frozenset()) | pending
            pending = frozenset()
    return found


def _rules(matches: Iterable[bytes]) -> frozenset[str]:
    names = b",".join(matches).decode().split(",")
    return frozenset(name.strip() for name in names if name.strip())


def _comments(paths: Collection[FilePath], view: View) -> dict[FilePath, Lines]:
    wanted = sorted(paths)
    found: dict[FilePath, Lines] = {}
    for start in range(0, len(wanted), PAGES_AT_ONCE):
        contents = view.read(wanted[start : start + PAGES_AT_ONCE])
        found |= {path: read_comments(data) for path, data in contents.items() if data}
    return found


def _configured(one: Finding, ignored: Sequence[Ignored]) -> Suppression | None:
    path = nfc(one.filepath)
    for what in ignored:
        if one.rule == what.rule and match_any(what.patterns, path):
            told = f"check.ignore in .ubp/config.json: {what.patterns[0]}"
            return Suppression("configuration", told)
    return None

"""Comments and settings that ignore findings, and Obsidian's comments, which hide text.

A comment names rules: `<!-- ubp: ignore[broken-link] -->`, several separated by commas; in front
matter it is `# ubp: ignore[stale-doc]`. Next to other text it applies to its own line; on a line of
its own it applies to the next line that is neither empty nor such a comment. No comment ignores
every rule: it would hide findings that nobody has seen.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence

from ubp.checks.finding import Finding, Suppression
from ubp.core.config import Ignored
from ubp.core.model import FilePath
from ubp.core.paths import match_any, nfc
from ubp.index.view import View

# Pages in memory at the same time.
BATCH_SIZE = 200

_IGNORE_COMMENT = re.compile(rb"(?:<!--|#)[ \t]*ubp:[ \t]*ignore\[([a-z, \t-]*)\][ \t]*(?:-->)?")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_INLINE_OBSIDIAN_COMMENT = re.compile(rb"%%(?:(?!%%)[^\r\n])*%%")

_COMMENTED = Suppression("comment", "Ignored by a comment in the page.")


def split_ignored(
    findings: Sequence[Finding], settings: Sequence[Ignored], view: View
) -> tuple[list[Finding], list[Finding]]:
    """Separate findings into those that count and ignored ones, which get a `suppression`."""
    comments = _read_all_comments({finding.filepath for finding in findings}, view)
    counted: list[Finding] = []
    ignored: list[Finding] = []
    for finding in findings:
        rules = comments.get(finding.filepath, {}).get(finding.line, ())
        suppression = _COMMENTED if finding.rule in rules else _configured(finding, settings)
        if suppression:
            ignored.append(finding._replace(suppression=suppression))
        else:
            counted.append(finding)
    return counted, ignored


def read_comments(data: bytes) -> Mapping[int, frozenset[str]]:
    """Return the rules that a page's comments ignore, by line from 1."""
    if b"ubp:" not in data:
        return {}
    rules_by_line: dict[int, frozenset[str]] = {}
    pending: frozenset[str] = frozenset()
    for number, line in enumerate(_LINE_END.split(data), 1):
        names = b",".join(_IGNORE_COMMENT.findall(line)).decode().split(",")
        rules = frozenset(name.strip() for name in names if name.strip())
        is_alone = bool(rules) and not _IGNORE_COMMENT.sub(b"", line).strip()
        if rules:
            rules_by_line[number] = rules
        if is_alone:
            pending |= rules
        elif pending and line.strip():
            rules_by_line[number] = rules_by_line.get(number, frozenset()) | pending
            pending = frozenset()
    return rules_by_line


class ObsidianComments:
    """The positions of a page's comments `%% … %%`, which readers do not see.

    They are within a line, or between two lines that contain only `%%`. Other pairs of `%%` on
    different lines (formats, batch files) are not comments.
    """

    def __init__(self, data: bytes) -> None:
        self._spans = sorted(_obsidian_spans(data)) if b"%%" in data else []

    def cover(self, position: int) -> bool:
        """Whether a byte is in a comment."""
        index = bisect_right(self._spans, position, key=lambda span: span[0])
        return index > 0 and position < self._spans[index - 1][1]


def _obsidian_spans(data: bytes) -> Iterator[tuple[int, int]]:
    block_start: int | None = None
    for line in _LINE.finditer(data):
        if line[0].strip() == b"%%":
            if block_start is None:
                block_start = line.start()
            else:
                yield block_start, line.end()
                block_start = None
        elif block_start is None:
            for comment in _INLINE_OBSIDIAN_COMMENT.finditer(line[0]):
                yield line.start() + comment.start(), line.start() + comment.end()


def _read_all_comments(
    paths: Collection[FilePath], view: View
) -> dict[FilePath, Mapping[int, frozenset[str]]]:
    ordered = sorted(paths)
    comments: dict[FilePath, Mapping[int, frozenset[str]]] = {}
    for start in range(0, len(ordered), BATCH_SIZE):
        contents = view.read(ordered[start : start + BATCH_SIZE])
        comments |= {path: read_comments(data) for path, data in contents.items() if data}
    return comments


def _configured(finding: Finding, settings: Sequence[Ignored]) -> Suppression | None:
    path = nfc(finding.filepath)
    for setting in settings:
        if finding.rule == setting.rule and match_any(setting.patterns, path):
            reason = f" ({setting.reason})" if setting.reason else ""
            return Suppression(
                "configuration",
                f"Ignored by check.ignore in .ubp/config.json: {setting.patterns[0]}{reason}",
            )
    return None

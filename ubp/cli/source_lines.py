"""The line of a page that a finding is about, with a mark below what is meant.

Only texts on a terminal have it; a hook does not load this module.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ubp.answers.checks.check import SourceLines
from ubp.answers.checks.finding import finding_record
from ubp.checks.finding import Finding, Region
from ubp.checks.locations import LinkRegions, find_regions
from ubp.checks.places import by_place
from ubp.cli.display import fit, fit_end
from ubp.core.model import FilePath, Link
from ubp.frame.wording import Style, printable, text_width
from ubp.index.view import View

# Pages that are read for it; who has more findings reads their list, not each of them.
MAX_PAGES = 200
MIN_COLUMNS = 40
INDENT = "  "


_ANCHOR = re.compile(r"#[^\s()<>|\]\"']*")


class Part(NamedTuple):
    """A part of a line of a page: its number, and where the part begins and ends."""

    line: int
    start: int
    end: int


def find_source_lines(
    findings: Iterable[Finding], view: View, columns: int, style: Style
) -> SourceLines:
    """Return the marked line of each finding that is shown, as wide as so many columns."""
    shown = [finding for finding, _ in by_place(findings)]
    paths = list(dict.fromkeys(finding.filepath for finding in shown))[:MAX_PAGES]
    shown = [finding for finding in shown if finding.filepath in paths]
    regions = find_regions(shown, view)
    texts = {
        path: (data or b"").decode("utf-8", "surrogateescape").splitlines()
        for path, data in view.read(paths).items()
    }
    found = {}
    for finding in shown:
        lines = texts.get(finding.filepath, [])
        part = _part(finding, lines, regions)
        if part and part.start < part.end:
            color = style.red if finding.severity == "error" else style.yellow
            number = f"{part.line} | "
            line, mark = marked_line(lines[part.line - 1], part, columns - len(INDENT + number))
            gutter = " " * (len(number) - 2) + "| "
            found[finding_record(finding)] = (
                f"{INDENT}{style.dim(number)}{line}",
                f"{INDENT}{style.dim(gutter)}{color(mark)}",
            )
    return found


def marked_line(text: str, part: Part, columns: int) -> tuple[str, str]:
    """Return a line around a part of it, as wide as so many columns, and the mark below the part.

    What is cut off is an ellipsis.
    """
    columns = max(columns, MIN_COLUMNS)
    before, meant, after = (
        printable(piece.replace("\t", " "))
        for piece in (text[: part.start], text[part.start : part.end], text[part.end :])
    )
    before = before.lstrip()
    meant = fit(meant, columns * 2 // 3)
    room = columns - text_width(meant)
    if text_width(before) + text_width(after) > room:
        before = fit_end(before, max(room // 2, room - text_width(after)))
        after = fit(after, room - text_width(before))
    mark = " " * text_width(before) + "^" * max(1, text_width(meant))
    return f"{before}{meant}{after}", mark


def _part(
    finding: Finding, lines: list[str], regions: Mapping[tuple[FilePath, Link], LinkRegions]
) -> Part | None:
    """Return what a finding means: where a link leads, a name that changed, or its line."""
    if isinstance(finding.about, Link):
        found = regions.get((finding.filepath, finding.about))
        return _link_part(*found, lines) if found and found[0].end_line <= len(lines) else None
    if finding.drift is not None:
        for evidence in finding.drift.evidence:
            line = lines[evidence.line - 1] if evidence.line <= len(lines) else ""
            word = rf"(?<!\w){re.escape(evidence.name)}(?!\w)"
            name = re.search(word, line) or re.search(re.escape(evidence.name), line)
            if name:
                return Part(evidence.line, name.start(), name.end())
    if not 1 <= finding.line <= len(lines):
        return None
    line = lines[finding.line - 1]
    subject = line.find(finding.subject) if finding.subject else -1  # a name, or a path
    if subject >= 0:
        return Part(finding.line, subject, subject + len(finding.subject))
    start = finding.column - 1 if finding.column else len(line) - len(line.lstrip())
    return Part(finding.line, start, len(line.rstrip()))


def _link_part(link: Region, target: Region, lines: list[str]) -> Part:
    """Return the target of a link with its anchor, as far as they are on one line."""
    line = lines[target.line - 1]
    end = target.end_column - 1 if target.end_line == target.line else len(line)
    if anchor := _ANCHOR.match(line, end):
        end = anchor.end()
    if end > target.column - 1:
        return Part(target.line, target.column - 1, end)
    line = lines[link.line - 1]
    end = link.end_column - 1 if link.end_line == link.line else len(line)
    return Part(link.line, link.column - 1, end)

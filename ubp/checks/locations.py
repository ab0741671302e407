"""Exact positions of findings, and the positions where their sources changed.

Only the formats that point into text need them: pages are read again, and sources compared.
"""

import re
from collections.abc import Iterable

from ubp.checks.finding import WIKILINKS, CheckReport, Finding, LinkFix, Region, SourcePlace
from ubp.core.model import FilePath, Link, ReferenceVerdict
from ubp.index.view import View
from ubp.markdown.link_parts import LinkPart, part_bounds
from ubp.markdown.source_text import SourceText
from ubp.staleness.diff import diff_sources
from ubp.staleness.model import StalenessContext

# Pages in memory at the same time.
BATCH_SIZE = 200
# A directory may have changed in many files; nobody follows more of them.
MAX_SOURCE_PLACES = 5

_WIKILINK_END = re.compile(rb"[^\[\]\r\n]*\]\]")
_TITLE = rb"(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'))?"
_MARKDOWN_END = re.compile(rb"(?:#[^\s()<>]*)?>?" + _TITLE + rb"[ \t]*\)")
_DEFINITION_END = re.compile(rb"(?:#[^\s<>]*)?>?")

LinkRegions = tuple[Region, Region]
"""A link's own region, and that of its target alone."""


def locate_findings(report: CheckReport, context: StalenessContext) -> CheckReport:
    """Return the report with the regions of its links and the changes of its sources."""
    groups = (report.findings, report.ignored, report.debts, report.unknown)
    all_findings = [finding for group in groups for finding in group]
    regions = find_regions(all_findings, context.view)
    parts = _find_parts(all_findings, context.view)
    places = _find_source_places(all_findings, context)

    def locate(finding: Finding) -> Finding:
        if isinstance(finding.about, ReferenceVerdict):
            return finding._replace(source_places=places.get(finding.about, ()))
        if finding.about is None or (finding.filepath, finding.about) not in regions:
            return finding
        region, target = regions[finding.filepath, finding.about]
        fix = finding.fix
        if isinstance(fix, LinkFix):
            key = finding.filepath, finding.about, fix.part
            fix = fix._replace(region=target if fix.part == "target" else parts.get(key))
        return finding._replace(region=region, fix=fix)

    findings, ignored, debts, unknown = (tuple(map(locate, group)) for group in groups)
    return report._replace(findings=findings, ignored=ignored, debts=debts, unknown=unknown)


def find_regions(
    findings: Iterable[Finding], view: View
) -> dict[tuple[FilePath, Link], LinkRegions]:
    """Return where the links of findings are written, and where their targets are."""
    links: dict[FilePath, set[Link]] = {}
    for finding in findings:
        if isinstance(finding.about, Link):
            links.setdefault(finding.filepath, set()).add(finding.about)
    regions: dict[tuple[FilePath, Link], LinkRegions] = {}
    paths = sorted(links)
    for start in range(0, len(paths), BATCH_SIZE):
        contents = view.read(paths[start : start + BATCH_SIZE])
        for path, data in contents.items():
            if data is not None:
                located = locate_links(data, links[path])
                regions |= {(path, link): found for link, found in located.items()}
    return regions


def _find_parts(
    findings: Iterable[Finding], view: View
) -> dict[tuple[FilePath, Link, LinkPart], Region | None]:
    """Return the regions of the anchors and labels that a fix replaces."""
    fixes = {
        (finding.filepath, finding.fix.link, finding.fix.part)
        for finding in findings
        if isinstance(finding.fix, LinkFix) and finding.fix.part != "target"
    }
    contents = view.read({path for path, _, _ in fixes}) if fixes else {}
    pages = {path: _Page(data) for path, data in contents.items() if data is not None}
    return {
        (path, link, part): pages[path].part(link, part)
        for path, link, part in sorted(fixes, key=lambda fix: (fix[0], fix[1].line, fix[1].column))
        if path in pages
    }


def locate_links(data: bytes, links: Iterable[Link]) -> dict[Link, LinkRegions]:
    """Return the region of each link of a page with these bytes, and that of its target."""
    page = _Page(data)
    return {
        link: page.regions(link)
        for link in sorted(links, key=lambda link: (link.line, link.column))
    }


class _Page:
    """A page's bytes; the links of a line are located one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._source = SourceText(data)
        self._line = 0
        self._line_start = 0

    def regions(self, link: Link) -> LinkRegions:
        """Return the region of a link from its first to its last character, and its target's."""
        start, position = self._start(link)
        target = self._within(link, link.byte_start, link.byte_end)
        return self._region(*position, start, self._end(link)), target

    def part(self, link: Link, part: LinkPart) -> Region | None:
        """Return the region of a part of a link; None: it cannot be found."""
        bounds = part_bounds(self._data, link, part)
        return self._within(link, *bounds) if bounds else None

    def _start(self, link: Link) -> tuple[int, tuple[int, int, int]]:
        """Return the first byte of a link, and its line, column and column in bytes."""
        if link.line != self._line:
            self._line, self._line_start = link.line, self._source.byte_at(link.line - 1, 0)
        start = self._source.byte_at(link.line - 1, link.column - 1)
        return start, (link.line, link.column, start - self._line_start + 1)

    def _within(self, link: Link, first: int, last: int) -> Region:
        """Return the region of some of a link's bytes."""
        start, position = self._start(link)
        before = self._region(*position, start, first)
        inner = before.end_line, before.end_column, before.end_byte_column
        return self._region(*inner, first, last)

    def _end(self, link: Link) -> int:
        if link.kind in WIKILINKS:
            pattern = _WIKILINK_END
        else:
            pattern = _DEFINITION_END if link.kind == "definition" else _MARKDOWN_END
        match = pattern.match(self._data, link.byte_end)
        return match.end() if match else link.byte_end

    def _region(self, line: int, column: int, byte_column: int, start: int, end: int) -> Region:
        """Return the region of the bytes from `start` to `end`; `start` is at this position."""
        lines = re.split(rb"\r\n|\r|\n", self._data[start:end])
        characters = len(lines[-1].decode("utf-8", "surrogateescape"))
        if len(lines) == 1:
            end_column, end_byte_column = column + characters, byte_column + len(lines[0])
        else:
            end_column, end_byte_column = characters + 1, len(lines[-1]) + 1
        return Region(line, column, line + len(lines) - 1, end_column, byte_column, end_byte_column)


def _find_source_places(
    findings: Iterable[Finding], context: StalenessContext
) -> dict[ReferenceVerdict, tuple[SourcePlace, ...]]:
    """Return for each drifted source the changed files and their first changed lines.

    The files of a collection are none of this repository.
    """
    verdicts = dict.fromkeys(
        finding.about
        for finding in findings
        if isinstance(finding.about, ReferenceVerdict)
        and finding.about.verdict in {"modified", "created", "moved"}
        and not finding.about.collection
        and not context.rules.is_hidden(finding.about.source_path)
    )
    diffs = diff_sources(list(verdicts), context)
    places = {}
    for verdict, diff in zip(verdicts, diffs, strict=True):
        changed = tuple(SourcePlace(*place) for place in diff.changed[:MAX_SOURCE_PLACES])
        moved = (SourcePlace(verdict.moved_to),) if verdict.moved_to else ()
        places[verdict] = changed or moved  # a moved file may be unchanged
    return places

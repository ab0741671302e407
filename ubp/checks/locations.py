"""Where findings stand, to the character, and where their sources changed.

Only the formats that point at text ask for it: pages are read again, and sources are compared.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from ubp.checks.finding import CheckReport, Finding, LinkFix, Region, SourcePlace
from ubp.checks.fix import WIKILINKS
from ubp.core.model import FilePath, Link, ReferenceVerdict
from ubp.git.repository import Repository
from ubp.index.view import View
from ubp.markdown.source_text import SourceText
from ubp.staleness.diff import diff_sources

# Pages read at once; together they should not take much memory.
PAGES_AT_ONCE = 200
# A directory may have changed in many files; nobody follows more of them.
MAX_SOURCE_PLACES = 5

_WIKILINK_END = re.compile(rb"[^\[\]\r\n]*\]\]")
_TITLE = rb"(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'))?"
_MARKDOWN_END = re.compile(rb"(?:#[^\s()<>]*)?>?" + _TITLE + rb"[ \t]*\)")
_DEFINITION_END = re.compile(rb"(?:#[^\s<>]*)?>?")


def locate_findings(
    report: CheckReport,
    view: View,
    repository: Repository,
    is_hidden: Callable[[FilePath], bool],
) -> CheckReport:
    """The report with the regions of its links, and the places where its sources changed."""
    groups = (report.findings, report.ignored, report.debts, report.unknown)
    everything = [one for group in groups for one in group]
    regions = _find_regions(everything, view)
    sources = _find_sources(everything, view, repository, is_hidden)
    placed = iter([_placed(one, regions, sources) for one in everything])
    findings, ignored, debts, unknown = (tuple(next(placed) for _ in group) for group in groups)
    return report._replace(findings=findings, ignored=ignored, debts=debts, unknown=unknown)


_Regions = Mapping[tuple[FilePath, Link], tuple[Region, Region]]
_Sources = Mapping[ReferenceVerdict, tuple[SourcePlace, ...]]


def _placed(one: Finding, regions: _Regions, sources: _Sources) -> Finding:
    if isinstance(one.about, ReferenceVerdict):
        return one._replace(source_places=sources.get(one.about, ()))
    if one.about is None or (one.filepath, one.about) not in regions:
        return one
    region, target = regions[one.filepath, one.about]
    fix = one.fix._replace(region=target) if isinstance(one.fix, LinkFix) else one.fix
    return one._replace(region=region, fix=fix)


def _find_regions(
    findings: Iterable[Finding], view: View
) -> dict[tuple[FilePath, Link], tuple[Region, Region]]:
    """For each link its own region, and that of its target alone."""
    links: dict[FilePath, set[Link]] = {}
    for one in findings:
        if isinstance(one.about, Link):
            links.setdefault(one.filepath, set()).add(one.about)
    regions = {}
    paths = sorted(links)
    for start in range(0, len(paths), PAGES_AT_ONCE):
        contents = view.read(paths[start : start + PAGES_AT_ONCE])
        for path, data in contents.items():
            if data is not None:
                page = _Page(data)
                for link in sorted(links[path], key=lambda link: (link.line, link.column)):
                    regions[path, link] = page.regions(link)
    return regions


class _Page:
    """A page's bytes, asked for places from left to right."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._source = SourceText(data)
        self._line = 0
        self._line_start = 0

    def regions(self, link: Link) -> tuple[Region, Region]:
        """Where a link stands, from its first character to its last, and where its target does."""
        if link.line != self._line:
            self._line, self._line_start = link.line, self._source.byte_at(link.line - 1, 0)
        first = self._source.byte_at(link.line - 1, link.column - 1)
        begins = link.line, link.column, first - self._line_start + 1
        before = self._span(*begins, first, link.byte_start)
        target_begins = before.end_line, before.end_column, before.end_byte_column
        target = self._span(*target_begins, link.byte_start, link.byte_end)
        return self._span(*begins, first, self._end(link)), target

    def _end(self, link: Link) -> int:
        if link.kind in WIKILINKS:
            pattern = _WIKILINK_END
        else:
            pattern = _DEFINITION_END if link.kind == "definition" else _MARKDOWN_END
        found = pattern.match(self._data, link.byte_end)
        return found.end() if found else link.byte_end

    def _span(self, line: int, column: int, byte_column: int, start: int, end: int) -> Region:
        """The region of the bytes from `start` to `end`, which begin at this line and column."""
        lines = re.split(rb"\r\n|\r|\n", self._data[start:end])
        characters = len(lines[-1].decode("utf-8", "surrogateescape"))
        if len(lines) == 1:
            end_column, end_byte_column = column + characters, byte_column + len(lines[0])
        else:
            end_column, end_byte_column = characters + 1, len(lines[-1]) + 1
        return Region(line, column, line + len(lines) - 1, end_column, byte_column, end_byte_column)


def _find_sources(
    findings: Iterable[Finding],
    view: View,
    repository: Repository,
    is_hidden: Callable[[FilePath], bool],
) -> dict[ReferenceVerdict, tuple[SourcePlace, ...]]:
    """For each source that drifted, the files that changed and where they begin to differ."""
    answers = dict.fromkeys(
        one.about
        for one in findings
        if isinstance(one.about, ReferenceVerdict)
        and one.about.verdict in {"modified", "created", "moved"}
        and not is_hidden(one.about.source_path)
    )
    diffs = diff_sources(list(answers), view, repository, is_hidden)
    return {
        answer: tuple(SourcePlace(*place) for place in diff.changed[:MAX_SOURCE_PLACES])
        or _unchanged(answer)
        for answer, diff in zip(answers, diffs, strict=True)
    }


def _unchanged(answer: ReferenceVerdict) -> tuple[SourcePlace, ...]:
    """Where a file stands that moved and is the same."""
    return (SourcePlace(answer.moved_to),) if answer.moved_to else ()

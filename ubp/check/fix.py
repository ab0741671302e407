"""Puts right what has a single possible remedy: moved sources, links to pages that moved.

A page whose sources have drifted while they have no pins is left alone: any edit makes such a page
look reviewed, and nobody has read it. `ubp ack --history` writes down what it described; then it
can be edited without losing that.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from ubp.check.finding import Finding, LinkFix, SourceFix
from ubp.check.report import CheckReport, Fixed, FixReport, LeftAlone
from ubp.config import Config
from ubp.errors import PageError, RepositoryError
from ubp.git.files import read_file, replace_file
from ubp.model import FilePath, Link, ReferenceVerdict
from ubp.parse.edits import as_diff
from ubp.parse.markdown import parse_markdown
from ubp.parse.page import read_head
from ubp.parse.sources import rename_sources
from ubp.staleness.assess import assess
from ubp.staleness.court import Court


class _Edited(NamedTuple):
    """A page's bytes before and after, and what was put right."""

    before: bytes
    after: bytes
    fixed: tuple[Fixed, ...]


def fix_findings(report: CheckReport, court: Court, config: Config, *, is_dry: bool) -> FixReport:
    """Rewrite, in the work tree, what the report's findings say how to put right.

    In a dry run nothing is written.
    """
    fixable = [one for one in report.findings if one.fix]
    left = _unread_pages(fixable, court)
    fixed: list[Fixed] = []
    diffs: list[str] = []
    for path, group in groupby(fixable, key=lambda one: one.filepath):
        if path in left:
            continue
        try:
            edited = _edit(read_file(court.repository, path), tuple(group), config.keys)
        except (PageError, RepositoryError) as error:
            left[path] = " ".join(filter(None, [error.message, error.cause]))
            continue
        diffs.append(as_diff(path, edited.before, edited.after))
        fixed += edited.fixed
        if not is_dry:
            replace_file(court.repository, path, edited.after)
    untouched = tuple(LeftAlone(path, reason) for path, reason in sorted(left.items()))
    return FixReport(report, tuple(fixed), untouched, "".join(diffs), is_dry)


def _unread_pages(findings: Iterable[Finding], court: Court) -> dict[FilePath, str]:
    """The pages that an edit would make look reviewed, and why."""
    by_page: dict[FilePath, set[FilePath]] = {}
    for one in findings:
        by_page.setdefault(one.filepath, set())
        if isinstance(one.fix, SourceFix):
            by_page[one.filepath].add(one.fix.literal)
    pages = [page for path in by_page if (page := court.view.page(path))]
    answers = {one.page: one.references for one in assess(pages, court)}
    return {
        page.filepath: f"{', '.join(names)} drifted, and an edit would make the page look reviewed."
        " Pin what it described: ubp ack --history"
        for page, references in answers.items()
        if (names := _unread(references, by_page[page.filepath], court))
    }


def _unread(
    references: Sequence[ReferenceVerdict], renamed: Collection[FilePath], court: Court
) -> list[FilePath]:
    return [
        answer.source_path
        for answer in references
        if answer.baseline != "pin"
        and answer.verdict not in {"fresh", "not_found"}
        and not (answer.reference.literal in renamed and _is_only_renamed(answer, court))
    ]


def _is_only_renamed(answer: ReferenceVerdict, court: Court) -> bool:
    if answer.moved_to is None or answer.baseline_blob is None:
        return False
    entry = court.view.entry(answer.moved_to)
    return entry is not None and entry.id == answer.baseline_blob


def _edit(data: bytes, findings: Sequence[Finding], keys: Sequence[str]) -> _Edited:
    links = [(one, one.fix) for one in findings if isinstance(one.fix, LinkFix)]
    sources = [(one, one.fix) for one in findings if isinstance(one.fix, SourceFix)]
    after, fixed = _relink(data, links, keys) if links else (data, [])
    if sources:
        after = rename_sources(after, keys, {fix.literal: fix.path for _, fix in sources})
    fixed += [Fixed(one, one.related or fix.literal, fix.path) for one, fix in sources]
    return _Edited(data, after, tuple(fixed))


def _relink(
    data: bytes, fixes: Sequence[tuple[Finding, LinkFix]], keys: Sequence[str]
) -> tuple[bytes, list[Fixed]]:
    """Write new targets. The file's bytes are not the blob's where Git converts line ends."""
    links = _links(data, keys)
    places = {(one.kind, one.target, one.line, one.column): one for one in links}
    wanted: dict[int, tuple[Link, bytes]] = {}
    fixed = []
    for one, fix in fixes:
        old = fix.link
        link = places.get((old.kind, old.target, old.line, old.column))
        if link is None:
            raise PageError("The page was edited meanwhile.")
        wanted[link.byte_start] = link, fix.text.encode("utf-8", "surrogateescape")
        written = data[link.byte_start : link.byte_end].decode("utf-8", "surrogateescape")
        fixed.append(Fixed(one, written, fix.text))
    result = data
    for start, (link, text) in sorted(wanted.items(), reverse=True):
        result = result[:start] + text + result[link.byte_end :]
    if list(map(_kept, _links(result, keys))) != list(map(_kept, links)):
        raise PageError("The links cannot be rewritten in place.")
    return result, fixed


def _links(data: bytes, keys: Sequence[str]) -> tuple[Link, ...]:
    return parse_markdown(data, read_head(data, keys).body).links


def _kept(link: Link) -> tuple[str, str | None, str | None, int]:
    """What of a link another target does not change."""
    return link.kind, link.anchor, link.label, link.line

"""Puts right what has a single possible remedy: moved sources, links to pages that moved.

A page whose sources have drifted while they have no pins is left alone: any edit makes such a page
look reviewed, and nobody has read it. `ubp ack --history` writes down what it described; then it
can be edited without losing that.

A link's target written anew so that it leads to another page, in the style of the old one.
"""

import posixpath
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote

from ubp.checks.finding import CheckReport, Finding, Fixed, FixReport, LinkFix, SourceFix, Unfixed
from ubp.core.config import Config
from ubp.core.errors import PageError, RepositoryError
from ubp.core.model import FilePath, Link, ReferenceVerdict
from ubp.git.files import read_file, replace_file
from ubp.markdown.document import read_head
from ubp.markdown.edit_sources import rename_sources
from ubp.markdown.parse import parse_markdown
from ubp.markdown.resolve import without_suffix
from ubp.markdown.text_edits import as_diff
from ubp.staleness.assess import assess
from ubp.staleness.model import StalenessContext


class _Edited(NamedTuple):
    """A page's bytes before and after, and what was put right."""

    before: bytes
    after: bytes
    fixed: tuple[Fixed, ...]


def fix_findings(
    report: CheckReport, court: StalenessContext, config: Config, *, is_dry: bool
) -> FixReport:
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
    untouched = tuple(Unfixed(path, reason) for path, reason in sorted(left.items()))
    return FixReport(report, tuple(fixed), untouched, "".join(diffs), is_dry)


def _unread_pages(findings: Iterable[Finding], court: StalenessContext) -> dict[FilePath, str]:
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
    references: Sequence[ReferenceVerdict], renamed: Collection[FilePath], court: StalenessContext
) -> list[FilePath]:
    return [
        answer.source_path
        for answer in references
        if answer.baseline != "pin"
        and answer.verdict not in {"fresh", "not_found"}
        and not (answer.reference.literal in renamed and _is_only_renamed(answer, court))
    ]


def _is_only_renamed(answer: ReferenceVerdict, court: StalenessContext) -> bool:
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


WIKILINKS = frozenset({"wikilink", "embed"})

# What would end a wikilink's target; a Markdown link's is percent-encoded.
_ENDS_WIKILINK = frozenset("[]|#^\\\n\r")
# Everything that Markdown or a URL could take for something else; letters of any script stay.
_ENCODED = frozenset(" \t\n\r()<>#?%\\|\"'`*[]")


def rewrite_link(
    link: Link, source: FilePath, target: FilePath, namesakes: Sequence[FilePath]
) -> str | None:
    """Write a link's target so that it leads from the page `source` to `target`.

    `namesakes` are all pages with the target's file name. None: it cannot be written.
    """
    if link.kind in WIKILINKS:
        return _wikilink(link.target, target, namesakes)
    return _path(source, link.target, target)


def _wikilink(written: str, target: FilePath, namesakes: Sequence[FilePath]) -> str | None:
    name = without_suffix(target)
    is_path = "/" in written or len(namesakes) > 1
    text = name if is_path else name.rpartition("/")[2]
    if without_suffix(written) != written:
        text += target[len(name) :]
    return None if _ENDS_WIKILINK & set(text) or text != text.strip() else text


def _path(source: FilePath, written: str, target: FilePath) -> str | None:
    if written.startswith("~"):
        return None
    if written.startswith("/") and written.split("/")[1] == target.split("/")[0]:
        return _encode(f"/{target}")
    seen = posixpath.relpath(target, source.rpartition("/")[0] or ".")
    is_dotted = written.startswith("./") and not seen.startswith("../")
    return _encode(f"./{seen}" if is_dotted else seen)


def _encode(path: str) -> str:
    return "".join(quote(c, safe="") if c in _ENCODED else c for c in path)

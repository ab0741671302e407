"""Fixes for findings with a single possible remedy: moved sources, moved pages, misspelt links.

A page with unpinned sources that have drifted is skipped: any edit would make it look reviewed.
`ubp ack --history` pins what such a page described, and then it can be edited.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from ubp.checks.finding import (
    CheckReport,
    Finding,
    Fixed,
    FixReport,
    LinkFix,
    SkippedPage,
    SourceFix,
)
from ubp.checks.run import check_options, check_state, check_target
from ubp.core.config import Config
from ubp.core.errors import PageError, RepositoryError
from ubp.core.model import FilePath, Link, ReferenceVerdict
from ubp.core.shell import path_argument, ubp_command
from ubp.git.files import read_file, replace_file
from ubp.git.trees import shorten
from ubp.index.session import Session, Target
from ubp.markdown.document import parse_page, read_head
from ubp.markdown.edit_pins import Pin, write_pins
from ubp.markdown.edit_sources import rename_sources
from ubp.markdown.link_parts import LinkPart, part_bounds
from ubp.markdown.parse import parse_markdown
from ubp.markdown.text_edits import as_diff
from ubp.staleness.assess import assess
from ubp.staleness.model import StalenessContext
from ubp.staleness.state import open_context


def fix_findings(
    session: Session, paths: Sequence[str] = (), rules: Sequence[str] = (), *, is_dry: bool = False
) -> FixReport:
    """Fix in the work tree what has a single possible remedy; `is_dry` only shows it.

    Raises:
        UsageError: there is no such rule, or a path matches no page.
    """
    context = open_context(session, session.view())
    options = check_options(session, context.view, paths, rules)._replace(has_evidence=True)
    report = check_state(context, options)
    fixed = _apply_fixes(report, context, session.config, is_dry=is_dry)
    if is_dry or not fixed.fixed:
        return fixed
    return fixed._replace(check=check_target(session, Target(), paths, rules, has_evidence=True))


def _apply_fixes(
    report: CheckReport, staleness: StalenessContext, config: Config, *, is_dry: bool
) -> FixReport:
    """Apply the fixes of a report's findings to the work tree; in a dry run only return a diff."""
    fixable = [finding for finding in report.findings if finding.fix]
    skipped = _pages_to_keep(fixable, staleness)
    fixed: list[Fixed] = []
    diffs: list[str] = []
    for path, group in groupby(fixable, key=lambda finding: finding.filepath):
        if path in skipped:
            continue
        try:
            before = read_file(staleness.repository, path)
            after, fixed_in_page = edit_page(before, tuple(group), config.keys, staleness)
        except (PageError, RepositoryError) as error:
            skipped[path] = " ".join(filter(None, [error.message, error.cause]))
            continue
        diffs.append(as_diff(path, before, after))
        fixed += fixed_in_page
        if not is_dry:
            replace_file(staleness.repository, path, after)
    pages = tuple(SkippedPage(path, reason) for path, reason in sorted(skipped.items()))
    return FixReport(report, tuple(fixed), pages, "".join(diffs), is_dry)


def _pages_to_keep(findings: Iterable[Finding], staleness: StalenessContext) -> dict[FilePath, str]:
    """Return the pages that an edit would make look reviewed, with the reason to skip them."""
    renamed: dict[FilePath, set[FilePath]] = {}  # source paths that a fix replaces, by page
    for finding in findings:
        renamed.setdefault(finding.filepath, set())
        if isinstance(finding.fix, SourceFix):
            renamed[finding.filepath].add(finding.fix.literal)
    pages = [page for path in renamed if (page := staleness.view.page(path))]
    reasons = {}
    for assessment in assess(pages, staleness):
        path = assessment.page.filepath
        drifted = _drifted_sources(assessment.references, renamed[path], staleness)
        if drifted:
            argument = path_argument(path, staleness.repository.prefix)
            reasons[path] = (
                f"any edit would make the page look reviewed, but {', '.join(drifted)} drifted."
                f" Pin its baseline first: {ubp_command('ack', '--history', argument)}"
            )
    return reasons


def _drifted_sources(
    verdicts: Sequence[ReferenceVerdict],
    renamed: Collection[FilePath],
    staleness: StalenessContext,
) -> list[str]:
    """Return the unpinned sources that drifted by more than a rename that is fixed."""
    return [
        verdict.name
        for verdict in verdicts
        if verdict.baseline != "pin"
        and verdict.verdict not in {"fresh", "not_found"}
        and not (verdict.reference.literal in renamed and _is_pure_rename(verdict, staleness))
    ]


def _is_pure_rename(verdict: ReferenceVerdict, staleness: StalenessContext) -> bool:
    if verdict.moved_to is None or verdict.baseline_blob is None:
        return False
    if verdict.moved_fragment:  # a symbol or section with another name or path, but the same text
        return True
    entry = staleness.view.entry(verdict.moved_to)
    return entry is not None and entry.id == verdict.baseline_blob


def edit_page(
    data: bytes, findings: Sequence[Finding], keys: Sequence[str], staleness: StalenessContext
) -> tuple[bytes, list[Fixed]]:
    """Return a page's bytes after its fixes, and the fixed findings."""
    links = [(finding, finding.fix) for finding in findings if isinstance(finding.fix, LinkFix)]
    sources = [(finding, finding.fix) for finding in findings if isinstance(finding.fix, SourceFix)]
    after, fixed = _relink(data, links, keys) if links else (data, [])
    if sources:
        after = rename_sources(after, keys, {fix.literal: fix.path for _, fix in sources})
        after = _renew_pins(after, sources, keys, staleness)
    fixed += [Fixed(finding, fix.literal, fix.path) for finding, fix in sources]
    return after, fixed


def _renew_pins(
    data: bytes,
    fixes: Sequence[tuple[Finding, SourceFix]],
    keys: Sequence[str],
    staleness: StalenessContext,
) -> bytes:
    """Pin the parts that moved: they are the same, but the pinned file does not have them."""
    new_ids = {}
    for finding, fix in fixes:
        verdict = finding.drift
        if verdict and verdict.baseline == "pin" and verdict.moved_fragment and verdict.moved_to:
            entry = staleness.view.entry(verdict.moved_to)
            if entry:
                new_ids[fix.path] = entry.id
    if not new_ids:
        return data
    short_ids = shorten(new_ids.values(), staleness.repository)
    pins = {
        reference: Pin(short_ids[new_ids[name]], reference.reason)
        for reference in parse_page(data, keys).references
        if (name := reference.source_path + (reference.fragment or "")) in new_ids
    }
    return write_pins(data, keys, pins)


def _relink(
    data: bytes, fixes: Sequence[tuple[Finding, LinkFix]], keys: Sequence[str]
) -> tuple[bytes, list[Fixed]]:
    """Replace link targets. The file's bytes are not the blob's where Git converts line ends."""
    links = _links(data, keys)
    by_position = {(link.kind, link.target, link.line, link.column): link for link in links}
    replacements: dict[int, tuple[int, bytes]] = {}
    changed: dict[Link, set[LinkPart]] = {}
    fixed = []
    for finding, fix in fixes:
        old = fix.link
        link = by_position.get((old.kind, old.target, old.line, old.column))
        bounds = part_bounds(data, link, fix.part) if link else None
        if link is None or bounds is None:
            raise PageError("The page was edited in the meantime.")
        start, end = bounds
        replacements[start] = end, fix.text.encode("utf-8", "surrogateescape")
        changed.setdefault(link, set()).add(fix.part)
        before = data[start:end].decode("utf-8", "surrogateescape")
        fixed.append(Fixed(finding, before, fix.text))
    result = data
    for start, (end, text) in sorted(replacements.items(), reverse=True):
        result = result[:start] + text + result[end:]
    after = _links(result, keys)
    if len(after) != len(links) or any(
        _unchanged_parts(new, changed.get(link, ()))
        != _unchanged_parts(link, changed.get(link, ()))
        for link, new in zip(links, after, strict=False)
    ):
        raise PageError("The links cannot be rewritten in place.")
    return result, fixed


def _links(data: bytes, keys: Sequence[str]) -> tuple[Link, ...]:
    body = parse_markdown(data, read_head(data, keys).body)
    return body.links + body.embedded


def _unchanged_parts(link: Link, changed: Collection[LinkPart]) -> tuple[str | int | None, ...]:
    """Return what the changes do not concern in a link."""
    return (
        link.kind,
        link.line,
        None if "target" in changed else link.target,
        None if "anchor" in changed else link.anchor,
        None if "label" in changed else link.label,
    )

"""Assess a change, a commit in the making or a branch: its own drift, and older drift as debt."""

from collections.abc import Mapping, Sequence

from ubp.core.model import QUIET_LEVELS, Assessment, FilePath, Page, ReferenceVerdict
from ubp.core.source import SourceMap
from ubp.staleness.assess import assess, assess_against, assessment, baseline_requests
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins, find_baselines
from ubp.staleness.model import Change, StalenessContext
from ubp.staleness.references import locate

_ReferenceKey = tuple[FilePath, FilePath]  # page, source


def assess_change(pages: Sequence[Page], change: Change) -> tuple[Assessment, ...]:
    """Assess these pages after the change, and mark drift that existed before it as debt.

    A page that the change edits describes the state after the change: its unpinned references are
    fresh. Where a shallow clone lacks a baseline, the state before the change is used instead.
    """
    view = change.after.view
    if change.before:
        origins = Origins(view, change.before[0].view.entries, change.changes)
    else:
        origins = Origins.uncommitted(view)
    requests = baseline_requests(pages)
    located = locate(view, {request.reference for request in requests})
    baselines = find_baselines(
        requests, located, change.after, Origins.uncommitted(view), origins.is_edited
    )
    baselines |= _replace_unknown(baselines, change)
    assessments = assess_against(baselines, pages, located, change.after)
    return _mark_debts(assessments, change, origins)


def touched_pages(change: Change) -> list[Page]:
    """Return the pages that the change edits, and those with a source that it touches."""
    pages = change.after.view.bound_pages() if change.changes else []
    references = {reference for page in pages for reference in page.facts.references}
    located = locate(change.after.view, references)
    by_source = SourceMap((found.source, reference) for reference, found in located.items())
    touched = {reference for path in change.changes for reference in by_source.matching(path)}
    return [
        page
        for page in pages
        if page.filepath in change.changes or not touched.isdisjoint(page.facts.references)
    ]


def _replace_unknown(
    baselines: Mapping[BaselineRequest, Baseline], change: Change
) -> dict[BaselineRequest, Baseline]:
    """Return for each unknown baseline the state before the change."""
    unknown = [request for request, baseline in baselines.items() if not baseline.is_known]
    if not unknown or not change.before:
        return {}
    before = change.before[0].view
    located = locate(before, {request.reference for request in unknown})
    replacements = {}
    for request in unknown:
        source, object_id = located[request.reference]
        replacements[request] = Baseline("history", source, object_id, before.snapshot.commit)
    return replacements


def _mark_debts(
    assessments: Sequence[Assessment], change: Change, origins: Origins
) -> tuple[Assessment, ...]:
    drifted = [assessed for assessed in assessments if assessed.level not in QUIET_LEVELS]
    old_verdicts: dict[_ReferenceKey, list[ReferenceVerdict]] = {}
    for context in change.before if drifted else ():
        for key, verdict in _assess_before(drifted, context, origins).items():
            old_verdicts.setdefault(key, []).append(verdict)

    def is_debt(page: FilePath, reference: ReferenceVerdict) -> bool:
        return reference.verdict != "fresh" and any(
            old.verdict != "fresh" and old.current_blob == reference.current_blob
            for old in old_verdicts.get((page, reference.source_path), ())
        )

    return tuple(
        assessment(
            assessed.page,
            [
                reference._replace(is_debt=is_debt(assessed.page.filepath, reference))
                for reference in assessed.references
            ],
        )
        for assessed in assessments
    )


def _assess_before(
    drifted: Sequence[Assessment], context: StalenessContext, origins: Origins
) -> dict[_ReferenceKey, ReferenceVerdict]:
    """Return the verdicts of the same references in a state before the change."""
    paths: dict[FilePath, FilePath] = {}  # before → after
    for assessed in drifted:
        path = assessed.page.filepath
        paths[origins.of(path) or path] = path
    pages = [page for path in paths if (page := context.view.page(path))]
    return {
        (paths[assessed.page.filepath], reference.source_path): reference
        for assessed in assess(pages, context)
        for reference in assessed.references
    }

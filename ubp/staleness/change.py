"""Assess a change: a commit in the making, or a branch.

A change fails for a reference that was fresh before it and is not fresh after it, whose source is
gone now and was not before, or that is new and refers to nothing. What was behind already is debt.
"""

from collections.abc import Collection, Mapping, Sequence

from ubp.core.model import (
    CONFIG_FILE,
    QUIET_LEVELS,
    Assessment,
    FilePath,
    ObjectId,
    Page,
    ReferenceVerdict,
    SourceReference,
)
from ubp.core.source import SourceMap
from ubp.git.trees import similar_file
from ubp.staleness.assess import assess
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins, find_baselines
from ubp.staleness.compare import (
    assessment,
    assessments_of,
    baseline_requests,
    compare_sources,
    split_requests,
)
from ubp.staleness.evidence import add_evidence
from ubp.staleness.model import GONE, Change, Judge, StalenessContext
from ubp.staleness.references import candidates, collection_of, locate

_ReferenceKey = tuple[FilePath, FilePath]  # page, source as it is written


def assess_alarms(
    pages: Sequence[Page], change: Change, judge: Judge | None = None
) -> tuple[Assessment, ...]:
    """Assess these pages after the change, with evidence, and mark what is not an alarm as noted.

    With the alarms `judged` the pages that name what changed are shown to the judge, and those that
    it finds accurate are noted. A source that is gone is an alarm whatever it says.
    """
    assessments = add_evidence(assess_change(pages, change), change.after, change.changes)
    if judge is None or change.after.rules.alarms != "judged":
        return assessments
    alarming = frozenset(
        page.page.filepath for page in assessments if any(map(_is_disputable, page.references))
    )
    judgements = judge(change, alarming) if alarming else {}

    def judged(assessed: Assessment) -> Assessment:
        judgement = judgements.get(assessed.page.filepath)
        if judgement is None:
            return assessed
        return assessed._replace(
            references=tuple(
                reference._replace(judgement=judgement, is_noted=judgement.affected == "no")
                if _is_disputable(reference)
                else reference
                for reference in assessed.references
            )
        )

    return tuple(map(judged, assessments))


def _is_disputable(reference: ReferenceVerdict) -> bool:
    """Return whether the change fails for a reference, and a reader may find that it need not."""
    is_alarm = bool(reference.evidence) and not (reference.is_noted or reference.is_debt)
    return is_alarm and reference.verdict not in GONE


def assess_change(pages: Sequence[Page], change: Change) -> tuple[Assessment, ...]:
    """Assess these pages after the change, and mark what it does not fail for as debt.

    A page whose text the change edits describes the state after the change: its unpinned references
    are fresh. One that it leaves as it was (edited and restored, say) describes what it described
    before. Where a shallow clone lacks a baseline, the state before the change is used instead.
    """
    view = change.after.view
    if change.before:
        before = change.before[0].view
        origins = Origins(view, before.entries, change.changes, before.snapshot.commit)
    else:
        origins = Origins.uncommitted(view)
    requests = baseline_requests(pages, change.after.rules)
    own, others = split_requests(requests, change.after.rules)
    origins.compare_texts(
        {
            request.page.filepath
            for request in requests
            if not request.reference.pin and request.page.filepath in change.changes
        }
    )
    located = locate(view, {request.reference for request in own})
    baselines = find_baselines(own, located, change.after, origins)
    baselines |= _replace_unknown(baselines, change)
    verdicts = compare_sources(baselines, located, change.after)
    if others:
        from ubp.staleness.collections import compare_collections

        verdicts |= compare_collections(
            others, change.after, origins, change.before[0] if change.before else None
        )
    return _mark_debts(assessments_of(pages, requests, verdicts), change, origins)


def touched_pages(change: Change) -> list[Page]:
    """Return the pages that the change edits, and those with a source that it touches."""
    pages = change.after.view.bound_pages() if change.changes else []
    references = {reference for page in pages for reference in page.facts.references}
    by_candidate = SourceMap(
        (source, reference) for reference in references for source in candidates(reference)
    )
    # The few that may be touched are located: Git may spell a name in another Unicode form.
    possible = {ref for ref in references if not (ref.source_path + ref.literal).isascii()}
    possible.update(ref for path in change.changes for ref in by_candidate.matching(path))
    located = locate(change.after.view, possible)
    by_source = SourceMap((found.source, reference) for reference, found in located.items())
    touched = {reference for path in change.changes for reference in by_source.matching(path)}
    if change.after.rules.collections and CONFIG_FILE in change.changes:
        from ubp.staleness.collections import find_repinned

        repinned = find_repinned(change)
        touched.update(ref for ref in references if collection_of(ref.source_path, repinned))
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
    quiet_after = change.after.rules.quiet_after
    old_verdicts: dict[_ReferenceKey, list[ReferenceVerdict]] = {}
    rewritten: dict[tuple[FilePath, str], list[ReferenceVerdict]] = {}
    paths = _paths_before(drifted, change, origins) if drifted else {}
    kept = {
        (assessed.page.filepath, reference.literal)
        for assessed in drifted
        for reference in assessed.page.facts.references
    }
    for context in change.before if drifted else ():
        pages = _pages_before(context, drifted, paths)
        if quiet_after is None:  # else the commits of all references are counted
            pages = _with_drifted_references(pages, drifted, paths)
        for assessed in assess(pages, context):
            for reference in assessed.references:
                page, pin = paths[assessed.page.filepath], reference.reference.own_pin
                key = page, reference.reference.literal
                old_verdicts.setdefault(key, []).append(reference)
                if pin and key not in kept:
                    rewritten.setdefault((page, pin), []).append(reference)

    announcements = _count_announcements(old_verdicts)

    def mark(page: FilePath, reference: ReferenceVerdict) -> ReferenceVerdict:
        # The path of a moved source was rewritten: one that the page no longer has had this pin.
        old = (
            old_verdicts.get((page, reference.reference.literal))
            or rewritten.get((page, reference.reference.own_pin or ""))
            or ()
        )
        is_quiet = (
            quiet_after is not None
            and announcements.get(page, 0) >= quiet_after
            and reference.verdict in {"modified", "created"}
        )
        return reference._replace(is_debt=is_quiet or not _is_introduced(reference, old))

    return tuple(
        assessment(
            assessed.page,
            [
                reference
                if reference.verdict == "fresh"
                else mark(assessed.page.filepath, reference)
                for reference in assessed.references
            ],
        )
        for assessed in assessments
    )


def _pages_before(
    context: StalenessContext, drifted: Sequence[Assessment], paths: Collection[FilePath]
) -> list[Page]:
    """Return the pages before the change; translations with the reference to their original."""
    view = context.view
    if all(reference.reference.language for page in drifted for reference in page.references):
        from ubp.staleness.translations import find_translations

        translations = find_translations(view, context.rules.translations, paths)
        return [page for page in translations if page.filepath in paths]
    return list(view.pages_at(paths).values())


def _with_drifted_references(
    pages: Sequence[Page], drifted: Sequence[Assessment], paths: Mapping[FilePath, FilePath]
) -> list[Page]:
    """Return the pages before the change with those references alone that drifted after it."""
    drifted_names = {
        assessed.page.filepath: {
            name
            for reference in assessed.references
            if reference.verdict != "fresh"
            for name in _names(reference.reference)
        }
        for assessed in drifted
    }
    return [
        page._replace(
            facts=page.facts._replace(
                references=tuple(
                    reference
                    for reference in page.facts.references
                    if not drifted_names[paths[page.filepath]].isdisjoint(_names(reference))
                )
            )
        )
        for page in pages
    ]


def _names(reference: SourceReference) -> tuple[str, ...]:
    """Return by what a reference is found in the page before the change."""
    return tuple(filter(None, (reference.literal, reference.own_pin)))


def _count_announcements(
    old_verdicts: Mapping[_ReferenceKey, Sequence[ReferenceVerdict]],
) -> dict[FilePath, int]:
    """Return how many commits made each page stale since its last edit, before the change.

    Each reference announces the first commit that took it from its baseline, and no later one.
    """
    commits: dict[FilePath, set[ObjectId]] = {}
    for (page, _), verdicts in old_verdicts.items():
        for verdict in verdicts:
            if verdict.verdict != "fresh" and verdict.commits:
                commits.setdefault(page, set()).add(verdict.commits[-1].id)
    return {page: len(names) for page, names in commits.items()}


def _is_introduced(reference: ReferenceVerdict, before: Collection[ReferenceVerdict]) -> bool:
    """Return whether the change itself made this reference what it is: not fresh.

    `before` are the verdicts of the same reference in the states before the change; of a merge one
    of them suffices as an excuse. A state that could not be verified counts as fresh, because
    `assess_change` has compared the source with that state itself.
    """
    if reference.verdict == "unknown":
        # What is not on this machine is not there before the change either: nothing was verified.
        return reference.note == "no_collection" or all(old.verdict != "unknown" for old in before)
    is_gone = reference.verdict in GONE
    if is_gone and not any(old.verdict in GONE for old in before):
        return True
    if not before:  # new, with a pin from history
        return False
    return not any(_was_behind(old, reference) for old in before)


def _was_behind(old: ReferenceVerdict, reference: ReferenceVerdict) -> bool:
    """Return whether a reference was behind before the change.

    In a partial clone the verdict on a part is that of its file (`no_blob`). That is no excuse
    where the change touches the file: it may be the first to change the part.
    """
    is_unproven = old.note == "no_blob" and old.current_blob != reference.current_blob
    return old.verdict not in {"fresh", "unknown"} and not is_unproven


def _paths_before(
    drifted: Sequence[Assessment], change: Change, origins: Origins
) -> dict[FilePath, FilePath]:
    """Return the pages after the change by their paths before it, moved or not."""
    paths: dict[FilePath, FilePath] = {}
    moved = []
    before = change.before[0].view if change.before else None
    for assessed in drifted:
        path = assessed.page.filepath
        origin = origins.of(path)
        if origin is None and before and before.entry(path) is None:
            moved.append(assessed.page)  # or new
        else:
            paths[origin or path] = path
    removed = [name for name, entry in change.changes.items() if entry is None]
    if moved and removed and before:
        pages = {name: page.blob for name in removed if (page := before.page(name))}
        for page in moved:
            candidates = {name: blob for name, blob in pages.items() if name not in paths}
            if origin := similar_file(change.after.repository, page.blob, candidates):
                paths[origin] = page.filepath
    return paths

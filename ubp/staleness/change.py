"""What a change brings: the drift of a commit in the making, or of a branch, without old debts."""

from collections.abc import Mapping, Sequence

from ubp.core.model import (
    QUIET_LEVELS,
    Assessment,
    FilePath,
    Page,
    ReferenceVerdict,
    SourceReference,
)
from ubp.staleness.assess import assess, assess_reference, assessment, baseline_requests
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins, find_baselines
from ubp.staleness.model import Change, StalenessContext
from ubp.staleness.references import LocatedSource, covers, locate

_Key = tuple[FilePath, FilePath]  # page, source


def assess_change(pages: Sequence[Page], change: Change) -> tuple[Assessment, ...]:
    """Judge these pages after the change; what stood so before it is marked as debt.

    A page that the change edits describes what the change leaves: its unpinned references are
    satisfied. Where a shallow clone hides the baseline, the state before the change stands for it.
    """
    view = change.after.view
    origins = _origins(change)
    subjects = baseline_requests(pages)
    located = locate(view, {subject.reference for subject in subjects})
    baselines = find_baselines(
        subjects, located, change.after, Origins.uncommitted(view), origins.is_edited
    )
    baselines |= _stand_ins(baselines, change)
    assessed = assess_reference(pages, located, baselines, change.after)
    return _mark_debts(assessed, change, origins)


def touched_pages(change: Change) -> list[Page]:
    """The pages that the change edits, and those that name a source which it touches."""
    pages = change.after.view.bound_pages() if change.changes else []
    located = locate(change.after.view, {r for page in pages for r in page.facts.references})
    touched = {
        reference for reference, here in located.items() if covers(here.source, change.changes)
    }
    return [
        page
        for page in pages
        if page.filepath in change.changes or not touched.isdisjoint(page.facts.references)
    ]


def _origins(change: Change) -> Origins:
    if not change.before:
        return Origins.uncommitted(change.after.view)
    return Origins(change.after.view, change.before[0].view.entries, change.changes)


def _stand_ins(
    baselines: Mapping[BaselineRequest, Baseline], change: Change
) -> dict[BaselineRequest, Baseline]:
    hidden = {subject: b for subject, b in baselines.items() if not b.is_known}
    if not hidden or not change.before:
        return {}
    before = change.before[0].view
    located: dict[SourceReference, LocatedSource] = locate(
        before, {subject.reference for subject in hidden}
    )
    stood = {subject: located[subject.reference] for subject in hidden}
    return {
        subject: Baseline("history", here.source, here.id, before.snapshot.commit)
        for subject, here in stood.items()
    }


def _mark_debts(
    assessed: Sequence[Assessment], change: Change, origins: Origins
) -> tuple[Assessment, ...]:
    suspects = [one for one in assessed if one.level not in QUIET_LEVELS]
    old: dict[_Key, list[ReferenceVerdict]] = {}
    for court in change.before if suspects else ():
        for key, answer in _before(suspects, court, origins).items():
            old.setdefault(key, []).append(answer)
    return tuple(
        assessment(
            one.page,
            [
                answer._replace(
                    is_debt=answer.verdict != "fresh"
                    and any(
                        before.verdict != "fresh" and before.current_blob == answer.current_blob
                        for before in old.get((one.page.filepath, answer.source_path), ())
                    )
                )
                for answer in one.references
            ],
        )
        for one in assessed
    )


def _before(
    suspects: Sequence[Assessment], court: StalenessContext, origins: Origins
) -> dict[_Key, ReferenceVerdict]:
    """What became of the suspects' references in the state before the change."""
    names: dict[FilePath, FilePath] = {}  # before → after
    for one in suspects:
        path = one.page.filepath
        names[origins.of(path) or path] = path
    pages = [page for name in names if (page := court.view.page(name))]
    return {
        (names[one.page.filepath], answer.source_path): answer
        for one in assess(pages, court)
        for answer in one.references
    }

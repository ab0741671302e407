"""Comparison of the levels of pages at a revision and in a later state, for release notes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ubp.checks.renames import Renames
from ubp.core.errors import UsageError
from ubp.core.model import Assessment, FilePath, Level, Page, ReferenceVerdict, Snapshot
from ubp.git.repository import Repository
from ubp.index.select import select_pages
from ubp.index.view import View
from ubp.staleness.assess import assess
from ubp.staleness.compare import hide
from ubp.staleness.model import StalenessContext

Outcome = Literal[
    "became_stale", "still_stale", "became_fresh", "new", "gone", "unknown", "still_fresh"
]
# In the order in which they are listed.
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# Drift counts from its first day, so that no page becomes stale here by waiting.
BEHIND: frozenset[Level | None] = frozenset({"stale", "possibly_stale"})


class LevelChange(NamedTuple):
    """The outcome for a page, and its levels; a level is None where there is no such page.

    A page is `new` if it names sources and did not, `gone` if it did and does not. `was_at` is its
    path before it moved. `drifted` are its references that are behind now.
    """

    became: Outcome
    page: Page
    was_at: FilePath | None
    then: Level | None
    now: Level | None
    drifted: tuple[ReferenceVerdict, ...]


class Comparison(NamedTuple):
    """The pages that name sources at one of two times, those first that became stale.

    `then` is the earlier snapshot and `date` its time, in seconds since the epoch: its levels are
    those of that day.
    """

    then: Snapshot
    date: int
    now: Snapshot
    changes: tuple[LevelChange, ...]
    is_shallow: bool

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Return how many pages have each outcome."""
        return Counter(change.became for change in self.changes)


def compare_levels(
    then: StalenessContext, now: StalenessContext, paths: Sequence[str]
) -> Comparison:
    """Compare the levels at a commit, as of its date, with those of a later state.

    `paths` select the pages, as `select_pages` understands them.

    Raises:
        UsageError: one of them names no page in either state.
    """
    commit = then.view.snapshot.commit
    date = then.repository.commits([commit])[commit].date if commit else 0
    then = then._replace(rules=then.rules._replace(now=date))
    selected = _select_pages(paths, now.repository, (now.view, then.view))
    before, after = (
        _assess(context, pages) for context, pages in ((then, selected[1]), (now, selected[0]))
    )
    origins = _origins(before, after, then, now)
    unmatched = dict(before)
    changes = []
    for path, assessment in after.items():
        origin = origins.get(path, path)
        changes.append(_level_change(unmatched.pop(origin, None), assessment, origin, then))
    changes += [_departed(assessment, now) for assessment in unmatched.values()]
    ordered = sorted(
        changes, key=lambda change: (OUTCOMES.index(change.became), change.page.filepath)
    )
    is_shallow = now.repository.is_shallow
    return Comparison(then.view.snapshot, date, now.view.snapshot, tuple(ordered), is_shallow)


def _select_pages(
    paths: Sequence[str], repository: Repository, views: Sequence[View]
) -> list[frozenset[FilePath] | None]:
    """Return the selected pages of each view; a path may name some in one of them alone."""
    if not paths:
        return [None for _ in views]
    selected: list[set[FilePath]] = [set() for _ in views]
    for path in paths:
        errors = []
        for view, pages in zip(views, selected, strict=True):
            try:
                pages.update(select_pages([path], view, repository))
            except UsageError as error:
                errors.append(error)
        if len(errors) == len(views):
            raise errors[0]
    return [frozenset(pages) for pages in selected]


def _assess(
    context: StalenessContext, selected: frozenset[FilePath] | None
) -> dict[FilePath, Assessment]:
    pages = [
        page
        for page in context.view.bound_pages()
        if page.facts.references and (selected is None or page.filepath in selected)
    ]
    assessed = hide(assess(pages, context), context.rules.is_hidden)
    return {assessment.page.filepath: assessment for assessment in assessed}


def _origins(
    before: Mapping[FilePath, Assessment],
    after: Mapping[FilePath, Assessment],
    then: StalenessContext,
    now: StalenessContext,
) -> dict[FilePath, FilePath]:
    """Return the former paths of pages that moved."""
    old_paths_now, new_paths_then = now.view.entries(before), then.view.entries(after)
    removed = {path: None for path, entry in old_paths_now.items() if entry is None}
    added = {path: now.view.entry(path) for path, entry in new_paths_then.items() if entry is None}
    renames = Renames(now.repository, now.view, then.view.entries, {**removed, **added})
    return {path: origin for path in added if (origin := renames.origin(path))}


def _level_change(
    old: Assessment | None, new: Assessment, origin: FilePath, then: StalenessContext
) -> LevelChange:
    level = old.level if old else ("untracked" if then.view.page(origin) else None)
    return LevelChange(
        became=_became(old.level if old else None, new.level),
        page=new.page,
        was_at=origin if origin != new.page.filepath else None,
        then=level,
        now=new.level,
        drifted=tuple(reference for reference in new.references if reference.level in BEHIND),
    )


def _became(then: Level | None, now: Level) -> Outcome:
    if then is None:
        return "new"
    if "unknown" in {then, now}:
        return "unknown"
    if now in BEHIND:
        return "still_stale" if then in BEHIND else "became_stale"
    return "became_fresh" if then in BEHIND else "still_fresh"


def _departed(assessment: Assessment, now: StalenessContext) -> LevelChange:
    level: Level | None = "untracked" if now.view.page(assessment.page.filepath) else None
    return LevelChange("gone", assessment.page, None, assessment.level, level, ())

"""What became of the pages from a revision to a later state, for those who write a release."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ubp.checks.renames import Renames
from ubp.core.errors import UsageError
from ubp.core.model import Assessment, FilePath, Level, Page, ReferenceVerdict, Snapshot
from ubp.git.repository import Repository
from ubp.index.select import select_pages
from ubp.index.view import View
from ubp.staleness.assess import assess, hide
from ubp.staleness.model import StalenessContext

Outcome = Literal[
    "became_stale", "still_stale", "became_fresh", "new", "gone", "unknown", "still_fresh"
]
# In the order in which they are told.
KINDS: tuple[Outcome, ...] = get_args(Outcome)
# Drift counts from its first day: no page becomes stale here by waiting.
BEHIND: frozenset[Level | None] = frozenset({"stale", "possibly_stale"})


class LevelChange(NamedTuple):
    """What became of a page, and its levels; None: there was no such page, or is none any more.

    A page is `new` that names sources and did not, `gone` one that did and does not. `was_at` is
    its path before it moved. `drifted` are its references that are behind now.
    """

    became: Outcome
    page: Page
    was_at: FilePath | None
    then: Level | None
    now: Level | None
    drifted: tuple[ReferenceVerdict, ...]


class Comparison(NamedTuple):
    """The pages that name sources at one of two moments, those first that became stale.

    `then` is the earlier one and `date` its own, in seconds since the epoch: its levels are those
    of that day.
    """

    then: Snapshot
    date: int
    now: Snapshot
    passages: tuple[LevelChange, ...]
    is_shallow: bool

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many pages took each way."""
        return Counter(one.became for one in self.passages)


def compare_levels(
    then: StalenessContext, now: StalenessContext, paths: Sequence[str]
) -> Comparison:
    """Compare the levels at a commit, judged as of its date, with those of a later state.

    `paths` narrow the pages, as `select_pages` understands them.

    Raises:
        UsageError: one of them names no page at either.
    """
    commit = then.view.snapshot.commit
    date = then.repository.commits([commit])[commit].date if commit else 0
    then = then._replace(rules=then.rules._replace(now=date))
    wanted = _wanted(paths, now.repository, (now.view, then.view))
    before, after = (
        _assess(court, pages) for court, pages in ((then, wanted[1]), (now, wanted[0]))
    )
    origins = _origins(before, after, then, now)
    left = dict(before)
    passages = []
    for path, one in after.items():
        origin = origins.get(path, path)
        passages.append(_passage(left.pop(origin, None), one, origin, then))
    passages += [_departure(one, now) for one in left.values()]
    order = sorted(passages, key=lambda one: (KINDS.index(one.became), one.page.filepath))
    shallow = now.repository.is_shallow
    return Comparison(then.view.snapshot, date, now.view.snapshot, tuple(order), shallow)


def _wanted(
    paths: Sequence[str], repository: Repository, views: Sequence[View]
) -> list[frozenset[FilePath] | None]:
    """The pages that are asked about in each view: each path may name some in one of them alone."""
    if not paths:
        return [None for _ in views]
    found: list[set[FilePath]] = [set() for _ in views]
    for path in paths:
        errors = []
        for view, pages in zip(views, found, strict=True):
            try:
                pages.update(select_pages([path], view, repository))
            except UsageError as error:
                errors.append(error)
        if len(errors) == len(views):
            raise errors[0]
    return [frozenset(pages) for pages in found]


def _assess(
    court: StalenessContext, wanted: frozenset[FilePath] | None
) -> dict[FilePath, Assessment]:
    pages = [
        page
        for page in court.view.bound_pages()
        if page.facts.references and (wanted is None or page.filepath in wanted)
    ]
    assessed = hide(assess(pages, court), court.rules.is_hidden)
    return {one.page.filepath: one for one in assessed}


def _origins(
    before: Mapping[FilePath, Assessment],
    after: Mapping[FilePath, Assessment],
    then: StalenessContext,
    now: StalenessContext,
) -> dict[FilePath, FilePath]:
    """Where pages were that stand elsewhere now."""
    here, there = now.view.entries(before), then.view.entries(after)
    gone = {path: None for path, entry in here.items() if entry is None}
    added = {path: now.view.entry(path) for path, entry in there.items() if entry is None}
    renames = Renames(now.repository, now.view, then.view.entries, {**gone, **added})
    return {path: origin for path in added if (origin := renames.origin(path))}


def _passage(
    old: Assessment | None, new: Assessment, origin: FilePath, then: StalenessContext
) -> LevelChange:
    level = old.level if old else ("untracked" if then.view.page(origin) else None)
    return LevelChange(
        became=_became(old.level if old else None, new.level),
        page=new.page,
        was_at=origin if origin != new.page.filepath else None,
        then=level,
        now=new.level,
        drifted=tuple(one for one in new.references if one.level in BEHIND),
    )


def _became(then: Level | None, now: Level) -> Outcome:
    if then is None:
        return "new"
    if "unknown" in {then, now}:
        return "unknown"
    if now in BEHIND:
        return "still_stale" if then in BEHIND else "became_stale"
    return "became_fresh" if then in BEHIND else "still_fresh"


def _departure(one: Assessment, now: StalenessContext) -> LevelChange:
    level: Level | None = "untracked" if now.view.page(one.page.filepath) else None
    return LevelChange("gone", one.page, None, one.level, level, ())

"""Which few files of a folder or glob a page really hangs on: those it used to change with.

Judges bindings by history: which are answered, which are noise, dead or too wide. Pure.

Asks history and the verdicts for all that a review of bindings needs.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ubp.core.model import Assessment, FilePath, ReferenceVerdict, Verdict
from ubp.core.paths import Glob, is_glob
from ubp.git.change_log import LoggedChange
from ubp.staleness.model import StalenessContext
from ubp.staleness.ranking import CommitIndex, pages_per_source

# No repository with labels has enough folders to measure these: what a page says of a folder in so
# few words, that is what a person would take for it.
MIN_CO_CHANGES = 3
"""Once is chance; of three times it is told that a file was there each time."""
MAX_RELEVANT_FILES = 3
MIN_COVERED_EDITS = 0.8
MAX_FIRINGS_LEFT = 0.5
"""A narrower binding that still fires at most changes is not worth three lines for one."""


def find_relevant_files(
    source: FilePath,
    changed: Sequence[int],
    page: Collection[int],
    log: Sequence[LoggedChange],
    stands: Callable[[FilePath], bool],
) -> tuple[FilePath, ...]:
    """The files below a source that were touched whenever page and source changed together.

    `changed` are the commits that touched the source, `page` those that touched the page. None
    where the page hangs on more than a few of them, or where naming them would spare little.
    """
    together = frozenset(changed) & frozenset(page)
    if len(together) < MIN_CO_CHANGES:
        return ()
    files = _files_below(source, changed, log)
    chosen: list[FilePath] = []
    covered: frozenset[int] = frozenset()
    while len(covered) < MIN_COVERED_EDITS * len(together):
        best = _best(files, together - covered, stands)
        if best is None or len(chosen) == MAX_RELEVANT_FILES:
            return ()
        chosen.append(best)
        covered |= files.pop(best) & together
    left = {number for number in changed if _touches_one(log[number], chosen)} - together
    if len(left) > MAX_FIRINGS_LEFT * (len(changed) - len(together)):
        return ()
    return tuple(sorted(chosen))


def _files_below(
    source: FilePath, changed: Sequence[int], log: Sequence[LoggedChange]
) -> dict[FilePath, frozenset[int]]:
    """The commits that touched each file of the source."""
    glob = Glob(source) if is_glob(source) else None
    below = f"{source}/" if source else ""
    found: defaultdict[FilePath, set[int]] = defaultdict(set)
    for number in changed:
        for path in log[number].paths:
            if path.startswith(below) or (glob and glob.matches(path)):
                found[path].add(number)
    return {path: frozenset(numbers) for path, numbers in found.items()}


def _best(
    files: Mapping[FilePath, frozenset[int]],
    open_: frozenset[int],
    stands: Callable[[FilePath], bool],
) -> FilePath | None:
    """The file that was there at most of these commits, and at the fewest others."""
    ranked = sorted(
        (-len(numbers & open_), len(numbers), path)
        for path, numbers in files.items()
        if numbers & open_
    )
    return next((path for _, _, path in ranked if stands(path)), None)


def _touches_one(change: LoggedChange, paths: Collection[FilePath]) -> bool:
    return any(path in change.paths for path in paths)


Judgement = Literal["hub", "noise", "wide", "dead", "unproven", "sound"]
"""Worst first. `noise`: it fires and is hardly ever answered; `hub`: so, and many pages name the
source. `wide`: a folder or glob of which a few files carry the page. `dead`: nothing stands there,
which others tell, too. `unproven`: too few changes to tell. `sound`: the rest."""
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
BROAD: frozenset[Judgement] = frozenset({"wide", "hub", "noise"})
NOISY: frozenset[Judgement] = frozenset({"hub", "noise"})

# Three histories, reviewed every 50 commits and judged by the next 50
# (`benchmarks/binding_review.py`): without what these three numbers call noise, 1, 5 and 7 % of
# the bindings, 95, 82 and 88 % of the firings are left, with 100, 87 and 93 % of those that a
# change of the page followed, and 99, 93 and 92 % of the changes that came with one of the page.
# Whatever share was followed: 89, 72 and 82 %, with 92, 75 and 93 %. Six changes instead of ten:
# 92, 78 and 79 %, with 100, 82 and 47 %. How many pages name a source says nothing on its own.
MIN_CHANGES = 10
MAX_CO_CHANGED = 0.05
MAX_FOLLOWED = 0.5

HUB_PAGES = 10
"""So many pages on one source are told as its trouble, not as theirs."""

WINDOW = 30 * 86_400
"""In seconds: a page that changes a month after its source changes for other reasons."""


class Binding(NamedTuple):
    """A page names a source in a line; `pages` of them name it, and `verdict` is what became of it.

    `is_wide`: it stands for many files.
    """

    filepath: FilePath
    source_path: FilePath
    line: int
    verdict: Verdict
    pages: int
    is_wide: bool
    moved_to: FilePath | None = None


class ReviewedBinding(NamedTuple):
    """A binding and what history says of it.

    Of the last `commits`, as far as the page existed, so many `changed` the source. In `together`
    of them the page changed too. The others would have fired: `followed` were answered by a change
    of the page within thirty days, and `pending` may be yet. `proposal` is what to name instead;
    where it is empty and the judgement bad, nothing.
    """

    binding: Binding
    judgement: Judgement
    commits: int
    changed: int
    together: int
    followed: int
    pending: int
    proposal: tuple[FilePath, ...] = ()

    @property
    def fired(self) -> int:
        """At how many commits `ubp stale --base` would have told the page."""
        return self.changed - self.together

    @property
    def useful_share(self) -> float | None:
        """How many changes of the source came with one of the page, or were followed by one."""
        judged = self.changed - self.pending
        return (self.together + self.followed) / judged if judged else None


class BindingReview(NamedTuple):
    """The bindings, worst first: by judgement, then those that fired most.

    `commits` were looked at (merges left out), the oldest at `since` (seconds; None: there is
    none). `is_shallow`: history ends where this clone does.
    """

    bindings: tuple[ReviewedBinding, ...]
    commits: int
    since: int | None
    is_shallow: bool = False

    def count(self, *judgements: Judgement) -> int:
        """How many bindings are judged so."""
        return sum(1 for one in self.bindings if one.judgement in judgements)


class Effect(NamedTuple):
    """How often bindings fired whose source stands, and a change of the page followed in a month.

    `fired_left` and `followed_left`: without those that are hubs or noise.
    """

    fired: int
    fired_left: int
    followed: int
    followed_left: int


def estimate_effect(review: BindingReview) -> Effect:
    """What it would have spared, and cost, to do without the hubs and the noise."""
    standing = [one for one in review.bindings if one.judgement != "dead"]
    left = [one for one in standing if one.judgement not in NOISY]
    return Effect(
        sum(one.fired for one in standing),
        sum(one.fired for one in left),
        sum(one.followed for one in standing),
        sum(one.followed for one in left),
    )


def review_bindings(
    bindings: Collection[Binding],
    log: Sequence[LoggedChange],
    is_older: Callable[[FilePath], bool],
    stands: Callable[[FilePath], bool],
) -> tuple[ReviewedBinding, ...]:
    """Judge bindings by the commits of `log`, newest first.

    `is_older` tells whether a page existed before the oldest of them, `stands` whether a file is
    there to be named.
    """
    names = {name for one in bindings for name in (one.filepath, one.source_path)}
    touches = CommitIndex((one.paths for one in log), names)
    lives = {
        page: _count_commits(touches.of(page), len(log), is_older=is_older(page))
        for page in {one.filepath for one in bindings}
    }
    reviewed = (_review(one, log, touches, lives, stands) for one in bindings)
    return tuple(sorted(reviewed, key=_order))


def _count_commits(touched: Sequence[int], all_of_them: int, *, is_older: bool) -> int:
    """How many of the newest commits found the page there."""
    if is_older:
        return all_of_them
    return touched[-1] if touched else 0


def _review(
    one: Binding,
    log: Sequence[LoggedChange],
    touches: CommitIndex,
    lives: Mapping[FilePath, int],
    stands: Callable[[FilePath], bool],
) -> ReviewedBinding:
    commits = lives[one.filepath]
    page = touches.of(one.filepath)
    changed = [number for number in touches.of(one.source_path) if number < commits]
    touched = frozenset(page)
    fates = [_fate(number, page, log) for number in changed if number not in touched]
    found = ReviewedBinding(
        binding=one,
        judgement="unproven",
        commits=commits,
        changed=len(changed),
        together=len(changed) - len(fates),
        followed=fates.count("followed"),
        pending=fates.count("pending"),
    )
    if one.verdict in {"deleted", "moved", "not_found"}:
        moved = (one.moved_to,) if one.moved_to else ()
        return found._replace(judgement="dead", proposal=moved)
    if one.is_wide and len(changed) >= MIN_CHANGES:
        carriers = find_relevant_files(one.source_path, changed, touched, log, stands)
        if carriers:
            return found._replace(judgement="wide", proposal=carriers)
    return found._replace(judgement=_judge(found))


def _fate(
    number: int, page: Sequence[int], log: Sequence[LoggedChange]
) -> Literal["followed", "pending", "ignored"]:
    """What became of a firing; `page` are the commits that changed the page, newest first."""
    date = log[number].date
    newer = bisect_left(page, number)
    if newer and log[page[newer - 1]].date - date <= WINDOW:
        return "followed"
    return "pending" if log[0].date - date < WINDOW else "ignored"


def _judge(one: ReviewedBinding) -> Judgement:
    if one.changed < MIN_CHANGES:
        return "unproven"
    judged = one.fired - one.pending
    is_answered = (
        one.together > MAX_CO_CHANGED * one.changed or one.followed > MAX_FOLLOWED * judged
    )
    if is_answered:
        return "sound"
    return "hub" if one.binding.pages >= HUB_PAGES else "noise"


def _order(one: ReviewedBinding) -> tuple[int, int, FilePath, int]:
    rank = JUDGEMENTS.index(one.judgement)
    return rank, -one.fired, one.binding.filepath, one.binding.line


MAX_COMMITS = 500  # half a year of a busy project


def review(
    assessed: Sequence[Assessment], court: StalenessContext, commits: int | None = None
) -> BindingReview:
    """Judge the bindings of these pages by so many of the last commits (500).

    Of hidden sources nothing is told.

    Raises:
        RepositoryError: history cannot be read.
    """
    commits = MAX_COMMITS if commits is None else commits
    head = court.view.snapshot.commit
    log = court.history.change_log(commits, head=head) if head else []
    bindings = _bindings(assessed, court)
    older = _older(bindings, log, court) if len(log) == commits else frozenset()
    found = review_bindings(bindings, log, older.__contains__, _standing(court))
    since = log[-1].date if log else None
    return BindingReview(found, len(log), since, court.repository.is_shallow)


def _bindings(assessed: Sequence[Assessment], court: StalenessContext) -> list[Binding]:
    hanging = pages_per_source(court.view.bound_pages())
    told = {
        (one.page.filepath, answer.source_path): answer
        for one in assessed
        for answer in reversed(one.references)  # of a source that is named twice the first line
        if not court.rules.is_hidden(answer.source_path)
    }
    entries = court.view.entries({source for _, source in told})
    folders = {source for source, entry in entries.items() if entry and entry.is_directory}
    return [
        Binding(
            filepath=page,
            source_path=source,
            line=answer.reference.line,
            verdict=answer.verdict,
            pages=hanging[answer.reference.source_path],
            is_wide=source in folders or (entries[source] is None and is_glob(source)),
            moved_to=_shown(answer, court),
        )
        for (page, source), answer in told.items()
    ]


def _shown(answer: ReferenceVerdict, court: StalenessContext) -> FilePath | None:
    moved = answer.moved_to
    return None if moved is None or court.rules.is_hidden(moved) else moved


def _older(
    bindings: Sequence[Binding], log: Sequence[LoggedChange], court: StalenessContext
) -> frozenset[FilePath]:
    """The pages that the oldest of the commits found, or made."""
    oldest = log[-1].commit
    found = court.history.entries_at({oldest: {one.filepath for one in bindings}})
    return frozenset(path for (_, path), entry in found.items() if entry)


def _standing(court: StalenessContext) -> Callable[[FilePath], bool]:
    def stands(path: FilePath) -> bool:
        entry = court.view.entry(path)
        return entry is not None and entry.is_file and not court.rules.is_hidden(path)

    return stands

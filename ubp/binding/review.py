"""Judges bindings by history: which are answered, which are noise, dead or too wide. Pure."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ubp.binding.narrowing import find_carriers
from ubp.git.change_log import LoggedChange
from ubp.model import FilePath, Verdict
from ubp.touches import Touches

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
LEAST_CHANGES = 10
MOST_TOGETHER = 0.05
MOST_FOLLOWED = 0.5

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


def tell_effect(review: BindingReview) -> Effect:
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
    touches = Touches((one.paths for one in log), names)
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
    touches: Touches,
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
    if one.is_wide and len(changed) >= LEAST_CHANGES:
        carriers = find_carriers(one.source_path, changed, touched, log, stands)
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
    if one.changed < LEAST_CHANGES:
        return "unproven"
    judged = one.fired - one.pending
    is_answered = (
        one.together > MOST_TOGETHER * one.changed or one.followed > MOST_FOLLOWED * judged
    )
    if is_answered:
        return "sound"
    return "hub" if one.binding.pages >= HUB_PAGES else "noise"


def _order(one: ReviewedBinding) -> tuple[int, int, FilePath, int]:
    rank = JUDGEMENTS.index(one.judgement)
    return rank, -one.fired, one.binding.filepath, one.binding.line

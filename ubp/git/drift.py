"""The walk's second question: which commits took a path away from its baseline?

Merges that dropped a baseline: `git merge -X ours`, a conflict resolved for the older side.

A search follows a path through the parents that have it as it is. Where that line leads past the
baseline's commit, into history that does not contain it, no commit took the path from its baseline:
a merge put another state in its place, and `git log` does not list such a merge. It is the last
commit on the line with the baseline's commit behind it.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from ubp.core.model import BaselineQuery, Drift, ObjectId
from ubp.git.walk import CLOCK_SKEW, Change, Commits, End, PathRequests, Walk, bits

Known = Mapping[ObjectId, Mapping[BaselineQuery, Drift]]


class DriftTask:
    """Follows each search down to its baseline and counts the commits on the way.

    Where a path differs from every parent of a merge its search forks and goes on in all of them;
    each line ends where the path is at the baseline, or at the baseline's commit and its ancestors.
    A pin names no commit: any in which a line meets it serves as one.
    """

    def __init__(
        self,
        searches: Mapping[BaselineQuery, bool],
        commits: Commits,
        known: Known,
        behind: Mapping[Hashable, int] | None = None,
    ) -> None:
        """`searches` tells of each whether its path stands where the walk begins.

        `behind` is needed for searches whose baseline a merge dropped: see `dropped.py`.
        """
        self._walk = Walk(commits, self)
        self._commits = commits
        self._known = known
        self._behind = behind
        self._searches = tuple(searches)
        self._trails = [_Trail(existed=existed) for existed in searches.values()]
        self._baselines = _Baselines(self._searches)
        self._names: dict[Hashable, ObjectId] = {}
        self._pins = 0
        self._forked = 0

    def run(self, start: Any) -> dict[BaselineQuery, Drift]:
        """Walk from here; the searches must not be at their baseline already.

        Searches that came to commits which are not read are left out, and those whose baseline a
        merge dropped, unless it is told what is behind each commit.
        """
        wanted = PathRequests()
        bases: dict[ObjectId, int] = defaultdict(int)
        for number, search in enumerate(self._searches):
            wanted.add(search.path, search.pattern, 1 << number)
            if search.commit is None:
                self._pins |= 1 << number
            else:
                bases[search.commit] |= 1 << number
        for name, requests in bases.items():
            base = self._commits.find(name)
            if base is not None:
                self._walk.end_at(base, requests)
        self._walk.give(start, wanted)
        self._walk.run()
        return self._answers()

    def arrive(self, commit: Any, wanted: PathRequests) -> None:
        """Take what an earlier run found out about this head.

        Not for a search that forked: its lines may meet again below.
        """
        if self._behind is not None:
            for request in bits(wanted.requests & self._behind.get(commit.id, 0)):
                trail = self._trails[request]
                trail.dropped_by = [commit.id]
                trail.dropped_after = len(trail.drifted)
        known = self._known.get(ObjectId(str(commit.id))) if self._known else None
        if not known:
            return
        answered = 0
        for request in bits(wanted.requests & ~self._forked):
            earlier = known.get(self._searches[request])
            if earlier is not None:
                self._trails[request].earlier = earlier
                answered |= 1 << request
        wanted.drop(answered)

    def differ(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Count this commit and go on in all its parents."""
        places = set()
        for change in compared[-1][1]:
            places.add((change.path, change.pattern))
            self._count(commit, change, is_fork=len(compared) > 1)
        for parent, changes in compared:
            onward = PathRequests()
            for change in changes:
                if (change.path, change.pattern) in places:
                    requests = change.requests & ~self._meet(commit, parent, change)
                    if requests:
                        onward.add(change.path, change.pattern, requests)
            if onward:
                self._walk.give(parent, onward)

    def _count(self, commit: Any, change: Change, *, is_fork: bool) -> None:
        self._forked |= change.requests if is_fork else 0
        name = commit.id  # one object for them all: hundreds may drift by thousands of commits
        for request in bits(change.requests):
            trail = self._trails[request]
            trail.drifted.append(name)
            if is_fork:
                trail.forks.append(name)
            trail.oldest = min(trail.oldest, commit.commit_time)
            trail.existed = True  # it differs from an absent path, or is one that existed before

    def _meet(self, commit: Any, parent: Any, change: Change) -> int:
        met = change.requests & self._baselines.equal(change.old)
        for request in bits(met):
            self._trails[request].met.append(commit.id)
        forked_pins = met & self._pins & self._forked
        if forked_pins:
            self._walk.paint(parent, forked_pins)
        return met

    def end(self, commit: Any, requests: int) -> None:
        """Note where a line came to the baseline's commit, or past it."""
        for request in bits(requests):
            self._trails[request].ended_at = ObjectId(str(commit.id))

    def stop(self, commit: Any, wanted: PathRequests, end: End) -> None:
        """Count the commit that made a path; note where history is cut off or not read."""
        if end == "root":
            for change in self._commits.compare(commit, None, wanted):
                self._count(commit, change, is_fork=False)
                self._meet(commit, commit, change)
            return
        for request in bits(wanted.requests):
            trail = self._trails[request]
            if end == "unread":
                trail.is_read = False
            trail.cut_off.append(commit.id)
            trail.oldest = min(trail.oldest, commit.commit_time)

    def needs_paint(self, requests: int, commit: Any) -> int:
        """Those that may have counted an ancestor of this commit."""
        latest = commit.commit_time + CLOCK_SKEW
        needing = 0
        for request in bits(requests):
            if self._trails[request].oldest <= latest:
                needing |= 1 << request
        return needing

    def _answers(self) -> dict[BaselineQuery, Drift]:
        answers = {}
        for request, search in enumerate(self._searches):
            drift = self._answer(request, search)
            if drift is not None:
                answers[search] = drift
        return answers

    def _answer(self, request: int, search: BaselineQuery) -> Drift | None:
        trail = self._trails[request]
        drifted = self._unpainted(trail.drifted, request)
        if not trail.is_read:
            return None
        if trail.earlier is not None:
            existed = trail.existed or trail.earlier.existed
            earlier = trail.earlier
            return Drift(self._ids(drifted) + earlier.commits, earlier.is_complete, existed)
        if self._leads_past_baseline(request, search):
            if self._behind is None:
                return None
            drifted[trail.dropped_after : trail.dropped_after] = trail.dropped_by
            trail.existed |= search.baseline is not None  # at that commit
        is_met = search.commit is not None or bool(trail.met)
        is_complete = is_met and not self._unpainted(trail.cut_off, request)
        return Drift(self._ids(drifted), is_complete, trail.existed)

    def _leads_past_baseline(self, request: int, search: BaselineQuery) -> bool:
        trail = self._trails[request]
        if search.commit is None or trail.ended_at == search.commit:
            return False
        ends = (trail.met, trail.cut_off, trail.forks)
        return not any(self._unpainted(commits, request) for commits in ends)

    def _unpainted(self, commits: list[Any], request: int) -> list[Any]:
        painted = self._walk.painted
        return [c for c in dict.fromkeys(commits) if not painted.get(c, 0) >> request & 1]

    def _ids(self, commits: Sequence[Any]) -> tuple[ObjectId, ...]:
        for commit in commits:
            if commit not in self._names:
                self._names[commit] = ObjectId(str(commit))
        return tuple(self._names[commit] for commit in commits)


class _Trail:
    """What one search came by: names of commits, newest first."""

    __slots__ = (
        "cut_off",
        "drifted",
        "dropped_after",
        "dropped_by",
        "earlier",
        "ended_at",
        "existed",
        "forks",
        "is_read",
        "met",
        "oldest",
    )

    def __init__(self, *, existed: bool) -> None:
        self.drifted: list[Any] = []
        self.forks: list[Any] = []
        """The merges among them."""
        self.met: list[Any] = []
        """Those among them with a parent that is at the baseline."""
        self.cut_off: list[Any] = []
        """Where a line ended although history goes on."""
        self.oldest: float = float("inf")
        """The earliest date among all these."""
        self.ended_at: ObjectId | None = None
        self.dropped_by: list[Any] = []
        """The last commit so far that has the baseline's behind it, should one be needed."""
        self.dropped_after = 0
        """How many drifting commits are newer."""
        self.earlier: Drift | None = None
        self.existed = existed
        self.is_read = True


class _Baselines:
    """Finds the searches whose baseline is a given id, pins by their first digits."""

    def __init__(self, searches: Sequence[BaselineQuery]) -> None:
        self._absent = 0
        self._by_length: dict[int, dict[str, int]] = {}
        for request, search in enumerate(searches):
            if search.baseline is None:
                self._absent |= 1 << request
            else:
                same_length = self._by_length.setdefault(len(search.baseline), defaultdict(int))
                same_length[search.baseline] |= 1 << request

    def equal(self, found: ObjectId | None) -> int:
        """The searches (bits) that are at their baseline with this id; None: with none."""
        if found is None:
            return self._absent
        together = 0
        for length, requests in self._by_length.items():
            together |= requests.get(found[:length], 0)
        return together


def removed_baselines(
    commits: Commits, start: Any, searches: Collection[BaselineQuery]
) -> dict[Hashable, int]:
    """The searches (bits) whose baseline's commit is behind a commit, or is that commit."""
    behind: dict[Hashable, int] = {}
    oldest = start.commit_time
    for number, search in enumerate(searches):
        base = commits.find(search.commit) if search.commit else None
        if base is not None:
            behind[base.id] = behind.get(base.id, 0) | 1 << number
            oldest = min(oldest, base.commit_time - CLOCK_SKEW)
    seen: set[Hashable] = set()
    todo: list[tuple[Any, list[Hashable] | None]] = [(start, None)]
    while todo:
        commit, parents = todo.pop()
        if parents is not None:  # all of them are done
            for parent in parents:
                behind[commit] = behind.get(commit, 0) | behind.get(parent, 0)
        elif commit.id not in seen:
            seen.add(commit.id)
            read = [p for p in commits.parents(commit) if p.commit_time >= oldest]
            todo.append((commit.id, [parent.id for parent in read]))
            todo += [(parent, None) for parent in read]
    return behind

"""A task of the walk: which commits took a path away from its baseline.

A query follows a path through the parents in which it is the same. Where that line leads past the
baseline's commit, into history that does not contain it, no commit took the path from its baseline:
a merge dropped the baseline's state for another one (`git merge -X ours`, a conflict resolved for
the older side), and `git log` does not list such a merge. It is the last commit on the line from
which the baseline's commit is reachable.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from ubp.core.model import BaselineQuery, Drift, ObjectId
from ubp.git.walk import CLOCK_SKEW, Change, Commits, EndReason, PathRequests, Walk, bits

KnownDrifts = Mapping[ObjectId, Mapping[BaselineQuery, Drift]]
"""The answers for earlier heads."""


class DriftTask:
    """A search for the commits between each path's state at the start and its baseline.

    Where a path differs from every parent of a merge, its query forks and continues in all of them;
    each line ends where the path is at the baseline, or at the baseline's commit and its ancestors.
    A pin names no commit: any commit in which a line reaches the pinned id takes its place.
    """

    def __init__(
        self,
        queries: Mapping[BaselineQuery, bool],
        commits: Commits,
        known_drifts: KnownDrifts,
        reachable: Mapping[Hashable, int] | None = None,
    ) -> None:
        """Take the queries, each with whether its path exists where the walk begins.

        `reachable` (see `map_reachable_baselines`) is needed for queries whose baseline a merge
        dropped.
        """
        self._walk = Walk(commits, self)
        self._commits = commits
        self._known_drifts = known_drifts
        self._reachable = reachable
        self._queries = tuple(queries)
        self._trails = [_Trail(existed=existed) for existed in queries.values()]
        self._baselines = _Baselines(self._queries)
        self._object_ids: dict[Hashable, ObjectId] = {}
        self._pins = 0
        self._forked = 0

    def run(self, start: Any) -> dict[BaselineQuery, Drift]:
        """Walk from `start`, where no query may be at its baseline.

        Queries that reach commits which are not read are left out, and without `reachable` also
        those whose baseline a merge dropped.
        """
        pending = PathRequests()
        bases: dict[ObjectId, int] = defaultdict(int)
        for number, query in enumerate(self._queries):
            pending.add(query.path, query.pattern, 1 << number)
            if query.commit is None:
                self._pins |= 1 << number
            else:
                bases[query.commit] |= 1 << number
        for commit, requests in bases.items():
            base = self._commits.find(commit)
            if base is not None:
                self._walk.end_at(base, requests)
        self._walk.add(start, pending)
        self._walk.run()
        drifts = {}
        for request, query in enumerate(self._queries):
            drift = self._answer(request, query)
            if drift is not None:
                drifts[query] = drift
        return drifts

    def on_visit(self, commit: Any, pending: PathRequests) -> None:
        """Use the answers for an earlier head, except for queries that forked.

        The lines of those may meet again below.
        """
        if self._reachable is not None:
            for request in bits(pending.requests & self._reachable.get(commit.id, 0)):
                trail = self._trails[request]
                trail.dropped_by = [commit.id]
                trail.dropped_after = len(trail.drifted)
        answers = self._known_drifts.get(ObjectId(str(commit.id))) if self._known_drifts else None
        if not answers:
            return
        answered = 0
        for request in bits(pending.requests & ~self._forked):
            earlier = answers.get(self._queries[request])
            if earlier is not None:
                self._trails[request].earlier = earlier
                answered |= 1 << request
        pending.drop(answered)

    def on_change(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Count this commit and continue in all its parents."""
        changed_everywhere = set()
        for change in compared[-1][1]:
            changed_everywhere.add((change.path, change.pattern))
            self._count(commit, change, is_fork=len(compared) > 1)
        for parent, changes in compared:
            pending = PathRequests()
            for change in changes:
                if (change.path, change.pattern) in changed_everywhere:
                    requests = change.requests & ~self._end_at_baseline(commit, parent, change)
                    if requests:
                        pending.add(change.path, change.pattern, requests)
            if pending:
                self._walk.add(parent, pending)

    def _count(self, commit: Any, change: Change, *, is_fork: bool) -> None:
        self._forked |= change.requests if is_fork else 0
        commit_id = commit.id  # shared, because hundreds of queries may list thousands of commits
        for request in bits(change.requests):
            trail = self._trails[request]
            trail.drifted.append(commit_id)
            if is_fork:
                trail.forks.append(commit_id)
            trail.oldest = min(trail.oldest, commit.commit_time)
            trail.existed = True  # this commit changed it, so it exists before or after

    def _end_at_baseline(self, commit: Any, parent: Any, change: Change) -> int:
        """Return the requests (bits) whose path is at the baseline in this parent, and end them."""
        ended = change.requests & self._baselines.equal(change.old)
        for request in bits(ended):
            self._trails[request].left_baseline.append(commit.id)
        forked_pins = ended & self._pins & self._forked
        if forked_pins:
            self._walk.paint(parent, forked_pins)
        return ended

    def on_baseline(self, commit: Any, requests: int) -> None:
        """Note where a line reached the baseline's commit, or an ancestor of it."""
        for request in bits(requests):
            self._trails[request].ended_at = ObjectId(str(commit.id))

    def on_end(self, commit: Any, pending: PathRequests, reason: EndReason) -> None:
        """Count the commit that created a path; note where history is cut off or not read."""
        if reason == "root":
            for change in self._commits.compare(commit, None, pending):
                self._count(commit, change, is_fork=False)
                self._end_at_baseline(commit, commit, change)
            return
        for request in bits(pending.requests):
            trail = self._trails[request]
            if reason == "unread":
                trail.is_read = False
            trail.cut_off.append(commit.id)
            trail.oldest = min(trail.oldest, commit.commit_time)

    def needs_paint(self, requests: int, commit: Any) -> int:
        """Return the requests that may have counted an ancestor of this commit."""
        latest = commit.commit_time + CLOCK_SKEW
        needed = 0
        for request in bits(requests):
            if self._trails[request].oldest <= latest:
                needed |= 1 << request
        return needed

    def _answer(self, request: int, query: BaselineQuery) -> Drift | None:
        trail = self._trails[request]
        drifted = self._unpainted(trail.drifted, request)
        if not trail.is_read:
            return None
        if trail.earlier is not None:
            earlier = trail.earlier
            existed = trail.existed or earlier.existed
            return Drift(self._ids(drifted) + earlier.commits, earlier.is_complete, existed)
        if self._leads_past_baseline(request, query):
            if self._reachable is None:
                return None
            drifted[trail.dropped_after : trail.dropped_after] = trail.dropped_by
            trail.existed |= query.baseline is not None  # at the baseline's commit
        is_baseline_found = query.commit is not None or bool(trail.left_baseline)
        is_complete = is_baseline_found and not self._unpainted(trail.cut_off, request)
        return Drift(self._ids(drifted), is_complete, trail.existed)

    def _leads_past_baseline(self, request: int, query: BaselineQuery) -> bool:
        """Return whether no commit took the path from its baseline, because a merge dropped it."""
        trail = self._trails[request]
        if query.commit is None or trail.ended_at == query.commit:
            return False
        ends = (trail.left_baseline, trail.cut_off, trail.forks)
        return not any(self._unpainted(commits, request) for commits in ends)

    def _unpainted(self, commits: list[Any], request: int) -> list[Any]:
        """Return the commits that are neither the baseline's commit nor an ancestor of it."""
        painted = self._walk.painted
        return [
            commit for commit in dict.fromkeys(commits) if not painted.get(commit, 0) >> request & 1
        ]

    def _ids(self, commits: Sequence[Any]) -> tuple[ObjectId, ...]:
        for commit in commits:
            if commit not in self._object_ids:
                self._object_ids[commit] = ObjectId(str(commit))
        return tuple(self._object_ids[commit] for commit in commits)


class _Trail:
    """The commits that a query has passed: their ids, newest first."""

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
        "left_baseline",
        "oldest",
    )

    def __init__(self, *, existed: bool) -> None:
        self.drifted: list[Any] = []
        self.forks: list[Any] = []
        """The merges in `drifted` at which the query forked."""
        self.left_baseline: list[Any] = []
        """The commits in `drifted` with a parent that is at the baseline."""
        self.cut_off: list[Any] = []
        """The commits at which a line ended although history continues."""
        self.oldest: float = float("inf")
        """The earliest date of all these commits."""
        self.ended_at: ObjectId | None = None
        self.dropped_by: list[Any] = []
        """The last commit so far from which the baseline's commit is reachable, if any."""
        self.dropped_after = 0
        """The number of newer commits in `drifted`."""
        self.earlier: Drift | None = None
        self.existed = existed
        self.is_read = True


class _Baselines:
    """An index of the queries by the id of their baseline; a pin may be shortened."""

    def __init__(self, queries: Sequence[BaselineQuery]) -> None:
        self._absent = 0
        self._by_length: dict[int, dict[str, int]] = {}
        for request, query in enumerate(queries):
            if query.baseline is None:
                self._absent |= 1 << request
            else:
                same_length = self._by_length.setdefault(len(query.baseline), defaultdict(int))
                same_length[query.baseline] |= 1 << request

    def equal(self, object_id: ObjectId | None) -> int:
        """Return the queries (bits) whose baseline is this id; None: those that were absent."""
        if object_id is None:
            return self._absent
        matching = 0
        for length, requests in self._by_length.items():
            matching |= requests.get(object_id[:length], 0)
        return matching


def map_reachable_baselines(
    commits: Commits, start: Any, queries: Collection[BaselineQuery]
) -> dict[Hashable, int]:
    """Return for each commit the queries (bits) whose baseline's commit is reachable from it."""
    reachable: dict[Hashable, int] = {}
    oldest = start.commit_time
    for number, query in enumerate(queries):
        base = commits.find(query.commit) if query.commit else None
        if base is not None:
            reachable[base.id] = reachable.get(base.id, 0) | 1 << number
            oldest = min(oldest, base.commit_time - CLOCK_SKEW)
    seen: set[Hashable] = set()
    # With its parents a commit is an id: all of them have been visited.
    stack: list[tuple[Any, list[Hashable] | None]] = [(start, None)]
    while stack:
        commit, parents = stack.pop()
        if parents is not None:
            for parent in parents:
                reachable[commit] = reachable.get(commit, 0) | reachable.get(parent, 0)
        elif commit.id not in seen:
            seen.add(commit.id)
            recent = [parent for parent in commits.parents(commit) if parent.commit_time >= oldest]
            stack.append((commit.id, [parent.id for parent in recent]))
            stack += [(parent, None) for parent in recent]
    return reachable

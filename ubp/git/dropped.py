"""Merges that dropped a baseline: `git merge -X ours`, a conflict resolved for the older side.

A search follows a path through the parents that have it as it is. Where that line leads past the
baseline's commit, into history that does not contain it, no commit took the path from its baseline:
a merge put another state in its place, and `git log` does not list such a merge. It is the last
commit on the line with the baseline's commit behind it.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Protocol

from ubp.git.drift import CLOCK_SKEW
from ubp.git.walk import Commits
from ubp.git.wanted import Wanted
from ubp.model import Drift, ObjectId, Search


class Ancestry(Commits, Protocol):
    """Commits that know their ancestors."""

    def descends_from(self, commit: Any, ancestor: Any) -> bool:
        """Whether one commit is a (far) child of another."""


def find_dropped_drift(commits: Ancestry, start: Any, search: Search) -> Drift:
    """The drift of a search whose one line leads past its baseline's commit."""
    base = commits.find(search.commit) if search.commit else None
    if base is None:
        return Drift((), is_complete=False, existed=True)
    oldest = base.commit_time - CLOCK_SKEW
    line = list(
        takewhile(lambda step: step[0].commit_time >= oldest, _line(commits, start, search))
    )
    after_merge = bisect_left(line, 1, key=lambda step: not commits.descends_from(step[0], base))
    end = bisect_left(line, 1, after_merge, key=lambda step: commits.descends_from(base, step[0]))
    drifted = [
        ObjectId(str(commit.id))
        for index, (commit, is_drift) in enumerate(line[:end])
        if is_drift or index == after_merge - 1
    ]
    return Drift(tuple(drifted), is_complete=True, existed=True)


def _line(commits: Commits, start: Any, search: Search) -> Iterator[tuple[Any, bool]]:
    """The commits that a search passes, and whether each is drift."""
    wanted = Wanted()
    wanted.add(search.path, search.pattern, 1)
    commit = start
    while commit is not None:
        parents = list(commits.parents(commit))
        same = (parent for parent in parents if not commits.compare(commit, parent, wanted))
        followed = next(same, None)
        yield commit, followed is None
        commit = followed or next(iter(parents), None)

"""Merges that dropped a baseline: `git merge -X ours`, a conflict resolved for the older side.

A search follows a path through the parents that have it as it is. Where that line leads past the
baseline's commit, into history that does not contain it, no commit took the path from its baseline:
a merge put another state in its place, and `git log` does not list such a merge. It is the last
commit on the line with the baseline's commit behind it.
"""

from collections.abc import Collection, Hashable
from typing import Any

from ubp.git.walk import CLOCK_SKEW, Commits
from ubp.model import Search


def bases_behind(commits: Commits, start: Any, searches: Collection[Search]) -> dict[Hashable, int]:
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

"""The walk's third question: which commits brought a file into being?

The walk's first question: which commit last changed a file's bytes?
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ubp.core.model import FilePath, LastChange, ObjectId
from ubp.core.paths import closest_path
from ubp.git.walk import Change, Commits, End, PathRequests, Walk, bits

Known = Mapping[ObjectId, Mapping[FilePath, LastChange]]
FirstCommits = Mapping[FilePath, Collection[LastChange]]


class FirstCommitTask:
    """Finds the births of each path: the commits that have it and none of whose parents has.

    There may be several: branches that each wrote it, and earlier lives of a page that was deleted
    and written anew. A commit that only renamed the file bore nothing, so the walk goes on under
    the old name, as it does for the last change.
    """

    def __init__(self, paths: Sequence[FilePath], commits: Commits, known: Known) -> None:
        self._births: dict[int, set[LastChange]] = {}
        self._unread = 0
        self._walk = Walk(commits, self)
        self._paths = paths
        self._commits = commits
        self._known = known

    def run(self, start: Any) -> FirstCommits:
        """Walk from here; paths that are not there, or whose history is not read, are left out."""
        wanted = PathRequests()
        for number, path in enumerate(self._paths):
            wanted.add(path, None, 1 << number)
        self._walk.give(start, wanted)
        self._walk.run()
        return {
            self._paths[request]: births
            for request, births in self._births.items()
            if not self._unread & 1 << request
        }

    def arrive(self, commit: Any, wanted: PathRequests) -> None:
        """Take what an earlier run found out about this head."""
        known = self._known.get(ObjectId(str(commit.id))) if self._known else None
        for path, pattern, requests in list(wanted.items()) if known else ():
            if known and path in known:
                self._answer(requests, known[path])
                wanted.discard(path, pattern)

    def differ(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Go on to every parent, under the name that the file has there; born is what has none."""
        before = [(parent, {c.path: c.old for c in changes}) for parent, changes in compared]
        for change in compared[-1][1]:
            is_born = change.new is not None
            for parent, old in before:
                name: FilePath | None = change.path
                if old[change.path] is None and change.new is not None:
                    name = self._old_name(commit, parent, change)
                is_born = is_born and old[change.path] is None and name is None
                wanted = PathRequests()
                wanted.add(name or change.path, None, change.requests)
                self._walk.give(parent, wanted)
            if is_born:
                self._answer(change.requests, _change(commit))

    def _old_name(self, commit: Any, parent: Any, change: Change) -> FilePath | None:
        removed = self._commits.removed(commit, parent)
        candidates = removed.get(change.new, ()) if change.new else ()
        return closest_path(change.path, candidates)

    def stop(self, commit: Any, wanted: PathRequests, end: End) -> None:
        """What the first commit has was born there; of what is not read nothing is known."""
        if end == "unread":
            self._unread |= wanted.requests
            return
        for change in self._commits.compare(commit, None, wanted):
            if change.new is not None:
                self._answer(change.requests, _change(commit, is_boundary=end == "shallow"))

    def end(self, commit: Any, requests: int) -> None:
        """Nothing here ends at a given commit."""

    def needs_paint(self, requests: int, commit: Any) -> int:  # noqa: ARG002 - a walk asks so
        """Nothing here ends at a given commit."""
        return 0

    def _answer(self, requests: int, birth: LastChange) -> None:
        for request in bits(requests):
            self._births.setdefault(request, set()).add(birth)


def _change(commit: Any, *, is_boundary: bool = False) -> LastChange:
    return LastChange(ObjectId(str(commit.id)), is_boundary)


class LastCommitTask:
    """Finds the last change of each path.

    A commit that only renamed a file did not change it, so the walk goes on under the old name. A
    change of mode alone is none because only ids are compared.
    """

    def __init__(self, paths: Sequence[FilePath], commits: Commits, known: Known) -> None:
        self._found: dict[FilePath, LastChange] = {}
        self._walk = Walk(commits, self)
        self._paths = paths
        self._commits = commits
        self._known = known

    def run(self, start: Any) -> dict[FilePath, LastChange]:
        """Walk from here; paths that are not there, or whose history is not read, are left out."""
        wanted = PathRequests()
        for number, path in enumerate(self._paths):
            wanted.add(path, None, 1 << number)
        self._walk.give(start, wanted)
        self._walk.run()
        return self._found

    def arrive(self, commit: Any, wanted: PathRequests) -> None:
        """Take what an earlier run found out about this head."""
        known = self._known.get(ObjectId(str(commit.id))) if self._known else None
        for path, pattern, requests in list(wanted.items()) if known else ():
            if known and path in known:
                self._answer(requests, known[path])
                wanted.discard(path, pattern)

    def differ(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Name this commit, unless it only renamed the file."""
        before = [(parent, {c.path: c.old for c in changes}) for parent, changes in compared]
        for change in compared[-1][1]:
            if change.new is None:
                continue  # gone before the walk began
            for parent, old in before:
                old_name = None if old[change.path] else self._old_name(commit, parent, change)
                if old_name is not None:
                    wanted = PathRequests()
                    wanted.add(old_name, None, change.requests)
                    self._walk.give(parent, wanted)
                    break
            else:
                self._answer(change.requests, _change(commit))

    def _old_name(self, commit: Any, parent: Any, change: Change) -> FilePath | None:
        removed = self._commits.removed(commit, parent)
        candidates = removed.get(change.new, ()) if change.new else ()
        return closest_path(change.path, candidates)

    def stop(self, commit: Any, wanted: PathRequests, end: End) -> None:
        """Name the first commit; what the walk does not read is left unanswered."""
        if end != "unread":
            self._answer(wanted.requests, _change(commit, is_boundary=end == "shallow"))

    def end(self, commit: Any, requests: int) -> None:
        """Nothing here ends at a given commit."""

    def needs_paint(self, requests: int, commit: Any) -> int:  # noqa: ARG002 - a walk asks so
        """Nothing here ends at a given commit."""
        return 0

    def _answer(self, requests: int, change: LastChange) -> None:
        for request in bits(requests):
            self._found[self._paths[request]] = change

"""Tasks of the walk: which commit last changed a file's bytes, and which commits created it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ubp.core.model import FilePath, LastChange, ObjectId
from ubp.core.paths import closest_path
from ubp.git.walk import Change, Commits, EndReason, PathRequests, Walk, bits

KnownChanges = Mapping[ObjectId, Mapping[FilePath, LastChange]]
"""The answers for earlier heads."""
FirstCommits = Mapping[FilePath, Collection[LastChange]]


class LastCommitTask:
    """A search for the commit that last changed each path.

    A pure rename is not a change, so the walk continues under the old name. Neither is a change of
    mode, because only ids are compared.
    """

    def __init__(
        self, paths: Sequence[FilePath], commits: Commits, known_changes: KnownChanges
    ) -> None:
        self._changes: dict[FilePath, LastChange] = {}
        self._walk = Walk(commits, self)
        self._paths = paths
        self._commits = commits
        self._known_changes = known_changes

    def run(self, start: Any) -> dict[FilePath, LastChange]:
        """Walk from `start`; leave out paths absent there, and those whose history is not read."""
        self._walk.add(start, _requests_for(self._paths))
        self._walk.run()
        return self._changes

    def on_visit(self, commit: Any, pending: PathRequests) -> None:
        """Use the answers for an earlier head."""
        for requests, change in _take_known(commit, pending, self._known_changes):
            self._answer(requests, change)

    def on_change(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Answer with this commit, unless it only renamed the file."""
        parent_ids = [(parent, {c.path: c.old for c in changes}) for parent, changes in compared]
        for change in compared[-1][1]:
            if change.new is None:
                continue  # absent where the walk began
            for parent, old_ids in parent_ids:
                if old_ids[change.path] is not None:
                    continue
                old_path = _path_before_rename(self._commits, commit, parent, change)
                if old_path is not None:
                    pending = PathRequests()
                    pending.add(old_path, None, change.requests)
                    self._walk.add(parent, pending)
                    break
            else:
                self._answer(change.requests, _change_of(commit))

    def on_end(self, commit: Any, pending: PathRequests, reason: EndReason) -> None:
        """Answer with the first commit; leave unanswered what the walk does not read."""
        if reason != "unread":
            self._answer(pending.requests, _change_of(commit, is_boundary=reason == "shallow"))

    def on_baseline(self, commit: Any, requests: int) -> None:
        """Do nothing: these requests have no baseline."""

    def needs_paint(self, requests: int, commit: Any) -> int:  # noqa: ARG002 - a Task has it
        """Return none: these requests have no baseline."""
        return 0

    def _answer(self, requests: int, change: LastChange) -> None:
        for request in bits(requests):
            self._changes[self._paths[request]] = change


class FirstCommitTask:
    """A search for the commits that created each path: they have it and none of their parents has.

    There may be several: branches that each added it, or a file that was deleted and added again.
    A pure rename creates nothing, so the walk continues under the old name, as `LastCommitTask`
    does.
    """

    def __init__(
        self, paths: Sequence[FilePath], commits: Commits, known_changes: KnownChanges
    ) -> None:
        self._creations: dict[int, set[LastChange]] = {}
        self._unread = 0
        self._walk = Walk(commits, self)
        self._paths = paths
        self._commits = commits
        self._known_changes = known_changes

    def run(self, start: Any) -> FirstCommits:
        """Walk from `start`; leave out paths absent there, and those whose history is not read."""
        self._walk.add(start, _requests_for(self._paths))
        self._walk.run()
        return {
            self._paths[request]: creations
            for request, creations in self._creations.items()
            if not self._unread & 1 << request
        }

    def on_visit(self, commit: Any, pending: PathRequests) -> None:
        """Use the answers for an earlier head."""
        for requests, creation in _take_known(commit, pending, self._known_changes):
            self._answer(requests, creation)

    def on_change(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Continue in every parent, under the file's name there; created is what has none."""
        parent_ids = [(parent, {c.path: c.old for c in changes}) for parent, changes in compared]
        for change in compared[-1][1]:
            is_created = change.new is not None
            for parent, old_ids in parent_ids:
                path: FilePath | None = change.path
                if old_ids[change.path] is None and change.new is not None:
                    path = _path_before_rename(self._commits, commit, parent, change)
                is_created = is_created and old_ids[change.path] is None and path is None
                pending = PathRequests()
                pending.add(path or change.path, None, change.requests)
                self._walk.add(parent, pending)
            if is_created:
                self._answer(change.requests, _change_of(commit))

    def on_end(self, commit: Any, pending: PathRequests, reason: EndReason) -> None:
        """Answer with the first commit for the files that it has; note what is not read."""
        if reason == "unread":
            self._unread |= pending.requests
            return
        for change in self._commits.compare(commit, None, pending):
            if change.new is not None:
                self._answer(change.requests, _change_of(commit, is_boundary=reason == "shallow"))

    def on_baseline(self, commit: Any, requests: int) -> None:
        """Do nothing: these requests have no baseline."""

    def needs_paint(self, requests: int, commit: Any) -> int:  # noqa: ARG002 - a Task has it
        """Return none: these requests have no baseline."""
        return 0

    def _answer(self, requests: int, creation: LastChange) -> None:
        for request in bits(requests):
            self._creations.setdefault(request, set()).add(creation)


def _requests_for(paths: Sequence[FilePath]) -> PathRequests:
    """Return a request for each path, numbered by its position."""
    pending = PathRequests()
    for number, path in enumerate(paths):
        pending.add(path, None, 1 << number)
    return pending


def _take_known(
    commit: Any, pending: PathRequests, known_changes: KnownChanges
) -> Iterator[tuple[int, LastChange]]:
    """Yield the requests that are answered for this head, and remove them from `pending`."""
    answers = known_changes.get(ObjectId(str(commit.id))) if known_changes else None
    if answers:
        for path, pattern, requests in list(pending.items()):
            if path in answers:
                yield requests, answers[path]
                pending.discard(path, pattern)


def _path_before_rename(
    commits: Commits, commit: Any, parent: Any, change: Change
) -> FilePath | None:
    """Return the removed path of a parent with the same blob; None: the commit renamed nothing."""
    removed = commits.removed(commit, parent)
    candidates = removed.get(change.new, ()) if change.new else ()
    return closest_path(change.path, candidates)


def _change_of(commit: Any, *, is_boundary: bool = False) -> LastChange:
    return LastChange(ObjectId(str(commit.id)), is_boundary)

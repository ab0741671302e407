"""The walk through history that answers every question, and the requests that it carries.

Requests pass from a commit to its parents as in Git's default history simplification: where a path
is the same in some parent, its requests go to the first such parent alone, and the commit does not
matter to them; where it differs from every parent, the task of the walk decides. All requests walk
together, newest commit first, so that the trees of a commit are read once for any number of paths.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple, Protocol

from ubp.core.model import FilePath, ObjectId


class RequestNode:
    """A node in the tree of requested paths.

    `requests` is a bit set of the requests about this path; `globs` has those about the files below
    it that match a pattern. `memo` is for the code that compares trees.
    """

    __slots__ = ("children", "globs", "memo", "requests")

    def __init__(self) -> None:
        self.children: dict[str, RequestNode] = {}
        self.requests = 0
        self.globs: dict[str, int] = {}
        self.memo: Any = None

    def is_empty(self) -> bool:
        """Return whether nothing is requested here or below."""
        return not (self.children or self.requests or self.globs)


class PathRequests:
    """Requests by path, as a tree of names, so that equal directories of two commits are skipped.

    The same object moves from commit to parent: a walk creates none where nothing changed.
    """

    __slots__ = ("count", "requests", "root")

    def __init__(self) -> None:
        self.root = RequestNode()
        self.requests = 0
        """The bit set of all requests; each is about a single path, or a path and a pattern."""
        self.count = 0
        """The number of paths, or pairs of path and pattern."""

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, path: FilePath, pattern: str | None, requests: int) -> None:
        """Add requests (bits) for a path, or for a glob pattern and its literal directory."""
        node = self.root
        for name in path.split("/") if path else ():
            child = node.children.get(name)
            if child is None:
                child = node.children[name] = RequestNode()
                node.memo = None
            node = child
        self.requests |= requests
        if pattern is None:
            self.count += not node.requests
            node.requests |= requests
        else:
            self.count += pattern not in node.globs
            node.globs[pattern] = node.globs.get(pattern, 0) | requests

    def discard(self, path: FilePath, pattern: str | None) -> None:
        """Remove a path, or a pair of path and pattern, that has requests."""
        nodes = [self.root]
        names = path.split("/") if path else []
        for name in names:
            nodes.append(nodes[-1].children[name])
        if pattern is None:
            self.requests &= ~nodes[-1].requests
            nodes[-1].requests = 0
        else:
            self.requests &= ~nodes[-1].globs.pop(pattern)
        self.count -= 1
        while names and nodes.pop().is_empty():
            del nodes[-1].children[names.pop()]

    def drop(self, requests: int) -> None:
        """Remove some requests from all paths."""
        for path, pattern, stored in list(self.items()):
            if stored & requests:
                self.discard(path, pattern)
                if stored & ~requests:
                    self.add(path, pattern, stored & ~requests)

    def merge(self, other: "PathRequests") -> None:
        """Add the requests of `other`, which must not be used afterwards."""
        for path, pattern, requests in other.items():
            self.add(path, pattern, requests)

    def items(self) -> Iterator[tuple[FilePath, str | None, int]]:
        """Yield each path, its pattern or None, and their requests."""
        nodes = [("", self.root)]
        while nodes:
            path, node = nodes.pop()
            if node.requests:
                yield FilePath(path), None, node.requests
            for pattern, requests in node.globs.items():
                yield FilePath(path), pattern, requests
            prefix = f"{path}/" if path else ""
            nodes += [(prefix + name, child) for name, child in node.children.items()]

    def find(self, path: FilePath) -> int:
        """Return the requests (bits) about this path, without those about globs."""
        node = self.root
        for name in path.split("/") if path else ():
            child = node.children.get(name)
            if child is None:
                return 0
            node = child
        return node.requests


def bits(requests: int) -> Iterator[int]:
    """Yield the numbers of the requests in a bit set, in ascending order."""
    while requests:
        lowest = requests & -requests
        yield lowest.bit_length() - 1
        requests ^= lowest


EndReason = Literal["root", "shallow", "unread"]
"""Why a walk ends: the commit has no parents, a shallow clone lacks them, or only new commits are
read and this is an older one."""

CLOCK_SKEW = 86_400
"""Seconds by which a commit may seem older than its parent: a machine in the wrong time zone is off
by half a day. (`git log A..B` relies on dates too.)"""

PAINT_INTERVAL = 64  # painted commits between two checks whether paint is still needed


class Commit(Protocol):
    """A commit in a walk."""

    @property
    def id(self) -> Hashable:
        """Its id; `str` converts it to the object id."""

    @property
    def commit_time(self) -> int:
        """Its committer date in seconds."""


class Change(NamedTuple):
    """A requested path that differs: its id in a commit and in one parent (None: absent).

    The id of a glob is the tree id that Git would give to the files that match it.
    """

    path: FilePath
    pattern: str | None
    requests: int
    new: ObjectId | None
    old: ObjectId | None


class Commits(Protocol):
    """A source of commits and of their changes."""

    def find(self, commit: ObjectId) -> Any:
        """Return a commit by its id; None: it is not available."""

    def parents(self, commit: Any) -> Iterator[Any]:
        """Yield the parents that are available."""

    def end_reason(self, commit: Any) -> EndReason:
        """Return why no parent of a commit is available."""

    def compare(self, commit: Any, parent: Any, pending: PathRequests) -> list[Change]:
        """Return which requested paths differ between a commit and a parent (None: empty tree)."""

    def removed(self, commit: Any, parent: Any) -> Mapping[ObjectId, Collection[FilePath]]:
        """Return the files that a commit removed from a parent, by blob."""


class Task(Protocol):
    """The question that a walk answers."""

    def on_visit(self, commit: Any, pending: PathRequests) -> None:
        """Remove from `pending` what is answered at this commit."""

    def on_change(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Handle the paths of the last comparison, which differ from every parent."""

    def on_baseline(self, commit: Any, requests: int) -> None:
        """Handle requests that end at their baseline's commit or at an ancestor of it."""

    def on_end(self, commit: Any, pending: PathRequests, reason: EndReason) -> None:
        """Handle what is still pending where the walk ends."""

    def needs_paint(self, requests: int, commit: Any) -> int:
        """Return the requests to which ancestors of this commit matter although they have ended."""


class Walk:
    """A walk: `add` requests, then `run` it."""

    def __init__(self, commits: Commits, task: Task) -> None:
        self.painted: dict[Hashable, int] = {}
        """The requests that end at each commit: their baseline's commit, or an ancestor of it."""
        self._commits = commits
        self._task = task
        self._queue: list[tuple[int, int, Any]] = []
        self._push_count = 0
        self._pending: dict[Hashable, PathRequests] = {}
        """The requests that continue at each queued commit."""
        self._base_requests: dict[Hashable, int] = {}
        """The requests of each baseline's commit that the walk has not reached yet."""
        self._unspread: dict[Hashable, int] = {}
        """The painted requests that a commit has not passed on to its parents yet."""
        self._paint_needed_by = 0
        self._painted_count = 0
        self._visited: set[Hashable] = set()
        self._visited_again: dict[tuple[Hashable, FilePath, str | None], int] = {}

    def add(self, commit: Any, pending: PathRequests) -> None:
        """Continue requests at a commit."""
        queued = self._pending.get(commit.id)
        if queued is None:
            self._pending[commit.id] = pending
            self._push(commit)
        elif queued.count < pending.count:
            pending.merge(queued)
            self._pending[commit.id] = pending
        else:
            queued.merge(pending)

    def end_at(self, commit: Any, requests: int) -> None:
        """End requests at a commit and its ancestors, if they get there."""
        self._base_requests[commit.id] = self._base_requests.get(commit.id, 0) | requests
        self._push(commit)

    def paint(self, commit: Any, requests: int) -> None:
        """End requests at a commit and its ancestors, even where they have passed already."""
        painted = self.painted.get(commit.id, 0)
        if requests & ~painted:
            self.painted[commit.id] = painted | requests
            self._unspread[commit.id] = self._unspread.get(commit.id, 0) | (requests & ~painted)
            self._paint_needed_by |= requests
            self._push(commit)

    def run(self) -> None:
        """Walk until every request has ended."""
        while self._queue:
            commit = heappop(self._queue)[2]
            if commit.id in self._base_requests or commit.id in self._unspread:
                self._spread_paint(commit)
            pending = self._pending.pop(commit.id, None)
            if pending is None:
                continue
            self._drop_ended(commit, pending)
            self._task.on_visit(commit, pending)
            if pending:
                self._compare_with_parents(commit, pending)

    def _push(self, commit: Any) -> None:
        self._push_count += 1
        heappush(self._queue, (-commit.commit_time, self._push_count, commit))

    def _drop_ended(self, commit: Any, pending: PathRequests) -> None:
        ended = self.painted.get(commit.id, 0) & pending.requests
        if ended:
            self._task.on_baseline(commit, ended)
            pending.drop(ended)
        if commit.id not in self._visited:
            self._visited.add(commit.id)
        else:
            # This happens only where a commit is not newer than its parent. A request visits a
            # commit at most twice per path, so that no crafted history takes exponential time.
            for path, pattern, requests in list(pending.items()):
                again = self._visited_again.get((commit.id, path, pattern), 0)
                self._visited_again[commit.id, path, pattern] = again | requests
                if requests & again:
                    pending.discard(path, pattern)
                    if requests & ~again:
                        pending.add(path, pattern, requests & ~again)

    def _compare_with_parents(self, commit: Any, pending: PathRequests) -> None:
        compared: list[tuple[Any, list[Change]]] = []
        for parent in self._commits.parents(commit):
            changes = self._commits.compare(commit, parent, pending)
            compared.append((parent, changes))
            if len(changes) < pending.count:
                for change in changes:
                    pending.discard(change.path, change.pattern)
                self.add(parent, pending)
                pending = _requests_of(changes)
            if not changes:
                return
        if compared:
            self._task.on_change(commit, compared)
        else:
            self._task.on_end(commit, pending, self._commits.end_reason(commit))

    def _spread_paint(self, commit: Any) -> None:
        # Paint is seldom needed: most requests end where their path is at the baseline, before they
        # get past the baseline's commit. So painting starts only when the walk reaches that commit
        # while requests are still pending, and stops when none needs it any more.
        base_requests = self._base_requests.pop(commit.id, 0)
        if base_requests:
            self.paint(commit, self._needing_paint(base_requests, commit))
        unspread = self._unspread.pop(commit.id, 0)
        self._painted_count += 1
        if self._painted_count % PAINT_INTERVAL == 0:
            self._paint_needed_by = self._needing_paint(self._paint_needed_by, commit)
        unspread &= self._paint_needed_by
        for parent in self._commits.parents(commit) if unspread else ():
            self.paint(parent, unspread)

    def _needing_paint(self, requests: int, commit: Any) -> int:
        active = 0
        for pending in self._pending.values():
            active |= pending.requests
        return requests & (active | self._task.needs_paint(requests, commit))


def _requests_of(changes: Sequence[Change]) -> PathRequests:
    pending = PathRequests()
    for change in changes:
        pending.add(change.path, change.pattern, change.requests)
    return pending

"""What a walk through history still looks for: requests, filed by the path that they are about.

The walk through history that every question shares.

Requests pass from a commit to its parents as Git's default simplification has it: where a path is
the same in some parent, its requests go to the first such parent alone and the commit is nothing to
them; where it differs from every parent, the task that walks decides. All requests walk at once,
newest commit first, so that a commit's trees are read once however many paths are asked for.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple, Protocol

from ubp.core.model import FilePath, ObjectId


class RequestNode:
    """One name of the tree of wanted paths.

    `requests` are bits: one for each request about this very path; `globs` has those about the
    files below it that match a pattern. `memo` belongs to whoever compares trees.
    """

    __slots__ = ("children", "globs", "memo", "requests")

    def __init__(self) -> None:
        self.children: dict[str, RequestNode] = {}
        self.requests = 0
        self.globs: dict[str, int] = {}
        self.memo: Any = None

    def is_empty(self) -> bool:
        """Nothing is wanted here nor below."""
        return not (self.children or self.requests or self.globs)


class PathRequests:
    """Requests by path, as a tree of names: equal folders of two commits are then skipped whole.

    It moves from commit to parent as it is, so a walk makes no objects where nothing changed.
    """

    __slots__ = ("count", "requests", "root")

    def __init__(self) -> None:
        self.root = RequestNode()
        self.requests = 0
        """All requests together; each is about one place."""
        self.count = 0
        """How many places (path and pattern) are wanted."""

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, path: FilePath, pattern: str | None, requests: int) -> None:
        """File requests (bits) under a path, or under a glob and its literal folder."""
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
        """Forget a place that is there."""
        trail = [self.root]
        names = path.split("/") if path else []
        for name in names:
            trail.append(trail[-1].children[name])
        if pattern is None:
            self.requests &= ~trail[-1].requests
            trail[-1].requests = 0
        else:
            self.requests &= ~trail[-1].globs.pop(pattern)
        self.count -= 1
        while names and trail.pop().is_empty():
            del trail[-1].children[names.pop()]

    def drop(self, requests: int) -> None:
        """Forget some requests wherever they are."""
        for path, pattern, filed in list(self.items()):
            if filed & requests:
                self.discard(path, pattern)
                if filed & ~requests:
                    self.add(path, pattern, filed & ~requests)

    def merge(self, other: "PathRequests") -> None:
        """Take over what another wants; it ends empty-handed."""
        for path, pattern, requests in other.items():
            self.add(path, pattern, requests)

    def items(self) -> Iterator[tuple[FilePath, str | None, int]]:
        """Every place with its requests."""
        todo = [("", self.root)]
        while todo:
            path, node = todo.pop()
            if node.requests:
                yield FilePath(path), None, node.requests
            for pattern, requests in node.globs.items():
                yield FilePath(path), pattern, requests
            lead = f"{path}/" if path else ""
            todo += [(lead + name, child) for name, child in node.children.items()]

    def find(self, path: FilePath) -> int:
        """The requests about this very path."""
        node = self.root
        for name in path.split("/") if path else ():
            child = node.children.get(name)
            if child is None:
                return 0
            node = child
        return node.requests


def bits(requests: int) -> Iterator[int]:
    """The numbers of the requests in a set of bits."""
    while requests:
        lowest = requests & -requests
        yield lowest.bit_length() - 1
        requests ^= lowest


End = Literal["root", "shallow", "unread"]
"""Why a walk goes no further: the commit has no parents, a shallow clone cut them off, or only the
new commits are read and it is none of them."""

CLOCK_SKEW = 86_400
"""Seconds by which a commit may seem older than its parent: a machine in the wrong time zone is
wrong by half a day. (`git log A..B` trusts dates too.)"""

PAINT_INTERVAL = 64  # painted commits between two looks whether anybody still needs the paint


class Commit(Protocol):
    """A commit of a walk."""

    @property
    def id(self) -> Hashable:
        """Its name; `str` makes the object id of it."""

    @property
    def commit_time(self) -> int:
        """Its committer date in seconds."""


class Change(NamedTuple):
    """A wanted place that differs: its id in a commit and in one parent (None: absent there).

    A glob's id is the tree id that Git would give to the files that match it.
    """

    path: FilePath
    pattern: str | None
    requests: int
    new: ObjectId | None
    old: ObjectId | None


class Commits(Protocol):
    """Commits and what they changed, wherever that is read."""

    def find(self, commit: ObjectId) -> Any:
        """A commit by its id; None where it is not to be had."""

    def parents(self, commit: Any) -> Iterator[Any]:
        """The parents, as far as they are to be had."""

    def end(self, commit: Any) -> End:
        """Why a commit without parents has none."""

    def compare(self, commit: Any, parent: Any, wanted: PathRequests) -> list[Change]:
        """Which wanted places differ between a commit and a parent (None: an empty tree)."""

    def removed(self, commit: Any, parent: Any) -> Mapping[ObjectId, Collection[FilePath]]:
        """The files that a commit removed from a parent, by blob."""


class Task(Protocol):
    """What one question makes of a walk."""

    def arrive(self, commit: Any, wanted: PathRequests) -> None:
        """Take from `wanted` what is answered at this commit."""

    def differ(self, commit: Any, compared: Sequence[tuple[Any, list[Change]]]) -> None:
        """Decide on the places of the last comparison: they differ from every parent."""

    def end(self, commit: Any, requests: int) -> None:
        """Hear of requests that end at their baseline's commit or at an ancestor of it."""

    def stop(self, commit: Any, wanted: PathRequests, end: End) -> None:
        """Decide on what is still wanted where the walk goes no further."""

    def needs_paint(self, requests: int, commit: Any) -> int:
        """Those of `requests` to which ancestors of this commit matter, though they have ended."""


class Walk:
    """A walk under way; `give` it requests, then `run` it."""

    def __init__(self, commits: Commits, task: Task) -> None:
        self.painted: dict[Hashable, int] = {}
        """The requests that end at a commit: it is their baseline's, or an ancestor of it."""
        self._commits = commits
        self._task = task
        self._queue: list[tuple[int, int, Any]] = []
        self._turn = 0
        self._waiting: dict[Hashable, PathRequests] = {}
        self._bases: dict[Hashable, int] = {}
        self._wet: dict[Hashable, int] = {}
        self._needed = 0
        self._turns_painted = 0
        self._passed: set[Hashable] = set()
        self._passed_again: dict[tuple[Hashable, FilePath, str | None], int] = {}

    def give(self, commit: Any, wanted: PathRequests) -> None:
        """Let requests go on at a commit."""
        waiting = self._waiting.get(commit.id)
        if waiting is None:
            self._waiting[commit.id] = wanted
            self._push(commit)
        elif waiting.count < wanted.count:
            wanted.merge(waiting)
            self._waiting[commit.id] = wanted
        else:
            waiting.merge(wanted)

    def end_at(self, commit: Any, requests: int) -> None:
        """End requests at a commit and all its ancestors, should they get there."""
        self._bases[commit.id] = self._bases.get(commit.id, 0) | requests
        self._push(commit)

    def paint(self, commit: Any, requests: int) -> None:
        """End requests at a commit and all its ancestors, even where they have passed already."""
        dry = self.painted.get(commit.id, 0)
        if requests & ~dry:
            self.painted[commit.id] = dry | requests
            self._wet[commit.id] = self._wet.get(commit.id, 0) | (requests & ~dry)
            self._needed |= requests
            self._push(commit)

    def run(self) -> None:
        """Walk until every request has ended."""
        while self._queue:
            commit = heappop(self._queue)[2]
            if commit.id in self._bases or commit.id in self._wet:
                self._spread_paint(commit)
            wanted = self._waiting.pop(commit.id, None)
            if wanted is None:
                continue
            self._drop_ended(commit, wanted)
            self._task.arrive(commit, wanted)
            if wanted:
                self._pass_on(commit, wanted)

    def _push(self, commit: Any) -> None:
        self._turn += 1
        heappush(self._queue, (-commit.commit_time, self._turn, commit))

    def _drop_ended(self, commit: Any, wanted: PathRequests) -> None:
        ended = self.painted.get(commit.id, 0) & wanted.requests
        if ended:
            self._task.end(commit, ended)
            wanted.drop(ended)
        if commit.id not in self._passed:
            self._passed.add(commit.id)
        else:
            # Only where dates run backwards or stand still. Under one name a request passes a
            # commit twice at most, so that no made-up history takes exponential time.
            for path, pattern, requests in list(wanted.items()):
                again = self._passed_again.get((commit.id, path, pattern), 0)
                self._passed_again[commit.id, path, pattern] = again | requests
                if requests & again:
                    wanted.discard(path, pattern)
                    if requests & ~again:
                        wanted.add(path, pattern, requests & ~again)

    def _pass_on(self, commit: Any, wanted: PathRequests) -> None:
        compared: list[tuple[Any, list[Change]]] = []
        for parent in self._commits.parents(commit):
            changes = self._commits.compare(commit, parent, wanted)
            compared.append((parent, changes))
            if len(changes) < wanted.count:
                for change in changes:
                    wanted.discard(change.path, change.pattern)
                self.give(parent, wanted)
                wanted = _filed(changes)
            if not changes:
                return
        if compared:
            self._task.differ(commit, compared)
        else:
            self._task.stop(commit, wanted, self._commits.end(commit))

    def _spread_paint(self, commit: Any) -> None:
        # Paint is seldom needed: a request mostly ends where its path is at the baseline, before
        # it can get past the baseline's commit. So it starts to run only when the walk is down at
        # that commit and somebody is still out, and dries up when nobody is.
        base = self._bases.pop(commit.id, 0)
        if base:
            self.paint(commit, self._needing_paint(base, commit))
        wet = self._wet.pop(commit.id, 0)
        self._turns_painted += 1
        if self._turns_painted % PAINT_INTERVAL == 0:
            self._needed = self._needing_paint(self._needed, commit)
        wet &= self._needed
        for parent in self._commits.parents(commit) if wet else ():
            self.paint(parent, wet)

    def _needing_paint(self, requests: int, commit: Any) -> int:
        under_way = 0
        for wanted in self._waiting.values():
            under_way |= wanted.requests
        return requests & (under_way | self._task.needs_paint(requests, commit))


def _filed(changes: Sequence[Change]) -> PathRequests:
    wanted = PathRequests()
    for change in changes:
        wanted.add(change.path, change.pattern, change.requests)
    return wanted

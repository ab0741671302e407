"""What a walk through history still looks for: requests, filed by the path that they are about."""

from collections.abc import Iterator
from typing import Any

from ubp.model import FilePath


class Node:
    """One name of the tree of wanted paths.

    `requests` are bits: one for each request about this very path; `globs` has those about the
    files below it that match a pattern. `memo` belongs to whoever compares trees.
    """

    __slots__ = ("children", "globs", "memo", "requests")

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.requests = 0
        self.globs: dict[str, int] = {}
        self.memo: Any = None

    def is_empty(self) -> bool:
        """Nothing is wanted here nor below."""
        return not (self.children or self.requests or self.globs)


class Wanted:
    """Requests by path, as a tree of names: equal folders of two commits are then skipped whole.

    It moves from commit to parent as it is, so a walk makes no objects where nothing changed.
    """

    __slots__ = ("count", "requests", "root")

    def __init__(self) -> None:
        self.root = Node()
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
                child = node.children[name] = Node()
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

    def merge(self, other: "Wanted") -> None:
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

"""The links around pages of a snapshot, so many of them at most."""

from collections.abc import Collection

from ubp.indexing.linked import Edge, Linked
from ubp.model import FilePath
from ubp.store.database import Database
from ubp.store.ties import Around, StoredTies, Tie

NOTHING = Around([], [])  # nobody adds to it


class Ties:
    """The links of a snapshot, page by page."""

    def __init__(self, database: Database, linked: Linked) -> None:
        self._stored = StoredTies(database)
        self._linked = linked
        self._times_laid = 0
        self._changed: Collection[FilePath] = ()
        self._changed_ties: list[Tie] = []

    def around(self, paths: Collection[FilePath], most: int) -> dict[FilePath, Around]:
        """The first links around each of these pages; of what differs from the commit all."""
        stored = self._linked.of_stored(lambda graph: self._stored.around(graph, paths, most)) or {}
        self._lay()
        return {path: self._changed_around(path, stored.get(path, NOTHING)) for path in paths}

    def _changed_around(self, path: FilePath, stored: Around) -> Around:
        if not self._changed:
            return stored
        out, into = ([tie for tie in ties if tie.source not in self._changed] for ties in stored)
        return Around(
            [*out, *(tie for tie in self._changed_ties if tie.source == path)],
            [*into, *(tie for tie in self._changed_ties if tie.target == path)],
        )

    def _lay(self) -> None:
        if self._times_laid == self._linked.times_laid:
            return
        self._changed = self._linked.relinked
        edges = self._linked.out(self._changed) if self._changed else {}
        self._changed_ties = [
            tie for found in edges.values() for edge in found for tie in _tie(edge)
        ]
        self._times_laid = self._linked.times_laid


def _tie(edge: Edge) -> list[Tie]:
    """A link to another page; none else."""
    link, target = edge.link, edge.resolution.target
    if target is None or target == edge.source:
        return []
    return [Tie(edge.source, target, link.link_type, link.context, link.line)]

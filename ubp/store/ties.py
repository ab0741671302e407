"""The links around pages, so many of them at most: whole pages of links are not read for it."""

from collections.abc import Collection
from itertools import islice
from typing import NamedTuple

from ubp.model import FilePath, LinkType
from ubp.store.database import Database, Rows
from ubp.store.edges import StoredEdges, StoredGraph
from ubp.store.values import pack_path, unpack_path

# As many pages as these in one statement: each costs 13 µs less so.
PAGES_A_QUERY = 16

_COLUMNS = """
SELECT * FROM (SELECT {known}.path, {other}.path, link_type, context, line
FROM node AS {known} CROSS JOIN edge ON edge.{known} = {known}.id
CROSS JOIN node AS {other} ON {other}.id = edge.{other}
JOIN page ON page.blob = source.blob
JOIN link ON link.page = page.id AND link.number = edge.number
WHERE {known}.graph = ? AND {known}.path = ? AND source.id <> target.id LIMIT ?)
"""
OUT = _COLUMNS.format(known="source", other="target")
INTO = _COLUMNS.format(known="target", other="source")


class Tie(NamedTuple):
    """A link from one page to another one, as it stands there."""

    source: FilePath
    target: FilePath
    link_type: LinkType
    context: str
    line: int


class Around(NamedTuple):
    """The links of a page to other pages, and those of others to it."""

    out: list[Tie]
    into: list[Tie]


class StoredTies:
    """The links of stored graphs, page by page; GraphMovedError as with StoredEdges."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._edges = StoredEdges(database)

    def around(
        self, graph: StoredGraph, paths: Collection[FilePath], most: int
    ) -> dict[FilePath, Around]:
        """The first links of each of these pages to others, and those of others to it."""
        out, into = (self._rows(sql, graph, paths, most) for sql in (OUT, INTO))
        self._edges.check(graph)
        found = {path: Around([], []) for path in paths}

        def unpack() -> None:
            for source, target, *rest in out:
                path = unpack_path(source)
                found[path].out.append(Tie(path, unpack_path(target), *rest))
            for target, source, *rest in into:
                path = unpack_path(target)
                found[path].into.append(Tie(unpack_path(source), path, *rest))

        self._database.unpack(unpack)
        return found

    def _rows(self, sql: str, graph: StoredGraph, paths: Collection[FilePath], most: int) -> Rows:
        rows: Rows = []
        left = iter(paths)
        while some := list(islice(left, PAGES_A_QUERY)):
            arguments = [value for path in some for value in (graph.row, pack_path(path), most)]
            rows += self._database.rows(" UNION ALL ".join([sql] * len(some)), arguments)
        return rows

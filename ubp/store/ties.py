"""The links around a page, so many of them at most: whole pages of links are not read for it."""

from typing import NamedTuple

from ubp.model import FilePath, LinkType
from ubp.store.database import Database
from ubp.store.edges import StoredEdges, StoredGraph
from ubp.store.values import pack_path, unpack_path

_COLUMNS = """
SELECT source.path, target.path, link_type, context, line FROM {first}
JOIN page ON page.blob = source.blob
JOIN link ON link.page = page.id AND link.number = edge.number
WHERE {known}.graph = ? AND {known}.path = ? AND source.id <> target.id LIMIT ?
"""
OUT = _COLUMNS.format(
    first="node AS source CROSS JOIN edge ON edge.source = source.id"
    " CROSS JOIN node AS target ON target.id = edge.target",
    known="source",
)
INTO = _COLUMNS.format(
    first="node AS target CROSS JOIN edge ON edge.target = target.id"
    " CROSS JOIN node AS source ON source.id = edge.source",
    known="target",
)


class Tie(NamedTuple):
    """A link from one page to another one, as it stands there."""

    source: FilePath
    target: FilePath
    link_type: LinkType
    context: str
    line: int


class StoredTies:
    """The links of stored graphs, page by page; GraphMovedError as with StoredEdges."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._edges = StoredEdges(database)

    def around(self, graph: StoredGraph, path: FilePath, most: int) -> tuple[list[Tie], list[Tie]]:
        """The first links of a page to others, and those of others to it."""
        found = tuple(
            self._database.rows(sql, [graph.row, pack_path(path), most]) for sql in (OUT, INTO)
        )
        self._edges.check(graph)
        out, into = (
            self._database.unpack(
                lambda rows=rows: [  # type: ignore[misc]  # mypy knows no default of a lambda
                    Tie(unpack_path(source), unpack_path(target), *rest)
                    for source, target, *rest in rows
                ]
            )
            or []
            for rows in found
        )
        return out, into

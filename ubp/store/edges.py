"""Where the links of one commit lead, for each work tree; moved from commit to commit."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ubp.links import Bucket, Resolution
from ubp.model import FilePath, ObjectId
from ubp.store.database import Database, Rows
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import unpack_names
from ubp.store.listing import LISTINGS_KEPT
from ubp.store.patches import Edges, Patch, put_patch, put_whole
from ubp.store.values import pack_id, pack_path, unpack_id, unpack_path

NEXT_GENERATION = "(SELECT ifnull(max(generation), 0) + 1 FROM graph)"

EDGES = """
SELECT source.path, number, bucket, target.path, has_anchor, candidates
FROM edge JOIN node AS source ON source.id = edge.source
LEFT JOIN node AS target ON target.id = edge.target
"""


class StoredGraph(NamedTuple):
    """A stored graph as it was found; whoever changes it gives it another `generation`.

    `is_complete`: every page could be read when its links were resolved; `is_learned`: what its
    pages say is in the store.
    """

    row: int
    commit: ObjectId
    scope: str
    is_complete: bool
    is_learned: bool
    generation: int


class GraphMovedError(Exception):
    """The stored graph is no longer what it was found to be: the answer is not known."""


class StoredEdges:
    """The stored graphs; questions raise GraphMovedError as those to listings do."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, git_dir: str) -> StoredGraph | None:
        """The graph of a work tree, at whatever commit it is."""
        rows = self._database.rows(
            'SELECT id, "commit", scope, is_complete, is_learned, generation FROM graph'
            " WHERE git_dir = ?",
            [pack_path(git_dir)],
        )
        found = self._database.unpack(
            lambda: [
                StoredGraph(
                    row, unpack_id(commit), scope, bool(complete), bool(learned), generation
                )
                for row, commit, scope, complete, learned, generation in rows
            ]
        )
        return found[0] if found else None

    def save(self, git_dir: str, commit: ObjectId, scope: str, whole: Patch) -> None:
        """Keep a whole graph in place of the work tree's; the oldest of too many goes."""

        def save(connection: sqlite3.Connection) -> None:
            (generation,) = connection.execute(f"SELECT {NEXT_GENERATION}").fetchone()
            connection.execute("DELETE FROM graph WHERE git_dir = ?", [pack_path(git_dir)])
            row = connection.execute(
                'INSERT INTO graph (git_dir, "commit", scope, is_complete, generation)'
                " VALUES (?, ?, ?, 1, ?)",
                [pack_path(git_dir), pack_id(commit), scope, generation],
            ).lastrowid
            put_whole(connection, row or 0, whole)
            connection.execute(
                "DELETE FROM graph WHERE id NOT IN"
                " (SELECT id FROM graph ORDER BY generation DESC LIMIT ?)",
                [LISTINGS_KEPT],
            )

        self._database.write(save)

    def move(self, graph: StoredGraph, commit: ObjectId, patch: Patch) -> bool:
        """Move a graph to another commit; False: another process has changed it before."""

        def move(connection: sqlite3.Connection) -> bool:
            moved = connection.execute(
                f'UPDATE graph SET "commit" = ?, generation = {NEXT_GENERATION}'  # noqa: S608  # a constant
                " WHERE id = ? AND generation = ?",
                [pack_id(commit), graph.row, graph.generation],
            )
            if not moved.rowcount:
                return False
            put_patch(connection, graph.row, patch)
            return True

        return self._database.write(move)

    def mark_learned(self, graph: StoredGraph) -> None:
        """Spare the next runs the search for pages of which nothing is known."""

        def mark(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE graph SET is_learned = 1 WHERE id = ? AND generation = ?",
                [graph.row, graph.generation],
            )

        self._database.write(mark)

    def blobs(
        self, graph: StoredGraph, paths: Collection[FilePath] | None = None
    ) -> dict[FilePath, ObjectId | None]:
        """The blob of each page (None: no page) at these paths, or at all of them."""
        sql = "SELECT path, blob FROM node WHERE graph = ?"
        if paths is None:
            rows = self._rows(graph, sql, [graph.row])
        else:
            rows = self._many(graph, sql + " AND path IN", map(pack_path, paths), [graph.row])
        return self._known(rows)

    def named(self, graph: StoredGraph, names: Iterable[int]) -> dict[FilePath, ObjectId | None]:
        """What answers to one of these names, by their checksums: path and blob."""
        sql = (
            "SELECT DISTINCT path, blob FROM name JOIN node ON node.id = name.node"
            " WHERE name.graph = ? AND name IN"
        )
        return self._known(self._many(graph, sql, names, [graph.row]))

    def paths_of(
        self, graph: StoredGraph, blobs: Iterable[ObjectId]
    ) -> dict[FilePath, ObjectId | None]:
        """The pages with these blobs."""
        sql = "SELECT path, blob FROM node WHERE graph = ? AND blob IN"
        return self._known(self._many(graph, sql, map(pack_id, blobs), [graph.row]))

    def unread(self, graph: StoredGraph) -> dict[FilePath, ObjectId | None]:
        """The pages that could not be read when the links were resolved."""
        sql = "SELECT path, blob FROM node WHERE graph = ? AND is_unread"
        return self._known(self._rows(graph, sql, [graph.row]))

    def forgotten(self, graph: StoredGraph) -> dict[FilePath, ObjectId | None]:
        """The pages of which nothing is known any more."""
        return self._known(
            self._rows(
                graph,
                "SELECT path, node.blob FROM node LEFT JOIN page ON page.blob = node.blob"
                " WHERE graph = ? AND node.blob IS NOT NULL AND NOT is_unread AND page.id IS NULL",
                [graph.row],
            )
        )

    def out(self, graph: StoredGraph, paths: Collection[FilePath]) -> Edges:
        """Where the links of these pages lead."""
        sql = f"{EDGES} WHERE source.graph = ? AND source.path IN"
        return _edges(self._many(graph, sql, map(pack_path, paths), [graph.row]))

    def into(self, graph: StoredGraph, paths: Collection[FilePath]) -> Edges:
        """The links that lead to these pages."""
        sql = f"{EDGES} WHERE target.graph = ? AND target.path IN"
        return _edges(self._many(graph, sql, map(pack_path, paths), [graph.row]))

    def buckets(self, graph: StoredGraph) -> Counter[Bucket]:
        """How many links are in each bucket."""
        rows = self._rows(
            graph,
            "SELECT bucket, count(*) FROM node CROSS JOIN edge ON edge.source = node.id"
            " WHERE graph = ? GROUP BY bucket",
            [graph.row],
        )
        return Counter(dict(rows))

    def pairs(self, graph: StoredGraph) -> list[tuple[FilePath, FilePath]]:
        """The source and the target of each link that leads somewhere, in the same order always."""
        rows = self._rows(
            graph,
            "SELECT source.path, target.path FROM node AS source"
            " CROSS JOIN edge ON edge.source = source.id"
            " JOIN node AS target ON target.id = edge.target WHERE source.graph = ?",
            [graph.row],
        )
        return [(unpack_path(source), unpack_path(target)) for source, target in rows]

    def check(self, graph: StoredGraph) -> None:
        """See that the graph is what it was found to be."""
        if not self._database.rows(
            "SELECT 1 FROM graph WHERE id = ? AND generation = ?", [graph.row, graph.generation]
        ):
            raise GraphMovedError

    def _many(
        self, graph: StoredGraph, sql: str, values: Iterable[object], first: Sequence[object]
    ) -> Rows:
        rows: Rows = []
        for chunk in chunks(list(values)):
            rows += self._database.rows(f"{sql} ({marks(chunk)})", [*first, *chunk])
        self.check(graph)
        return rows

    def _rows(self, graph: StoredGraph, sql: str, arguments: Sequence[object]) -> Rows:
        rows = self._database.rows(sql, arguments)
        self.check(graph)
        return rows

    def _known(self, rows: Rows) -> dict[FilePath, ObjectId | None]:
        found = self._database.unpack(
            lambda: {unpack_path(path): unpack_id(blob) if blob else None for path, blob in rows}
        )
        if found is None:
            raise GraphMovedError
        return found


def _edges(rows: Rows) -> Edges:
    edges: Edges = {}
    for source, number, bucket, target, has_anchor, candidates in rows:
        edges.setdefault(unpack_path(source), {})[number] = Resolution(
            bucket,
            None if target is None else unpack_path(target),
            tuple(map(FilePath, unpack_names(candidates))) if candidates else (),
            None if has_anchor is None else bool(has_anchor),
        )
    return edges

"""Link graphs: nodes and edges of one commit for each work tree, updated when HEAD moves."""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, NoReturn

from ubp.core.interruption import batches, with_checkpoints
from ubp.core.model import FilePath, LinkType, ObjectId
from ubp.index.store.codec import (
    pack_id,
    pack_json,
    pack_path,
    unpack_id,
    unpack_names,
    unpack_path,
)
from ubp.index.store.database import Database, Rows, chunks, marks
from ubp.index.store.listings import MAX_LISTINGS
from ubp.index.store.schema import CHECKED, insertion, intact
from ubp.markdown.resolve import Resolution

NODE = intact("node")


class GraphNode(NamedTuple):
    """A file at a path; `blob` is None if it is not a page."""

    blob: ObjectId | None
    doc_id: str | None
    names: frozenset[int]
    is_unread: bool = False


Edges = dict[FilePath, dict[int, Resolution]]
"""The resolutions of pages' links, by page and by the link's number."""


class GraphPatch(NamedTuple):
    """The difference between two graphs: nodes (None: removed) and edges.

    It has all edges of a changed node, and of other pages those that lead elsewhere now.
    """

    nodes: Mapping[FilePath, GraphNode | None]
    edges: Edges


def write_graph(connection: sqlite3.Connection, graph: int, whole: GraphPatch) -> None:
    """Write all nodes and edges of a new graph."""
    ids = _insert_nodes(connection, graph, _present_nodes(whole))
    _insert_edges(connection, graph, whole.edges, ids)
    _update_completeness(connection, graph)


def write_patch(connection: sqlite3.Connection, graph: int, patch: GraphPatch) -> None:
    """Change a graph; a changed node keeps its row, and with it the edges to it."""
    targets = {link.target for links in patch.edges.values() for link in links.values()}
    ids = _ids(connection, graph, {*patch.nodes, *patch.edges, *filter(None, targets)})
    changed = [(ids[path],) for path in patch.nodes if path in ids]
    connection.executemany("DELETE FROM edge WHERE source = ?", changed)
    _remove_names(connection, graph, {row for (row,) in changed})
    removed = [(ids[path],) for path, node in patch.nodes.items() if node is None and path in ids]
    connection.executemany("DELETE FROM node WHERE id = ?", removed)
    nodes = _present_nodes(patch)
    changed_nodes = {ids[path]: node for path, node in nodes.items() if path in ids}
    connection.executemany(
        "UPDATE node SET blob = ?2, doc_id = ?3, is_unread = ?4,"  # noqa: S608  # ours
        " checksum = checksum('node', id, graph, path, ?2, ?3, ?4)"
        f" WHERE id = ?1 AND {intact('node')}",
        [(row, *_columns(node)) for row, node in changed_nodes.items()],
    )
    _insert_names(connection, graph, changed_nodes)
    ids |= _insert_nodes(connection, graph, {p: node for p, node in nodes.items() if p not in ids})
    _insert_edges(connection, graph, patch.edges, ids)
    _update_completeness(connection, graph)


def _present_nodes(patch: GraphPatch) -> dict[FilePath, GraphNode]:
    return {path: node for path, node in patch.nodes.items() if node is not None}


def _insert_nodes(
    connection: sqlite3.Connection, graph: int, nodes: Mapping[FilePath, GraphNode]
) -> dict[FilePath, int]:
    (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM node").fetchone()
    ids = {path: last + place for place, path in enumerate(nodes, 1)}
    connection.executemany(
        insertion("node"),
        ((ids[path], graph, pack_path(path), *_columns(node)) for path, node in nodes.items()),
    )
    _insert_names(connection, graph, {ids[path]: node for path, node in nodes.items()})
    return ids


def _columns(node: GraphNode) -> tuple[bytes | None, str | None, bool]:
    return pack_id(node.blob) if node.blob else None, node.doc_id, node.is_unread


def _insert_names(
    connection: sqlite3.Connection, graph: int, nodes: Mapping[int, GraphNode]
) -> None:
    connection.executemany(
        insertion("name", "INSERT OR IGNORE"),
        sorted((graph, name, row) for row, node in nodes.items() for name in node.names),
    )


def _insert_edges(
    connection: sqlite3.Connection, graph: int, edges: Edges, ids: Mapping[FilePath, int]
) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO edge"
        " (source, number, bucket, target, has_anchor, candidates, checksum)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, checksum('edge', ?7, ?8, ?2, ?3, ?9, ?5, ?6))",
        (
            (
                ids[source],
                number,
                link.bucket,
                None if link.target is None else ids[link.target],
                link.has_anchor,
                pack_json(link.candidates) if link.candidates else None,
                graph,
                pack_path(source),
                None if link.target is None else pack_path(link.target),
            )
            for source, links in edges.items()
            for number, link in links.items()
        ),
    )


def _update_completeness(connection: sqlite3.Connection, graph: int) -> None:
    (is_unread,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM node WHERE graph = ? AND is_unread)", [graph]
    ).fetchone()
    connection.execute(
        "UPDATE graph SET is_complete = ?2,"
        " checksum = checksum('graph', id, git_dir, \"commit\", scope, ?2) WHERE id = ?1",
        [graph, not is_unread],
    )


def _remove_names(connection: sqlite3.Connection, graph: int, nodes: Collection[int]) -> None:
    for chunk in chunks(nodes):
        connection.execute(
            f"DELETE FROM name WHERE graph = ? AND node IN ({marks(chunk)})",  # noqa: S608  # "?,?"
            [graph, *chunk],
        )


def _ids(
    connection: sqlite3.Connection, graph: int, paths: Collection[FilePath]
) -> dict[FilePath, int]:
    found: dict[FilePath, int] = {}
    for chunk in chunks(paths):
        rows = connection.execute(
            f"SELECT path, id FROM node WHERE {NODE} AND graph = ? AND path IN ({marks(chunk)})",  # noqa: S608  # ours, "?,?"
            [graph, *map(pack_path, chunk)],
        )
        found.update((unpack_path(path), row) for path, row in rows)
    return found


NEXT_GENERATION = "(SELECT ifnull(max(generation), 0) + 1 FROM graph)"

EDGES = f"""
SELECT source.path, number, bucket, target.path, has_anchor, candidates
FROM edge{CHECKED["edge"].joined} WHERE {intact("edge")}
"""  # noqa: S608  # ours


NODES_PER_BATCH = 5000  # whose links are read at once, as tuples


class StoredGraphVersion(NamedTuple):
    """A stored graph as it was read; every change of a graph gives it a new `generation`.

    `is_complete`: every page could be read when its links were resolved; `is_learned`: the store
    has the facts of all its pages.
    """

    row: int
    commit: ObjectId
    scope: str
    is_complete: bool
    is_learned: bool
    generation: int


class GraphMovedError(Exception):
    """The stored graph has changed since it was read: the answer is unknown."""


class LinkPairs:
    """The source and the target of each link of a graph.

    300,000 links take 5 MB, as pairs of paths 20 MB and while they are read 60.
    """

    def __init__(
        self, paths: Mapping[int, FilePath], sources: Sequence[int], targets: Sequence[int]
    ) -> None:
        """`sources` and `targets` have a number for each link, that of a path."""
        self._paths = paths
        self._sources = sources
        self._targets = targets

    def __iter__(self) -> Iterator[tuple[FilePath, FilePath]]:
        """Yield the path of each link's source and of its target."""
        for source, target in zip(self._sources, self._targets, strict=True):
            yield self._paths[source], self._paths[target]


class EdgeTable:
    """The stored graphs; queries raise GraphMovedError as those of `ListingTable` do."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, git_dir: str) -> StoredGraphVersion | None:
        """Return the graph of a work tree, at whatever commit it is."""
        rows = self._database.rows(
            'SELECT id, "commit", scope, is_complete, is_learned, generation FROM graph'  # noqa: S608  # ours
            f" WHERE git_dir = ? AND {intact('graph')}",
            [pack_path(git_dir)],
        )
        for row, commit, scope, complete, learned, generation in rows:
            return StoredGraphVersion(
                row, unpack_id(commit), scope, bool(complete), bool(learned), generation
            )
        return None

    def save(self, git_dir: str, commit: ObjectId, scope: str, whole: GraphPatch) -> None:
        """Save a graph in place of the work tree's; the oldest of too many is removed."""

        def save(connection: sqlite3.Connection) -> None:
            (generation,) = connection.execute(f"SELECT {NEXT_GENERATION}").fetchone()
            connection.execute("DELETE FROM graph WHERE git_dir = ?", [pack_path(git_dir)])
            (row,) = connection.execute("SELECT ifnull(max(id), 0) + 1 FROM graph").fetchone()
            connection.execute(
                'INSERT INTO graph (id, git_dir, "commit", scope, is_complete, generation,'
                " checksum) VALUES (?1, ?2, ?3, ?4, 1, ?5, checksum('graph', ?1, ?2, ?3, ?4, 1))",
                [row, pack_path(git_dir), pack_id(commit), scope, generation],
            )
            write_graph(connection, row, whole)
            connection.execute(
                "DELETE FROM graph WHERE id NOT IN"
                " (SELECT id FROM graph ORDER BY generation DESC LIMIT ?)",
                [MAX_LISTINGS],
            )

        self._database.write(save)

    def move(self, graph: StoredGraphVersion, commit: ObjectId, patch: GraphPatch) -> bool:
        """Move a graph to another commit; False: another process has changed it meanwhile."""

        def move(connection: sqlite3.Connection) -> bool:
            moved = connection.execute(
                f'UPDATE graph SET "commit" = ?1, generation = {NEXT_GENERATION},'  # noqa: S608  # ours
                " checksum = checksum('graph', id, git_dir, ?1, scope, is_complete)"
                f" WHERE id = ?2 AND generation = ?3 AND {intact('graph')}",
                [pack_id(commit), graph.row, graph.generation],
            )
            if not moved.rowcount:
                return False
            write_patch(connection, graph.row, patch)
            return True

        return self._database.write(move)

    def mark_learned(self, graph: StoredGraphVersion) -> None:
        """Record that the store has the facts of all pages, which spares a search for others."""

        def mark(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE graph SET is_learned = 1 WHERE id = ? AND generation = ?",
                [graph.row, graph.generation],
            )

        self._database.write(mark)

    def blobs(
        self, graph: StoredGraphVersion, paths: Collection[FilePath] | None = None
    ) -> dict[FilePath, ObjectId | None]:
        """Return the blob of each file (None: no page) at these paths, or at all of them."""
        sql = f"SELECT path, blob FROM node WHERE graph = ? AND {NODE}"  # noqa: S608  # ours
        if paths is None:
            rows = self._rows(graph, sql, [graph.row])
        else:
            rows = self._rows_in(graph, sql + " AND path IN", map(pack_path, paths), [graph.row])
        return self._unpack_blobs(rows)

    def named(
        self, graph: StoredGraphVersion, names: Iterable[int]
    ) -> dict[FilePath, ObjectId | None]:
        """Return the files with one of these names (checksums), and their blobs."""
        sql = (
            "SELECT DISTINCT path, blob FROM name JOIN node ON node.id = name.node"  # noqa: S608  # ours
            f" WHERE name.graph = ? AND {intact('name')} AND {NODE} AND name IN"
        )
        return self._unpack_blobs(self._rows_in(graph, sql, names, [graph.row]))

    def paths_of(
        self, graph: StoredGraphVersion, blobs: Iterable[ObjectId]
    ) -> dict[FilePath, ObjectId | None]:
        """Return the pages with these blobs."""
        sql = f"SELECT path, blob FROM node WHERE graph = ? AND {NODE} AND blob IN"  # noqa: S608  # ours
        return self._unpack_blobs(self._rows_in(graph, sql, map(pack_id, blobs), [graph.row]))

    def unread(self, graph: StoredGraphVersion) -> dict[FilePath, ObjectId | None]:
        """Return the pages that could not be read when the links were resolved."""
        sql = f"SELECT path, blob FROM node WHERE graph = ? AND is_unread AND {NODE}"  # noqa: S608  # ours
        return self._unpack_blobs(self._rows(graph, sql, [graph.row]))

    def without_facts(self, graph: StoredGraphVersion) -> dict[FilePath, ObjectId | None]:
        """Return the pages whose facts the store no longer has."""
        return self._unpack_blobs(
            self._rows(
                graph,
                "SELECT path, node.blob FROM node LEFT JOIN page ON page.blob = node.blob"  # noqa: S608  # ours
                " WHERE graph = ? AND node.blob IS NOT NULL AND NOT is_unread AND page.id IS NULL"
                f" AND {NODE}",
                [graph.row],
            )
        )

    def out(self, graph: StoredGraphVersion, paths: Collection[FilePath]) -> Edges:
        """Return the edges from these pages."""
        sql = f"{EDGES} AND source.graph = ? AND source.path IN"
        return _edges(self._rows_in(graph, sql, map(pack_path, paths), [graph.row]))

    def into(self, graph: StoredGraphVersion, paths: Collection[FilePath]) -> Edges:
        """Return the edges to these pages."""
        sql = f"{EDGES} AND target.graph = ? AND target.path IN"
        return _edges(self._rows_in(graph, sql, map(pack_path, paths), [graph.row]))

    def buckets(self, graph: StoredGraphVersion) -> Counter[str]:
        """Return the number of links in each bucket."""
        rows = self._rows(
            graph,
            "SELECT bucket, count(*) FROM node CROSS JOIN edge ON edge.source = node.id"
            " WHERE graph = ? GROUP BY bucket",
            [graph.row],
        )
        return Counter(dict(rows))

    def pairs(self, graph: StoredGraphVersion) -> LinkPairs:
        """Return the source and target of each link with a target, always in the same order."""
        nodes = self._rows(
            graph,
            f"SELECT id, path FROM node WHERE graph = ? AND {NODE}",  # noqa: S608  # ours
            [graph.row],
        )
        paths = {row: unpack_path(path) for row, path in with_checkpoints(nodes)}
        sources, targets = array("q"), array("q")
        for batch in batches(paths, NODES_PER_BATCH):
            rows = self._rows_in(
                graph,
                "SELECT source.id, edge.target FROM node AS source"  # noqa: S608  # ours
                " CROSS JOIN edge ON edge.source = source.id"
                " JOIN node AS target ON target.id = edge.target"
                f" WHERE source.graph = ? AND {intact('edge')} AND source.id IN",
                batch,
                [graph.row],
            )
            sources.extend(source for source, _ in rows)
            targets.extend(target for _, target in rows)
        if any(target not in paths for target in with_checkpoints(targets)):
            self._database.replace_damaged()  # an index of SQLite lacks a node
        return LinkPairs(paths, sources, targets)

    def check(self, graph: StoredGraphVersion) -> None:
        """Raise GraphMovedError if the graph has changed since it was read."""
        if not self._database.rows(
            "SELECT 1 FROM graph WHERE id = ? AND generation = ?", [graph.row, graph.generation]
        ):
            raise GraphMovedError

    def replace_damaged(self) -> NoReturn:
        """Replace the index, whose edges do not match the links: raise IndexDamagedError."""
        self._database.replace_damaged()

    def _rows_in(
        self, graph: StoredGraphVersion, sql: str, values: Iterable[object], first: Sequence[object]
    ) -> Rows:
        rows = self._database.rows_in(sql, values, first)
        self.check(graph)
        return rows

    def _rows(self, graph: StoredGraphVersion, sql: str, arguments: Sequence[object]) -> Rows:
        rows = self._database.rows(sql, arguments)
        self.check(graph)
        return rows

    def _unpack_blobs(self, rows: Rows) -> dict[FilePath, ObjectId | None]:
        return {
            unpack_path(path): unpack_id(blob) if blob else None
            for path, blob in with_checkpoints(rows)
        }


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


# Pages in one statement, which makes each 13 µs cheaper.
PAGES_A_QUERY = 16

_COLUMNS = """
SELECT * FROM (SELECT {known}.path, {other}.path, link_type, context, line
FROM node AS {known} CROSS JOIN edge ON edge.{known} = {known}.id
CROSS JOIN node AS {other} ON {other}.id = edge.{other}
JOIN page ON page.blob = source.blob
JOIN link ON link.page = page.id AND link.number = edge.number
WHERE {known}.graph = ? AND {known}.path = ? AND source.id <> target.id AND {intact} LIMIT ?)
"""
_INTACT = f"{intact('edge')} AND {intact('node', 'source')} AND {intact('link')}"
OUTGOING = _COLUMNS.format(known="source", other="target", intact=_INTACT)
INCOMING = _COLUMNS.format(known="target", other="source", intact=_INTACT)


class Neighbor(NamedTuple):
    """A link from one page to another one, as written."""

    source: FilePath
    target: FilePath
    link_type: LinkType
    context: str
    line: int


class Neighborhood(NamedTuple):
    """The links of a page to other pages, and those of others to it."""

    out: list[Neighbor]
    into: list[Neighbor]


class AdjacencyTable:
    """The first links around pages, without reading all of them; raises as `EdgeTable`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._edges = EdgeTable(database)

    def around(
        self, graph: StoredGraphVersion, paths: Collection[FilePath], most: int
    ) -> dict[FilePath, Neighborhood]:
        """Return the first links of each page to others, and of others to it; `most` of each."""
        out, into = (self._rows(sql, graph, paths, most) for sql in (OUTGOING, INCOMING))
        self._edges.check(graph)
        found = {path: Neighborhood([], []) for path in paths}
        for source, target, *rest in out:
            path = unpack_path(source)
            found[path].out.append(Neighbor(path, unpack_path(target), *rest))
        for target, source, *rest in into:
            path = unpack_path(target)
            found[path].into.append(Neighbor(unpack_path(source), path, *rest))
        return found

    def _rows(
        self, sql: str, graph: StoredGraphVersion, paths: Collection[FilePath], most: int
    ) -> Rows:
        rows: Rows = []
        left = iter(paths)
        while batch := list(islice(left, PAGES_A_QUERY)):
            arguments = [value for path in batch for value in (graph.row, pack_path(path), most)]
            rows += self._database.rows(" UNION ALL ".join([sql] * len(batch)), arguments)
        return rows

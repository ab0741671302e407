"""Nodes and edges of a graph, and how they are written."""

import sqlite3
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ubp.links import Resolution
from ubp.model import FilePath, ObjectId
from ubp.store.facts import chunks, marks
from ubp.store.graph_rows import pack_json
from ubp.store.values import pack_id, pack_path, unpack_path


class Node(NamedTuple):
    """What stands at a path and is no folder; `blob` is None where it is no page."""

    blob: ObjectId | None
    doc_id: str | None
    names: frozenset[int]
    is_unread: bool = False


Edges = dict[FilePath, dict[int, Resolution]]
"""The resolutions of pages' links, by their numbers."""


class Patch(NamedTuple):
    """How a graph differs from another: nodes (None: gone) and edges.

    A changed node's edges are all there; of other pages those that lead elsewhere now.
    """

    nodes: Mapping[FilePath, Node | None]
    edges: Edges


def put_whole(connection: sqlite3.Connection, graph: int, whole: Patch) -> None:
    """Write all nodes and edges of a graph that has none yet."""
    _put_edges(connection, whole.edges, _put_nodes(connection, graph, _there(whole)))
    _tell_complete(connection, graph)


def put_patch(connection: sqlite3.Connection, graph: int, patch: Patch) -> None:
    """Change a graph; a node that stays keeps its row, and so the edges to it."""
    targets = {one.target for found in patch.edges.values() for one in found.values()}
    ids = _ids(connection, graph, {*patch.nodes, *patch.edges, *filter(None, targets)})
    changed = [(ids[path],) for path in patch.nodes if path in ids]
    connection.executemany("DELETE FROM edge WHERE source = ?", changed)
    _remove_names(connection, graph, {row for (row,) in changed})
    gone = [(ids[path],) for path, node in patch.nodes.items() if node is None and path in ids]
    connection.executemany("DELETE FROM node WHERE id = ?", gone)
    there = _there(patch)
    same = {ids[path]: node for path, node in there.items() if path in ids}
    connection.executemany(
        "UPDATE node SET blob = ?, doc_id = ?, is_unread = ? WHERE id = ?",
        [(*_columns(node), row) for row, node in same.items()],
    )
    _put_names(connection, graph, same)
    ids |= _put_nodes(connection, graph, {p: node for p, node in there.items() if p not in ids})
    _put_edges(connection, patch.edges, ids)
    _tell_complete(connection, graph)


def _there(patch: Patch) -> dict[FilePath, Node]:
    return {path: node for path, node in patch.nodes.items() if node is not None}


def _put_nodes(
    connection: sqlite3.Connection, graph: int, nodes: Mapping[FilePath, Node]
) -> dict[FilePath, int]:
    (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM node").fetchone()
    ids = {path: last + place for place, path in enumerate(nodes, 1)}
    connection.executemany(
        "INSERT INTO node (id, graph, path, blob, doc_id, is_unread) VALUES (?, ?, ?, ?, ?, ?)",
        ((ids[path], graph, pack_path(path), *_columns(node)) for path, node in nodes.items()),
    )
    _put_names(connection, graph, {ids[path]: node for path, node in nodes.items()})
    return ids


def _columns(node: Node) -> tuple[bytes | None, str | None, bool]:
    return pack_id(node.blob) if node.blob else None, node.doc_id, node.is_unread


def _put_names(connection: sqlite3.Connection, graph: int, nodes: Mapping[int, Node]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO name (graph, name, node) VALUES (?, ?, ?)",
        sorted((graph, name, row) for row, node in nodes.items() for name in node.names),
    )


def _put_edges(connection: sqlite3.Connection, edges: Edges, ids: Mapping[FilePath, int]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO edge (source, number, bucket, target, has_anchor, candidates)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                ids[source],
                number,
                one.bucket,
                None if one.target is None else ids[one.target],
                one.has_anchor,
                pack_json(one.candidates) if one.candidates else None,
            )
            for source, found in edges.items()
            for number, one in found.items()
        ),
    )


def _tell_complete(connection: sqlite3.Connection, graph: int) -> None:
    connection.execute(
        "UPDATE graph SET is_complete ="
        " NOT EXISTS (SELECT 1 FROM node WHERE node.graph = graph.id AND is_unread) WHERE id = ?",
        [graph],
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
            f"SELECT path, id FROM node WHERE graph = ? AND path IN ({marks(chunk)})",  # noqa: S608  # "?,?"
            [graph, *map(pack_path, chunk)],
        )
        found.update((unpack_path(path), row) for path, row in rows)
    return found

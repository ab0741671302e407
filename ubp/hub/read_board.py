"""Read the board of a ref back from the tables, to compare it with that of a clone."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from ubp.board.model import Board, BoardEdge, BoardFile, BoardPage, BoardReference
from ubp.core.model import FilePath, ObjectId
from ubp.hub.database import Connection


def read_stored_board(
    connection: Connection, reader: str, repository: str, ref: str
) -> Board | None:
    """Return the board of a ref; None: there is none that the reader may see.

    Where a push replaces it meanwhile, it is read again.
    """

    def find() -> tuple[Any, ...] | None:
        return connection.execute(
            "select ref.id, ref.commit, ref.xmin::text from ref"
            " join repository r on r.id = ref.repository"
            " join readable(%s) v on v.repository = r.id"
            " where r.id = (select named(%s)) and ref.name = %s and ref.commit is not null",
            [reader, repository, ref],
        ).fetchone()

    row = find()
    while row is not None:
        key, commit, _ = row
        board = _read(connection, key, ObjectId(bytes(commit).hex()))
        before, row = row, find()
        if row == before:
            return board
    return None


def _read(connection: Connection, key: int, commit: ObjectId) -> Board:
    references = _grouped(
        connection,
        "select page, repository, path, fragment, pin, verdict, level, baseline_kind, baseline,"
        " current, since, commits, note from reference where ref = %s order by page, number",
        key,
    )
    edges = _grouped(
        connection,
        "select page, target, type, links from edge where ref = %s"
        ' order by page, target collate "C", type collate "C"',
        key,
    )
    pages = {
        path: BoardPage(
            level,
            is_record,
            tuple(owners),
            tuple(_reference(*values) for values in references[path]),
            tuple(BoardEdge(*values) for values in edges[path]),
        )
        for path, level, is_record, owners in connection.execute(
            "select path, level, is_record, owners from page where ref = %s", [key]
        )
    }
    files = connection.execute(
        "select path, oid, changed, changed_at from file where ref = %s", [key]
    ).fetchall()
    return Board(
        commit,
        tuple(
            sorted(
                (
                    BoardFile(
                        FilePath(path),
                        ObjectId(bytes(oid).hex()),
                        None if changed is None else ObjectId(bytes(changed).hex()),
                        _seconds(changed_at),
                        pages.get(path),
                    )
                    for path, oid, changed, changed_at in files
                ),
                key=lambda file: file.path,
            )
        ),
    )


def _reference(*values: Any) -> BoardReference:
    *before, since, commits, note = values
    row: Any = (*before, _seconds(since), commits, note)
    return BoardReference(*row)


def _grouped(connection: Connection, query: str, key: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of a query by their first value."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for page, *values in connection.execute(query, [key]):
        found[page].append(tuple(values))
    return found


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())

"""Take pushes: what a board lacks, and the transaction that replaces the board of a ref."""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from ubp.board.model import BoardFile
from ubp.board.parts import FileParts
from ubp.board.wire import (
    Manifest,
    Piece,
    WireError,
    digest_of,
    file_row,
    read_piece,
    to_text,
)
from ubp.hub.database import Connection
from ubp.hub.repositories import identify, queue_comparison

Outcome = Literal["written", "unchanged", "overtaken"]
CHANNEL = "ubp_push"
DIGEST_BYTES = 12  # of a row of the board


@dataclass(frozen=True, slots=True)
class Missing:
    """What a push needs and the hub lacks: digests of pieces, and blobs by parser.

    `commit` is that of the board that it has; None: it has none.
    """

    pieces: tuple[str, ...]
    parts: Mapping[str, tuple[str, ...]]
    commit: str | None


def take_push(
    connection: Connection, manifest: Manifest, forge_id: str | None = None
) -> Outcome | Missing:
    """Replace the board of a ref, in the connection's transaction, or return what is missing.

    The row of the ref is the lock: pushes of one ref wait for each other. A push that is older
    than the board is left out. `forge_id` is the forge's number of the repository, where the pusher
    has proven it.
    """
    repository, is_new = identify(connection, manifest.repository, forge_id)
    if is_new and forge_id is not None:
        queue_comparison(connection, *manifest.repository.split("/", 1))
    ref = _Ref.lock(connection, repository, manifest.ref)
    digests = [bytes.fromhex(piece) for piece in manifest.pieces]
    is_current = ref.commit == bytes.fromhex(manifest.commit) and ref.digests == digests
    order = manifest.run, manifest.attempt
    if manifest.run is not None and ref.run is not None:
        if order == (ref.run, ref.attempt) and is_current:
            return "unchanged"
        if order <= (ref.run, ref.attempt):
            return "overtaken"
    elif is_current:
        return "unchanged"
    known = set(ref.digests)
    needed = [digest for digest in digests if digest not in known]
    uploaded = _uploaded(connection, repository, needed)
    missing = Missing(
        tuple(digest.hex() for digest in needed if digest not in uploaded),
        _missing_parts(connection, repository, manifest.parts),
        ref.commit.hex() if ref.commit is not None else None,
    )
    if missing.pieces or missing.parts:
        return missing
    pieces = [_read_uploaded(uploaded[digest]) for digest in needed]
    numbers = {digest: number for number, digest in enumerate(digests)}
    for digest, piece in zip(needed, pieces, strict=True):
        if (piece.number, piece.count) != (numbers[digest], len(digests)):
            raise WireError("a piece is in the wrong place")
    _replace(connection, ref, manifest, pieces, digests)
    return "written"


def take_upload(
    connection: Connection,
    name: str,
    pieces: Sequence[str],
    parts: Sequence[FileParts],
    forge_id: str | None = None,
) -> None:
    """Keep pieces until their push is complete, and the parts of blobs.

    Raises:
        WireError: a piece is none.
    """
    repository, _ = identify(connection, name, forge_id)
    for text in pieces:
        read_piece(text)
        body = zlib.compress(text.encode("ascii"))
        connection.execute(
            "insert into upload (repository, digest, body) values (%s, %s, %s)"
            " on conflict (repository, digest) do update set at = now()",
            [repository, bytes.fromhex(digest_of(text)), body],
        )
    new = _save_parsed(connection, repository, parts)
    rows = (
        (
            repository,
            bytes.fromhex(file.blob),
            file.parser,
            number,
            [bytes.fromhex(name) for name in part.names],
            bytes.fromhex(part.digest),
            bytes.fromhex(part.nameless),
        )
        for file in parts
        if (file.blob, file.parser) in new
        for number, part in enumerate(file.parts or ())
    )
    _copy(connection, "part (repository, blob, parser, number, names, digest, nameless)", rows)


def _save_parsed(
    connection: Connection, repository: int, parts: Sequence[FileParts]
) -> set[tuple[str, str]]:
    """Save which blobs were parsed, and return those that had not been."""
    found = connection.execute(
        "insert into parsed (repository, blob, parser, is_read)"
        " select distinct on (blob, parser) %s, blob, parser, is_read"
        " from unnest(%s::bytea[], %s::text[], %s::bool[]) as given (blob, parser, is_read)"
        " on conflict do nothing returning blob, parser",
        [
            repository,
            [bytes.fromhex(file.blob) for file in parts],
            [file.parser for file in parts],
            [file.parts is not None for file in parts],
        ],
    ).fetchall()
    return {(bytes(blob).hex(), parser) for blob, parser in found}


@dataclass(frozen=True, slots=True)
class _Ref:
    """The row of a ref, locked, with the digests of its board's pieces in order."""

    id: int
    repository: int
    commit: bytes | None
    run: int | None
    attempt: int
    digests: Sequence[bytes]

    @classmethod
    def lock(cls, connection: Connection, repository: int, name: str) -> "_Ref":
        query = "select id, commit, run, attempt from ref where repository = %s and name = %s"
        key = [repository, name]
        row = connection.execute(f"{query} for update", key).fetchone()
        if row is None:
            connection.execute(
                "insert into ref (repository, name) values (%s, %s) on conflict do nothing", key
            )
            row = connection.execute(f"{query} for update", key).fetchone()
        assert row is not None  # noqa: S101  # for the type checker
        found = connection.execute(
            "select digest from piece where ref = %s order by number", [row[0]]
        ).fetchall()
        return cls(row[0], repository, row[1], row[2], row[3], [bytes(d) for (d,) in found])


def _uploaded(
    connection: Connection, repository: int, digests: Sequence[bytes]
) -> dict[bytes, bytes]:
    rows = connection.execute(
        "select digest, body from upload where repository = %s and digest = any(%s)",
        [repository, list(digests)],
    ).fetchall()
    return {bytes(digest): bytes(body) for digest, body in rows}


def _read_uploaded(body: bytes) -> Piece:
    return read_piece(zlib.decompress(body).decode("ascii"))


def _missing_parts(
    connection: Connection, repository: int, parts: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    missing = {}
    for parser, blobs in parts.items():
        rows = connection.execute(
            "select blob from unnest(%s::bytea[]) as wanted (blob) where not exists"
            " (select from parsed p where p.repository = %s and p.blob = wanted.blob"
            " and p.parser = %s)",
            [[bytes.fromhex(blob) for blob in blobs], repository, parser],
        ).fetchall()
        if rows:
            missing[parser] = tuple(bytes(blob).hex() for (blob,) in rows)
    return missing


@dataclass(frozen=True, slots=True)
class _OldFile:
    """A file of the board that is replaced; `level` is its page's, None if it is none."""

    digest: bytes
    blob: str
    level: str | None


def _replace(
    connection: Connection,
    ref: _Ref,
    manifest: Manifest,
    pieces: Sequence[Piece],
    digests: Sequence[bytes],
) -> None:
    """Replace what changed of the files in these pieces, and of what was in their places."""
    commit = bytes.fromhex(manifest.commit)
    is_cut_anew = len(ref.digests) != len(digests)
    numbers = [piece.number for piece in pieces]
    rows = connection.execute(
        "select f.path, f.digest, f.oid, p.level from file f left join page p using (ref, path)"
        " where f.ref = %s and (%s or f.piece = any(%s))",
        [ref.id, is_cut_anew, numbers],
    ).fetchall()
    old = {path: _OldFile(bytes(d), bytes(oid).hex(), level) for path, d, oid, level in rows}
    new: dict[str, tuple[int, bytes, BoardFile]] = {}
    kept: list[tuple[str, int]] = []
    for piece in pieces:
        for file in piece.files:
            digest = file_digest(file)
            if file.path in old and old[file.path].digest == digest:
                kept.append((file.path, piece.number))
            else:
                new[file.path] = piece.number, digest, file
    gone = old.keys() - new.keys() - {path for path, _ in kept}
    connection.execute(
        "delete from file where ref = %s and path = any(%s)",
        [ref.id, [*gone, *(path for path in new if path in old)]],
    )
    if is_cut_anew and kept:
        connection.execute(
            "update file set piece = given.piece from unnest(%s::text[], %s::int[])"
            " as given (path, piece) where ref = %s and file.path = given.path",
            [[path for path, _ in kept], [number for _, number in kept], ref.id],
        )
    _insert_files(connection, ref.id, new.values())
    is_counted = ref.commit is not None and manifest.since == ref.commit.hex()
    counts = manifest.commits if is_counted else {}
    _insert_events(
        connection,
        (
            (
                ref.id,
                kind,
                path,
                before,
                after,
                commit,
                counts.get(path) if kind == "file" else None,
            )
            for path in sorted(gone | new.keys())
            for kind, before, after in _changes(old.get(path), new.get(path), ref.commit is None)
        ),
    )
    _save_push(connection, ref, manifest, numbers, digests)


def _save_push(
    connection: Connection,
    ref: _Ref,
    manifest: Manifest,
    numbers: Sequence[int],
    digests: Sequence[bytes],
) -> None:
    connection.execute(
        "delete from piece where ref = %s and (number = any(%s) or number >= %s)",
        [ref.id, numbers, len(digests)],
    )
    _copy(
        connection,
        "piece (ref, number, digest)",
        ((ref.id, number, digests[number]) for number in numbers),
    )
    connection.execute(
        "update ref set commit = %s, run = %s, attempt = %s, pushed_at = now(), pieces = %s"
        " where id = %s",
        [bytes.fromhex(manifest.commit), manifest.run, manifest.attempt, len(digests), ref.id],
    )
    connection.execute(
        "update repository set tip = %(ref)s where id = %(repository)s and (tip is null"
        " or tip <> %(ref)s and 'refs/heads/' || default_branch = %(name)s)",
        {"ref": ref.id, "repository": ref.repository, "name": manifest.ref},
    )
    connection.execute(
        "insert into changed_tip (ref) select tip from repository where id = %s and tip = %s"
        " on conflict do nothing",
        [ref.repository, ref.id],
    )
    connection.execute("select pg_notify(%s, %s)", [CHANNEL, str(ref.repository)])


def file_digest(file: BoardFile) -> bytes:
    """Return the digest of all that is sent about a file."""
    return sha256(to_text(file_row(file)).encode("ascii")).digest()[:DIGEST_BYTES]


def _changes(
    old: _OldFile | None,
    new: tuple[int, bytes, BoardFile] | None,
    is_first: bool,  # noqa: FBT001
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield what became of a file and of its page; of a first board the pages alone."""
    file = new[2] if new else None
    before, after = (old.blob if old else None), (file.blob if file else None)
    if before != after and not is_first:
        yield "file", before, after
    level = file.page.level if file and file.page else None
    if (old.level if old else None) != level:
        yield "page", old.level if old else None, level


def _insert_files(
    connection: Connection, ref: int, files: Collection[tuple[int, bytes, BoardFile]]
) -> None:
    _copy(
        connection,
        "file (ref, path, piece, digest, oid, changed, changed_at)",
        (
            (
                ref,
                file.path,
                piece,
                digest,
                bytes.fromhex(file.blob),
                None if file.changed is None else bytes.fromhex(file.changed),
                _moment(file.changed_at),
            )
            for piece, digest, file in files
        ),
    )
    pages = [(file.path, file.page) for _, _, file in files if file.page is not None]
    _copy(
        connection,
        "page (ref, path, level, is_record, owners)",
        ((ref, path, page.level, page.is_record, list(page.owners)) for path, page in pages),
    )
    _copy(
        connection,
        "reference (ref, page, number, repository, path, fragment, pin, verdict, level,"
        " baseline_kind, baseline, current, since, commits, note)",
        (
            (
                ref,
                path,
                number,
                reference.repository,
                reference.path,
                reference.fragment,
                reference.pin,
                reference.verdict,
                reference.level,
                reference.baseline_kind,
                reference.baseline,
                reference.current,
                _moment(reference.since),
                reference.commits,
                reference.note,
            )
            for path, page in pages
            for number, reference in enumerate(page.references)
        ),
    )
    _copy(
        connection,
        "edge (ref, page, target, type, links)",
        (
            (ref, path, edge.target, edge.type, edge.count)
            for path, page in pages
            for edge in page.edges
        ),
    )


def _insert_events(connection: Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    listed = list(rows)
    if listed:
        connection.execute("select make_partition('event', now())")
        _copy(connection, "event (ref, kind, path, before, after, commit, commits)", listed)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _copy(connection: Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows into a table, given with its columns."""
    with (
        connection.cursor() as cursor,
        cursor.copy(f"copy {table} from stdin") as copy,
    ):
        for row in rows:
            copy.write_row(row)

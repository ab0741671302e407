"""The board as it is sent: pieces of canonical JSON, each named by its digest.

A file belongs to the piece that the digest of its path says, so that a change of a few files
changes a few pieces, and two clones of a commit make the same ones. What comes from a client is
checked here: types, lengths, ids, and text that every database can store.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any, get_args

from ubp.board.model import (
    Board,
    BoardEdge,
    BoardFile,
    BoardPage,
    BoardReference,
    is_path,
    is_text,
)
from ubp.board.parts import FileParts, PartDigests
from ubp.core.model import (
    BaselineKind,
    FilePath,
    Level,
    LinkType,
    Note,
    ObjectId,
    Verdict,
)
from ubp.core.repository_names import checked_name

VERSION = 2
# Version 1 has no number of links. A hub that is upgraded takes it from clients that are not yet.
READABLE_VERSIONS = frozenset({1, VERSION})
FILES_PER_PIECE = 64  # so that a changed file costs a few kilobytes
MAX_PIECES = 1 << 14
MAX_FILES = 1_000_000
MAX_BODY_BYTES = 8 << 20  # of a request, compressed
MAX_PLAIN_BYTES = 64 << 20  # of a request
MAX_NUMBER = (1 << 63) - 1
MAX_COMMITS = MAX_LINKS = (1 << 31) - 1
ID_DIGITS = frozenset({40, 64})

VERDICTS = frozenset(get_args(Verdict))
LEVELS = frozenset(get_args(Level))
LINKS = frozenset(get_args(LinkType))
BASELINES = frozenset(get_args(BaselineKind))
NOTES = frozenset(get_args(Note))
_HEX = frozenset("0123456789abcdef")


class WireError(ValueError):
    """What was sent is not what was agreed: the sentence says where."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a board: the files whose paths are in bucket `number` of `count`."""

    number: int
    count: int
    files: tuple[BoardFile, ...]
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Manifest:
    """A push: which commit of which ref, and the digests of its pieces, in order.

    `run` and `attempt` order the pushes of a ref; None: the one that arrives last counts. `parts`
    are the blobs whose definitions and sections each parser of the client finds. `commits` are
    numbers of commits that changed each path after the commit `since`, where these are known.
    """

    repository: str
    ref: str
    commit: ObjectId
    run: int | None
    attempt: int
    pieces: tuple[str, ...]
    parts: Mapping[str, tuple[ObjectId, ...]]
    since: ObjectId | None = None
    commits: Mapping[str, int] = field(default_factory=dict)


def cut(board: Board) -> dict[str, str]:
    """Return the pieces of a board by their digests, in order."""
    count = 1
    while count * FILES_PER_PIECE < len(board.files) and count < MAX_PIECES:
        count *= 2
    buckets: list[list[BoardFile]] = [[] for _ in range(count)]
    for file in board.files:
        buckets[bucket_of(file.path, count)].append(file)
    texts = (piece_text(Piece(n, count, tuple(files))) for n, files in enumerate(buckets))
    return {digest_of(text): text for text in texts}


def bucket_of(path: str, count: int) -> int:
    """Return the number of the piece that has a path, of so many."""
    return int.from_bytes(blake2b(path.encode(), digest_size=4).digest()) % count


def piece_text(piece: Piece) -> str:
    """Return the canonical text of a piece."""
    files = [file_row(file) for file in sorted(piece.files, key=lambda file: file.path)]
    return to_text([piece.version, piece.number, piece.count, files])


def digest_of(text: str) -> str:
    """Return the name of a piece."""
    return sha256(text.encode()).hexdigest()


def to_text(value: Any) -> str:
    """Return canonical JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)


def compress(value: Any) -> bytes:
    """Return a value as the body of a request or an answer."""
    return zlib.compress(to_text(value).encode("ascii"), 6)


def decompress(body: bytes) -> Any:
    """Return the value of a body.

    Raises:
        WireError: it is cut off, too large, or not JSON.
    """
    decoder = zlib.decompressobj()
    try:
        data = decoder.decompress(body, MAX_PLAIN_BYTES)
        if decoder.unconsumed_tail:
            raise WireError("the body is too large")
        if not decoder.eof:
            raise WireError("the body is cut off")
        return json.loads(data)
    except (zlib.error, ValueError, RecursionError) as error:
        if isinstance(error, WireError):
            raise
        raise WireError("the body is not compressed JSON") from error


def manifest_value(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as JSON."""
    return {
        "version": VERSION,
        "repository": manifest.repository,
        "ref": manifest.ref,
        "commit": manifest.commit,
        "run": manifest.run,
        "attempt": manifest.attempt,
        "pieces": list(manifest.pieces),
        "parts": {parser: list(blobs) for parser, blobs in manifest.parts.items()},
        "since": manifest.since,
        "commits": dict(manifest.commits),
    }


def read_manifest(value: Any) -> Manifest:
    """Return a manifest from JSON.

    Raises:
        WireError: it is not one.
    """
    fields = _object(value, "the manifest")
    _check_version(fields.get("version"))
    digests = _list(fields.get("pieces"), "pieces")
    pieces = tuple(_hex(digest, "a piece", {64}) for digest in digests)
    if not 0 < len(pieces) <= MAX_PIECES or len(set(pieces)) != len(pieces):
        raise WireError("the number of pieces is wrong")
    parts = {
        _text(parser, "a parser"): tuple(
            ObjectId(_hex(blob, "a blob", ID_DIGITS)) for blob in _list(blobs, "blobs")
        )
        for parser, blobs in _object(fields.get("parts"), "parts").items()
    }
    run, since = fields.get("run"), fields.get("since")
    return Manifest(
        read_name(fields.get("repository")),
        read_ref(fields.get("ref")),
        ObjectId(_hex(fields.get("commit"), "the commit", ID_DIGITS)),
        None if run is None else _number(run, "the run"),
        _number(fields.get("attempt"), "the attempt"),
        pieces,
        parts,
        None if since is None else ObjectId(_hex(since, "a commit", ID_DIGITS)),
        {
            _path(path): _number(number, "a number of commits", MAX_COMMITS)
            for path, number in _object(fields.get("commits", {}), "commits").items()
        },
    )


def read_name(value: Any) -> str:
    """Return the name of a repository.

    Raises:
        WireError: it is not one.
    """
    name = checked_name(_text(value, "the repository"))
    if not name or name != value:
        raise WireError("the repository is not HOST/OWNER/NAME")
    return name


def read_ref(value: Any) -> str:
    """Return the name of a ref, such as `refs/heads/main`.

    Raises:
        WireError: it is not one.
    """
    ref = _text(value, "the ref")
    if not ref.startswith("refs/") or ".." in ref or any(c in ref for c in " ~^:?*[\\"):
        raise WireError("the ref is not a full name, such as refs/heads/main")
    return ref


def read_piece(text: Any) -> Piece:
    """Return a piece from its text.

    Raises:
        WireError: it is not one, or not canonical.
    """
    if not isinstance(text, str):
        raise WireError("a piece is not text")
    try:
        version, number, count, rows = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError("a piece is not a list of four") from error
    _check_version(version)
    count = _number(count, "the number of pieces")
    number = _number(number, "a piece's number")
    if not 0 <= number < count <= MAX_PIECES:
        raise WireError("a piece's number is wrong")
    files = tuple(read_file(row) for row in _list(rows, "files"))
    paths = [file.path for file in files]
    if len(set(paths)) != len(paths) or any(bucket_of(path, count) != number for path in paths):
        raise WireError("a file is in the wrong piece")
    piece = Piece(number, count, files, version)
    if piece_text(piece) != text:
        raise WireError("a piece is not canonical")
    return piece


def _check_version(version: Any) -> None:
    """Check the version of what was sent; True is not 1.

    Raises:
        WireError: it is not one of those that are read.
    """
    if type(version) is not int or version not in READABLE_VERSIONS:
        raise WireError(f"this hub reads versions 1 to {VERSION} of the format")


def parts_value(parts: FileParts) -> list[Any]:
    """Return the parts of a blob as JSON."""
    rows = (
        None
        if parts.parts is None
        else [[list(part.names), part.digest, part.nameless] for part in parts.parts]
    )
    return [parts.blob, parts.parser, rows]


def read_parts(value: Any) -> FileParts:
    """Return the parts of a blob from JSON.

    Raises:
        WireError: they are not parts.
    """
    blob, parser, rows = _row(value, 3, "parts")
    return FileParts(
        ObjectId(_hex(blob, "a blob", ID_DIGITS)),
        _text(parser, "a parser"),
        None if rows is None else tuple(map(_read_part, _list(rows, "parts"))),
    )


def _read_part(value: Any) -> PartDigests:
    names, digest, nameless = _row(value, 3, "a part")
    return PartDigests(
        tuple(_hex(name, "a part's name", {20}) for name in _list(names, "names")),
        _hex(digest, "a digest", {20}),
        _hex(nameless, "a digest", {20}),
    )


def file_row(file: BoardFile) -> list[Any]:
    """Return a file as JSON."""
    page = file.page
    row: list[Any] = [file.path, file.blob, file.changed, file.changed_at]
    if page is not None:
        references = [
            [getattr(reference, name) for name in BoardReference.__slots__]
            for reference in page.references
        ]
        edges = [
            [edge.target, edge.type, *([] if edge.count == 1 else [edge.count])]
            for edge in page.edges
        ]
        row.append([page.level, page.is_record, list(page.owners), references, edges])
    return row


def read_file(value: Any) -> BoardFile:
    """Return a file from JSON.

    Raises:
        WireError: it is not one.
    """
    row = _list(value, "a file")
    if len(row) not in {4, 5}:
        raise WireError("a file has the wrong number of values")
    path, blob, changed, changed_at = row[:4]
    return BoardFile(
        FilePath(_path(path)),
        ObjectId(_hex(blob, "a blob", ID_DIGITS)),
        None if changed is None else ObjectId(_hex(changed, "a commit", ID_DIGITS)),
        None if changed_at is None else _time(changed_at),
        _read_page(row[4]) if len(row) == 5 else None,  # noqa: PLR2004  # with a page
    )


def _read_page(value: Any) -> BoardPage:
    level, is_record, owners, references, edges = _row(value, 5, "a page")
    if not isinstance(is_record, bool):
        raise WireError("a page's is_record is not true or false")
    return BoardPage(
        _one_of(level, LEVELS, "a level"),
        is_record,
        tuple(_text(owner, "an owner") for owner in _list(owners, "owners")),
        tuple(map(_read_reference, _list(references, "references"))),
        tuple(map(_read_edge, _list(edges, "edges"))),
    )


def _read_edge(value: Any) -> BoardEdge:
    row = _list(value, "an edge")
    if len(row) not in {2, 3}:
        raise WireError("an edge has the wrong number of values")
    target, link_type, *counts = row
    count = _number(counts[0], "a number of links", MAX_LINKS) if counts else 1
    if count < 1:
        raise WireError("a number of links is not positive")
    return BoardEdge(FilePath(_path(target)), _one_of(link_type, LINKS, "a link type"), count)


def _read_reference(value: Any) -> BoardReference:
    row = _row(value, len(BoardReference.__slots__), "a reference")
    (repository, path, fragment, pin, verdict, level, kind, baseline, current, *rest) = row
    since, commits, note = rest
    return BoardReference(
        repository if repository == "" else read_name(repository),
        _path(path, is_empty_allowed=True),
        _text(fragment, "a fragment", is_empty_allowed=True),
        None if pin is None else _hex(pin, "a pin", None),
        _one_of(verdict, VERDICTS, "a verdict"),
        _one_of(level, LEVELS, "a level"),
        _one_of(kind, BASELINES, "a baseline"),
        None if baseline is None else _hex(baseline, "a baseline", None),
        None if current is None else _hex(current, "a source", None),
        None if since is None else _time(since),
        _number(commits, "a number of commits"),
        None if note is None else _one_of(note, NOTES, "a note"),
    )


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WireError(f"{what} is not an object")
    return value


def _list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) > MAX_FILES:
        raise WireError(f"{what} is not a list")
    return value


def _row(value: Any, length: int, what: str) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise WireError(f"{what} has the wrong number of values")
    return value


def _text(value: Any, what: str, *, is_empty_allowed: bool = False) -> str:
    if not isinstance(value, str) or not is_text(value) or not (value or is_empty_allowed):
        raise WireError(f"{what} is not a text")
    return value


def _path(value: Any, *, is_empty_allowed: bool = False) -> str:
    path = _text(value, "a path", is_empty_allowed=is_empty_allowed)
    if not is_path(path):
        raise WireError("a path leaves the repository")
    return path


def _hex(value: Any, what: str, lengths: Iterable[int] | None) -> str:
    is_hex = isinstance(value, str) and 0 < len(value) <= 64 and _HEX.issuperset(value)  # noqa: PLR2004  # SHA-256
    if not is_hex or (lengths is not None and len(value) not in lengths):
        raise WireError(f"{what} is not an id")
    return str(value)


def _number(value: Any, what: str, limit: int = MAX_NUMBER) -> int:
    if type(value) is not int or not 0 <= value <= limit:
        raise WireError(f"{what} is not a number")
    return value


# Git's dates and PostgreSQL's timestamps both have the years 1 to 9999.
_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799


def _time(value: Any) -> int:
    if type(value) is not int or not _EARLIEST <= value <= _LATEST:
        raise WireError("a time is not one")
    return value


def _one_of(value: Any, choices: frozenset[str], what: str) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise WireError(f"{what} is unknown")
    return value


def batches(values: Iterable[Any], size: Callable[[Any], int], limit: int) -> Iterator[list[Any]]:
    """Yield the values in groups of at most this size in all, or of one."""
    batch: list[Any] = []
    total = 0
    for value in values:
        if batch and total + size(value) > limit:
            yield batch
            batch, total = [], 0
        batch.append(value)
        total += size(value)
    if batch:
        yield batch

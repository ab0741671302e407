"""Convert files of the work tree as `git add` does: line ends, `ident`, encodings, filters."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ubp.core.errors import GitCommandError
from ubp.core.files import open_regular_file
from ubp.core.model import FilePath, ObjectId
from ubp.git.command import argument_chunks, run_git
from ubp.git.output import blob_id, decode_path, quote_path
from ubp.git.repository import Repository

Run = Callable[..., bytes]
"""`run(*args, stdin=b"")`: git at the root."""

CHUNK_BYTES = 1 << 20


def hash_regular_files(
    repository: Repository, paths: Collection[FilePath]
) -> dict[FilePath, ObjectId]:
    """Return the blob ids that `git add` would give; files that cannot be read are left out."""
    ids = _hash_objects(repository.run, list(paths))
    unconverted = _paths_keeping_crlf(repository, ids)
    if unconverted:
        ids |= _hash_objects(repository.run, unconverted, "--no-filters")
    return ids


def _hash_objects(run: Run, paths: Sequence[FilePath], *options: str) -> dict[FilePath, ObjectId]:
    """Hash files; git stops at the first that cannot be read, so bisect to leave it out."""
    stdin = b"".join(quote_path(path) + b"\n" for path in paths)
    try:
        output: bytes = run("hash-object", "--stdin-paths", *options, stdin=stdin)
    except GitCommandError:
        if len(paths) == 1:
            return {}
        middle = len(paths) // 2
        first = _hash_objects(run, paths[:middle], *options)
        return first | _hash_objects(run, paths[middle:], *options)
    return dict(zip(paths, map(ObjectId, output.decode("ascii").split()), strict=True))


def _paths_keeping_crlf(repository: Repository, paths: Collection[FilePath]) -> list[FilePath]:
    """Return the files with CRLF in the index that `git add` would not convert.

    `hash-object` does not read the index, so it would convert them.
    """
    root = repository.root or ""
    suspects = [path for path in paths if _has_crlf(os.path.join(root, path))]
    if not suspects:
        return []
    try:
        listings = [
            repository.run("ls-files", "--eol", "-z", "--", *chunk)
            for chunk in argument_chunks(suspects)
        ]
    except GitCommandError:  # a partial clone lacks a blob of the index
        return []
    return [decode_path(name) for listing in listings for name in _parse_crlf_names(listing)]


def with_stored_line_ends(repository: Repository, path: FilePath, data: bytes) -> bytes:
    """Return bytes that are to be written to a path with the line ends that `git add` would store.

    The file need not exist.
    """
    if b"\r\n" not in data:
        return data
    converted = data.replace(b"\r\n", b"\n")
    stored = repository.run("hash-object", "--stdin", f"--path={path}", stdin=data).decode().strip()
    if stored != blob_id(converted):
        return data
    listing = repository.run("ls-files", "--eol", "-z", "--", path)
    return data if list(_parse_crlf_names(listing)) else converted


def _parse_crlf_names(listing: bytes) -> Iterator[bytes]:
    """Yield the files that are CRLF in the index and whose type Git detects automatically."""
    for record in listing.split(b"\0"):
        fields, _, name = record.partition(b"\t")
        attribute = fields.partition(b"attr/")[2].strip()
        is_auto = not attribute or attribute.startswith(b"text=auto")
        if is_auto and fields.startswith((b"i/crlf", b"i/mixed")):
            yield name


def _has_crlf(file: str) -> bool:
    last_byte = b""
    try:
        with open_regular_file(file) as opened:
            while chunk := opened.read(CHUNK_BYTES):
                if b"\r\n" in last_byte + chunk:
                    return True
                last_byte = chunk[-1:]
    except OSError:
        return False
    return False


def stored_bytes(repository: Repository, ids: Mapping[FilePath, ObjectId]) -> dict[FilePath, bytes]:
    """Return the bytes that Git would store of files of the work tree, if they have these ids.

    Git writes the objects into a temporary directory, so that reading a repository adds nothing to
    it.
    """
    from tempfile import TemporaryDirectory

    environment = repository.environment
    objects = [
        environment.get("GIT_OBJECT_DIRECTORY") or os.path.join(repository.common_dir, "objects"),
        *filter(None, [environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")]),
    ]

    with TemporaryDirectory(prefix="ubp-") as object_dir:
        isolated = {
            **environment,
            "GIT_OBJECT_DIRECTORY": object_dir,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(objects),
        }

        def run(*args: str, stdin: bytes) -> bytes:
            return run_git(args, cwd=repository.root or "", stdin=stdin, environment=isolated)

        _hash_objects(run, list(ids), "-w")
        contents = {path: _read_loose_object(object_dir, blob) for path, blob in ids.items()}
    return {path: data for path, data in contents.items() if data is not None}


def _read_loose_object(object_dir: str, object_name: ObjectId) -> bytes | None:
    from zlib import decompress

    try:
        with open(os.path.join(object_dir, object_name[:2], object_name[2:]), "rb") as file:
            return decompress(file.read()).partition(b"\0")[2]
    except FileNotFoundError:  # the file changed since it was hashed
        return None

"""What Git would store of the work tree's files: line ends, `ident`, encodings, filter drivers."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ubp.core.errors import GitCommandError
from ubp.core.model import FilePath, ObjectId
from ubp.git.command import argument_chunks, run_git
from ubp.git.output import path_of, quoted
from ubp.git.repository import Repository

Run = Callable[..., bytes]
"""`run(*args, stdin=b"")`: git at the root."""

CHUNK_BYTES = 1 << 20


def hash_regular_files(
    repository: Repository, paths: Collection[FilePath]
) -> dict[FilePath, ObjectId]:
    """The blob ids that `git add` would give; files that cannot be read are left out."""
    hashed = _hash_objects(repository.run, list(paths))
    kept = _keeping_line_ends(repository, hashed)
    return hashed | (_hash_objects(repository.run, kept, "--no-filters") if kept else {})


def _hash_objects(run: Run, names: Sequence[FilePath], *options: str) -> dict[FilePath, ObjectId]:
    stdin = b"".join(quoted(path) + b"\n" for path in names)
    try:
        output: bytes = run("hash-object", "--stdin-paths", *options, stdin=stdin)
    except GitCommandError:
        if len(names) == 1:
            return {}
        middle = len(names) // 2
        first = _hash_objects(run, names[:middle], *options)
        return first | _hash_objects(run, names[middle:], *options)
    return dict(zip(names, map(ObjectId, output.decode("ascii").split()), strict=True))


def _keeping_line_ends(repository: Repository, names: Collection[FilePath]) -> list[FilePath]:
    """The files whose CRLF `git add` leaves alone: those whose line ends git guesses.

    `hash-object` does not look into the index, and so would convert a file that is CRLF there.
    """
    root = repository.root or ""
    suspects = [path for path in names if _has_crlf(os.path.join(root, path))]
    if not suspects:
        return []
    try:
        listings = [
            repository.run("ls-files", "--eol", "-z", "--", *chunk)
            for chunk in argument_chunks(suspects)
        ]
    except GitCommandError:  # a blob of the index is absent
        return []
    return [path_of(name) for listing in listings for name in _guessed_crlf(listing)]


def _guessed_crlf(listing: bytes) -> Iterator[bytes]:
    for record in listing.split(b"\0"):
        facts, _, name = record.partition(b"\t")
        attribute = facts.partition(b"attr/")[2].strip()
        is_guessed = not attribute or attribute.startswith(b"text=auto")
        if is_guessed and facts.startswith((b"i/crlf", b"i/mixed")):
            yield name


def _has_crlf(file: str) -> bool:
    last = b""
    try:
        with open(file, "rb") as opened:
            while chunk := opened.read(CHUNK_BYTES):
                if b"\r\n" in last + chunk:
                    return True
                last = chunk[-1:]
    except OSError:
        return False
    return False


def stored_bytes(
    repository: Repository, wanted: Mapping[FilePath, ObjectId]
) -> dict[FilePath, bytes]:
    """The bytes that Git would store of files of the work tree, where they have these ids.

    Git writes its objects into a folder of their own, which is then removed: reading a repository
    adds nothing to it.
    """
    from tempfile import TemporaryDirectory

    environment = repository.environment
    objects = [
        environment.get("GIT_OBJECT_DIRECTORY") or os.path.join(repository.common_dir, "objects"),
        *filter(None, [environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")]),
    ]

    with TemporaryDirectory(prefix="ubp-") as folder:
        apart = {
            **environment,
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(objects),
        }

        def run(*args: str, stdin: bytes) -> bytes:
            return run_git(args, cwd=repository.root or "", stdin=stdin, environment=apart)

        _hash_objects(run, list(wanted), "-w")
        found = {path: _loose_object(folder, name) for path, name in wanted.items()}
    return {path: data for path, data in found.items() if data is not None}


def _loose_object(folder: str, name: ObjectId) -> bytes | None:
    from zlib import decompress

    try:
        with open(os.path.join(folder, name[:2], name[2:]), "rb") as file:
            return decompress(file.read()).partition(b"\0")[2]
    except FileNotFoundError:  # the file changed since it was hashed
        return None

"""Git's output as values: status, raw diffs and tree listings (all with `-z`), and raw objects."""

import sys
import zlib
from collections.abc import Iterator

from ubp.core.model import MODE_TREE, UNHASHED, Commit, Entry, FilePath, ObjectId

EMPTY_TREE = ObjectId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
MAX_BLOB_BYTES = 8 << 20  # no document written by people is larger; git.git's largest is 0.2 MB
MAX_LOOSE_HEADER = 32  # bytes, of "commit 123" and the NUL after it

# As `os.fsdecode` does it, except on Windows, where that fails for names that are not UTF-8.
ENCODING = sys.getfilesystemencoding()

MODES = {
    b"040000": MODE_TREE,
    b"100644": 0o100644,
    b"100755": 0o100755,
    b"120000": 0o120000,
    b"160000": 0o160000,
}

Changes = dict[FilePath, Entry | None]
"""The new entry of each path that differs; None: deleted."""


def parse_status(output: bytes) -> tuple[ObjectId | None, Changes]:
    """Parse `git status --porcelain=v2 -z --branch` into HEAD and what differs from it.

    A file that is the same in the index and in the work tree has its id, any other is UNHASHED.
    Untracked files have mode 0, because git does not print theirs: the caller finds it out.
    """
    head: ObjectId | None = None
    changes: Changes = {}
    for record in output.split(b"\0"):
        kind = record[:1]
        if kind == b"1":
            _, states, _, _, _, mode, _, blob, path = record.split(b" ", 8)
            is_same = states[1:2] == b"."
            object_name = ObjectId(blob.decode()) if is_same else UNHASHED
            changes[decode_path(path)] = _parse_entry(mode, object_name)
        elif kind == b"u":
            _, _, _, _, _, _, mode, _, _, _, path = record.split(b" ", 10)
            changes[decode_path(path)] = _parse_entry(mode, UNHASHED)
        elif kind == b"?" and not record.endswith(b"/"):  # a nested repository ends with a slash
            changes[decode_path(record[2:])] = Entry(0, UNHASHED)
        elif record.startswith(b"# branch.oid ") and record[13:] != b"(initial)":
            head = ObjectId(record[13:].decode())
    return head, changes


def parse_raw_diff(output: bytes) -> Changes:
    """Parse a raw diff.

    Unmerged paths are left out: the index has no single state of them, so the old one counts.
    """
    changes: Changes = {}
    records = iter(output.split(b"\0"))
    for record in records:
        if not record:
            break
        _, mode, _, blob, status = record.split(b" ")
        path = decode_path(next(records))
        if status == b"U":
            continue
        entry = _parse_entry(mode, ObjectId(blob.decode()))
        # A directory that became a file has two records: a deletion and an addition.
        if entry is not None or path not in changes:
            changes[path] = entry
    return changes


def parse_tree(output: bytes) -> Iterator[tuple[FilePath, Entry]]:
    """Yield the paths and entries that `git ls-tree -z` printed."""
    for record in output.split(b"\0"):
        if record:
            fields, _, path = record.partition(b"\t")
            mode, _, object_name = fields.split(b" ")
            yield decode_path(path), Entry(parse_mode(mode), ObjectId(object_name.decode()))


def parse_mode(octal: bytes) -> int:
    """Return a mode from git's octal digits; old trees have 100664, which git reads as 100644."""
    return MODES.get(octal) or MODES[b"100755" if int(octal, 8) & 0o100 else b"100644"]


def _parse_entry(mode: bytes, object_name: ObjectId) -> Entry | None:
    return None if mode == b"000000" else Entry(parse_mode(mode), object_name)


MAX_DIGITS_OF_TIME = 11  # until the year 5138


def parse_commit(commit: ObjectId, raw: bytes) -> Commit:
    """Parse a commit object, as `git log --format='%ct %an %s'` shows it (no mailmap)."""
    header, _, message = raw.partition(b"\n\n")
    fields = dict(
        (line.partition(b" ")[::2]) for line in header.split(b"\n") if not line.startswith(b" ")
    )
    encoding = fields.get(b"encoding", b"utf-8").decode("ascii", "replace")
    author = fields.get(b"author", b"").partition(b"<")[0].strip()
    date = fields.get(b"committer", b"").rpartition(b"> ")[2].partition(b" ")[0]
    return Commit(
        commit,
        int(date) if date.isdigit() and len(date) <= MAX_DIGITS_OF_TIME else 0,
        _decode_text(author, encoding),
        _decode_text(_subject(message), encoding),
    )


def _subject(message: bytes) -> bytes:
    """Return the first paragraph on one line."""
    lines: list[bytes] = []
    for line in message.split(b"\n"):
        text = line.rstrip()
        if text:
            lines.append(text)
        elif lines:
            break
    return b" ".join(lines)


def _decode_text(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return text.decode("utf-8", "replace")


class BatchReader:
    """A parser of the output of `git cat-file --batch`, which may come in pieces of any size.

    `objects` has the type and bytes of each object; None: absent, or larger than `max_bytes`. The
    bytes of such large objects are never kept in memory.
    """

    def __init__(self, max_bytes: int = MAX_BLOB_BYTES) -> None:
        self.objects: dict[ObjectId, tuple[str, bytes] | None] = {}
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._bytes_to_skip = 0
        self._header: tuple[ObjectId, str, int] | None = None

    def feed(self, chunk: bytes) -> None:
        """Parse the next piece."""
        skipped = min(self._bytes_to_skip, len(chunk))
        self._bytes_to_skip -= skipped
        self._buffer += memoryview(chunk)[skipped:]
        while self._read_header() if self._header is None else self._read_body(*self._header):
            pass

    def _read_header(self) -> bool:
        """Read the line before an object; return whether there may be more to read."""
        end = self._buffer.find(b"\n")
        if end < 0:
            return False
        words = self._buffer[:end].decode("ascii", "replace").split(" ")
        del self._buffer[: end + 1]
        object_name = ObjectId(words[0])
        if len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004 - "<id> missing" has two
            self.objects[object_name] = None
            return True
        size = int(words[2])
        if size <= self._max_bytes:
            self._header = (object_name, words[1], size)
            return True
        self.objects[object_name] = None
        buffered = min(size + 1, len(self._buffer))  # a newline follows each object
        del self._buffer[:buffered]
        self._bytes_to_skip = size + 1 - buffered
        return bool(self._buffer)

    def _read_body(self, object_name: ObjectId, kind: str, size: int) -> bool:
        """Read an object if all of it has arrived; return whether it has."""
        if len(self._buffer) <= size:
            return False
        self.objects[object_name] = (kind, bytes(memoryview(self._buffer)[:size]))
        del self._buffer[: size + 1]
        self._header = None
        return True


def parse_loose_object(data: bytes, max_bytes: int = MAX_BLOB_BYTES) -> tuple[str, bytes] | None:
    """Return the type and bytes of an object's own file; None: too large, or not one."""
    decompressor = zlib.decompressobj()
    try:
        content = decompressor.decompress(data, max_bytes + MAX_LOOSE_HEADER)
    except zlib.error:
        return None
    header, _, body = content.partition(b"\0")
    kind, _, size = header.decode("ascii", "replace").partition(" ")
    is_whole = decompressor.eof and size == str(len(body)) and len(body) <= max_bytes
    return (kind, body) if is_whole else None


def object_id(kind: str, data: bytes) -> ObjectId:
    """Return the id that git gives to an object."""
    from hashlib import sha1  # 3 ms of CPU, and a warm run hashes nothing

    header = b"%s %d\0" % (kind.encode("ascii"), len(data))
    return ObjectId(sha1(header + data, usedforsecurity=False).hexdigest())


def blob_id(data: bytes) -> ObjectId:
    """Return the id that git gives to a file's bytes."""
    return object_id("blob", data)


def decode_path(raw: bytes) -> FilePath:
    """Return a path from git's bytes; `encode_path` returns the same bytes, valid UTF-8 or not."""
    return FilePath(raw.decode(ENCODING, "surrogateescape"))


def encode_path(path: str) -> bytes:
    """Return a path, or one of its names, as git's bytes."""
    return path.encode(ENCODING, "surrogateescape")


def quote_path(path: FilePath) -> bytes:
    """Return a path in C's quotes for a line of git's input, so that it may contain newlines."""
    return b'"%s"' % encode_path(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(
        b"\n", b"\\n"
    ).replace(b"\r", b"\\r")


def is_valid_path(path: FilePath) -> bool:
    """Return whether a tree can contain this path; git fails a whole call for some that it cannot.

    A lone surrogate, for example, may come from the YAML of a document.
    """
    try:
        raw = encode_path(path)
    except UnicodeEncodeError:
        return False
    return b"\0" not in raw and not {b"", b".", b".."} & set(raw.split(b"/"))

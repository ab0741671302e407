"""Raw objects: reading them in batches from git, and what a commit's bytes say.

What git prints, as values: status, raw diffs, tree listings (all with `-z`).
"""

import sys
from collections.abc import Iterator

from ubp.core.model import MODE_TREE, UNHASHED, Commit, Entry, FilePath, ObjectId

EMPTY_TREE = ObjectId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
MAX_BLOB_BYTES = 8 << 20  # no page that people wrote is larger; git.git's largest is 0.2 MB


def object_id(kind: str, data: bytes) -> ObjectId:
    """The id that git gives to an object."""
    from hashlib import sha1  # 3 ms of CPU, and a warm run hashes nothing

    header = b"%s %d\0" % (kind.encode("ascii"), len(data))
    return ObjectId(sha1(header + data, usedforsecurity=False).hexdigest())


def blob_id(data: bytes) -> ObjectId:
    """The id that git gives to a file's bytes."""
    return object_id("blob", data)


class BatchReader:
    """Takes the output of `git cat-file --batch` in pieces of any size.

    `objects` holds each answer's type and bytes; what is absent or larger than the limit is None,
    and is dropped while it comes in.
    """

    def __init__(self, max_bytes: int = MAX_BLOB_BYTES) -> None:
        self.objects: dict[ObjectId, tuple[str, bytes] | None] = {}
        self._max_bytes = max_bytes
        self._pending = bytearray()
        self._to_skip = 0
        self._header: tuple[ObjectId, str, int] | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next piece."""
        skipped = min(self._to_skip, len(chunk))
        self._to_skip -= skipped
        self._pending += memoryview(chunk)[skipped:]
        while self._take_header() if self._header is None else self._take_body(*self._header):
            pass

    def _take_header(self) -> bool:
        end = self._pending.find(b"\n")
        if end < 0:
            return False
        words = self._pending[:end].decode("ascii", "replace").split(" ")
        del self._pending[: end + 1]
        name = ObjectId(words[0])
        if len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004 - "<id> missing" has two
            self.objects[name] = None
            return True
        size = int(words[2])
        if size <= self._max_bytes:
            self._header = (name, words[1], size)
            return True
        self.objects[name] = None
        here = min(size + 1, len(self._pending))  # a newline follows each object
        del self._pending[:here]
        self._to_skip = size + 1 - here
        return bool(self._pending)

    def _take_body(self, name: ObjectId, kind: str, size: int) -> bool:
        if len(self._pending) <= size:
            return False
        self.objects[name] = (kind, bytes(memoryview(self._pending)[:size]))
        del self._pending[: size + 1]
        self._header = None
        return True


def parse_commit(commit: ObjectId, raw: bytes) -> Commit:
    """What a commit object says, as `git log --format='%ct %an %s'` shows it (no mailmap)."""
    head, _, message = raw.partition(b"\n\n")
    fields = dict(
        (line.partition(b" ")[::2]) for line in head.split(b"\n") if not line.startswith(b" ")
    )
    encoding = fields.get(b"encoding", b"utf-8").decode("ascii", "replace")
    author = fields.get(b"author", b"").partition(b"<")[0].strip()
    date = fields.get(b"committer", b"").rpartition(b"> ")[2].partition(b" ")[0]
    return Commit(
        commit,
        int(date) if date.isdigit() else 0,
        _decoded(author, encoding),
        _decoded(_subject(message), encoding),
    )


def _subject(message: bytes) -> bytes:
    """The first paragraph on one line."""
    lines: list[bytes] = []
    for line in message.split(b"\n"):
        text = line.rstrip()
        if text:
            lines.append(text)
        elif lines:
            break
    return b" ".join(lines)


def _decoded(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return text.decode("utf-8", "replace")


Changes = dict[FilePath, Entry | None]

# As `os.fsdecode` has it, but for Windows, where that stops at names that are not UTF-8.
ENCODING = sys.getfilesystemencoding()

MODES = {
    b"040000": MODE_TREE,
    b"100644": 0o100644,
    b"100755": 0o100755,
    b"120000": 0o120000,
    b"160000": 0o160000,
}


def parse_status(output: bytes) -> tuple[ObjectId | None, Changes]:
    """HEAD and what differs from it in the work tree, from `git status --porcelain=v2 -z --branch`.

    A file that stands in the index as it does on the disk has its id, any other is UNHASHED.
    Untracked files, whose mode git does not tell, are left to the caller as mode 0.
    """
    head: ObjectId | None = None
    changes: Changes = {}
    for record in output.split(b"\0"):
        kind = record[:1]
        if kind == b"1":
            _, states, _, _, _, mode, _, blob, path = record.split(b" ", 8)
            is_same = states[1:2] == b"."
            changes[path_of(path)] = _entry(mode, ObjectId(blob.decode()) if is_same else UNHASHED)
        elif kind == b"u":
            _, _, _, _, _, _, mode, _, _, _, path = record.split(b" ", 10)
            changes[path_of(path)] = _entry(mode, UNHASHED)
        elif kind == b"?" and not record.endswith(b"/"):  # a nested repository ends so
            changes[path_of(record[2:])] = Entry(0, UNHASHED)
        elif record.startswith(b"# branch.oid ") and record[13:] != b"(initial)":
            head = ObjectId(record[13:].decode())
    return head, changes


def parse_raw_diff(output: bytes) -> Changes:
    """What a raw diff brings: the new entry, None for what is gone.

    Unmerged paths are left out: the index holds no one state of them, so the old one stands.
    """
    changes: Changes = {}
    records = iter(output.split(b"\0"))
    for record in records:
        if not record:
            break
        _, mode, _, blob, status = record.split(b" ")
        path = path_of(next(records))
        if status == b"U":
            continue
        entry = _entry(mode, ObjectId(blob.decode()))
        # A folder that became a file is told twice: gone as one, here as the other.
        if entry is not None or path not in changes:
            changes[path] = entry
    return changes


def parse_tree(output: bytes) -> Iterator[tuple[FilePath, Entry]]:
    """The lines of `git ls-tree -z`."""
    for record in output.split(b"\0"):
        if record:
            facts, _, path = record.partition(b"\t")
            mode, _, name = facts.split(b" ")
            yield path_of(path), Entry(mode_of(mode), ObjectId(name.decode()))


def quoted(path: FilePath) -> bytes:
    """A path on a line of git's input, in C's quotes, so that it may hold newlines."""
    return b'"%s"' % raw_of(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(
        b"\n", b"\\n"
    ).replace(b"\r", b"\\r")


def is_possible(path: FilePath) -> bool:
    """Whether a tree could hold this path; git refuses a whole call for some that none could."""
    try:
        raw = raw_of(path)
    except UnicodeEncodeError:  # a lone surrogate out of somebody's YAML
        return False
    return b"\0" not in raw and not {b"", b".", b".."} & set(raw.split(b"/"))


def path_of(raw: bytes) -> FilePath:
    """Git's bytes as we write paths: any bytes can be, and come back the same."""
    return FilePath(raw.decode(ENCODING, "surrogateescape"))


def raw_of(path: str) -> bytes:
    """A path, or a name in one, as Git's bytes."""
    return path.encode(ENCODING, "surrogateescape")


def mode_of(octal: bytes) -> int:
    """A mode as git writes it; old trees may hold 100664, which git reads as 100644."""
    return MODES.get(octal) or MODES[b"100755" if int(octal, 8) & 0o100 else b"100644"]


def _entry(mode: bytes, name: ObjectId) -> Entry | None:
    return None if mode == b"000000" else Entry(mode_of(mode), name)

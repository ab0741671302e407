"""Raw objects: reading them in batches from git, and what a commit's bytes say."""

from ubp.model import Commit, ObjectId

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

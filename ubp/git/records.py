"""What git prints, as values: status, raw diffs, tree listings (all with `-z`)."""

import sys
from collections.abc import Iterator

from ubp.model import MODE_TREE, UNHASHED, Entry, FilePath, ObjectId

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

"""The words of the domain, as values that every room shares."""

from typing import Literal, NamedTuple, NewType

# Values are NamedTuples, not dataclasses: `import dataclasses` costs 15 ms of CPU and each
# dataclass another 0.8 ms, a tenth of what a warm `ubp stale` may take (benchmarks/startup.py).

ObjectId = NewType("ObjectId", str)  # 40 hexadecimal digits: a blob, tree or commit
FilePath = NewType("FilePath", str)  # from the repository's root, "/" between the parts, no slash at the end;
#                                      bytes that are not UTF-8 stand as surrogates (os.fsdecode)

Verdict = Literal["fresh", "modified", "deleted", "moved", "created", "not_found", "unknown"]
Level = Literal["untracked", "fresh", "possibly_stale", "stale", "unknown"]
BaselineKind = Literal["pin", "history", "snapshot"]
SnapshotKind = Literal["worktree", "staged", "commit"]

MODE_FILE = 0o100644
MODE_EXECUTABLE = 0o100755
MODE_SYMLINK = 0o120000
MODE_SUBMODULE = 0o160000
MODE_TREE = 0o040000


class Entry(NamedTuple):
    """What stands at a path of a snapshot: a file, a directory, a symlink, a submodule."""

    mode: int
    id: ObjectId

    @property
    def is_directory(self) -> bool:
        """True for a tree; a submodule is none."""
        return self.mode == MODE_TREE

    @property
    def is_file(self) -> bool:
        """True for a regular file; symlinks are never followed, so they are not files."""
        return self.mode in (MODE_FILE, MODE_EXECUTABLE)


class SourceReference(NamedTuple):
    """One source that a page names in its front matter.

    `written` is the text as it stands in the page, `source_path` the same as a path from the root
    (may be a glob; no trailing slash), `fragment` a possible tail (`#symbol`, `:12`, `#L3-L9`) of
    `written` that is *no* part of `source_path`; `literal` is `source_path` with that tail kept, which
    wins where such a path exists. `line` counts from 1 in the file.
    """

    written: str
    source_path: FilePath
    literal: FilePath
    fragment: str | None
    key: str
    line: int
    pin: str | None = None
    reason: str | None = None


class Problem(NamedTuple):
    """Something wrong in a page's front matter; `line` counts from 1 in the file."""

    line: int
    message: str


class PageFacts(NamedTuple):
    """What a page's bytes say, keyed by its blob id: no path, no snapshot, no configuration but the keys."""

    title: str | None  # front matter title, else the first H1, else None (callers use the file's stem)
    doc_type: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    references: tuple[SourceReference, ...]
    problems: tuple[Problem, ...]


class Page(NamedTuple):
    """A document of a snapshot."""

    filepath: FilePath
    blob: ObjectId
    facts: PageFacts


class Commit(NamedTuple):
    """A commit as answers show it; `date` is the committer date in seconds since the epoch."""

    id: ObjectId
    date: int
    author: str
    subject: str

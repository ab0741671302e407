"""The words of the domain, as values that every room shares.

What the joints between rooms look like: progress and warnings, given in from the edge.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, NewType, get_args

# Values are NamedTuples, not dataclasses: `import dataclasses` costs 15 ms of CPU and each
# dataclass another 0.8 ms, a tenth of what a warm `ubp stale` may take (benchmarks/startup.py).

ObjectId = NewType("ObjectId", str)
"""40 hexadecimal digits: a blob, tree or commit."""
FilePath = NewType("FilePath", str)
"""From the repository's root, "/" between the parts, none at the end; "" is the root.

Bytes that are not UTF-8 stand as surrogates (`os.fsdecode`).
"""

Verdict = Literal["fresh", "modified", "deleted", "moved", "created", "not_found", "unknown"]
Level = Literal["untracked", "fresh", "possibly_stale", "stale", "unknown"]
QUIET_LEVELS: frozenset[Level] = frozenset({"fresh", "untracked"})
"""The levels of pages that need no attention."""
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
    `written` that is *no* part of `source_path`; `literal` is `source_path` with that tail kept,
    which wins where such a path exists. `line` counts from 1 in the file.
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
    """What a page's bytes say, keyed by its blob id: no path, no snapshot.

    `title` is the front matter's, else the first H1, else None (callers then use the file's stem).
    """

    title: str | None
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


class Snapshot(NamedTuple):
    """A mapping path → entry, as a commit's tree and what differs from it.

    `commit` is the revision, or HEAD for the work tree and the index (None: no commits yet).
    `changes` has files only, None for what is gone; the id of a work tree's changed file is
    `UNHASHED` until somebody needs it.
    """

    kind: SnapshotKind
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]


UNHASHED = ObjectId("")


class LastChange(NamedTuple):
    """The commit that last changed a file's bytes.

    `is_boundary`: a shallow clone ends there, so that the true commit may be older.
    """

    commit: ObjectId
    is_boundary: bool


class BaselineQuery(NamedTuple):
    """A question to history: which commits took `path` away from its baseline?

    `path` is a file, a directory, or a glob's literal directory ("" is the root) with the glob in
    `pattern`. The search ends where the path's id equals `baseline` (40 digits, or a pin of 7 and
    more; None: the path was absent), and at `commit` and its ancestors (None: a pin needs none).
    """

    path: FilePath
    pattern: str | None
    baseline: str | None
    commit: ObjectId | None


class Drift(NamedTuple):
    """A search's answer: the drifting commits, newest first.

    `is_complete` is False where history ended (a shallow clone, a pin that never stood in it)
    before the baseline was met; `existed`: the path was seen on the way.
    """

    commits: tuple[ObjectId, ...]
    is_complete: bool
    existed: bool


Pair = tuple[FilePath, FilePath]
"""A page and a source that it names (a file, a folder, a glob)."""


class PairCount(NamedTuple):
    """In how many commits a source changed, and in how many of them its page changed too."""

    changed: int
    together: int


class ReferenceVerdict(NamedTuple):
    """What became of one reference of a page.

    `source_path` is the path that was judged (the reference's, or its literal form where that
    exists), `baseline_commit` the commit whose tree holds the baseline (None for pins and
    snapshots), the ids are blob ids, or tree ids for directories and globs, None where nothing
    stands. `since` is the committer date (seconds) of the first commit that drifted, None where
    no commit did or history does not reach it; `age_days` counts from it (0: uncommitted).
    `commits` are the drifting ones, newest first. `is_debt`: the debt file accepts it, or, where a
    change is judged, the reference was away from its baseline in the same way before it.
    """

    reference: SourceReference
    source_path: FilePath
    verdict: Verdict
    level: Level
    baseline: BaselineKind
    baseline_commit: ObjectId | None = None
    baseline_blob: str | None = None
    current_blob: ObjectId | None = None
    moved_to: FilePath | None = None
    since: int | None = None
    age_days: int | None = None
    commits: tuple[Commit, ...] = ()
    is_debt: bool = False


class Assessment(NamedTuple):
    """A page and what became of its references; `level` is the worst of theirs."""

    page: Page
    level: Level
    references: tuple[ReferenceVerdict, ...]


DEBT_FILE = FilePath(".ubp/debt.txt")


class Debt(NamedTuple):
    """An old finding that the debt file accepts; `line` is where it stands there, from 1."""

    name: str
    rule: str
    filepath: FilePath
    subject: str
    line: int


LinkType = Literal["references", "depends_on", "implements", "extends", "conflicts_with"]
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
LinkKind = Literal["wikilink", "embed", "markdown", "definition"]


class Link(NamedTuple):
    """A link as a page writes it; where it leads depends on the snapshot (`ubp.markdown.resolve`).

    `target` is decoded and without its anchor, "" for the page itself; the bytes from `byte_start`
    to `byte_end` are the same as written. `line` and `column` (in characters) count from 1 and
    say where the link begins, for a `definition` where `[label]: target` does; `context` and
    `section` (an index) are those of its first use. `meant_type` is the type that a label was
    probably meant to be.
    """

    kind: LinkKind
    target: str
    anchor: str | None
    link_type: LinkType
    label: str | None
    line: int
    column: int
    byte_start: int
    byte_end: int
    context: str
    section: int
    meant_type: LinkType | None


class Section(NamedTuple):
    """A heading and the text below it, up to the next section; blank lines at its end are not its.

    The text before the first heading of this kind has `heading` None and `level` 0. Lines count
    from 1, both ends included; the bytes from `byte_start` to `byte_end` are its text.
    `heading_path` has the headings above (the page's H1 too) and its own.
    """

    heading: str | None
    level: int
    heading_path: tuple[str, ...]
    anchor: str | None
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int


class Chunk(NamedTuple):
    """A piece of a page; `section` is an index, of the larger part where sections were joined.

    Lines count from 1, both ends included; the bytes from `byte_start` to `byte_end` are its text.
    """

    section: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    token_count: int


Warn = Callable[[str], None]
"""Told one sentence that the user should know and that ends nothing."""

Progress = Callable[[str, int, int], None]
"""Told what is done, how much of it, of how much: `progress("Parsing", 128, 300)`; 0: nobody knows.

What it raises ends the work."""


def ignore_progress(*_: object) -> None:
    """Take a warning or a step of progress and say nothing."""


EMBEDDING = "Embedding sections"
"""The step without which a search still finds words."""

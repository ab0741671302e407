"""The domain's types, shared by every package, and the callback types for warnings and progress.

Values are NamedTuples, not dataclasses, because the hook's import path includes this module
(docs/decisions/0005-named-tuples.md).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, NewType, Self, get_args

ObjectId = NewType("ObjectId", str)
"""40 hexadecimal digits: a blob, tree or commit."""
FilePath = NewType("FilePath", str)
"""A path relative to the repository's root, with "/" and without a trailing one; "" is the root.

Bytes that are not UTF-8 are surrogates, as `os.fsdecode` returns them.
"""

Verdict = Literal["fresh", "modified", "deleted", "moved", "created", "not_found", "unknown"]
Level = Literal["untracked", "fresh", "possibly_stale", "stale", "unknown"]
QUIET_LEVELS: frozenset[Level] = frozenset({"fresh", "untracked"})
"""The levels of pages that need no attention."""
BaselineKind = Literal["pin", "history", "snapshot"]
Alarms = Literal["any", "named", "judged"]
Affected = Literal["yes", "no", "unsure"]
"""Which drift is an alarm: any, or where the page names what changed, or the source is gone."""
SnapshotKind = Literal["worktree", "staged", "commit"]

MODE_FILE = 0o100644
MODE_EXECUTABLE = 0o100755
MODE_SYMLINK = 0o120000
MODE_SUBMODULE = 0o160000
MODE_TREE = 0o040000


class Entry(NamedTuple):
    """What a snapshot has at a path: a file, a directory, a symlink or a submodule."""

    mode: int
    id: ObjectId

    @property
    def is_directory(self) -> bool:
        """True for a tree; False for a submodule."""
        return self.mode == MODE_TREE

    @property
    def is_file(self) -> bool:
        """True for a regular file; symlinks are never followed, so they are not files."""
        return self.mode in (MODE_FILE, MODE_EXECUTABLE)


class SourceReference(NamedTuple):
    """A source that a page names in its front matter.

    `written` is the text in the page, `source_path` its normalized path from the root (possibly a
    glob) without the tail `fragment` (`#symbol`, `:12`, `#L3-L9`). `literal` is the path with that
    tail, which takes precedence if it exists. `line` is a line of the file, from 1.

    `pin_key` is the front matter key that has the pin, or is to have it: a commit, or the id of the
    source; None: the pin is beside the reference, always the id of the source. `language` is that
    of a translation, whose reference to the original a rule of the configuration makes.
    """

    written: str
    source_path: FilePath
    literal: FilePath
    fragment: str | None
    key: str
    line: int
    pin: str | None = None
    reason: str | None = None
    pin_key: str | None = None
    language: str | None = None

    @property
    def own_pin(self) -> str | None:
        """The pin beside the reference: the only kind that a document of a collection has."""
        return None if self.pin_key else self.pin


class KeyPin(NamedTuple):
    """The pin of a translation in a page's front matter; `line` is a line of the file, from 1."""

    key: str
    pin: str
    line: int


class Problem(NamedTuple):
    """A fault in a page's front matter; `line` is a line of the file, from 1."""

    line: int
    message: str


class PageFacts(NamedTuple):
    """The facts in a page's bytes, keyed by its blob id; independent of path and snapshot.

    `title` is the front matter's, else the first H1, else None (callers then use the file's stem).
    """

    title: str | None
    doc_type: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    references: tuple[SourceReference, ...]
    problems: tuple[Problem, ...]
    pins: tuple[KeyPin, ...] = ()


PageFields = Mapping[str, str | tuple[str, ...]]
"""The front matter's fields with a scalar or a list of scalars, as texts as they are written."""


class RepositoryPath(str):
    """A path in one of several repositories.

    It reads like any path, without the repository's name; it is equal to, and sorted with, others
    by repository and path. A path of the only repository is a string alone.
    """

    __slots__ = ("_identity", "repository")

    repository: str
    _identity: tuple[str, str]

    def __new__(cls, repository: str, path: str) -> Self:
        """Return the path in a repository, whose name is not empty."""
        self = super().__new__(cls, path)
        self.repository = repository
        self._identity = repository, str(path)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RepositoryPath) and self._identity == other._identity

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._identity)

    def __lt__(self, other: str) -> bool:
        return self._identity < (repository_of(other), str(other))

    def __le__(self, other: str) -> bool:
        return self._identity <= (repository_of(other), str(other))

    def __gt__(self, other: str) -> bool:
        return not self <= other

    def __ge__(self, other: str) -> bool:
        return not self < other


def in_repository(repository: str, path: str) -> FilePath:
    """Return a path in one of several repositories."""
    return FilePath(RepositoryPath(repository, path))


def repository_of(path: str) -> str:
    """Return the repository of a path; "" where there is only one."""
    return path.repository if isinstance(path, RepositoryPath) else ""


def plain_path(path: FilePath) -> FilePath:
    """Return a path as its own repository knows it."""
    return FilePath(str(path))


class Page(NamedTuple):
    """A document of a snapshot; identity and order are those of its repository and path."""

    filepath: FilePath
    blob: ObjectId
    facts: PageFacts

    @property
    def repository(self) -> str:
        """The name of its repository; "" where there is only one."""
        return repository_of(self.filepath)


class Commit(NamedTuple):
    """A commit as results show it; `date` is the committer date in seconds since the epoch."""

    id: ObjectId
    date: int
    author: str
    subject: str


class Snapshot(NamedTuple):
    """A mapping from paths to entries: a commit's tree, and the files that differ from it.

    `commit` is the revision, or HEAD for the work tree and the index (None: no commits yet); files
    that differ from a revision are those that do not count, because they have expired.
    `changes` contains only files, with None for a removed one; the id of a changed file of the work
    tree is `UNHASHED` until it is needed. `buffers` are the bytes of files of the work tree that
    an editor has not saved; their entries in `changes` have the ids of these bytes.
    """

    kind: SnapshotKind
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]
    buffers: Mapping[FilePath, bytes] = MappingProxyType({})


UNHASHED = ObjectId("")


class LastChange(NamedTuple):
    """The commit that last changed a file's bytes.

    `is_boundary`: a shallow clone ends at this commit, so the true one may be older.
    """

    commit: ObjectId
    is_boundary: bool


class BaselineQuery(NamedTuple):
    """A query of history: which commits changed `path` since its baseline?

    `path` is a file, a directory, or the literal directory of a glob ("" is the root) with the glob
    in `pattern`. The walk ends where the path's id equals `baseline` (40 digits, or a pin of at
    least 7; None: the path was absent), and at `commit` and its ancestors (None for a pin).
    """

    path: FilePath
    pattern: str | None
    baseline: str | None
    commit: ObjectId | None


class Drift(NamedTuple):
    """The commits that changed a source since its baseline, newest first.

    `is_complete` is False if history ended (a shallow clone, a pin that it never contained) before
    the baseline was found. `existed`: the path existed in a commit of the walk.
    """

    commits: tuple[ObjectId, ...]
    is_complete: bool
    existed: bool


Pair = tuple[FilePath, FilePath]
"""A page and a source that it names (a file, a directory or a glob)."""


class PairCount(NamedTuple):
    """The number of commits that changed a source, and of those that changed its page too."""

    changed: int
    together: int


PartNote = Literal["no_blob", "no_parser", "no_language", "no_part"]
"""Why the verdict on a symbol, a section or lines is that of the whole file, or unknown: the bytes
of a version are not available, ast-grep is not installed, symbols cannot be found in this kind of
file, or a directory or glob has no such parts."""
Note = Literal[PartNote, "no_collection", "no_version", "no_pin", "no_listing", "other_repository"]
"""A `PartNote`, or why the verdict on a document of a collection is unknown: that version of it is
not on this machine, or the configuration pinned none when the page was written. `no_pin`: Git has
no object with the id that a key of the page's front matter contains. `no_listing`: a source that
Git does not have is in a submodule, or behind a symbolic link. `other_repository`: it is there, and
the reference has no pin."""


NameChange = Literal["removed", "added", "changed"]


class Evidence(NamedTuple):
    """A name in the changed code of a source that a page contains, and its line in the page.

    `change`: whether the source does not have the name any more, has it for the first time, or has
    it in changed lines, before and after.
    """

    name: str
    line: int
    change: NameChange


class Judgement(NamedTuple):
    """What a language model says of a page: whether a change affects it.

    `probability` is that of an edit being needed; of an answer that could not be used it is None.
    `line` is quoted from the page, and may be empty.
    """

    affected: Affected
    probability: float | None
    line: str
    why: str
    is_cached: bool = False


class ReferenceVerdict(NamedTuple):
    """The assessment of one source reference.

    `source_path` is the path that was compared (the reference's, or its literal form if that
    exists). `baseline_commit` is the commit whose tree contains the baseline (None for snapshots,
    and pins that are not commits). The ids are blob ids, or tree ids for directories and globs;
    None means absent. `since` is the committer date (seconds) of the first commit that drifted,
    None if no commit did or history does not reach it; `age_days` counts from then (0:
    uncommitted), `last_age_days` from the last. `commits` are those that drifted, newest first.
    `is_debt`: the debt file accepts it, or, when a change is assessed, the change does not fail for
    it (`ubp.staleness.change`).
    `is_noted`: it is no alarm (`staleness.alarms`), because no changed code has a name of the page,
    or because of the `judgement` on the page. `moved_to` is the new path, and `moved_fragment`
    ("#name") the new name of a part that is otherwise the same as its baseline.
    `note`: why a part or a collection was not compared. `evidence` is looked for in changes, and
    for agents; `is_unread`: in vain, because the clone lacks the changed lines, or there are too
    many. `collection` is the one whose repository has the source, its commits and its blobs ("":
    the page's own), and `unfetched` the version of it that has to be fetched first
    (`go@4a7fa7d16bb9`).
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
    moved_fragment: str = ""
    note: Note | None = None
    evidence: tuple[Evidence, ...] = ()
    is_unread: bool = False
    is_noted: bool = False
    judgement: Judgement | None = None
    collection: str = ""
    unfetched: str = ""
    last_age_days: int | None = None

    @property
    def name(self) -> str:
        """The source as it is written, from the root: `src/auth.py#login`."""
        has_tail = self.source_path == self.reference.source_path
        return self.source_path + ((self.reference.fragment or "") if has_tail else "")

    @property
    def new_name(self) -> str | None:
        """The new reference of a source that moved, None if it did not."""
        fragment = self.reference.fragment or ""
        tail = fragment if fragment.startswith("#") else ""
        return None if self.moved_to is None else self.moved_to + (self.moved_fragment or tail)


class Assessment(NamedTuple):
    """A page and the verdicts of its references; `level` is the worst of theirs."""

    page: Page
    level: Level
    references: tuple[ReferenceVerdict, ...]


DEBT_FILE = FilePath(".ubp/debt.txt")
CONFIG_FILE = FilePath(".ubp/config.json")


class Debt(NamedTuple):
    """A finding that the debt file accepts; `line` is its line there, from 1.

    `baseline` is the id from which its source drifted, shortened; empty where none is known.
    """

    name: str
    rule: str
    filepath: FilePath
    subject: str
    line: int
    baseline: str = ""


LinkType = Literal["references", "depends_on", "implements", "extends", "conflicts_with"]
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
LinkKind = Literal["wikilink", "embed", "markdown", "definition", "image", "include"]


class Link(NamedTuple):
    """A link as written in a page; its target in a snapshot is found by `ubp.markdown.resolve`.

    `target` is decoded and without its anchor, "" for the page itself; it is written in the bytes
    from `byte_start` to `byte_end`. `line` and `column` (in characters, both from 1) are the start
    of the link, of a `definition` that of `[label]: target`, whose `context` and `section` (an
    index) are those of its first use. `meant_type` is the link type that a label resembles. The
    label of an `include` is the name of the site generator whose syntax it is.
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
    """A heading and the text below it, up to the next section, without blank lines at its end.

    The text before the first section's heading has `heading` None and `level` 0. Lines count from
    1, both ends included; `byte_start` to `byte_end` are the bytes of its text. `heading_path`
    contains the headings above it, the page's H1 included, and its own.
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
    """A passage of a page; `section` is the index of its section, or of the larger one of several.

    Lines count from 1, both ends included; `byte_start` to `byte_end` are the bytes of its text.
    """

    section: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    token_count: int


Warn = Callable[[str], None]
"""Called with a sentence that the user should read; the work continues."""

Progress = Callable[[str, int, int], None]
"""Called with a step, the amount done and the total: `progress("Parsing", 128, 300)`; 0: unknown.

An exception that it raises ends the work."""


def ignore_progress(*_: object) -> None:
    """Ignore a warning or a step of progress."""


EMBEDDING = "Embedding sections"
"""The progress step that a keyword search does not wait for."""

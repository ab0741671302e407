"""Coverage: which sources documents describe, how often each changes, where the gaps are."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.sources import find_candidates, is_routine
from ubp.core.model import FilePath, ObjectId, Snapshot
from ubp.git.change_log import MAX_PATHS, LoggedChange
from ubp.git.trees import generated_files
from ubp.index.history import History
from ubp.index.select import select_sources
from ubp.index.session import Session
from ubp.index.view import View

ROOT = FilePath("")

DAY = 86_400

DEFAULT_DAYS = 365
"""A gap in files that last changed years ago hurts nobody today."""

DOMINANT_SHARE = 1 / 3
"""A directory with more than this share of all undescribed changes is split into its parts: one
line `src/` would say nothing."""


class SourceActivity(NamedTuple):
    """A candidate source, the number of commits that touched it, and whether it is described."""

    path: FilePath
    changes: int
    is_described: bool


class ActivityCount(NamedTuple):
    """The number of files and of their changes, in total and of the described files."""

    files: int = 0
    described_files: int = 0
    changes: int = 0
    described_changes: int = 0

    @classmethod
    def sum(cls, counts: "Iterable[ActivityCount]") -> "ActivityCount":
        """Return the sum of several counts."""
        return cls(*map(sum, zip(*counts, strict=True)))

    @property
    def missing(self) -> "ActivityCount":
        """The count of the files that are not described."""
        return ActivityCount(
            self.files - self.described_files, 0, self.changes - self.described_changes, 0
        )

    @property
    def files_percent(self) -> int | None:
        """The percentage of described files, rounded down; None if there are no files."""
        return self.described_files * 100 // self.files if self.files else None

    @property
    def changes_percent(self) -> int | None:
        """The percentage of described changes, rounded down; None if there are no changes."""
        return self.described_changes * 100 // self.changes if self.changes else None


class SourceTree(NamedTuple):
    """The count of each path, including the root "", and the children of each directory."""

    counts: Mapping[FilePath, ActivityCount]
    children: Mapping[FilePath, tuple[FilePath, ...]]


class Gap(NamedTuple):
    """A file, or a directory (ending in "/") of files, that no document describes.

    `changes` counts each commit once for each of the files that it touched.
    """

    path: FilePath
    files: int
    changes: int


class Coverage(NamedTuple):
    """Which sources documents describe; the gaps with the most changes first.

    Changes are those of the `days` before the last commit, from `since` (seconds; None: there is no
    commit) on. `bound` is the number of documents with source references.
    """

    snapshot: Snapshot
    days: float
    since: int | None
    is_shallow: bool
    bound: int
    total: ActivityCount
    gaps: tuple[Gap, ...]
    sources: tuple[SourceActivity, ...]


def measure_coverage(
    session: Session,
    view: View,
    is_described: Callable[[FilePath], bool],
    arguments: Sequence[str] = (),
    days: float = DEFAULT_DAYS,
) -> Coverage:
    """Return which of the view's sources documents describe; only those in `arguments`, if any.

    Tests, licenses and other routine files count only if a document describes them.

    Raises:
        UsageError: an argument matches no source.
        RepositoryError: history cannot be read completely.
    """
    repository = session.repository
    candidates = list(find_candidates(view, session.is_hidden))
    generated = generated_files(repository, candidates)
    candidates = [
        path
        for path in candidates
        if path not in generated and (not is_routine(path) or is_described(path))
    ]
    if arguments:
        candidates = sorted(select_sources(arguments, candidates, repository))
    history, head = session.history, view.snapshot.commit
    since = window_start(history, head, days, session.clock()) if head else None
    log = history.change_log(head=head, since=since) if head else []
    sources = find_sources(candidates, log, is_described)
    return Coverage(
        view.snapshot,
        days,
        since,
        repository.is_shallow,
        sum(1 for page in view.bound_pages() if page.facts.references),
        build_tree(sources).counts[ROOT],
        find_gaps(sources),
        sources,
    )


def window_start(history: History, head: ObjectId, days: float, now: float) -> int:
    """Return the time `days` before a commit, or before now if its date is in the future."""
    commits = history.commits([head])
    newest = commits[head].date if head in commits else now
    return int(min(newest, now) - days * DAY)


def find_sources(
    candidates: Collection[FilePath],
    log: Iterable[LoggedChange],
    is_described: Callable[[FilePath], bool],
) -> tuple[SourceActivity, ...]:
    """Return the sources, sorted by path.

    Commits that touch very many files (imports, new license headers) do not count.
    """
    changes = dict.fromkeys(candidates, 0)
    for change in log:
        if len(change.paths) < MAX_PATHS:
            for path in change.paths:
                if path in changes:
                    changes[path] += 1
    return tuple(
        SourceActivity(path, changes[path], is_described(path)) for path in sorted(changes)
    )


def find_gaps(sources: Iterable[SourceActivity]) -> tuple[Gap, ...]:
    """Return the gaps, worst first.

    A directory without any described file is one gap, unless it has most of the undescribed changes
    and contains other directories, or contains all sources.
    """
    tree = build_tree(sources)
    missing = tree.counts[ROOT].missing
    gaps = []
    pending = list(_top_level(tree))
    while pending:
        path = pending.pop()
        count = tree.counts[path]
        if count.described_files == count.files:
            continue
        children = tree.children.get(path, ())
        if children and (count.described_files or _is_dominant(count, missing, children, tree)):
            pending += children
        else:
            name = FilePath(f"{path}/") if path in tree.children else path
            gaps.append(Gap(name, count.files, count.changes))
    return tuple(sorted(gaps, key=lambda gap: (-gap.changes, -gap.files, gap.path)))


def build_tree(sources: Iterable[SourceActivity]) -> SourceTree:
    """Return the tree of these files; the children of a directory keep the files' order."""
    counts: dict[FilePath, ActivityCount] = {ROOT: ActivityCount()}
    children: dict[FilePath, dict[FilePath, None]] = {ROOT: {}}
    for source in sources:
        described = int(source.is_described)
        own = ActivityCount(1, described, source.changes, source.changes * described)
        counts[source.path] = own
        child = source.path
        while child:
            folder = FilePath(child.rpartition("/")[0])
            children.setdefault(folder, {})[child] = None
            counts[folder] = _add(counts.get(folder, ActivityCount()), own)
            child = folder
    return SourceTree(counts, {path: tuple(names) for path, names in children.items()})


def _add(first: ActivityCount, second: ActivityCount) -> ActivityCount:  # faster than `sum`
    return ActivityCount(
        first.files + second.files,
        first.described_files + second.described_files,
        first.changes + second.changes,
        first.described_changes + second.described_changes,
    )


def _top_level(tree: SourceTree) -> tuple[FilePath, ...]:
    """Return the children of the deepest directory that contains all sources."""
    children = tree.children[ROOT]
    while len(children) == 1 and children[0] in tree.children:
        children = tree.children[children[0]]
    return children


def _is_dominant(
    count: ActivityCount, missing: ActivityCount, children: Sequence[FilePath], tree: SourceTree
) -> bool:
    if not any(path in tree.children for path in children):
        return False
    if missing.changes:
        return count.changes > DOMINANT_SHARE * missing.changes
    return count.files > DOMINANT_SHARE * missing.files

"""Source files as a tree of directories, each with what is below it.

What no page describes: source files, how often each changes, and where the gaps are.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.bindings.sources import find_candidates
from ubp.core.model import FilePath, ObjectId, Snapshot
from ubp.git.change_log import MAX_PATHS, LoggedChange
from ubp.git.trees import generated_files
from ubp.index.history import History
from ubp.index.select import select_sources
from ubp.index.session import Session
from ubp.index.view import View

ROOT = FilePath("")


class Source(NamedTuple):
    """A file that a page could describe, the commits that touched it, and whether a page does."""

    path: FilePath
    changes: int
    is_described: bool


class ActivityCount(NamedTuple):
    """How many files there are and how often they changed; and of these the described ones."""

    files: int = 0
    described_files: int = 0
    changes: int = 0
    described_changes: int = 0

    @classmethod
    def sum(cls, tallies: "Iterable[ActivityCount]") -> "ActivityCount":
        """Several of them together."""
        return cls(*map(sum, zip(*tallies, strict=True)))

    @property
    def missing(self) -> "ActivityCount":
        """What is not described."""
        return ActivityCount(
            self.files - self.described_files, 0, self.changes - self.described_changes, 0
        )

    @property
    def files_percent(self) -> int | None:
        """Of the files, rounded down; None: there are none."""
        return self.described_files * 100 // self.files if self.files else None

    @property
    def changes_percent(self) -> int | None:
        """Of the changes, rounded down; None: there were none."""
        return self.described_changes * 100 // self.changes if self.changes else None


class SourceTree(NamedTuple):
    """For each path, the root "" too, its tally; for each directory what stands in it."""

    tallies: Mapping[FilePath, ActivityCount]
    children: Mapping[FilePath, tuple[FilePath, ...]]


def build_tree(sources: Iterable[Source]) -> SourceTree:
    """The tree of these files; what stands in a directory keeps the files' order."""
    tallies: dict[FilePath, ActivityCount] = {ROOT: ActivityCount()}
    children: dict[FilePath, dict[FilePath, None]] = {ROOT: {}}
    for source in sources:
        described = int(source.is_described)
        own = ActivityCount(1, described, source.changes, source.changes * described)
        tallies[source.path] = own
        below = source.path
        while below:
            folder = FilePath(below.rpartition("/")[0])
            children.setdefault(folder, {})[below] = None
            tallies[folder] = _sum(tallies.get(folder, ActivityCount()), own)
            below = folder
    return SourceTree(tallies, {path: tuple(names) for path, names in children.items()})


def _sum(one: ActivityCount, other: ActivityCount) -> ActivityCount:
    return ActivityCount(
        one.files + other.files,
        one.described_files + other.described_files,
        one.changes + other.changes,
        one.described_changes + other.described_changes,
    )


DAY = 86_400

DEFAULT_DAYS = 365
"""What changed years ago and rests since is no gap that hurts today."""

DOMINANT_SHARE = 1 / 3
"""A directory with more than this share of all that nothing describes is told in its parts: one
line `src/` would say nothing."""


class Gap(NamedTuple):
    """A file, or a directory (ending in "/") of files, that no page describes.

    `changes` counts each commit once for each of the files that it touched.
    """

    path: FilePath
    files: int
    changes: int


class Coverage(NamedTuple):
    """Which sources pages describe; the gaps in the order of how much changes there.

    Changes are those of the `days` before the last commit: from `since` (seconds) on; None: there
    is no commit. `bound` counts the pages that name sources.
    """

    snapshot: Snapshot
    days: float
    since: int | None
    is_shallow: bool
    bound: int
    total: ActivityCount
    gaps: tuple[Gap, ...]
    sources: tuple[Source, ...]


def measure_coverage(
    rooms: Session,
    view: View,
    is_described: Callable[[FilePath], bool],
    arguments: Sequence[str] = (),
    days: float = DEFAULT_DAYS,
) -> Coverage:
    """Which of the view's sources (those that `arguments` name, if any) pages describe.

    Raises:
        UsageError: an argument names no source.
        RepositoryError: history cannot be read whole.
    """
    candidates = list(find_candidates(view, rooms.is_hidden))
    generated = generated_files(rooms.repository, candidates)
    candidates = [path for path in candidates if path not in generated]
    if arguments:
        candidates = sorted(select_sources(arguments, candidates, rooms.repository))
    history, head = rooms.history, view.snapshot.commit
    since = window_start(history, head, days, rooms.clock()) if head else None
    log = history.change_log(head=head, since=since) if head else []
    sources = find_sources(candidates, log, is_described)
    return Coverage(
        view.snapshot,
        days,
        since,
        rooms.repository.is_shallow,
        sum(1 for page in view.bound_pages() if page.facts.references),
        build_tree(sources).tallies[ROOT],
        find_gaps(sources),
        sources,
    )


def window_start(history: History, head: ObjectId, days: float, now: float) -> int:
    """When the last `days` before a commit begin; before now, if it claims to be of the future."""
    known = history.commits([head])
    newest = known[head].date if head in known else now
    return int(min(newest, now) - days * DAY)


def find_sources(
    candidates: Collection[FilePath],
    log: Iterable[LoggedChange],
    is_described: Callable[[FilePath], bool],
) -> tuple[Source, ...]:
    """The sources in the order of their paths.

    Commits that touch very many files (imports, new licence headers) count for none of them.
    """
    touched = dict.fromkeys(candidates, 0)
    for change in log:
        if len(change.paths) < MAX_PATHS:
            for path in change.paths:
                if path in touched:
                    touched[path] += 1
    return tuple(Source(path, touched[path], is_described(path)) for path in sorted(touched))


def find_gaps(sources: Iterable[Source]) -> tuple[Gap, ...]:
    """What is not described, the worst first.

    A directory in which nothing is described is one gap; not one that dominates and has others
    below it, nor one that holds all sources there are.
    """
    tree = build_tree(sources)
    missing = tree.tallies[ROOT].missing
    gaps = []
    left = list(_top(tree))
    while left:
        path = left.pop()
        tally = tree.tallies[path]
        if tally.described_files == tally.files:
            continue
        below = tree.children.get(path, ())
        if below and (tally.described_files or _is_divided(tally, missing, below, tree)):
            left += below
        else:
            gaps.append(_gap(path, tree))
    return tuple(sorted(gaps, key=lambda gap: (-gap.changes, -gap.files, gap.path)))


def _top(tree: SourceTree) -> tuple[FilePath, ...]:
    """What stands in the deepest directory that holds all sources."""
    below = tree.children[ROOT]
    while len(below) == 1 and below[0] in tree.children:
        below = tree.children[below[0]]
    return below


def _is_divided(
    tally: ActivityCount, missing: ActivityCount, below: Sequence[FilePath], tree: SourceTree
) -> bool:
    if not any(path in tree.children for path in below):
        return False
    if missing.changes:
        return tally.changes > DOMINANT_SHARE * missing.changes
    return tally.files > DOMINANT_SHARE * missing.files


def _gap(path: FilePath, tree: SourceTree) -> Gap:
    tally = tree.tallies[path]
    name = FilePath(f"{path}/") if path in tree.children else path
    return Gap(name, tally.files, tally.changes)

"""Source files as a tree of directories, each with what is below it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ubp.model import FilePath

ROOT = FilePath("")


class Source(NamedTuple):
    """A file that a page could describe, the commits that touched it, and whether a page does."""

    path: FilePath
    changes: int
    is_described: bool


class Tally(NamedTuple):
    """How many files there are and how often they changed; and of these the described ones."""

    files: int = 0
    described_files: int = 0
    changes: int = 0
    described_changes: int = 0

    @classmethod
    def sum(cls, tallies: "Iterable[Tally]") -> "Tally":
        """Several of them together."""
        return cls(*map(sum, zip(*tallies, strict=True)))

    @property
    def missing(self) -> "Tally":
        """What is not described."""
        return Tally(self.files - self.described_files, 0, self.changes - self.described_changes, 0)

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

    tallies: Mapping[FilePath, Tally]
    children: Mapping[FilePath, tuple[FilePath, ...]]


def build_tree(sources: Iterable[Source]) -> SourceTree:
    """The tree of these files; what stands in a directory keeps the files' order."""
    tallies: dict[FilePath, Tally] = {ROOT: Tally()}
    children: dict[FilePath, dict[FilePath, None]] = {ROOT: {}}
    for source in sources:
        described = int(source.is_described)
        own = Tally(1, described, source.changes, source.changes * described)
        tallies[source.path] = own
        below = source.path
        while below:
            folder = FilePath(below.rpartition("/")[0])
            children.setdefault(folder, {})[below] = None
            tallies[folder] = _sum(tallies.get(folder, Tally()), own)
            below = folder
    return SourceTree(tallies, {path: tuple(names) for path, names in children.items()})


def _sum(one: Tally, other: Tally) -> Tally:
    return Tally(
        one.files + other.files,
        one.described_files + other.described_files,
        one.changes + other.changes,
        one.described_changes + other.described_changes,
    )

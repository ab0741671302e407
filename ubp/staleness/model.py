"""Where pages are judged: a snapshot with its history, or a change; and by which rules.

From two ids to a verdict, from verdicts and ages to a level. Pure.

Answers about staleness, with the counts that keep them honest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import (
    Assessment,
    Debt,
    Entry,
    FilePath,
    Level,
    ObjectId,
    Page,
    Snapshot,
    SourceReference,
    Verdict,
)
from ubp.core.shell import git_fetch
from ubp.git.repository import Repository
from ubp.index.history import History
from ubp.index.view import View


class StalenessRules(NamedTuple):
    """`now` in seconds since the epoch, and the age in days from which drift is stale.

    Files that `is_hidden` admits are not served: nobody is told that a source moved there.
    """

    now: float
    threshold_days: float
    is_hidden: Callable[[FilePath], bool]


class StalenessContext(NamedTuple):
    """Everything that a verdict depends on."""

    view: View
    repository: Repository
    history: History
    rules: StalenessRules


class Change(NamedTuple):
    """A change taken as one: from each of the states `before` it to the state `after`.

    A commit in the making starts from HEAD (a merge from each of its parents), a branch from its
    merge base; a first commit from nothing. `changes` are the files that differ from the first.
    """

    before: tuple[StalenessContext, ...]
    after: StalenessContext
    changes: Mapping[FilePath, Entry | None]


SECONDS_PER_DAY = 86_400

# Worst first: a page's level is the first of these that one of its references has.
SEVERITY: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh", "untracked")

# A source that is gone or never was cannot be put right by waiting.
STALE_AT_ONCE: frozenset[Verdict] = frozenset({"deleted", "not_found"})


def compare(baseline: str | None, current: str | None) -> Verdict:
    """What became of a source; a pin may be shorter than the id that it stands for."""
    if baseline is None:
        return "not_found" if current is None else "created"
    if current is None:
        return "deleted"
    return "fresh" if current.startswith(baseline) else "modified"


def level_of(verdict: Verdict, age_seconds: float | None, threshold_days: float) -> Level:
    """The level of one reference; an age of None is one that history cannot tell: stale."""
    if verdict in {"fresh", "unknown"}:
        return "fresh" if verdict == "fresh" else "unknown"
    if verdict in STALE_AT_ONCE or age_seconds is None:
        return "stale"
    return "possibly_stale" if age_seconds < threshold_days * SECONDS_PER_DAY else "stale"


def worst_level(levels: Iterable[Level]) -> Level:
    """The level of a page: the worst of its references', `untracked` without any."""
    return min(levels, key=SEVERITY.index, default="untracked")


class Summary(NamedTuple):
    """How many pages there are, name sources (`bound`), and were compared with one (`verified`)."""

    documents: int
    bound: int
    verified: int
    untracked: int
    fresh: int
    possibly_stale: int
    stale: int
    unknown: int


class StaleReport(NamedTuple):
    """Pages sorted worst first, then by path; `Workspace.stale` puts the most telling before that.

    `is_change` tells a change from a state; for a change `brought` are its own findings, and
    `pages` the pages that it concerns. So many references are old debts, `accepted` by the debt
    file; `settled` are its lines about references that are no debt any more.
    """

    snapshot: Snapshot
    pages: tuple[Assessment, ...]
    summary: Summary
    threshold_days: float
    is_change: bool = False
    is_shallow: bool = False
    accepted: int = 0
    settled: tuple[Debt, ...] = ()

    @property
    def brought(self) -> tuple[Assessment, ...]:
        """The pages with references that the change itself took from their baseline."""
        return tuple(
            one
            for one in self.pages
            if any(answer.verdict != "fresh" and not answer.is_debt for answer in one.references)
        )

    def count(self, *levels: Level) -> int:
        """How many pages have one of these levels."""
        return sum(getattr(self.summary, level) for level in levels)


class Affected(NamedTuple):
    """A page and those of its references that meet what was asked for."""

    page: Page
    references: tuple[SourceReference, ...]


class Pinned(NamedTuple):
    """A reference that was pinned: to what, and what it was pinned to before."""

    source_path: FilePath
    before: str | None
    pin: str


class SkippedReference(NamedTuple):
    """A reference that could not be pinned, and why."""

    source_path: FilePath
    reason: str


class Acknowledgement(NamedTuple):
    """What `ack` did to one page."""

    filepath: FilePath
    pinned: tuple[Pinned, ...]
    left: tuple[SkippedReference, ...]


class SourceDiff(NamedTuple):
    """A unified diff, and the blobs that a partial clone lacks to make it whole.

    So many lines were `added` and `removed`, of the `lines` that the files had before and have now.
    `changed` are the files that stand there now, each with the first line that differs (None where
    that cannot be told).
    """

    text: str
    missing: tuple[ObjectId, ...] = ()
    added: int = 0
    removed: int = 0
    lines: int = 0
    changed: tuple[tuple[FilePath, int | None], ...] = ()

    @property
    def fetch_command(self) -> str:
        """The git command that fetches what is missing; UBP never does so itself."""
        return git_fetch(self.missing) if self.missing else ""


def summarise(assessments: Sequence[Assessment], documents: int, bound: int) -> Summary:
    """Count the levels of the assessed pages, beside how many documents there are and are bound."""
    levels = Counter(one.level for one in assessments)
    verified = sum(
        1 for one in assessments if any(answer.verdict != "unknown" for answer in one.references)
    )
    return Summary(
        documents=documents,
        bound=bound,
        verified=verified,
        untracked=documents - bound,
        fresh=levels["fresh"],
        possibly_stale=levels["possibly_stale"],
        stale=levels["stale"],
        unknown=levels["unknown"],
    )


def worst_first(assessments: Iterable[Assessment]) -> tuple[Assessment, ...]:
    """Sort pages for reading: worst level first, then by path."""
    rank = {level: position for position, level in enumerate(SEVERITY)}
    return tuple(sorted(assessments, key=lambda one: (rank[one.level], one.page.filepath)))

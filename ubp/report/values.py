"""The values that a report consists of."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ubp.bindings.coverage import Coverage
from ubp.bindings.review import BindingReview
from ubp.checks.finding import Finding
from ubp.core.model import Assessment, FilePath, Level, ObjectId, Page, ReferenceVerdict, Snapshot
from ubp.core.paths import is_within
from ubp.core.shell import path_argument, ubp_command
from ubp.staleness.model import Summary


class Levels(NamedTuple):
    """How many pages have each level, worst first."""

    stale: int = 0
    possibly_stale: int = 0
    unknown: int = 0
    fresh: int = 0
    untracked: int = 0

    @property
    def bound(self) -> int:
        """Return how many pages name sources."""
        return sum(self) - self.untracked

    @property
    def fresh_percent(self) -> int | None:
        """Return the fresh share of the pages that name sources, rounded down.

        None where most could not be verified.
        """
        if self.unknown * 2 > self.bound or not self.bound:
            return None
        return self.fresh * 100 // self.bound

    @classmethod
    def of_summary(cls, summary: Summary) -> "Levels":
        """Return the levels that a report on staleness counted."""
        return cls(*(getattr(summary, name) for name in cls._fields))

    @classmethod
    def of(cls, levels: Iterable[Level]) -> "Levels":
        """Count levels."""
        counts = dict.fromkeys(cls._fields, 0)
        for level in levels:
            counts[level] += 1
        return cls(**counts)


class Folder(NamedTuple):
    """The levels of the pages below a directory; `is_rest`: without those listed on their own."""

    path: FilePath
    is_rest: bool
    levels: Levels

    def holds(self, page: FilePath) -> bool:
        """Return whether a page is below it; of several directories the longest one counts."""
        return is_within(page, self.path)


class AgeGroup(NamedTuple):
    """Pages by the age of their oldest drift; `days` is the start of the group, None: unknown."""

    days: int | None
    stale: int
    possibly_stale: int


class Span(NamedTuple):
    """How far back a trend goes: a number of weeks or of commits of the main line."""

    unit: Literal["weeks", "commits"]
    length: int


class Point(NamedTuple):
    """The levels at a time in seconds; `commit` is None for uncommitted changes.

    `from_pins` of the pages listed no sources then: their levels follow from their pins of today.
    """

    commit: ObjectId | None
    at: int
    levels: Levels
    from_pins: int = 0


class ChangedSource(NamedTuple):
    """A reference that is not at its baseline, and how its source changed.

    `added` and `removed` count lines, None where that is unknown or hidden. `diff` is a part of the
    whole where `cut_lines` are missing from it. `same_as` is the number of an earlier changed
    source of the report, counted from 0, that has the same diff; `missing` are blobs that a partial
    clone lacks.
    """

    reference: ReferenceVerdict
    added: int | None = None
    removed: int | None = None
    lines: int = 0
    diff: str = ""
    cut_lines: int = 0
    same_as: int | None = None
    missing: tuple[ObjectId, ...] = ()


class StalePage(NamedTuple):
    """A page that is not fresh, and its weight.

    `links_in` counts the links of other pages. `added`, `removed` and `lines` are sums over its
    sources; `age_days` is the age of the oldest drift.
    """

    assessment: Assessment
    sources: tuple[ChangedSource, ...]
    links_in: int
    added: int = 0
    removed: int = 0
    lines: int = 0
    age_days: int | None = None

    @property
    def path(self) -> FilePath:
        """Return the page's path."""
        return self.assessment.page.filepath

    @property
    def changed(self) -> int:
        """Return how many lines of its sources changed."""
        return self.added + self.removed

    @property
    def changed_percent(self) -> int:
        """Return the share of its sources' lines that changed; of a missing source all."""
        return -(-self.changed * 100 // self.lines) if self.lines else 0

    @property
    def weight(self) -> int:
        """Return the weight: twice the change, or twice the readers, counts twice."""
        return (1 + self.changed) * (1 + self.links_in)


class OtherPage(NamedTuple):
    """A page that is fresh, or names no sources."""

    page: Page
    level: Level
    links_in: int


class Topic(NamedTuple):
    """What `notes` of a month are about, and so many of the month `before`.

    `line` has the numbers of the last months, this one at the end.
    """

    name: str
    line: tuple[int, ...]
    notes: int
    before: int
    trend: str


class Topics(NamedTuple):
    """What the notes of a month are about: a sentence, the topics, and names that are new."""

    words: str
    topics: tuple[Topic, ...]
    new_names: tuple[str, ...]


class MonthOfAlarms(NamedTuple):
    """The alarms settled in a month (`2026-05`): by an edit of the page, or `acknowledged`.

    `reasoned` of these have a reason in the commit's message (`UBP-Reviewed`).
    """

    month: str
    edited: int
    acknowledged: int
    reasoned: int

    @property
    def alarms(self) -> int:
        """Return how many alarms were settled."""
        return self.edited + self.acknowledged

    @property
    def precision(self) -> int | None:
        """Return the percentage of alarms that led to an edit, rounded down; None: no alarms."""
        return self.edited * 100 // self.alarms if self.alarms else None


class SettledAlarms(NamedTuple):
    """What became of alarms, by month, oldest first.

    `repeated` are pages whose last three changes acknowledge an alarm without an edit. `versions`
    of pages were compared, and `unread` of them lack in a partial clone; `is_cut`: there are more.
    """

    months: tuple[MonthOfAlarms, ...]
    repeated: tuple[FilePath, ...]
    versions: int
    unread: int
    is_cut: bool

    @property
    def total(self) -> MonthOfAlarms:
        """Return the sum of all months."""
        edited, acknowledged, reasoned = (
            sum(getattr(month, name) for month in self.months)
            for name in ("edited", "acknowledged", "reasoned")
        )
        return MonthOfAlarms("", edited, acknowledged, reasoned)


class Report(NamedTuple):
    """A whole report; parts that were not requested are None or empty.

    `headline` is its sentence where there are no levels. `pages` are in the order of `ubp stale`,
    `findings` are those of `check` that are not about sources, `orphans` the pages that no other
    page links to. `now` is in seconds since the epoch. `keys` are the front matter keys given on
    the command line, `base` the revision that a change is compared with. `topics` are what notes
    are about, by month, if pages have dates in their front matter. `source_levels` are the worst
    levels of the references to each described file.
    """

    name: str
    snapshot: Snapshot
    documents: int
    now: int | None = None
    threshold_days: float | None = None
    is_shallow: bool = False
    headline: str = ""
    levels: Levels | None = None
    folders: tuple[Folder, ...] = ()
    ages: tuple[AgeGroup, ...] = ()
    trend: tuple[Point, ...] = ()
    span: Span | None = None
    pages: tuple[StalePage, ...] | None = None
    others: tuple[OtherPage, ...] = ()
    findings: tuple[Finding, ...] | None = None
    ignored: int = 0
    orphans: tuple[Finding, ...] = ()
    coverage: Coverage | None = None
    source_levels: Mapping[FilePath, Level] = {}
    review: BindingReview | None = None
    keys: tuple[str, ...] = ()
    base: str | None = None
    topics: Topics | None = None
    alarms: SettledAlarms | None = None

    def narrower(self, page: FilePath) -> tuple[tuple[FilePath, tuple[FilePath, ...]], ...]:
        """Return the references of a page for which others are proposed, with these."""
        bindings = self.review.bindings if self.review else ()
        return tuple(
            (reviewed.binding.source, reviewed.proposal)
            for reviewed in bindings
            if reviewed.binding.filepath == page and reviewed.proposal
        )

    def review_command(self, page: FilePath) -> str:
        """Return the command that shows how good the references of a page are."""
        return ubp_command("bind", "--review", path_argument(page), keys=self.keys)

"""Values of staleness (rules, changes, reports), and the verdicts and levels of references."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.core.config import DEFAULT_ALARMS, CollectionSetting
from ubp.core.model import (
    QUIET_LEVELS,
    Alarms,
    Assessment,
    Debt,
    Entry,
    FilePath,
    Judgement,
    Level,
    ObjectId,
    Page,
    ReferenceVerdict,
    Snapshot,
    SourceReference,
    Verdict,
)
from ubp.core.translations import TranslationRule
from ubp.git.repository import Repository
from ubp.index.history import History
from ubp.index.session import Session
from ubp.index.view import View

SECONDS_PER_DAY = 86_400

# Worst first: the level of a page is the first of these that one of its references has.
SEVERITY: tuple[Level, ...] = ("stale", "possibly_stale", "unknown", "fresh", "untracked")

GONE: frozenset[Verdict] = frozenset({"deleted", "moved", "not_found"})

# A missing source does not become less wrong with time, so its age does not matter.
STALE_AT_ONCE: frozenset[Verdict] = frozenset({"deleted", "not_found"})


class StalenessRules(NamedTuple):
    """The time `now` (seconds since the epoch) and the age in days from which drift is stale.

    Files for which `is_hidden` is true are not served, not even as the new path of a source.
    `collections` are those of the configuration by name. The other fields are its, too
    (`ubp.core.config.Config`).
    """

    now: float
    threshold_days: float
    is_hidden: Callable[[FilePath], bool]
    is_record: Callable[[Page], bool] = lambda _: False
    ignored_commits: tuple[str, ...] = ()
    quiet_after: int | None = None
    collections: Mapping[str, CollectionSetting] = {}
    translations: tuple[TranslationRule, ...] = ()
    alarms: Alarms = DEFAULT_ALARMS


class StalenessContext(NamedTuple):
    """What a verdict depends on: a snapshot, its history and the rules.

    `open_collection` opens a collection of the configuration; None in a collection, whose history
    is not that of the pages.
    """

    view: View
    repository: Repository
    history: History
    rules: StalenessRules
    open_collection: Callable[[CollectionSetting], Session] | None = None


class Change(NamedTuple):
    """A change from each of the states `before` it to the state `after` it.

    The state before is HEAD for a commit in the making (each of its parents for a merge), the merge
    base for a branch; a first commit has none. `changes` are the files that differ from the first.
    """

    before: tuple[StalenessContext, ...]
    after: StalenessContext
    changes: Mapping[FilePath, Entry | None]


Judge = Callable[[Change, frozenset[FilePath]], Mapping[FilePath, Judgement]]
"""Returns what a language model says of pages that a change makes stale, perhaps not of all."""


class Summary(NamedTuple):
    """How many pages there are, have sources (`bound`), were compared with one (`verified`)."""

    documents: int
    bound: int
    verified: int
    untracked: int
    fresh: int
    possibly_stale: int
    stale: int
    unknown: int


class Denied(NamedTuple):
    """A page that names what a change changes, its line, and why the judge finds it accurate."""

    filepath: FilePath
    line: int
    why: str


class LanguageCount(NamedTuple):
    """The numbers of translations of a language, and the originals that have none in it.

    `orphaned` are those whose original does not exist.
    """

    language: str
    fresh: int
    stale: int
    orphaned: int
    unknown: int
    missing: tuple[FilePath, ...]

    @property
    def pages(self) -> int:
        """The number of translations."""
        return self.fresh + self.stale + self.orphaned + self.unknown


def lists_few_sources(bound: int, documents: int) -> bool:
    """Return whether fewer than a quarter of the pages list sources: they are being set up."""
    return bound * 4 < documents


class StaleReport(NamedTuple):
    """The assessed pages, worst first, then by path (`rank_pages` orders them by score as well).

    `is_change`: a change was assessed, not a state; `pages` are then those that it concerns, and
    `introduced` those that it makes stale. `accepted` counts the references whose drift the debt
    file accepts; `obsolete_debts` are its lines about references that no longer drift.
    `is_reconfigured`: the change edits the configuration. `translations` are assessed translations,
    each with the reference to its original, worst first: of a change those that it makes stale, or
    that it edits; a change fails for them only if `translation_severity` is "error".
    `alarms`: which drift is an alarm.
    """

    snapshot: Snapshot
    pages: tuple[Assessment, ...]
    summary: Summary
    threshold_days: float
    is_change: bool = False
    is_shallow: bool = False
    accepted: int = 0
    obsolete_debts: tuple[Debt, ...] = ()
    is_reconfigured: bool = False
    translations: tuple[Assessment, ...] = ()
    translation_severity: Literal["error", "warning", "off"] = "warning"
    alarms: Alarms = DEFAULT_ALARMS

    @property
    def outdated_translations(self) -> tuple[Assessment, ...]:
        """The translations that are not fresh; of a change those that it made so."""
        return tuple(
            assessment
            for assessment in self.translations
            if any(
                reference.verdict != "fresh"
                and not reference.is_debt
                and (reference.verdict != "unknown" or reference.note == "no_pin")
                for reference in assessment.references
            )
        )

    @property
    def introduced(self) -> tuple[Assessment, ...]:
        """The pages with references for which the change fails."""
        return tuple(
            assessment
            for assessment in self.pages
            if any(
                reference.verdict != "fresh" and not reference.is_debt and not reference.is_noted
                for reference in assessment.references
            )
        )

    @property
    def noted(self) -> tuple[Assessment, ...]:
        """The other pages that drift by the change: they name nothing that it changes."""
        return tuple(page for page in self._without_alarm if denial(page) is None)

    @property
    def denied(self) -> tuple[Denied, ...]:
        """The pages that name what the change changes, and that the judge finds accurate."""
        return tuple(filter(None, map(denial, self._without_alarm)))

    @property
    def _without_alarm(self) -> tuple[Assessment, ...]:
        introduced = {assessment.page.filepath for assessment in self.introduced}
        return tuple(
            assessment
            for assessment in (self.pages if self.is_change else ())
            if assessment.page.filepath not in introduced
            and any(reference.is_noted for reference in assessment.references)
        )

    @property
    def behind(self) -> tuple[Assessment, ...]:
        """The other pages that the change concerns and that were behind before it."""
        mentioned = {page.page.filepath for page in (*self.introduced, *self._without_alarm)}
        return tuple(
            assessment
            for assessment in (self.pages if self.is_change else ())
            if assessment.page.filepath not in mentioned
            and any(
                reference.is_debt and reference.verdict not in {"fresh", "unknown"}
                for reference in assessment.references
            )
        )

    def count(self, *levels: Level) -> int:
        """Return how many pages have one of these levels."""
        return sum(getattr(self.summary, level) for level in levels)


def visible_pages(report: StaleReport, *, every: bool) -> tuple[Assessment, ...]:
    """Return the pages that are not fresh, of a change those that it makes stale; or `every` page.

    Pages whose drift is accepted debt are left out. A page whose front matter has a problem is
    shown, too: what cannot be read was not verified.
    """
    if every:
        return report.pages
    if report.is_change:
        return report.introduced
    return tuple(
        assessment
        for assessment in report.pages
        if (assessment.level not in QUIET_LEVELS and not _is_accepted(assessment))
        or assessment.page.facts.problems
    )


def visible_references(assessment: Assessment, *, every: bool) -> tuple[ReferenceVerdict, ...]:
    """Return the references to show: not the fresh ones and old debts, unless `every` one."""
    if every:
        return assessment.references
    return tuple(
        reference
        for reference in assessment.references
        if reference.verdict != "fresh" and not reference.is_debt
    )


def _is_accepted(assessment: Assessment) -> bool:
    return all(
        reference.is_debt for reference in assessment.references if reference.verdict != "fresh"
    )


class Affected(NamedTuple):
    """A page and those of its references that match the given paths."""

    page: Page
    references: tuple[SourceReference, ...]


class Pinned(NamedTuple):
    """A reference that was pinned, with its new pin and the one before.

    `source_path` is the source as it is written, from the root, with `#symbol`. `diff`, if it was
    asked for, is what changed in the source and is acknowledged. `is_older`: the change did not
    make it stale, and the pin is its baseline, so that it stays stale.
    """

    source_path: str
    before: str | None
    pin: str
    diff: "SourceDiff | None" = None
    is_older: bool = False


class SkippedReference(NamedTuple):
    """A reference that could not be pinned, and why; `source_path` as in `Pinned`."""

    source_path: str
    reason: str


class Acknowledgement(NamedTuple):
    """The references of a page that were pinned, and those that were skipped."""

    filepath: FilePath
    pinned: tuple[Pinned, ...]
    skipped: tuple[SkippedReference, ...]


class SourceDiff(NamedTuple):
    """A unified diff, and the blobs `missing` from a partial clone for it to be complete.

    `added` and `removed` are numbers of lines, `lines` is the number of lines of both versions.
    `changed` are the files that exist now, each with its first differing line (None: unknown).
    """

    text: str
    missing: tuple[ObjectId, ...] = ()
    added: int = 0
    removed: int = 0
    lines: int = 0
    changed: tuple[tuple[FilePath, int | None], ...] = ()


def compare(baseline: str | None, current: str | None) -> Verdict:
    """Return the verdict for a source from two ids; a pin may be a prefix of an id."""
    if baseline is None:
        return "not_found" if current is None else "created"
    if current is None:
        return "deleted"
    return "fresh" if current.startswith(baseline) else "modified"


def denial(assessment: Assessment) -> Denied | None:
    """Return why the judge finds a page accurate; None: it does not, or was not asked."""
    for reference in assessment.references:
        if reference.judgement and reference.judgement.affected == "no":
            line = reference.evidence[0].line
            return Denied(assessment.page.filepath, line, reference.judgement.why)
    return None


def is_certain(reference: ReferenceVerdict) -> bool:
    """Return whether a page names what changed in a source, or lists one that is missing."""
    return bool(reference.evidence) or reference.verdict in GONE


def level_of(verdict: Verdict, age_seconds: float | None, threshold_days: float) -> Level:
    """Return the level of a reference; drift of unknown age (None) is stale."""
    if verdict == "fresh":
        return "fresh"
    if verdict == "unknown":
        return "unknown"
    if verdict in STALE_AT_ONCE or age_seconds is None:
        return "stale"
    return "possibly_stale" if age_seconds < threshold_days * SECONDS_PER_DAY else "stale"


def worst_level(levels: Iterable[Level]) -> Level:
    """Return the level of a page: the worst of its references, or `untracked` without any."""
    return min(levels, key=SEVERITY.index, default="untracked")


def worst_first(assessments: Iterable[Assessment]) -> tuple[Assessment, ...]:
    """Sort pages by level, worst first, then by path."""
    severity = {level: position for position, level in enumerate(SEVERITY)}
    return tuple(
        sorted(
            assessments,
            key=lambda assessment: (severity[assessment.level], assessment.page.filepath),
        )
    )


def count_levels(assessments: Sequence[Assessment], documents: int, bound: int) -> Summary:
    """Count the levels of the assessed pages."""
    levels = Counter(assessment.level for assessment in assessments)
    verified = sum(
        any(reference.verdict != "unknown" for reference in assessment.references)
        for assessment in assessments
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

"""The trend: the levels of the pages at earlier commits, assessed as of then.

Each moment is assessed by the same engine as today. To be fast, facts are kept by blob, results of
history are carried over from one commit to the next, and only those pages are assessed again that a
commit in between touched, or whose sources one touched.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import (
    CONFIG_FILE,
    Assessment,
    BaselineQuery,
    Drift,
    FilePath,
    LastChange,
    ObjectId,
    Page,
    Progress,
    SourceReference,
)
from ubp.core.paths import ancestors, nfc
from ubp.git.change_log import DatedCommit, read_mainline, touched_between
from ubp.index.facts import UNREADABLE
from ubp.report.values import Levels, Point, Span
from ubp.staleness.assess import assess
from ubp.staleness.compare import assessment
from ubp.staleness.model import StalenessContext, level_of
from ubp.staleness.references import candidates

SECONDS_PER_WEEK = 7 * 86_400

# A chart of more points shows no more, and each costs a tenth of a second for 1,000 pages.
MAX_POINTS = 60

OpenContext = Callable[[ObjectId, int], StalenessContext]
"""Returns the context for a commit, to assess it as of a time in seconds."""


class Moment(NamedTuple):
    """A commit, assessed as of a time in seconds since the epoch."""

    commit: ObjectId
    at: int


def find_trend(  # noqa: PLR0913  # two of them named
    head: StalenessContext,
    span: Span,
    open_context: OpenContext,
    heads: "InMemoryHistory",
    *,
    progress: Progress,
    present: Sequence[Assessment],
) -> tuple[Point, ...]:
    """Return the levels at earlier moments, oldest first.

    `heads` remembers results of the history that the contexts use. Pages that listed no sources at
    a moment, but do in the `present`, have the level that follows from the drift of today: before a
    source began to drift from its pin, it was fresh.
    """
    commit = head.view.snapshot.commit
    if commit is None:
        return ()
    steps = read_mainline(head.repository, commit)
    walker = _Walker(open_context, heads, present)
    moments = choose_moments(steps, span, int(head.rules.now))
    points = []
    for moment in moments:
        points.append(walker.assess(moment))
        progress("Computing trend", len(points), len(moments))
    return tuple(points)


def choose_moments(steps: Sequence[DatedCommit], span: Span, now: int) -> list[Moment]:
    """Return the commits to assess, oldest first, without the present one.

    `steps` are the main line, newest first. Weeks are counted back from the newest commit, which is
    a moment of its own if `now` is another one; in a younger history the moments are closer
    together.
    """
    if len(steps) < 2:  # noqa: PLR2004 - no commit but the newest
        return []
    if span.unit == "commits":
        chosen = steps[1 : span.length + 1]
        count = min(len(chosen), MAX_POINTS)
        spread = [chosen[(number + 1) * len(chosen) // count - 1] for number in range(count)]
        return [Moment(step.commit, step.date) for step in reversed(spread)]
    end = steps[0].date
    age = max(end - min(step.date for step in steps), 0)
    count = min(span.length, MAX_POINTS)
    length = min(span.length * SECONDS_PER_WEEK, age)
    first = 0 if now - end >= length // count else 1
    times = sorted({end - length * number // count for number in range(first, count + 1)})
    return [Moment(commit, at) for at in times if (commit := _commit_at(steps, at))]


def _commit_at(steps: Sequence[DatedCommit], at: int) -> ObjectId | None:
    """Return the newest commit of that time or earlier."""
    return next((step.commit for step in steps if step.date <= at), None)


class InMemoryHistory:
    """Results of history by head, for as long as a trend is computed."""

    def __init__(self) -> None:
        self._last_changes: dict[ObjectId, dict[FilePath, LastChange]] = {}
        self._drifts: dict[ObjectId, dict[BaselineQuery, Drift]] = {}

    def heads(self) -> tuple[ObjectId, ...]:
        """Return the heads with results, the latest first."""
        return tuple(reversed({**self._last_changes, **self._drifts}))

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """Return the last changes that are known at a head."""
        return self._last_changes.get(head, {})

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add last changes at a head."""
        self._last_changes.setdefault(head, {}).update(changes)

    def carry_over(self, old: ObjectId, new: ObjectId, touched: "_TouchedFiles") -> None:
        """Copy the results of untouched files from an old head to a new one."""
        self._last_changes[new] = {
            path: change
            for path, change in self._last_changes.get(old, {}).items()
            if not touched.contains(path)
        }
        self._drifts[new] = {
            search: drift
            for search, drift in self._drifts.get(old, {}).items()
            if not touched.contains(search.path)
        }

    def drifts(self, head: ObjectId) -> dict[BaselineQuery, Drift]:
        """Return the drifts that are known at a head."""
        return self._drifts.get(head, {})

    def save_drifts(self, head: ObjectId, drifts: Mapping[BaselineQuery, Drift]) -> None:
        """Add drifts at a head."""
        self._drifts.setdefault(head, {}).update(drifts)


class _Walker:
    """Assesses one moment after the other, starting from the one before."""

    def __init__(
        self, open_context: OpenContext, heads: InMemoryHistory, present: Sequence[Assessment]
    ) -> None:
        self._present = [assessed for assessed in present if assessed.references]
        self._open_context = open_context
        self._heads = heads
        self._commit: ObjectId | None = None
        self._assessments: dict[FilePath, Assessment] = {}

    def assess(self, moment: Moment) -> Point:
        """Return the levels at a moment that is not older than the last one."""
        context = self._open_context(moment.commit, moment.at)
        pages = context.view.bound_pages()
        old = self._unchanged(pages, context) if self._commit else {}
        assessed = assess([page for page in pages if page.filepath not in old], context)
        self._assessments = {
            **old,
            **{assessment.page.filepath: assessment for assessment in assessed},
        }
        self._commit = moment.commit
        bound = [
            assessment
            for assessment in self._assessments.values()
            if assessment.page.facts.references
        ]
        listing = {assessment.page.filepath for assessment in bound}
        documents = set(context.view.document_paths())
        unread = {page.filepath for page in pages if page.facts == UNREADABLE}
        from_pins = [
            _as_of(assessed, moment.at, context).level
            for assessed in self._present
            if assessed.page.filepath in documents - listing - unread
        ]
        unreadable = len(unread)
        levels = Levels.of([*(assessment.level for assessment in bound), *from_pins])
        untracked = len(documents) - len(bound) - len(from_pins) - unreadable
        levels = levels._replace(unknown=levels.unknown + unreadable, untracked=untracked)
        return Point(moment.commit, moment.at, levels, len(from_pins))

    def _unchanged(
        self, pages: Sequence[Page], context: StalenessContext
    ) -> dict[FilePath, Assessment]:
        """Return the assessments, aged, that no commit since the last moment can have changed."""
        now = context.view.snapshot.commit
        if self._commit is None or now is None:
            return {}
        if now == self._commit:
            touched = _TouchedFiles(())
        else:
            touched = _TouchedFiles(touched_between(context.repository, self._commit, now))
            self._heads.carry_over(self._commit, now, touched)
        return {
            page.filepath: _aged(old, context)
            for page in pages
            if (old := self._assessments.get(page.filepath)) and not touched.concerns(old)
        }


class _TouchedFiles:
    """The touched files by their path and by each directory above it; names are in NFC."""

    def __init__(self, files: Collection[FilePath]) -> None:
        self._files: dict[str, list[str]] = {}
        for file in map(nfc, files):
            for path in (file, *ancestors(file)):
                self._files.setdefault(path, []).append(file)

    def contains(self, path: FilePath) -> bool:
        """Return whether a file, or one in a directory, was touched."""
        return nfc(path) in self._files

    def concerns(self, assessment: Assessment) -> bool:
        """Return whether a page or what its references may denote was touched.

        The new path of a source that is missing depends on files that nobody names.
        """
        if not self._files:
            return False
        return self.contains(assessment.page.filepath) or any(
            reference.verdict in {"moved", "deleted"} or self._changed(reference.reference)
            for reference in assessment.references
        )

    def _changed(self, reference: SourceReference) -> bool:
        composed = reference._replace(
            source_path=FilePath(nfc(reference.source_path)),
            literal=FilePath(nfc(reference.literal)),
        )
        if CONFIG_FILE in self._files and ":" in reference.source_path:
            return True  # it may pin another version of a collection
        return any(
            source.matches(file)
            for source in candidates(composed)
            for file in self._files.get(source.path, ())
        )


def _as_of(assessed: Assessment, at: int, context: StalenessContext) -> Assessment:
    """Return the levels of today's drift at an earlier time; what had not begun is fresh."""
    references = [
        reference._replace(level="fresh", verdict="fresh")
        if reference.verdict == "fresh" or (reference.since is not None and reference.since > at)
        else reference
        for reference in assessed.references
    ]
    rules = context.rules._replace(now=at)
    return _aged(assessed._replace(references=tuple(references)), context._replace(rules=rules))


def _aged(assessed: Assessment, context: StalenessContext) -> Assessment:
    """Return the same verdicts at a later time."""
    now, threshold_days = context.rules.now, context.rules.threshold_days
    references = [
        reference._replace(level=level_of(reference.verdict, now - reference.since, threshold_days))
        if reference.since is not None
        else reference
        for reference in assessed.references
    ]
    return assessment(assessed.page, references)

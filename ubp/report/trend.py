"""How the levels came to be what they are: the pages of earlier commits, judged as of then.

Each moment is judged by the engine that judges today. What makes it cheap: facts are kept by blob,
history's answers are handed on from an earlier commit to the next, and only the pages are judged
anew that a commit in between touched, or whose sources one touched.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import (
    Assessment,
    BaselineQuery,
    Drift,
    FilePath,
    LastChange,
    ObjectId,
    Page,
    Progress,
)
from ubp.core.paths import Glob, is_glob, nfc
from ubp.git.change_log import DatedCommit, read_mainline, touched_between
from ubp.index.facts import UNREADABLE
from ubp.report.values import Levels, Point, Span
from ubp.staleness.assess import assess, assessment
from ubp.staleness.model import StalenessContext, level_of

SECONDS_PER_WEEK = 7 * 86_400

# A chart of more points shows no more, and each costs a tenth of a second for 1,000 pages.
MAX_POINTS = 60

OpenContext = Callable[[ObjectId, int], StalenessContext]
"""A court for a commit, judging as of a moment in seconds."""


class Moment(NamedTuple):
    """A commit, judged as of a time in seconds since the epoch."""

    commit: ObjectId
    at: int


def find_trend(
    head: StalenessContext,
    span: Span,
    open_court: OpenContext,
    heads: "InMemoryHistory",
    progress: Progress,
) -> tuple[Point, ...]:
    """The levels at earlier moments, oldest first.

    `heads` are those of the history that the courts ask.
    """
    commit = head.view.snapshot.commit
    if commit is None:
        return ()
    steps = read_mainline(head.repository, commit)
    walker = _Walker(open_court, heads)
    moments = choose_moments(steps, span, int(head.rules.now))
    points = []
    for moment in moments:
        points.append(walker.judge(moment))
        progress("Looking back", len(points), len(moments))
    return tuple(points)


def choose_moments(steps: Sequence[DatedCommit], span: Span, now: int) -> list[Moment]:
    """Which commits to look at, oldest first, without what stands there `now`.

    `steps` are the main line, newest first. Weeks are counted back from the newest commit, which is
    a moment of its own if now is another; in a younger history as many moments stand closer.
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
    return [Moment(found, at) for at in times if (found := _commit_at(steps, at))]


def _commit_at(steps: Sequence[DatedCommit], at: int) -> ObjectId | None:
    """The newest commit of that time or earlier."""
    return next((step.commit for step in steps if step.date <= at), None)


class InMemoryHistory:
    """What history said of each head, for as long as a trend is looked for."""

    def __init__(self) -> None:
        self._last_changes: dict[ObjectId, dict[FilePath, LastChange]] = {}
        self._drifts: dict[ObjectId, dict[BaselineQuery, Drift]] = {}

    def heads(self) -> tuple[ObjectId, ...]:
        """The heads that something is known of, the latest first."""
        return tuple(reversed({**self._last_changes, **self._drifts}))

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """All that is known of a head."""
        return self._last_changes.get(head, {})

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to what is known of a head."""
        self._last_changes.setdefault(head, {}).update(changes)

    def hand_on(self, old: ObjectId, new: ObjectId, touched: "_Touched") -> None:
        """What no commit touched since an old head is true of a new one."""
        self._last_changes[new] = {
            path: change
            for path, change in self._last_changes.get(old, {}).items()
            if not touched.hold(path)
        }
        self._drifts[new] = {
            search: drift
            for search, drift in self._drifts.get(old, {}).items()
            if not touched.hold(search.path)
        }

    def drifts(self, head: ObjectId) -> dict[BaselineQuery, Drift]:
        """All that is known of a head."""
        return self._drifts.get(head, {})

    def save_drifts(self, head: ObjectId, drifts: Mapping[BaselineQuery, Drift]) -> None:
        """Add to what is known of a head."""
        self._drifts.setdefault(head, {}).update(drifts)


class _Walker:
    """Judges one moment after the other, each standing on the one before."""

    def __init__(self, open_court: OpenContext, heads: InMemoryHistory) -> None:
        self._open_court = open_court
        self._heads = heads
        self._commit: ObjectId | None = None
        self._judged: dict[FilePath, Assessment] = {}

    def judge(self, moment: Moment) -> Point:
        """The levels at a moment, no older than the last one."""
        court = self._open_court(moment.commit, moment.at)
        pages = court.view.bound_pages()
        old = self._still_true(pages, court) if self._commit else {}
        anew = assess([page for page in pages if page.filepath not in old], court)
        self._judged = {**old, **{one.page.filepath: one for one in anew}}
        self._commit = moment.commit
        bound = [one for one in self._judged.values() if one.page.facts.references]
        unread = sum(1 for page in pages if page.facts == UNREADABLE)
        levels = Levels.of(one.level for one in bound)
        rest = court.view.count_documents() - len(bound) - unread
        levels = levels._replace(unknown=levels.unknown + unread, untracked=rest)
        return Point(moment.commit, moment.at, levels)

    def _still_true(
        self, pages: Sequence[Page], court: StalenessContext
    ) -> dict[FilePath, Assessment]:
        """The verdicts that no commit since the last moment can have changed, aged."""
        now = court.view.snapshot.commit
        if self._commit is None or now is None:
            return {}
        if now == self._commit:
            touched = _Touched(())
        else:
            touched = _Touched(touched_between(court.repository, self._commit, now))
            self._heads.hand_on(self._commit, now, touched)
        return {
            page.filepath: _aged(old, court)
            for page in pages
            if (old := self._judged.get(page.filepath)) and not touched.concern(old)
        }


class _Touched:
    """The files that were touched, and the folders above them, in the composed form of names."""

    def __init__(self, files: Collection[FilePath]) -> None:
        self._names: set[str] = set()
        for file in files:
            name = nfc(file)
            while name not in self._names:
                self._names.add(name)
                name = name.rpartition("/")[0]
        self._files = sorted(map(nfc, files))

    def hold(self, path: FilePath) -> bool:
        """Whether a file was touched, or one in a folder."""
        return nfc(path) in self._names

    def concern(self, one: Assessment) -> bool:
        """Whether a page or what its references may mean was touched.

        Where a source went that is gone hangs on files that nobody names.
        """
        if not self._names:
            return False
        return self.hold(one.page.filepath) or any(
            answer.verdict in {"moved", "deleted"}
            or self.hold(answer.reference.literal)
            or self.hold(answer.reference.source_path)
            or (is_glob(answer.reference.source_path) and self._match(answer.reference.source_path))
            for answer in one.references
        )

    def _match(self, pattern: FilePath) -> bool:
        glob = Glob(nfc(pattern))
        start = bisect_left(self._files, glob.prefix)
        for file in self._files[start:]:
            if not file.startswith(glob.prefix):
                break
            if glob.matches(file):
                return True
        return False


def _aged(one: Assessment, court: StalenessContext) -> Assessment:
    """The same verdicts at a later time."""
    now, threshold_days = court.rules.now, court.rules.threshold_days
    references = [
        answer._replace(level=level_of(answer.verdict, now - answer.since, threshold_days))
        if answer.since is not None
        else answer
        for answer in one.references
    ]
    return assessment(one.page, references)

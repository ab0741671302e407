"""Trends: what a period's notes are about, against the period before. Pure but for reading notes.

A topic is a tag, a category, or a name that several notes mention; each note counts once for it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.index.view import View
from ubp.notes.names import NamesInText, find_names
from ubp.notes.note import DAY_SECONDS, Note, is_dated, read_all_notes, texts_of

Period = Literal["1d", "1w", "2w", "1m", "3m"]
PERIOD_DAYS: Mapping[Period, int] = {"1d": 1, "1w": 7, "2w": 14, "1m": 30, "3m": 91}
Trend = Literal["up", "down", "new", "stable"]
TopicKind = Literal["tag", "category", "name"]

# A difference of one note, or of a fifth, says nothing.
STABLE_NOTES, STABLE_SHARE = 1, 0.2
MIN_MENTIONS = 2  # of a name: one note mentions many
MAX_TOPICS, MAX_NOTABLE, MAX_TOOLS = 10, 5, 10
# A name that more notes than these mention is common, and says nothing by itself.
COMMON_NOTES, COMMON_SHARE = 5, 0.05
POINTS = 12  # periods of a line
MIN_DATED = 10  # pages with a date are notes, and not, say, a changelog


class Topic(NamedTuple):
    """What notes are about, how many `notes` are, and how many were in the period before.

    `line` has the numbers of the last periods, this one at the end.
    """

    name: str
    kind: TopicKind
    notes: int
    before: int
    trend: Trend
    line: tuple[int, ...]


class NotableNote(NamedTuple):
    """A note that is about several of the period's topics."""

    note: Note
    topics: tuple[str, ...]


class NewTool(NamedTuple):
    """A name that no earlier note mentions."""

    name: str
    mentions: int


class Trends(NamedTuple):
    """The trends of a period; `start` and `end` are seconds, the end excluded."""

    period: Period
    start: int
    end: int
    category: str
    notes: int
    before: int
    topics: tuple[Topic, ...]
    notable: tuple[NotableNote, ...]
    new_tools: tuple[NewTool, ...]


class _Subject(NamedTuple):
    """A note's topics: keys, and each as it is written."""

    note: Note
    names: NamesInText
    topics: Mapping[str, tuple[str, TopicKind]]


def find_trends(
    session: Session,
    view: View,
    period: Period = "1w",
    category: str = "",
    until: int | None = None,
) -> Trends:
    """Return the trends of the period that ends with the day of `until`, by default today."""
    moment = session.clock() if until is None else until
    end = int(moment // DAY_SECONDS + 1) * DAY_SECONDS
    notes = [
        note
        for note in read_all_notes(session, view).values()
        if not category or note.category.casefold() == category.casefold()
    ]
    names = names_of(view, notes)
    return compare_periods(notes, names, period, end, category)


def find_latest_trends(session: Session, view: View) -> Trends | None:
    """Return the trends of the month that ends with the newest note; None: these are no notes.

    They are if enough pages have a date in their front matter; other pages do not count.
    """
    fields = view.fields(view.document_paths())
    dated = {path for path, names in fields.items() if is_dated(names)}
    if len(dated) < MIN_DATED:
        return None
    notes = [note for path, note in read_all_notes(session, view).items() if path in dated]
    newest = max((note.date for note in notes if note.date is not None), default=None)
    if newest is None:
        return None
    end = (newest // DAY_SECONDS + 1) * DAY_SECONDS
    return compare_periods(notes, names_of(view, notes), "1m", end)


def names_of(view: View, notes: Sequence[Note]) -> Mapping[FilePath, NamesInText]:
    """Return the names in each note; those of a blob are found once."""
    cache: dict[str, NamesInText] = view.context.cache.derived("note names", dict)
    new = {note.path: note.blob for note in notes if note.blob not in cache}
    for path, text in texts_of(view, new).items():
        cache[new[path]] = find_names(text)
    return {note.path: cache[note.blob] for note in notes}


def compare_periods(
    notes: Sequence[Note],
    names: Mapping[FilePath, NamesInText],
    period: Period,
    end: int,
    category: str = "",
) -> Trends:
    """Return the trends of the period that ends at `end`."""
    length = PERIOD_DAYS[period] * DAY_SECONDS
    start = end - length
    dated = [note for note in notes if note.date is not None and note.date < end]
    labels = {label.casefold() for note in notes for label in _labels(note)}
    subjects = [_subject(note, names[note.path], labels) for note in dated]
    periods: list[list[_Subject]] = [[] for _ in range(POINTS)]
    for subject in subjects:
        number = (end - 1 - (subject.note.date or 0)) // length
        if number < POINTS:
            periods[POINTS - 1 - number].append(subject)
    counts = [_count(subjects_of_period) for subjects_of_period in periods]
    earlier = [subject for subject in subjects if (subject.note.date or 0) < start]
    topics = _topics(periods[-1] + periods[-2], counts, _count(earlier), len(earlier))
    return Trends(
        period,
        start,
        end,
        category,
        len(periods[-1]),
        len(periods[-2]),
        topics,
        _notable(periods[-1], topics),
        _new_tools(periods[-1], earlier),
    )


def _labels(note: Note) -> tuple[str, ...]:
    tags = (tag.removeprefix("#") for tag in note.tags)
    return tuple(label for label in (*tags, note.category) if label)


def is_common(mentions: int, notes: int) -> bool:
    """Return whether too many notes mention a name for it to say anything."""
    return mentions > max(COMMON_NOTES, notes * COMMON_SHARE)


def _subject(note: Note, names: NamesInText, labels: Collection[str]) -> _Subject:
    """Return a note's topics; a name that is some note's tag or category is only that."""
    topics: dict[str, tuple[str, TopicKind]] = {}
    for label in _labels(note):
        kind: TopicKind = "category" if label == note.category else "tag"
        topics.setdefault(label.casefold(), (label, kind))
    for found in (names.tools, names.acronyms, names.japanese):
        for key, name in found.items():
            if key not in labels:
                topics.setdefault(key, (name, "name"))
    return _Subject(note, names, topics)


def _count(subjects: Iterable[_Subject]) -> Counter[str]:
    return Counter(key for subject in subjects for key in subject.topics)


def _topics(
    recent: Sequence[_Subject],
    counts: Sequence[Counter[str]],
    earlier: Counter[str],
    earlier_notes: int,
) -> tuple[Topic, ...]:
    """Return the topics of two periods: those of the last by their number, then those that ended.

    A tag or category is always one; a name if several notes of the period mention it, more than of
    the one before, and few did earlier.
    """
    written: dict[str, tuple[str, TopicKind]] = {}
    for subject in recent:
        for key, (name, kind) in subject.topics.items():
            written.setdefault(key, (name, kind))
    now, before = counts[-1], counts[-2]
    topics = []
    for key, (name, kind) in written.items():
        is_common = earlier[key] > earlier_notes * COMMON_SHARE
        is_rising = now[key] >= MIN_MENTIONS and now[key] > before[key]
        if kind == "name" and (is_common or not is_rising):
            continue
        line = tuple(count[key] for count in counts)
        topics.append(Topic(name, kind, now[key], before[key], _trend(now[key], before[key]), line))
    topics.sort(key=lambda topic: (-topic.notes, -topic.before, topic.name.casefold()))
    return tuple(topics[:MAX_TOPICS])


def _trend(now: int, before: int) -> Trend:
    if not before:
        return "new"
    if not now:
        return "down"
    if abs(now - before) <= max(STABLE_NOTES, before * STABLE_SHARE):
        return "stable"
    return "up" if now > before else "down"


def _notable(subjects: Sequence[_Subject], topics: Sequence[Topic]) -> tuple[NotableNote, ...]:
    """Return the notes that are about most of the topics, the latest first of equals."""
    names = {topic.name.casefold(): topic.name for topic in topics if topic.notes}
    found = [
        NotableNote(
            subject.note, tuple(name for key, name in names.items() if key in subject.topics)
        )
        for subject in subjects
    ]
    found.sort(key=lambda notable: (-len(notable.topics), -(notable.note.date or 0)))
    return tuple(notable for notable in found if notable.topics)[:MAX_NOTABLE]


def _new_tools(subjects: Sequence[_Subject], earlier: Sequence[_Subject]) -> tuple[NewTool, ...]:
    known = {key for subject in earlier for key in (*subject.topics, *subject.names.tools)}
    tools = Counter(key for subject in subjects for key in subject.names.tools)
    japanese = Counter(key for subject in subjects for key in subject.names.japanese)
    # A note has many words in katakana that are no name.
    repeated = {key: notes for key, notes in japanese.items() if notes >= MIN_MENTIONS}
    mentions = tools | Counter(repeated)
    written: dict[str, str] = {}
    for subject in subjects:
        written |= subject.names.japanese | subject.names.tools
    new = [key for key in mentions if key not in known]
    new.sort(key=lambda key: (-mentions[key], written[key].casefold()))
    return tuple(NewTool(written[key], mentions[key]) for key in new[:MAX_TOOLS])

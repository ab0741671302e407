"""`ubp notes trends` and `trends`: what a period's notes are about, against the period before.

A topic is a tag, a category, or a name that several notes mention; each note counts once for it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from ubp.core.errors import BadArgumentError
from ubp.core.model import FilePath
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.fields import Count, Option, PagePath, Title
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.index.view import View
from ubp.kits.notes.fields import Author, Day, NoteId, Url
from ubp.kits.notes.names import NamesInText, find_names, is_general, joined_name
from ubp.kits.notes.note import (
    DAY_SECONDS,
    Note,
    day_of,
    is_dated,
    parse_date,
    read_all_notes,
    texts_of,
)
from ubp.kits.notes.subjects import subject_of
from ubp.report.values import Topic, Topics

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
MAX_NAMED = 3  # of a kind, in the summary
BARS = "▁▂▃▄▅▆▇█"
NAME_WIDTH = 28
MIN_DATED = 10  # pages with a date are notes, and not, say, a changelog


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRecord:
    """What notes are about."""

    topic: Annotated[str, "tag, category or name"]
    kind: Annotated[TopicKind, "which of them"]
    count: Annotated[Count, "notes of the period"]
    before: Annotated[Count, "notes of the period before"]
    trend: Annotated[Trend, "up and down: by more than one note and a fifth; new: none before"]
    line: Annotated[tuple[int, ...], "notes of the last twelve periods, this one last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotableNoteRecord:
    """A note that many liked or starred, or that is about several of the period's topics."""

    tweetId: NoteId
    path: PagePath
    author: Author = ""
    text: Title
    reason: Annotated[str, "likes or stars, and the topics"]
    url: Url = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToolRecord:
    """A tool that no earlier note mentions."""

    name: Annotated[str, "as it is written"]
    mentions: Annotated[Count, "notes of the period that mention it"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendsRecord:
    """The topics of a period, against the period before."""

    period: Annotated[Period, "its length"]
    dateRange: Annotated[Mapping[str, Day], "its first day, `from`, and its last, `to`"]
    category: Annotated[str, "the only category that counts; empty: all do"] = ""
    notes: Annotated[Count, "notes of the period"]
    notes_before: Annotated[Count, "notes of the period before"]
    summary: Annotated[str, "the most important in a sentence"]
    topTopics: Annotated[tuple[TopicRecord, ...], "those with most notes first"]
    notableBookmarks: Annotated[
        tuple[NotableNoteRecord, ...], "most liked or starred first, then about most topics"
    ]
    newTools: Annotated[tuple[NewToolRecord, ...], "mentioned most first"]


@dataclass(frozen=True, slots=True)
class TrendsRequest(Request[TrendsRecord]):
    """A period, and perhaps a category."""

    period: Annotated[
        Period,
        "its length",
        Option(
            "The length of the period: a day, weeks or months (1w).",
            metavar="PERIOD",
        ),
    ] = "1w"
    category: Annotated[
        str,
        "count only this category",
        Option("Count only the notes of this category.", metavar="NAME"),
    ] = ""
    until: Annotated[
        str,
        "its last day, by default today",
        Option("The last day of the period, by default today: 2026-01-31.", metavar="DATE"),
    ] = ""


class _Subject(NamedTuple):
    """A note's topics: keys, and each as it is written."""

    note: Note
    names: NamesInText
    topics: Mapping[str, tuple[str, TopicKind]]


def run(session: Session, request: TrendsRequest) -> TrendsRecord:
    """Return the trends of the period that ends with the day of `until`.

    Raises:
        BadArgumentError: `until` is not a date.
    """
    until = parse_date(request.until) if request.until else session.clock()
    if until is None:
        raise BadArgumentError("until", "`until` is not a date.", hint="Write it as 2026-01-31.")
    end = int(until // DAY_SECONDS + 1) * DAY_SECONDS
    view, category = session.view(), request.category
    notes = [
        note
        for note in read_all_notes(session, view).values()
        if not category or note.category.casefold() == category.casefold()
    ]
    return _compare_periods(notes, names_of(view, notes), request.period, end, category)


def topics_of_report(session: Session, view: View) -> Topics | None:
    """Return the topics of the month that ends with the newest note; None: these are not notes.

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
    trends = _compare_periods(notes, names_of(view, notes), "1m", end)
    return Topics(
        f"{trends.dateRange['from']} to {trends.dateRange['to']}: {trends.summary}",
        tuple(
            Topic(topic.topic, topic.line, topic.count, topic.before, topic.trend)
            for topic in trends.topTopics
        ),
        tuple(tool.name for tool in trends.newTools),
    )


def names_of(view: View, notes: Sequence[Note]) -> Mapping[FilePath, NamesInText]:
    """Return the names in each note; those of a blob are found once."""
    cache: dict[str, NamesInText] = view.context.cache.derived("note names", dict)
    new = {note.path: note.blob for note in notes if note.blob not in cache}
    for path, text in texts_of(view, new).items():
        cache[new[path]] = find_names(text)
    return {note.path: cache[note.blob] for note in notes}


def _compare_periods(
    notes: Sequence[Note],
    names: Mapping[FilePath, NamesInText],
    period: Period,
    end: int,
    category: str = "",
) -> TrendsRecord:
    """Return the trends of the period that ends at `end`, in seconds, excluded."""
    length = PERIOD_DAYS[period] * DAY_SECONDS
    start = end - length
    dated = [note for note in notes if note.date is not None and note.date < end]
    labels = {joined_name(label) for note in notes for label in _labels(note)}
    subjects = [_subject(note, names[note.path], labels) for note in dated]
    periods: list[list[_Subject]] = [[] for _ in range(POINTS)]
    for subject in subjects:
        number = (end - 1 - (subject.note.date or 0)) // length
        if number < POINTS:
            periods[POINTS - 1 - number].append(subject)
    counts = [_count(subjects_of_period) for subjects_of_period in periods]
    earlier = [subject for subject in subjects if (subject.note.date or 0) < start]
    words = _common_words(periods[-1])
    topics = _topics(periods[-1] + periods[-2], counts, _count(earlier), len(earlier), words)
    return TrendsRecord(
        period=period,
        dateRange={"from": day_of(start), "to": day_of(end - 1)},
        category=category,
        notes=len(periods[-1]),
        notes_before=len(periods[-2]),
        summary=_summary(len(periods[-1]), len(periods[-2]), topics),
        topTopics=topics,
        notableBookmarks=_notable(periods[-1], topics),
        newTools=_new_tools(periods[-1], earlier, words),
    )


def _summary(notes: int, before: int, topics: Sequence[TopicRecord]) -> str:
    """Return the most important of a period in a sentence or two."""
    parts = [f"{count(notes, 'note')}, {before} in the period before."]
    for trend, word in (("new", "New"), ("up", "More"), ("down", "Fewer")):
        named = [topic for topic in topics if topic.trend == trend][:MAX_NAMED]
        if named:
            parts.append(f"{word}: {', '.join(map(_counted, named))}.")
    return " ".join(parts)


def _counted(topic: TopicRecord) -> str:
    if topic.trend == "new":
        return f"{topic.topic} ({topic.count})"
    return f"{topic.topic} ({topic.count}, {topic.before} before)"


def _labels(note: Note) -> tuple[str, ...]:
    tags = (tag.removeprefix("#") for tag in note.tags)
    return tuple(label for label in (*tags, note.category) if label)


def is_common(mentions: int, notes: int) -> bool:
    """Return whether too many notes mention a name for it to say anything."""
    return mentions > max(COMMON_NOTES, notes * COMMON_SHARE)


def _subject(note: Note, names: NamesInText, labels: Collection[str]) -> _Subject:
    """Return a note's topics; a name that is some note's tag or category is only that.

    Spellings of a name are one topic. What is general, such as `AI`, is a topic only as a label.
    """
    topics: dict[str, tuple[str, TopicKind]] = {}
    for label in _labels(note):
        kind: TopicKind = "category" if label == note.category else "tag"
        topics.setdefault(joined_name(label), (label, kind))
    for found in (names.tools, names.acronyms, names.japanese):
        for name in found.values():
            key = joined_name(name)
            if key not in labels and not is_general(name):
                topics.setdefault(key, (name, "name"))
    return _Subject(note, names, topics)


def _common_words(subjects: Sequence[_Subject]) -> set[str]:
    """Return the katakana words of so many of these notes that they are not names: `パターン`."""
    mentions = Counter(
        key
        for subject in subjects
        for key in set(map(joined_name, subject.names.japanese.values()))
    )
    return {key for key, notes in mentions.items() if is_common(notes, len(subjects))}


def _best_spelling(spellings: Counter[str]) -> str:
    """Return how most notes write a name; of equals as one word with capitals inside."""
    return max(
        spellings,
        key=lambda name: (spellings[name], name.isalnum() and name[1:] != name[1:].lower(), name),
    )


def _count(subjects: Iterable[_Subject]) -> Counter[str]:
    return Counter(key for subject in subjects for key in subject.topics)


def _topics(
    recent: Sequence[_Subject],
    counts: Sequence[Counter[str]],
    earlier: Counter[str],
    earlier_notes: int,
    words: Collection[str],
) -> tuple[TopicRecord, ...]:
    """Return the topics of two periods: those of the last by their number, then those that ended.

    A tag or category is always one; a name if several notes of the period mention it, more than of
    the one before, and few did earlier. `words` are not names.
    """
    kinds: dict[str, TopicKind] = {}
    spellings: dict[str, Counter[str]] = {}
    for subject in recent:
        for key, (name, kind) in subject.topics.items():
            kinds.setdefault(key, kind)
            spellings.setdefault(key, Counter())[name] += 1
    now, before = counts[-1], counts[-2]
    topics = []
    for key, kind in kinds.items():
        name = _best_spelling(spellings[key])
        is_common = key in words or earlier[key] > earlier_notes * COMMON_SHARE
        is_rising = now[key] >= MIN_MENTIONS and now[key] > before[key]
        if kind == "name" and (is_common or not is_rising):
            continue
        topics.append(
            TopicRecord(
                topic=name,
                kind=kind,
                count=now[key],
                before=before[key],
                trend=_trend(now[key], before[key]),
                line=tuple(notes[key] for notes in counts),
            )
        )
    topics.sort(key=lambda topic: (-topic.count, -topic.before, topic.topic.casefold()))
    return tuple(topics[:MAX_TOPICS])


def _trend(now: int, before: int) -> Trend:
    if not before:
        return "new"
    if not now:
        return "down"
    if abs(now - before) <= max(STABLE_NOTES, before * STABLE_SHARE):
        return "stable"
    return "up" if now > before else "down"


def _notable(
    subjects: Sequence[_Subject], topics: Sequence[TopicRecord]
) -> tuple[NotableNoteRecord, ...]:
    """Return the notes that most people liked or starred, then those about most of the topics.

    The former have half of the places, where there are as many; of equals the latest is first.
    """
    names = {joined_name(topic.topic): topic.topic for topic in topics if topic.count}
    topics_of = {
        subject.note: [name for key, name in names.items() if key in subject.topics]
        for subject in subjects
    }
    latest = sorted(topics_of, key=lambda note: -(note.date or 0))
    liked = sorted((note for note in latest if note.engagement), key=lambda note: -note.engagement)
    about = sorted((note for note in latest if topics_of[note]), key=lambda n: -len(topics_of[n]))
    first = liked[: (MAX_NOTABLE + 1) // 2]
    chosen = [*dict.fromkeys([*first, *about, *liked])][:MAX_NOTABLE]
    return tuple(
        NotableNoteRecord(
            tweetId=note.id,
            path=note.path,
            author=note.author,
            text=note.title,
            reason=" ".join(_reasons(note, topics_of[note])),
            url=note.url,
        )
        for note in chosen
    )


def _reasons(note: Note, topics: Sequence[str]) -> Iterator[str]:
    if note.engagement:
        yield f"Likes or stars: {note.engagement:,}."
    if topics:
        yield f"About {', '.join(topics)}."


def _new_tools(
    subjects: Sequence[_Subject], earlier: Sequence[_Subject], words: Collection[str]
) -> tuple[NewToolRecord, ...]:
    """Return the tools that no earlier note mentions, those that most notes mention first.

    A note is about them, or links to their repository; other names, and those in katakana, of which
    a note has many that are none (`words`), count where several notes have them.
    """
    known = set(words) | {
        key
        for subject in earlier
        for key in (*subject.topics, *map(joined_name, subject.names.tools))
    }
    mentions: Counter[str] = Counter()
    certain: set[str] = set()
    spellings: dict[str, Counter[str]] = {}
    for subject in subjects:
        is_about = subject_of(subject.note) or ""
        linked = [subject.names.tools[name] for name in subject.names.repositories]
        sure = [is_about, *linked] if len(is_about.split()) == 1 else linked
        written = [*sure, *subject.names.tools.values(), *subject.names.japanese.values()]
        certain |= {joined_name(name) for name in sure}
        names = {joined_name(name): name for name in reversed(written) if not is_general(name)}
        mentions.update(names.keys())
        for key, name in names.items():
            spellings.setdefault(key, Counter())[name] += 1
    new = [
        key
        for key, notes in mentions.items()
        if key not in known and (key in certain or notes >= MIN_MENTIONS)
    ]
    written_as = {key: _best_spelling(spellings[key]) for key in new}
    new.sort(key=lambda key: (-mentions[key], written_as[key].casefold()))
    return tuple(
        NewToolRecord(name=written_as[key], mentions=mentions[key]) for key in new[:MAX_TOOLS]
    )


def text(record: TrendsRecord, write: Writer) -> Iterator[str]:
    """Yield the topics, the notes about most of them, and the new names."""
    yield from _agents_text(record, write) if write.is_agent else _peoples_text(record, write)


def _agents_text(record: TrendsRecord, write: Writer) -> Iterator[str]:
    span = record.dateRange
    category = f" in {write.name(record.category)}" if record.category else ""
    yield f"{span['from']} to {span['to']}{category}. {write.notice()}"
    yield write.quote(record.summary)
    for topic in record.topTopics:
        yield (
            f"{topic.trend} {write.name(topic.topic)} ({topic.kind}): {topic.count}, "
            f"{topic.before} before"
        )
    for note in record.notableBookmarks:
        about = f"id {write.name(note.tweetId)}; {write.name(note.path)}"
        yield f"note {write.quote(note.text)} ({about}): {write.quote(note.reason)}"
    if record.newTools:
        tools = (f"{write.name(tool.name)} ({tool.mentions})" for tool in record.newTools)
        yield f"new names: {', '.join(tools)}"


def _peoples_text(record: TrendsRecord, write: Writer) -> Iterator[str]:
    span, style = record.dateRange, write.style
    category = f", category {write.name(record.category)}" if record.category else ""
    yield style.bold(f"{span['from']} to {span['to']}{category}")
    yield write.quote(record.summary)
    if record.topTopics:
        yield ""
        yield from (_topic_line(topic, write) for topic in record.topTopics)
    if record.notableBookmarks:
        yield ""
        yield style.bold("Notable notes")
        for note in record.notableBookmarks:
            yield f"  {write.title(note.text)}  {style.dim(write.name(note.path))}"
            yield f"    {style.dim(write.quote(note.reason))}"
    if record.newTools:
        names = (
            f"{write.name(tool.name)} ({tool.mentions})"
            if tool.mentions > 1
            else write.name(tool.name)
            for tool in record.newTools
        )
        yield ""
        yield f"New names: {', '.join(names)}"


def _topic_line(topic: TopicRecord, write: Writer) -> str:
    style = write.style
    color = {"up": style.green, "new": style.green, "down": style.yellow}.get(topic.trend, str)
    return (
        f"  {write.name(topic.topic):<{NAME_WIDTH}} {topic.count:>4}  {topic.before:>4} before  "
        f"{color(f'{topic.trend:<6}')}  {_sparkline(topic.line)}"
    )


def _sparkline(numbers: Sequence[int]) -> str:
    """Return numbers as a row of bars."""
    highest = max(numbers, default=0)
    return "".join(
        BARS[0] if not highest else BARS[number * (len(BARS) - 1) // highest] for number in numbers
    )


TRENDS = Answer(
    request=TrendsRequest,
    record=TrendsRecord,
    run=run,
    text=text,
    budgets=(),
    reads_collections=True,
    tool=ToolTraits(
        title="Show trends of notes",
        description=(
            "Show which tags, categories and names the user's bookmarks and notes of a period are "
            "about, against the period before, and which tools are new."
        ),
    ),
)

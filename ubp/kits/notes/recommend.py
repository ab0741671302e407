"""`recommend`: the tools and articles among the notes that meet a project's needs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from ubp.core.model import FilePath
from ubp.core.text import fold, shorten
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import QUERY_CHARACTERS
from ubp.frame.fields import Keyword, Percent
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.notes.names import find_names, joined_name
from ubp.kits.notes.note import Note, read_all_notes, texts_of
from ubp.kits.notes.reports import ReportFinder
from ubp.kits.notes.search import NoteHit, NoteSearch, without_title
from ubp.kits.notes.subjects import subject_of
from ubp.kits.notes.trends import is_common, names_of
from ubp.search.semantic import CLOSE_COSINE, MIN_COSINE

NOTES_PER_NEED, ARTICLES_PER_NEED, MAX_RECOMMENDED, MAX_WEAK = 60, 3, 10, 3
MAX_NEEDS = 10
SHOWN_PATHS, REASON_CHARACTERS = 5, 200
COMPARED_CHARACTERS = 400  # of a note's words, next to its title and tags
MIN_SHARE = 0.6  # of the best note's score: notes far behind it answer something else
# What a note is worth more for each part of the project's stack that it mentions, and a tool or
# article for each further note and need.
STACK_BONUS, FURTHER_BONUS = 0.1, 0.2
# A note's score for a need is the mean of its cosines with the need and with the whole context: a
# need of two words says little, and much of a context is not a need. Where none has CLOSE_COSINE,
# the nearest ones down to MIN_COSINE are recommended as weak. In three sets of 240 bookmarks that
# were read for this (benchmarks/kits/recommend.py) 78 of 90 contexts have a right tool among the
# first three, 74 of them not weak, and 17 of 30 about something else get weak ones only; in two
# sets at first look 42 of 60, 32 not weak, and 10 of 20. These find no more: scores of searches
# beside the cosines, the sentences of a context one by one, and words weighted by their rarity.
# Without a model the scores of searches count, with a limit of their own: 13 of 90 are right, and
# 26 of 30 get nothing. To show weak ones there would add 9 right and 19 wrong answers.
MIN_WORDS_SCORE = 0.12
TAG_BONUS = 0.2  # of a note with a tag that is the need
# Words of needs that fit whatever is needed: they do not decide while others are there.
WEAK_WORDS = frozenset(
    {
        *("a", "an", "and", "app", "application", "company", "for", "framework", "frameworks"),
        *("good", "improved", "library", "libraries", "management", "need", "needs", "of", "our"),
        *("package", "packages", "platform", "product", "project", "protection", "service"),
        *("services", "software", "solution", "solutions", "some", "support", "system", "systems"),
        *("team", "the", "to", "tool", "tooling", "tools", "utility", "with"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationRecord:
    """A tool or an article."""

    type: Annotated[Literal["tool", "article"], "what it is"]
    name: Annotated[str, "of a tool"] = ""
    title: Annotated[str, "of an article"] = ""
    reason: Annotated[str, "the needs that it meets, and why"]
    needs: Annotated[tuple[str, ...], "the needs that it meets"]
    source_bookmarks: Annotated[tuple[str, ...], "ids of the notes that mention a tool"] = ()
    source_bookmark: Annotated[str, "id of the note of an article"] = ""
    paths: Annotated[tuple[str, ...], "those notes"]
    url: Annotated[str, "address of the article, or of the tool's report"] = ""
    oss_verified: Annotated[bool | None, "whether there is a report on a tool"] = None
    security_score: Annotated[Percent | None, "its score, from 0 to 100"] = None
    is_weak: Annotated[bool, "whether probably no note meets any need"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationsRecord:
    """What the notes recommend."""

    recommendations: Annotated[tuple[RecommendationRecord, ...], "best first"]


@dataclass(frozen=True, slots=True)
class RecommendRequest(Request[RecommendationsRecord]):
    """What a project is, has and needs."""

    project_context: Annotated[
        str, "what the project is for", Keyword("maxLength", QUERY_CHARACTERS)
    ]
    tech_stack: Annotated[tuple[str, ...], "what it uses already"] = ()
    needs: Annotated[tuple[str, ...], "what it needs, one by one"] = ()


@dataclass
class _Candidate:
    """What was found for one tool or article so far."""

    kind: Literal["tool", "article"]
    name: str
    best: float = 0.0
    needs: dict[str, None] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)
    repository: str = ""
    words: str = ""

    def add(self, need: str, note: Note, score: float, passage: str) -> None:
        """Add a note; the words of the best one are the reason."""
        self.needs[need] = None
        self.notes[note] = None
        if score > self.best:
            self.best = score
            said = note.summary or without_title(passage, note)
            self.words = shorten(" ".join(said.split()), REASON_CHARACTERS)

    @property
    def score(self) -> float:
        further = len(self.notes) + len(self.needs) - 2
        return self.best * (1 + FURTHER_BONUS * further)


def run(session: Session, request: RecommendRequest) -> RecommendationsRecord:
    """Return what the notes recommend for these needs; without any, for the whole context.

    Raises:
        UsageError: a need has a filter that cannot be read.
    """
    search = _Search(session, request.tech_stack, request.project_context)
    needs = list(dict.fromkeys(request.needs))[:MAX_NEEDS] or [request.project_context]
    hits = {need: search.hits(need) for need in needs}
    sure = {need: [hit for hit in some if hit.is_sure] for need, some in hits.items()}
    best = _candidates(search, sure)[:MAX_RECOMMENDED]
    is_weak = not best
    if is_weak:
        best = _candidates(search, hits)[:MAX_WEAK]
    reports = ReportFinder(session)
    return RecommendationsRecord(
        recommendations=tuple(_recommendation(found, reports, is_weak=is_weak) for found in best)
    )


def _candidates(search: "_Search", found: Mapping[str, Sequence["_Hit"]]) -> list[_Candidate]:
    """Return the tools and articles of the notes that meet each need, best first."""
    candidates: dict[str, _Candidate] = {}
    for need, hits in found.items():
        tools = search.tools(hits)
        for key, (written, repository, mentioning) in tools.items():
            tool = candidates.setdefault(f"tool {key}", _Candidate("tool", written))
            tool.repository = tool.repository or repository
            for hit in mentioning:
                tool.add(need, hit.note, hit.worth, hit.passage)
        # An article about a tool is a reason for it, and no second recommendation.
        articles = [
            hit
            for hit in hits
            if subject_of(hit.note) is None and not any(_is_about(key, hit.note) for key in tools)
        ]
        for hit in articles[:ARTICLES_PER_NEED]:
            key = f"article {hit.note.path}"
            article = candidates.setdefault(key, _Candidate("article", hit.note.title))
            article.add(need, hit.note, hit.worth, hit.passage)
    return sorted(candidates.values(), key=lambda candidate: -candidate.score)


def _recommendation(
    found: _Candidate, reports: ReportFinder, *, is_weak: bool
) -> RecommendationRecord:
    notes, needs = tuple(found.notes), " and ".join(f'"{need}"' for need in found.needs)
    paths = tuple(note.path for note in notes)
    said = f': "{found.words}"' if found.words else ""
    if found.kind == "article":
        return RecommendationRecord(
            type="article",
            title=found.name,
            reason=f"{'Perhaps answers' if is_weak else 'Answers'} {needs}{said or '.'}",
            needs=tuple(found.needs),
            source_bookmark=notes[0].id,
            paths=paths,
            url=notes[0].url,
            is_weak=is_weak,
        )
    report = reports.find(found.repository) if found.repository else None
    mention = "" if len(notes) == 1 else f" {len(notes)} notes mention it."
    scored = f" Its report has a score of {report.score}." if report else ""
    return RecommendationRecord(
        type="tool",
        name=found.name,
        reason=f"{'Perhaps meets' if is_weak else 'Meets'} {needs}{said or '.'}{mention}{scored}",
        needs=tuple(found.needs),
        source_bookmarks=tuple(note.id for note in notes),
        paths=paths,
        url=report.url if report else "",
        oss_verified=report is not None,
        security_score=report.score if report else None,
        is_weak=is_weak,
    )


class _Hit(NamedTuple):
    """A note that meets a need, with its words about it; the larger `worth`, the better.

    If not `is_sure`, it is only the nearest.
    """

    note: Note
    passage: str
    worth: float
    is_sure: bool


class _Tool(NamedTuple):
    """A tool as it is written, its repository ("": unknown), and the notes that mention it."""

    written: str
    repository: str
    hits: list[_Hit]


def _without_weak_words(need: str) -> str:
    strong = [word for word in need.split() if word.casefold().strip(".,;") not in WEAK_WORDS]
    return " ".join(strong) or need


def _singular(name: str) -> str:
    return name.removesuffix("s")


def _as_word(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a folded name as a word: "go", but not in "django"."""
    return re.compile(rf"(?<![a-z0-9]){re.escape(fold(name))}(?![a-z0-9+#])")


class _Search:
    """The notes of a session, and which names in them are worth recommending."""

    def __init__(self, session: Session, stack: Sequence[str], context: str) -> None:
        self._search = NoteSearch(session)
        self._notes = read_all_notes(session, self._search.view)
        self._names = names_of(self._search.view, tuple(self._notes.values()))
        self._stack = {joined_name(name): _as_word(name) for name in stack}
        mentions = Counter(key for names in self._names.values() for key in names.tools)
        number = len(self._notes)
        self._common = {key for key, count in mentions.items() if is_common(count, number)}
        self._has_cosines = self._search.has_cosines
        self._context = _without_weak_words(context)
        self._about_context = self._find(self._context)

    def _find(self, text: str) -> dict[FilePath, NoteHit]:
        return {hit.note.path: hit for hit in self._search.find(text, NOTES_PER_NEED).hits}

    def hits(self, need: str) -> list[_Hit]:
        """Return the notes that meet a need, or are near to it, best first."""
        asked = _without_weak_words(need)
        tag = _singular(joined_name(asked))
        tagged = {path for path, note in self._notes.items() if tag in _tags(note)}
        found = self._find(asked)
        passages = {path: hit.passage for path, hit in (self._about_context | found).items()}
        unread = texts_of(self._search.view, tagged - passages.keys())
        passages |= {path: _BEFORE_TITLE.sub("", text) for path, text in unread.items()}
        words = {path: _words_of(self._notes[path], text) for path, text in passages.items()}
        for_need = self._scores(asked, found, words)
        for_context = self._scores(self._context, self._about_context, words)
        worths = {
            path: (of_need + of_context) / 2 * self._stack_factor(self._notes[path], passage)
            + (TAG_BONUS if path in tagged else 0.0)
            for (path, passage), of_need, of_context in zip(
                passages.items(), for_need, for_context, strict=True
            )
        }
        least, sure = MIN_WORDS_SCORE, MIN_WORDS_SCORE
        if self._has_cosines:
            least, sure = MIN_COSINE, CLOSE_COSINE
        least = max(least, MIN_SHARE * max(worths.values(), default=0.0))
        return sorted(
            (
                _Hit(self._notes[path], passages[path], worth, worth >= sure)
                for path, worth in worths.items()
                if worth >= least
            ),
            key=lambda hit: (-hit.worth, hit.note.path),
        )

    def _scores(
        self, text: str, found: Mapping[FilePath, NoteHit], words: Mapping[FilePath, str]
    ) -> Sequence[float]:
        """Return how well each of these notes meets a text: by meaning, else as it was found."""
        if self._has_cosines:
            return self._search.similarity(text, tuple(words.values()))
        return [found[path].score if path in found else 0.0 for path in words]

    def _stack_factor(self, note: Note, passage: str) -> float:
        """Return how many times its score a note is worth that mentions parts of the stack."""
        text = fold("\n".join([note.title, *note.tags, passage]))
        return 1 + STACK_BONUS * sum(bool(name.search(text)) for name in self._stack.values())

    def tools(self, hits: Sequence[_Hit]) -> dict[str, _Tool]:
        """Return the tools that these notes are of, that a title names, or that several mention."""
        tools: dict[str, _Tool] = {}
        for hit in hits:
            if subject := subject_of(hit.note):
                repositories = find_names(hit.note.url).repositories.values()
                key, repository = joined_name(subject), next(iter(repositories), "")
                tools.setdefault(key, _Tool(subject, repository, [])).hits.append(hit)
        mentions: dict[str, _Tool] = {}
        for hit in hits:
            names = find_names(f"{hit.note.title}\n\n{hit.passage}")
            for name in sorted(names.tools.keys() - self._common):
                repository = self._names[hit.note.path].repositories.get(name, "")
                tool = _Tool(names.tools[name], repository, [])
                mentions.setdefault(joined_name(name), tool).hits.append(hit)
        for key, tool in mentions.items():
            if key in tools:
                of_subject = {hit.note.path for hit in tools[key].hits}
                tools[key].hits.extend(h for h in tool.hits if h.note.path not in of_subject)
            elif len(tool.hits) > 1 or _is_about(key, tool.hits[0].note):
                tools[key] = tool
        return {key: tool for key, tool in tools.items() if key not in self._stack}


def _is_about(key: str, note: Note) -> bool:
    """Return whether the title of an article names a tool."""
    return subject_of(note) is None and key in joined_name(note.title)


def _words_of(note: Note, passage: str) -> str:
    """Return what a note is about: its title, its tags, and the beginning of its words."""
    words = note.summary or without_title(passage, note)
    tags = " ".join(note.tags).replace("-", " ")
    return f"{note.title}. {_ADDRESS.sub('', words)[:COMPARED_CHARACTERS]} {tags}"


_ADDRESS = re.compile(r"<?https?://[^\s<>]+>?")
_BEFORE_TITLE = re.compile(r"\A---\n(?s:.{0,20000}?)\n---\n\s*")


def _tags(note: Note) -> set[str]:
    return {_singular(joined_name(tag)) for tag in note.tags}


def text(record: RecommendationsRecord, write: Writer) -> Iterator[str]:
    """Yield the tools and articles, each with the reason below it."""
    found = record.recommendations
    if not found:
        yield f"The notes recommend nothing for this. {write.notice()}"
        return
    yield f"{count(len(found), 'recommendation')}, best first. {write.notice()}"
    if found[0].is_weak:
        yield "Probably no note meets this. Nearest:"
    for item in found:
        is_scored = item.type == "tool" and item.security_score is not None
        report = f", report: {item.security_score} of 100" if is_scored else ""
        address = f": {printable(item.url)}" if item.url else ""
        yield f"{item.type} {write.title(item.name or item.title)}{report}{address}"
        paths = ", ".join(map(write.name, item.paths[:SHOWN_PATHS]))
        yield f"  {write.quote(item.reason)} ({paths})"


RECOMMEND = Answer(
    request=RecommendRequest,
    record=RecommendationsRecord,
    run=run,
    text=text,
    budgets=(),
    reads_collections=True,
    tool=ToolTraits(
        title="Recommend tools and articles",
        description=(
            "Recommend tools and articles from the user's bookmarks and notes for a project, with "
            "the need that each meets, or the nearest, marked weak."
        ),
    ),
)

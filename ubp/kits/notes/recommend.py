"""`recommend`: the tools and articles among the notes that meet a project's needs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from ubp.core.text import fold
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import QUERY_CHARACTERS
from ubp.frame.fields import Keyword, Percent
from ubp.frame.wording import count, printable
from ubp.frame.writer import Writer
from ubp.index.session import Session
from ubp.kits.notes.names import find_names
from ubp.kits.notes.note import Note, read_all_notes
from ubp.kits.notes.reports import ReportFinder
from ubp.kits.notes.search import NoteHit, NoteSearch
from ubp.kits.notes.trends import is_common, names_of
from ubp.search.fusion import WEAK_SCORE

NOTES_PER_NEED, ARTICLES_PER_NEED, MAX_RECOMMENDED = 8, 3, 10
MAX_NEEDS = 10
MAX_NAMED, SHOWN_PATHS = 3, 5
MIN_SHARE = 0.6  # of the best note's score: notes far behind it answer something else
# What a note is worth more for each part of the project's stack that it mentions, and a tool or
# article for each further note and need.
STACK_BONUS, FURTHER_BONUS = 0.1, 0.2


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

    def add(self, need: str, note: Note, score: float) -> None:
        self.needs[need] = None
        self.notes[note] = None
        self.best = max(self.best, score)

    @property
    def score(self) -> float:
        further = len(self.notes) + len(self.needs) - 2
        return self.best * (1 + FURTHER_BONUS * further)


def run(session: Session, request: RecommendRequest) -> RecommendationsRecord:
    """Return what the notes recommend for these needs; without any, for the whole context.

    Raises:
        UsageError: a need has a filter that cannot be read.
    """
    found = _Search(session, request.tech_stack)
    reports = ReportFinder(session)
    candidates: dict[str, _Candidate] = {}
    for need in list(dict.fromkeys(request.needs))[:MAX_NEEDS] or [request.project_context]:
        hits = found.hits(need)
        for key, mentioning in found.tools(hits).items():
            written, repository = found.written(key, mentioning)
            tool = candidates.setdefault(f"tool {key}", _Candidate("tool", written))
            tool.repository = tool.repository or repository
            for hit in mentioning:
                tool.add(need, hit.note, found.worth(hit))
        for hit in hits[:ARTICLES_PER_NEED]:
            key = f"article {hit.note.path}"
            article = candidates.setdefault(key, _Candidate("article", hit.note.title))
            article.add(need, hit.note, found.worth(hit))
    best = sorted(candidates.values(), key=lambda candidate: -candidate.score)
    return RecommendationsRecord(
        recommendations=tuple(_recommendation(found, reports) for found in best[:MAX_RECOMMENDED])
    )


def _recommendation(found: _Candidate, reports: ReportFinder) -> RecommendationRecord:
    notes, needs = tuple(found.notes), " and ".join(f'"{need}"' for need in found.needs)
    paths = tuple(note.path for note in notes)
    if found.kind == "article":
        return RecommendationRecord(
            type="article",
            title=found.name,
            reason=f"Answers {needs}.",
            needs=tuple(found.needs),
            source_bookmark=notes[0].id,
            paths=paths,
            url=notes[0].url,
        )
    report = reports.find(found.repository) if found.repository else None
    titles = ", ".join(f'"{note.title}"' for note in notes[:MAX_NAMED])
    mention = "1 note mentions" if len(notes) == 1 else f"{len(notes)} notes mention"
    scored = f" Its report has a score of {report.score}." if report else ""
    return RecommendationRecord(
        type="tool",
        name=found.name,
        reason=f"Meets {needs}: {mention} it, such as {titles}.{scored}",
        needs=tuple(found.needs),
        source_bookmarks=tuple(note.id for note in notes),
        paths=paths,
        url=report.url if report else "",
        oss_verified=report is not None,
        security_score=report.score if report else None,
    )


class _Search:
    """The notes of a session, and which names in them are worth recommending."""

    def __init__(self, session: Session, stack: Sequence[str]) -> None:
        self._search = NoteSearch(session)
        notes = read_all_notes(session, self._search.view)
        self._names = names_of(self._search.view, tuple(notes.values()))
        self._stack = {fold(name) for name in stack}
        mentions = Counter(
            key for names in self._names.values() for key in (*names.tools, *names.words)
        )
        self._common = {key for key, number in mentions.items() if is_common(number, len(notes))}

    def hits(self, need: str) -> list[NoteHit]:
        """Return the notes that answer a need, best first."""
        hits = self._search.find(need, NOTES_PER_NEED).hits
        least = max(WEAK_SCORE, MIN_SHARE * max((hit.score for hit in hits), default=0.0))
        return sorted((hit for hit in hits if hit.score >= least), key=lambda hit: -self.worth(hit))

    def worth(self, hit: NoteHit) -> float:
        """Return the score of a note, a little more where it mentions the project's stack."""
        text = fold("\n".join([hit.note.title, *hit.note.tags, hit.passage]))
        return hit.score * (1 + STACK_BONUS * sum(name in text for name in self._stack))

    def tools(self, hits: Sequence[NoteHit]) -> dict[str, list[NoteHit]]:
        """Return the names that several of these notes mention, or that a title has."""
        mentions: dict[str, list[NoteHit]] = {}
        for hit in hits:
            names = find_names(f"{hit.note.title}\n\n{hit.passage}\n{hit.note.url}")
            found = names.tools.keys() | names.words.keys()
            for key in found - self._common - self._stack:
                mentions.setdefault(key, []).append(hit)
        return {
            key: found
            for key, found in sorted(mentions.items())
            if len(found) > 1 or self._is_subject(key, found[0])
        }

    def _is_subject(self, key: str, hit: NoteHit) -> bool:
        """Return whether a single note is about a tool: its title has the name."""
        return key in self._names[hit.note.path].tools and key in fold(hit.note.title)

    def written(self, key: str, hits: Sequence[NoteHit]) -> tuple[str, str]:
        """Return a name as it is written, and the address of its repository ("": unknown)."""
        names = [self._names[hit.note.path] for hit in hits]
        addresses = (found.repositories.get(key) for found in names)
        written = (found.tools.get(key) or found.words.get(key) for found in names)
        return next(filter(None, written), key), next(filter(None, addresses), "")


def text(record: RecommendationsRecord, write: Writer) -> Iterator[str]:
    """Yield the tools and articles, each with the reason below it."""
    found = record.recommendations
    if not found:
        yield f"The notes recommend nothing for this. {write.notice()}"
        return
    yield f"{count(len(found), 'recommendation')}, best first. {write.notice()}"
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
            "Recommend tools and articles from the user's bookmarks and notes for a project. Each "
            "has the need that it meets and the notes that say so."
        ),
    ),
)

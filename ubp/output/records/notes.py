"""Records of notes: found ones, answers, recommendations, trends, reports on repositories.

Their keys are those of MCP servers for bookmarks: `tweetId` is the id of any note.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.core.text import shorten
from ubp.frame.fields import Count, Fraction, Moment, PagePath, Percent, Title
from ubp.frame.wording import moment
from ubp.notes.answer import WrittenAnswer
from ubp.notes.ask import AnswerPassage, NotesAnswer
from ubp.notes.note import Note, day_of
from ubp.notes.recommend import Recommendation
from ubp.notes.reports import BuildResult, OssReport, TestResult, Verdict
from ubp.notes.search import FoundNotes, NoteHit
from ubp.notes.trends import Period, TopicKind, Trend, Trends
from ubp.notes.wording import meets, trends_summary

TEXT_CHARACTERS = 500  # of a note that was found

NoteId = Annotated[str, "id of the note; of a post on X, the post's"]
Author = Annotated[str, "who wrote it"]
Url = Annotated[str, "address of what was saved"]
Day = Annotated[str, "day in UTC"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteResultRecord:
    """A note that was found."""

    tweetId: NoteId
    path: PagePath
    title: Title
    text: Annotated[str, "its best passage, at most 500 characters"] = ""
    author: Author = ""
    summary: Annotated[str, "its summary, if it has one"] = ""
    tags: Annotated[tuple[str, ...], "its tags"] = ()
    category: Annotated[str, "its category, else its first folder"] = ""
    sentiment: Annotated[str, "its sentiment, if it has one"] = ""
    action: Annotated[str, "what to do with it, if that is set"] = ""
    date: Annotated[str, "day on which it was saved"] = ""
    relevance: Annotated[Fraction, "the larger, the better"]
    url: Url = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRecord:
    """The notes that match a query."""

    results: Annotated[tuple[NoteResultRecord, ...], "best first"]
    totalMatches: Annotated[Count, "how many match, also those beyond the limit"]
    is_total_exact: Annotated[bool, "false: there may be more"] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSourceRecord:
    """A passage of a note, verbatim."""

    number: Annotated[int, "what a written answer cites as [1]"]
    tweetId: NoteId
    path: PagePath
    title: Title
    line_start: Annotated[int, "its first line, from 1"]
    line_end: Annotated[int, "its last line"]
    author: Author = ""
    date: Annotated[str, "day on which the note was saved"] = ""
    text: Annotated[str, "the passage"]
    url: Url = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """An answer: the best passages, or one that a language model wrote from them."""

    answer: Annotated[str, "the best passage, or the written answer"]
    confidence: Annotated[Fraction, "probability that one of the passages answers"]
    is_weak: Annotated[bool, "whether probably no note answers"] = False
    sources: Annotated[tuple[AnswerSourceRecord, ...], "the passages, best first"] = ()
    written_by: Annotated[str, "model that wrote it from the sources; empty: it is verbatim"] = ""
    why_not_written: Annotated[str, "why the configured model did not write it"] = ""


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
    """A note that is about several of the period's topics."""

    tweetId: NoteId
    path: PagePath
    author: Author = ""
    text: Title
    reason: Annotated[str, "the topics"]
    url: Url = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToolRecord:
    """A name that no earlier note mentions."""

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
    notableBookmarks: Annotated[tuple[NotableNoteRecord, ...], "about most topics first"]
    newTools: Annotated[tuple[NewToolRecord, ...], "mentioned most first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePointRecord:
    """A part of a score."""

    name: Annotated[str, "what it is for"]
    points: Annotated[Count, "points"]
    most: Annotated[Count, "the most it can be; 0: unknown, or it does not apply"]
    evidence: Annotated[str, "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OssReportRecord:
    """A report on a repository: what its files, history and CI say. UBP executes none of it."""

    repoUrl: Annotated[str, "its address"]
    repoName: Annotated[str, "its name"]
    commit: Annotated[str, "the commit that was read"]
    stars: Annotated[Count | None, "stars; null: unknown"] = None
    license: Annotated[str, "SPDX id; empty: none was recognized"] = ""
    language: Annotated[str, "language of most source files"] = ""
    languages: Annotated[tuple[str, ...], "languages with their numbers of files"] = ()
    securityScore: Annotated[Percent, "sum of the points, in percent of what is known and applies"]
    securityVerdict: Annotated[Verdict, "LOW_RISK from 80, VERIFY from 50"]
    points: Annotated[tuple[ScorePointRecord, ...], "each part of the score, with its evidence"]
    buildResult: Annotated[BuildResult, "of its own CI; UBP runs nothing"]
    testResult: Annotated[TestResult, "of its own CI; UBP runs nothing"]
    usageNotes: Annotated[str, "what lacks most points"]
    tags: Annotated[Count, "tags"] = 0
    last_tag: Annotated[str, "newest tag"] = ""
    days_between_tags: Annotated[Count | None, "median of the last ten"] = None
    authors: Annotated[Count, "authors, by address"] = 0
    documents: Annotated[Count, "Markdown pages"] = 0
    stale_documents: Annotated[Count, "pages that no longer describe their sources"] = 0
    verifiedAt: Annotated[Moment, "when it was read"]


def notes_record(found: FoundNotes) -> NotesRecord:
    """Return the record of a search."""
    return NotesRecord(
        results=tuple(map(_result, found.hits)),
        totalMatches=found.total,
        is_total_exact=found.is_exact,
    )


def _result(hit: NoteHit) -> NoteResultRecord:
    note = hit.note
    return NoteResultRecord(
        tweetId=note.id,
        path=note.path,
        title=note.title,
        text=shorten(_without_title(hit.passage, note), TEXT_CHARACTERS),
        author=note.author,
        summary=note.summary,
        tags=note.tags,
        category=note.category,
        sentiment=note.sentiment,
        action=note.action,
        date=note.day,
        relevance=round(min(1.0, max(0.0, hit.score)), 3),
        url=note.url,
    )


def _without_title(passage: str, note: Note) -> str:
    """Return a passage without the title above it; the title, where nothing but its address is."""
    heading, _, body = passage.partition("\n")
    text = body.strip() if heading.strip("# ") == note.title else passage
    return text if text.strip("<>") not in {"", note.url} else note.title


def answer_record(
    answer: NotesAnswer, written: WrittenAnswer | None = None, *, has_sources: bool = True
) -> AnswerRecord:
    """Return the record of an answer."""
    best = answer.passages[0].text if answer.passages else ""
    numbered = enumerate(answer.passages, 1)
    return AnswerRecord(
        answer=written.text if written and written.text else best,
        confidence=answer.confidence,
        is_weak=answer.is_weak,
        sources=tuple(_source(n, passage) for n, passage in numbered) if has_sources else (),
        written_by=written.model if written and written.text else "",
        why_not_written=written.problem if written else "",
    )


def _source(number: int, passage: AnswerPassage) -> AnswerSourceRecord:
    note = passage.note
    return AnswerSourceRecord(
        number=number,
        tweetId=note.id,
        path=note.path,
        title=note.title,
        line_start=passage.line_start,
        line_end=passage.line_end,
        author=note.author,
        date=note.day,
        text=passage.text,
        url=note.url,
    )


def recommendations_record(found: tuple[Recommendation, ...]) -> RecommendationsRecord:
    """Return the record of recommendations."""
    return RecommendationsRecord(recommendations=tuple(map(_recommendation, found)))


def _recommendation(found: Recommendation) -> RecommendationRecord:
    is_tool, report = found.kind == "tool", found.report
    first = found.notes[0]
    return RecommendationRecord(
        type=found.kind,
        name=found.name if is_tool else "",
        title="" if is_tool else found.name,
        reason=meets(found),
        needs=found.needs,
        source_bookmarks=tuple(note.id for note in found.notes) if is_tool else (),
        source_bookmark="" if is_tool else first.id,
        paths=tuple(note.path for note in found.notes),
        url=(report.url if report else "") if is_tool else first.url,
        oss_verified=report is not None if is_tool else None,
        security_score=report.score if report else None,
    )


def trends_record(trends: Trends) -> TrendsRecord:
    """Return the record of trends."""
    return TrendsRecord(
        period=trends.period,
        dateRange={"from": day_of(trends.start), "to": day_of(trends.end - 1)},
        category=trends.category,
        notes=trends.notes,
        notes_before=trends.before,
        summary=trends_summary(trends),
        topTopics=tuple(
            TopicRecord(
                topic=topic.name,
                kind=topic.kind,
                count=topic.notes,
                before=topic.before,
                trend=topic.trend,
                line=topic.line,
            )
            for topic in trends.topics
        ),
        notableBookmarks=tuple(
            _notable(notable.note, notable.topics) for notable in trends.notable
        ),
        newTools=tuple(
            NewToolRecord(name=tool.name, mentions=tool.mentions) for tool in trends.new_tools
        ),
    )


def _notable(note: Note, topics: tuple[str, ...]) -> NotableNoteRecord:
    return NotableNoteRecord(
        tweetId=note.id,
        path=note.path,
        author=note.author,
        text=note.title,
        reason=f"About {', '.join(topics)}.",
        url=note.url,
    )


def oss_report_record(report: OssReport) -> OssReportRecord:
    """Return the record of a report."""
    return OssReportRecord(
        repoUrl=report.url,
        repoName=report.name,
        commit=report.commit,
        stars=report.stars,
        license=report.license,
        language=report.language,
        languages=report.languages,
        securityScore=report.score,
        securityVerdict=report.verdict,
        points=tuple(ScorePointRecord(**point._asdict()) for point in report.points),
        buildResult=report.build_result,
        testResult=report.test_result,
        usageNotes=report.usage_notes,
        tags=report.tags,
        last_tag=report.last_tag,
        days_between_tags=report.days_between_tags,
        authors=report.authors,
        documents=report.documents,
        stale_documents=report.stale_documents,
        verifiedAt=moment(report.verified_at),
    )

"""`search`: the notes that match a query, of those that a filter wants."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from ubp.core.errors import BadArgumentError
from ubp.core.text import shorten
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, Query, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, Fraction, PagePath, Title
from ubp.frame.wording import count
from ubp.frame.writer import Writer
from ubp.index.expiry import find_expired
from ubp.index.session import Session
from ubp.kits.notes.fields import Author, NoteId, Url, about
from ubp.kits.notes.note import (
    EVERY_NOTE,
    REPORTS,
    Note,
    NoteFilter,
    parse_date,
    read_all_notes,
    read_notes,
)
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.pages import PageQuery, find_pages
from ubp.search.results import PageHit
from ubp.search.run import open_search
from ubp.search.terms import Term

LIMIT, MAX_LIMIT = 10, 50
SEARCH_TOKENS = 4_000
TEXT_CHARACTERS = 500  # of a note that was found


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
    truncated_count: Annotated[Count, "notes that are left out because of max_tokens"] = 0


@dataclass(frozen=True, slots=True)
class NoteFilters:
    """Which notes are wanted."""

    category: Annotated[str, "its slug"] = ""
    dateFrom: Annotated[str, "ISO 8601"] = ""
    dateTo: Annotated[str, "ISO 8601"] = ""
    sentiment: Literal["positive", "neutral", "negative"] | None = None
    action: Literal["read_later", "try_tool", "reference", "share", "archive"] | None = None


@dataclass(frozen=True, slots=True)
class NoteSearchRequest(Request[NotesRecord]):
    """A query, and which notes may answer it."""

    query: Query
    filters: NoteFilters | None = None
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIMIT
    max_tokens: MaxTokens = SEARCH_TOKENS


class NoteHit(NamedTuple):
    """A note that was found; `score` is between 0 and 1."""

    note: Note
    hit: PageHit

    @property
    def score(self) -> float:
        """The score of the document."""
        return self.hit.score

    @property
    def passage(self) -> str:
        """The text of its best section; "" if it has none."""
        extracts = (section.extract for section in self.hit.sections)
        return next((extract.text for extract in extracts if extract), "")


class FoundNotes(NamedTuple):
    """The notes that match best, and how many do.

    `coverage` is the share of the query's words, by weight, that the best note's passage contains;
    `has_words`: some note contains one of them, else scores are those of the meaning alone. `terms`
    are the words that tell notes apart.
    """

    hits: tuple[NoteHit, ...]
    total: int
    is_exact: bool
    coverage: float
    has_words: bool
    terms: tuple[Term, ...] = ()


class NoteSearch:
    """A search in the notes of a session's snapshot."""

    def __init__(self, session: Session) -> None:
        """Bring the index up to date."""
        self._session = session
        self.view, self._context = open_search(session)

    @property
    def has_cosines(self) -> bool:
        """Whether texts that are in no note have cosines: a model on this machine is there."""
        return any(self.similarity("word", ["word"]))

    def similarity(self, text: str, others: Sequence[str]) -> Sequence[float]:
        """Return the cosine of each of these texts with another one; 0 without a local model."""
        meaning = self._context.meaning
        return meaning.similarity(text, others) if meaning and others else [0.0] * len(others)

    def find(self, query: str, limit: int, wanted: NoteFilter = EVERY_NOTE) -> FoundNotes:
        """Return the notes that match a query best.

        Raises:
            UsageError: the query has a filter that cannot be read.
        """
        filters = NO_FILTERS
        has_reports = any(path.startswith(REPORTS) for path in self.view.document_paths())
        if has_reports or wanted != EVERY_NOTE or find_expired(self.view, self._session.clock()):
            notes = read_all_notes(self._session, self.view)
            within = frozenset(path for path, note in notes.items() if wanted.matches(note))
            filters = Filters(within=within)
        asked = PageQuery(query, limit=limit, filters=filters, is_absolute=True)
        answer = find_pages(self.view, asked, self._context)
        found = read_notes(self._session, self.view, [hit.page for hit in answer.pages])
        return FoundNotes(
            tuple(NoteHit(found[hit.page.filepath], hit) for hit in answer.pages),
            answer.total,
            answer.is_exact,
            answer.coverage,
            bool(answer.rankings.words.places),
            answer.informative,
        )


def run(session: Session, request: NoteSearchRequest) -> NotesRecord:
    """Return the notes that match best.

    Raises:
        BadArgumentError: a date of the filters is none.
        UsageError: the query has a filter that cannot be read.
    """
    given = request.filters or NoteFilters()
    for name in ("dateFrom", "dateTo"):
        if (date := getattr(given, name)) and parse_date(date) is None:
            raise BadArgumentError(
                "filters",
                f"`{name}` of `filters` is not a date: {date}.",
                hint="Write it as 2026-01-31 or 2026-01-31T10:00:00Z.",
            )
    wanted = NoteFilter(
        given.category, given.dateFrom, given.dateTo, given.sentiment or "", given.action or ""
    )
    found = NoteSearch(session).find(request.query, request.limit, wanted)
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
        text=shorten(without_title(hit.passage, note), TEXT_CHARACTERS),
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


def without_title(passage: str, note: Note) -> str:
    """Return a passage without the title above it; the title, where nothing but its address is."""
    heading, _, body = passage.partition("\n")
    text = body.strip() if heading.strip("# ") == note.title else passage
    return text if text.strip("<>") not in {"", note.url} else note.title


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop the last results."""
    limit.keep_first(record, record["results"], counter="truncated_count")


def text(record: NotesRecord, write: Writer) -> Iterator[str]:
    """Yield the notes, each with its passage."""
    if not record.results:
        yield f"No note matches. Try different words, or fewer filters. {write.notice()}"
        return
    more = "" if record.is_total_exact else " or more"
    number = f"{count(len(record.results), 'note')} of {record.totalMatches}{more}"
    yield f"{number}, best first. {write.notice()}"
    for note in record.results:
        yield f"{write.title(note.title)} {about(note, write)}"
        for passage in (note.summary, note.text):
            if passage and passage != note.title:
                yield f"  {write.quote(' '.join(passage.split()))}"
    if record.truncated_count:
        yield f"[{count(record.truncated_count, 'more note')}: use a larger max_tokens]"


SEARCH = Answer(
    request=NoteSearchRequest,
    record=NotesRecord,
    run=run,
    text=text,
    fit=fit,
    reads_collections=True,
    tool=ToolTraits(
        title="Search notes",
        description=(
            "Search the user's bookmarks and notes by words and meaning. Returns notes, best first,"
            " each with its best passage, author, date, tags and address."
        ),
    ),
)

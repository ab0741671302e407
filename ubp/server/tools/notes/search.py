"""`search`: the notes that match a query."""

from dataclasses import dataclass
from typing import Annotated, Literal

from ubp.core.errors import BadArgumentError
from ubp.frame.arguments import MaxTokens, Query, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.notes.note import NoteFilter, parse_date
from ubp.notes.search import NoteSearch
from ubp.output.agent.notes import notes_text
from ubp.output.records.notes import NotesRecord, notes_record
from ubp.server.tools.tool import Tool
from ubp.workspace import Workspace

LIMIT, MAX_LIMIT = 10, 50
SEARCH_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class NoteFilters:
    """Which notes are wanted."""

    category: Annotated[str, "its slug"] = ""
    dateFrom: Annotated[str, "ISO 8601"] = ""
    dateTo: Annotated[str, "ISO 8601"] = ""
    sentiment: Literal["positive", "neutral", "negative"] | None = None
    action: Literal["read_later", "try_tool", "reference", "share", "archive"] | None = None


@dataclass(frozen=True, slots=True)
class NoteSearchRequest:
    """A query, and which notes may answer it."""

    query: Query
    filters: NoteFilters | None = None
    limit: Annotated[int, *between(1, MAX_LIMIT)] = LIMIT
    max_tokens: MaxTokens = SEARCH_TOKENS


def run(workspace: Workspace, request: NoteSearchRequest) -> NotesRecord:
    """Return the record of the best notes.

    Raises:
        BadArgumentError: a date of the filters is none.
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
    return notes_record(NoteSearch(workspace.session).find(request.query, request.limit, wanted))


def fit_notes(record: Json, limit: TokenLimit) -> None:
    """Drop the last results."""
    limit.drop(record, iter(lambda: record["results"].pop() if record["results"] else None, None))


SEARCH = Tool(
    name="search",
    title="Search notes",
    description=(
        "Search the user's bookmarks and notes by words and meaning. Returns notes, best first, "
        "each with its best passage, author, date, tags and address."
    ),
    request=NoteSearchRequest,
    record=NotesRecord,
    run=run,
    text=notes_text,
    fit=fit_notes,
    reads_collections=True,
)

"""A note: a document with the fields of its front matter, and what they default to."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from ubp.core.model import FilePath, ObjectId, Page, PageFields
from ubp.core.paths import doc_id
from ubp.index.expiry import find_expired
from ubp.index.session import Session
from ubp.index.view import View
from ubp.search.dates import created_at

REPORTS = "oss/"
"""Reports on repositories are below it: `oss/OWNER/REPO.md`. They are not notes."""

DATE_NAMES = ("date", "created", "saved")
ENGAGEMENT_NAMES = ("likes", "stars", "favorite_count", "stargazers_count")


class Note(NamedTuple):
    """A document as a note.

    `date`, in seconds since the epoch, is that of the front matter, else when the file was first
    committed; None: unknown. `category` is the front matter's, else the first folder of the path.
    `engagement` is how often others liked or starred it, as far as its export says.
    """

    path: FilePath
    blob: ObjectId
    id: str
    title: str
    url: str
    author: str
    date: int | None
    tags: tuple[str, ...]
    category: str
    sentiment: str
    action: str
    summary: str
    engagement: int = 0

    @property
    def day(self) -> str:
        """The day of its date, in UTC; "" if it is unknown."""
        return "" if self.date is None else day_of(self.date)


class NoteFilter(NamedTuple):
    """Which notes are wanted; empty values match every note.

    `date_from` and `date_to` are days or moments in ISO 8601, the last day included.
    """

    category: str = ""
    date_from: str = ""
    date_to: str = ""
    sentiment: str = ""
    action: str = ""

    def matches(self, note: Note) -> bool:
        """Return whether a note is wanted; one of unknown date is in no range."""
        start, end = date_bounds(self.date_from)[0], date_bounds(self.date_to)[1]
        is_dated = note.date is not None and start <= note.date < end
        return (
            (is_dated or not (self.date_from or self.date_to))
            and self.category.casefold() in {"", note.category.casefold()}
            and self.sentiment in {"", note.sentiment}
            and self.action in {"", note.action}
        )


EVERY_NOTE = NoteFilter()


def read_all_notes(session: Session, view: View) -> Mapping[FilePath, Note]:
    """Return all notes of a view by path, except those that have expired."""
    cache: dict[str, Mapping[FilePath, Note]] = view.derived("notes", dict)
    if not cache:
        pages = [page for page in view.pages() if not page.filepath.startswith(REPORTS)]
        cache["all"] = read_notes(session, view, pages)
    expired = find_expired(view, session.clock())
    notes = cache["all"]
    return {path: notes[path] for path in notes if path not in expired} if expired else notes


def read_notes(session: Session, view: View, pages: Collection[Page]) -> dict[FilePath, Note]:
    """Return these documents as notes."""
    fields = view.fields([page.filepath for page in pages])
    undated = [page.filepath for page in pages if _date(fields.get(page.filepath, {})) is None]
    created = created_at(session, view, undated)
    collection = view.context.collection
    return {
        page.filepath: _note(
            page, fields.get(page.filepath, {}), created.get(page.filepath), collection
        )
        for page in pages
    }


def _note(page: Page, fields: PageFields, created: int | None, collection: str) -> Note:
    written = _date(fields)
    folder, slash, _ = page.filepath.partition("/")
    return Note(
        page.filepath,
        page.blob,
        _text(fields, "id") or doc_id(page.filepath, collection),
        page.facts.title or page.filepath.rpartition("/")[2].rpartition(".")[0],
        _text(fields, "url") or _text(fields, "original"),
        _text(fields, "author"),
        created if written is None else written,
        page.facts.tags,
        _text(fields, "category") or (folder if slash else ""),
        _text(fields, "sentiment"),
        _text(fields, "action"),
        _text(fields, "summary"),
        max(_number(fields, name) for name in ENGAGEMENT_NAMES),
    )


def _text(fields: PageFields, name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ", ".join(value)


def _number(fields: PageFields, name: str) -> int:
    text = _text(fields, name)
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0


MAX_DIGITS = 12


def is_dated(fields: PageFields) -> bool:
    """Return whether front matter has the date of a note."""
    return _date(fields) is not None


def _date(fields: PageFields) -> int | None:
    for name in DATE_NAMES:
        if (moment := parse_date(_text(fields, name))) is not None:
            return moment
    return None


def parse_date(text: str) -> int | None:
    """Return a date or moment in ISO 8601 as seconds since the epoch; None: it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def date_bounds(text: str) -> tuple[float, float]:
    """Return where a day, or a moment, starts and ends; "": everything."""
    if not text:
        return float("-inf"), float("inf")
    moment = parse_date(text)
    if moment is None:
        return float("inf"), float("-inf")
    length = DAY_SECONDS if len(text) == len("2026-01-01") else 1
    return moment, moment + length


DAY_SECONDS = 86_400


def day_of(seconds: float) -> str:
    """Return a moment's day in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def texts_of(view: View, paths: Collection[FilePath]) -> dict[FilePath, str]:
    """Return the whole texts of notes; "" where one cannot be read."""
    contents = view.read(paths)
    return {path: (contents.get(path) or b"").decode("utf-8", "replace") for path in paths}

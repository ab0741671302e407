"""Notes that match a query, of those that a filter wants."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.model import FilePath
from ubp.index.session import Session
from ubp.index.view import View
from ubp.notes.note import Note, NoteFilter, read_notes, texts_of
from ubp.search.pages import PageAnswer, SearchContext, SearchRequest, find_pages
from ubp.search.results import PageHit
from ubp.search.run import open_search


class NoteHit(NamedTuple):
    """A note that was found, with its text; `score` is between 0 and 1."""

    note: Note
    hit: PageHit
    text: str

    @property
    def score(self) -> float:
        """The score of the document."""
        return self.hit.score

    @property
    def passage(self) -> str:
        """The text of its best section, else its beginning."""
        extracts = (section.extract for section in self.hit.sections)
        return next((extract.text for extract in extracts if extract), "") or self.text


class FoundNotes(NamedTuple):
    """The notes that match best, and how many do."""

    hits: tuple[NoteHit, ...]
    total: int
    is_exact: bool


class NoteSearch:
    """A search in the notes of a session's snapshot; several queries share what it has read."""

    def __init__(self, session: Session) -> None:
        """Read the notes."""
        self.view: View
        self._context: SearchContext
        self.view, self._context = open_search(session)
        self.notes: Mapping[FilePath, Note] = read_notes(session, self.view)

    def find_pages(
        self,
        query: str,
        limit: int,
        wanted: NoteFilter = NoteFilter(),  # noqa: B008  # immutable
    ) -> PageAnswer:
        """Return the notes that match a query best, as documents."""
        within = frozenset(path for path, note in self.notes.items() if wanted.matches(note))
        request = SearchRequest(query, limit=limit, within=within)
        return find_pages(self.view, request, self._context)

    def find(
        self,
        query: str,
        limit: int,
        wanted: NoteFilter = NoteFilter(),  # noqa: B008  # immutable
    ) -> FoundNotes:
        """Return the notes that match a query best, with their texts."""
        answer = self.find_pages(query, limit, wanted)
        texts = texts_of(self.view, [hit.page.filepath for hit in answer.pages])
        hits = tuple(
            NoteHit(self.notes[hit.page.filepath], hit, texts[hit.page.filepath])
            for hit in answer.pages
        )
        return FoundNotes(hits, answer.total, answer.is_exact)

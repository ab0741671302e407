"""Notes that match a query, of those that a filter wants."""

from typing import NamedTuple

from ubp.index.expiry import find_expired
from ubp.index.session import Session
from ubp.notes.note import EVERY_NOTE, REPORTS, Note, NoteFilter, read_all_notes, read_notes
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.pages import SearchRequest, find_pages
from ubp.search.results import PageHit
from ubp.search.run import open_search


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
    `has_words`: some note contains one of them, else scores are those of the meaning alone.
    """

    hits: tuple[NoteHit, ...]
    total: int
    is_exact: bool
    coverage: float
    has_words: bool


class NoteSearch:
    """A search in the notes of a session's snapshot."""

    def __init__(self, session: Session) -> None:
        """Bring the index up to date."""
        self._session = session
        self.view, self._context = open_search(session)

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
        request = SearchRequest(query, limit=limit, filters=filters, is_absolute=True)
        answer = find_pages(self.view, request, self._context)
        found = read_notes(self._session, self.view, [hit.page for hit in answer.pages])
        return FoundNotes(
            tuple(NoteHit(found[hit.page.filepath], hit) for hit in answer.pages),
            answer.total,
            answer.is_exact,
            answer.coverage,
            bool(answer.rankings.words.places),
        )

"""What a search answers: sections, or pages with their sections."""

from typing import NamedTuple

from ubp.index import View
from ubp.model import FilePath, Page
from ubp.search.file_names import FileNames
from ubp.search.hits import Hit, show_hits
from ubp.search.query import Query, read_query
from ubp.search.ranking import Corpus, Ranked, Ranking, rank

# A page that holds the words everywhere shows its best places.
SECTIONS_A_PAGE = 3
# So many places are ranked for each page that is asked for.
PLACES_A_PAGE = 5


class SectionAnswer(NamedTuple):
    """The best sections for a query, and how many there are."""

    query: Query
    ranking: Ranking
    hits: tuple[Hit, ...]


class PageHit(NamedTuple):
    """A page that answers; `score` is 1 for the best one and falls towards 0."""

    page: Page
    score: float
    hits: tuple[Hit, ...]


class PageAnswer(NamedTuple):
    """The best pages for a query; `total` is how many sections there are, see `Ranking`."""

    query: Query
    ranking: Ranking
    pages: tuple[PageHit, ...]


def find_sections(view: View, text: str, limit: int) -> SectionAnswer:
    """The best sections for what a user typed."""
    query, ranking = _rank(view, text, limit)
    return SectionAnswer(query, ranking, show_hits(view, ranking.places[:limit], ranking.terms))


def find_pages(view: View, text: str, limit: int) -> PageAnswer:
    """The best pages for what a user typed, with their best sections."""
    query, ranking = _rank(view, text, limit * PLACES_A_PAGE)
    by_page: dict[FilePath, list[Ranked]] = {}
    for place in ranking.places:
        by_page.setdefault(place.path, []).append(place)
    kept = [
        place for places in list(by_page.values())[:limit] for place in places[:SECTIONS_A_PAGE]
    ]
    found: dict[FilePath, list[Hit]] = {}
    for hit in show_hits(view, kept, ranking.terms):
        found.setdefault(hit.page.filepath, []).append(hit)
    best = ranking.places[0].rank if ranking.places else 0.0
    pages = tuple(
        PageHit(hits[0].page, hits[0].rank / best if best else 1.0, tuple(hits))
        for hits in found.values()
    )
    return PageAnswer(query, ranking, pages)


def _rank(view: View, text: str, limit: int) -> tuple[Query, Ranking]:
    query = read_query(text)
    if query.tree is None:
        return query, Ranking()
    corpus = Corpus(view.full_text(), FileNames(view.document_paths()))
    return query, rank(corpus, query, limit)

"""The sections that hold a query's words: what `find in pages` is to `search`."""

from typing import NamedTuple

from ubp.index import View
from ubp.search.file_names import FileNames
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.hits import Hit, show_hits
from ubp.search.query import Query, read_query
from ubp.search.ranking import Corpus, Ranking, rank
from ubp.search.scope import find_admitted


class SectionAnswer(NamedTuple):
    """The best sections for a query, and how many there are."""

    query: Query
    ranking: Ranking
    hits: tuple[Hit, ...]


def find_sections(
    view: View, text: str, limit: int, names: FileNames, filters: Filters = NO_FILTERS
) -> SectionAnswer:
    """The best sections for what a user typed; here a section is the unit that a query is about."""
    query = read_query(text)
    within = find_admitted(view, query.filters.joined(filters), names.paths)
    ranking = rank(Corpus(view.full_text(), names, within), query, limit)
    return SectionAnswer(query, ranking, show_hits(view, ranking.places[:limit], ranking.terms))

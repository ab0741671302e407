"""The sections that hold a query's words: what `find in pages` is to `search`."""

from typing import NamedTuple

from ubp.index import View
from ubp.search.file_names import FileNames
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.hits import Hit, show_hits
from ubp.search.query import Query, read_query
from ubp.search.ranking import Corpus, Ranking, rank
from ubp.search.scope import find_admitted

# Counting costs 5 µs a chunk, and nobody reads the thousandth.
COUNTED = 100


class SectionAnswer(NamedTuple):
    """The best sections for a query; `total` places hold it, at least that many if not `is_exact`.

    A long section may be several places.
    """

    query: Query
    ranking: Ranking
    hits: tuple[Hit, ...]
    total: int
    is_exact: bool


def find_sections(
    view: View, text: str, limit: int, names: FileNames, filters: Filters = NO_FILTERS
) -> SectionAnswer:
    """The best sections that hold what a user typed, as it is written.

    Here a section is the unit that a query is about.
    """
    query = read_query(text, is_exact=True)
    within = find_admitted(view, query.filters.joined(filters), names.paths)
    corpus = Corpus(view.full_text(), names, within)
    ranking = rank(corpus, query, limit)
    total, is_exact = len(ranking.places), not ranking.is_cut
    if ranking.is_cut and within is None:
        total = max(total, corpus.full_text.count(ranking.expression, COUNTED))
        is_exact = total < COUNTED
    hits = show_hits(view, ranking.places[:limit], ranking.terms)
    return SectionAnswer(query, ranking, hits, total, is_exact)

"""Hits as they are shown: where a section holds the words, and a part of it.

The sections that hold a query's words: what `find in pages` is to `search`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.core.model import Chunk, Page, Section
from ubp.index.view import View
from ubp.search.excerpt import Snippet, cut_snippet
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.lexical import Corpus, FileNames, LexicalRanking, Ranked, rank
from ubp.search.query import Query, read_query
from ubp.search.results import Text, read_texts
from ubp.search.scope import find_allowed
from ubp.search.terms import Term


class Hit(NamedTuple):
    """A part of a page that answers; the smaller the rank, the better.

    `section` is the one that `line` lies in, None where the page has none. `line`, from 1, is that
    of the first highlight, else the first one of the part.
    """

    page: Page
    rank: float
    section: Section | None
    line: int
    snippet: Snippet


def show_hits(view: View, places: Sequence[Ranked], terms: Sequence[Term]) -> tuple[Hit, ...]:
    """Cut what is shown of each place; one whose text cannot be had shows nothing of it."""
    texts = read_texts(view, {place.path for place in places})
    return tuple(_hit(place, texts[place.path], terms) for place in places if place.path in texts)


def _hit(place: Ranked, text: Text, terms: Sequence[Term]) -> Hit:
    part: Section | Chunk | None = next(iter(text.sections), None)
    if place.chunk and place.chunk.number < len(text.chunks):
        part = text.chunks[place.chunk.number]
    if part is None:
        return Hit(text.page, place.rank, None, 1, Snippet("", (), 0))
    snippet = cut_snippet(text.cut(part), terms)
    line = part.line_start + snippet.line
    number = text.section_at(line)
    section = None if number is None else text.sections[number]
    return Hit(text.page, place.rank, section, line, snippet)


# Counting costs 5 µs a chunk, and nobody reads the thousandth.
COUNTED = 100


class SectionAnswer(NamedTuple):
    """The best sections for a query; `total` places hold it, at least that many if not `is_exact`.

    A long section may be several places.
    """

    query: Query
    ranking: LexicalRanking
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
    within = find_allowed(view, query.filters.joined(filters), names.paths)
    corpus = Corpus(view.full_text(), names, within)
    ranking = rank(corpus, query, limit)
    total, is_exact = len(ranking.places), not ranking.is_cut
    if ranking.is_cut and within is None:
        total = max(total, corpus.full_text.count(ranking.expression, COUNTED))
        is_exact = total < COUNTED
    hits = show_hits(view, ranking.places[:limit], ranking.terms)
    return SectionAnswer(query, ranking, hits, total, is_exact)

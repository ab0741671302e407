"""The sections that contain the words of a query; `pages` finds documents."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.core.model import Chunk, Page, Section
from ubp.search.excerpt import Snippet, cut_snippet
from ubp.search.filters import NO_FILTERS, Filters
from ubp.search.lexical import Corpus, LexicalRanking, Ranked, rank
from ubp.search.query import Condition, Query, read_query
from ubp.search.results import DocumentText, read_texts
from ubp.search.searched import Names, Searched
from ubp.search.terms import Term

# Counting costs 5 µs a chunk, and nobody reads the thousandth.
MAX_COUNTED = 100


class Hit(NamedTuple):
    """A part of a document that matches; the smaller the rank, the better.

    `section` is the one that contains `line`, None if the document has no sections. `line`, from 1,
    is the line of the first highlight, or the first line of the part.
    """

    page: Page
    rank: float
    section: Section | None
    line: int
    snippet: Snippet


class SectionAnswer(NamedTuple):
    """The best sections for a query; `total` parts match, or at least that many if not `is_exact`.

    A long section may consist of several parts.
    """

    query: Query
    ranking: LexicalRanking
    hits: tuple[Hit, ...]
    total: int
    is_exact: bool


def find_sections(
    view: Searched, text: str, limit: int, names: Names, filters: Filters = NO_FILTERS
) -> SectionAnswer:
    """Return the best sections for a query as written; operators apply to a section, not a file.

    Raises:
        UsageError: a filter on a field of front matter cannot be read.
    """
    query = read_query(text, is_exact=True, field_names=view.field_names)
    query = query._replace(filters=query.filters.joined(filters))
    within = names.select(Condition(query.filters)) if query.filters.are_any else None
    corpus = Corpus(view.full_text(), names, within)
    ranking = rank(corpus, query, limit)
    total, is_exact = len(ranking.places), not ranking.is_cut
    if ranking.match and ranking.is_cut and within is None:
        total = max(total, corpus.full_text.count(ranking.match, MAX_COUNTED))
        is_exact = total < MAX_COUNTED
    places = ranking.places[:limit]
    texts = read_texts(view, {place.path for place in places})
    hits = tuple(
        _hit(place, texts[place.path], ranking.terms) for place in places if place.path in texts
    )
    return SectionAnswer(query, ranking, hits, total, is_exact)


def _hit(place: Ranked, text: DocumentText, terms: Sequence[Term]) -> Hit:
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

"""Hits as they are shown: where a section holds the words, and a part of it."""

from collections.abc import Sequence
from typing import NamedTuple

from ubp.index import View
from ubp.model import Chunk, Page, Section
from ubp.search.ranking import Ranked
from ubp.search.snippet import Snippet, cut_snippet
from ubp.search.terms import Term
from ubp.search.texts import Text, read_texts


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

"""Hits as they are shown: where a section holds the words, and a part of it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ubp.index import View
from ubp.model import Chunk, Page, Section
from ubp.search.ranking import Ranked
from ubp.search.snippet import Snippet, cut_snippet
from ubp.search.terms import Term


class Hit(NamedTuple):
    """A part of a page that answers; the smaller the rank, the better.

    `section` is the one that `line` lies in, None where the page has none. `line`, from 1, is that
    of the first highlight, else the first one of the part. `content` is the part's text.
    """

    page: Page
    rank: float
    section: Section | None
    line: int
    content: str
    snippet: Snippet


def show_hits(view: View, places: Sequence[Ranked], terms: Sequence[Term]) -> tuple[Hit, ...]:
    """Cut what is shown of each place; one whose text cannot be had shows nothing of it."""
    linked, full_text = view.learn_graph(), view.full_text()
    texts = view.read({place.path for place in places})
    hits = []
    for place in places:
        page = view.page(place.path)
        if page is None:
            continue
        sections = linked.sections(place.path)
        data = texts.get(place.path) or b""
        chunks = full_text.chunks(place.chunk.blob) if place.chunk else ()
        hits.append(_hit(page, place, Parts(sections, chunks), data, terms))
    return tuple(hits)


class Parts(NamedTuple):
    """What a page consists of."""

    sections: Sequence[Section]
    chunks: Sequence[Chunk]


def _hit(page: Page, place: Ranked, parts: Parts, data: bytes, terms: Sequence[Term]) -> Hit:
    sections = parts.sections
    part: Section | Chunk | None = next(iter(sections), None)
    if place.chunk and place.chunk.number < len(parts.chunks):
        part = parts.chunks[place.chunk.number]
    if part is None:
        return Hit(page, place.rank, None, 1, "", Snippet("", (), 0))
    text = data[part.byte_start : part.byte_end].decode("utf-8", "replace")
    snippet = cut_snippet(text, terms)
    line = part.line_start + snippet.line
    return Hit(page, place.rank, _section_at(sections, line), line, text, snippet)


def _section_at(sections: Iterable[Section], line: int) -> Section | None:
    around = (one for one in sections if one.line_start <= line <= one.line_end)
    return next(around, None)

"""The pages that found pages are linked with: what an agent may want to read next.

What found pages consist of: read for those that are shown, all together.

The sections of a page that answer: chunks of both legs put where a reader finds them.

Found pages as they are shown: why they are here, their best sections, the way to them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.core.model import Chunk, FilePath, Link, LinkType, ObjectId, Page, Section
from ubp.core.text import summarize
from ubp.index.store.links import Neighbor, Neighborhood
from ubp.index.view import View
from ubp.search.excerpt import Passage, cut_passage
from ubp.search.fusion import Fused, Ranking
from ubp.search.match import find_terms
from ubp.search.proximity import MAX_LINKS, paths_around
from ubp.search.semantic import FAR
from ubp.search.terms import Term
from ubp.search.traverse import LINK_TYPE_RANKS, Direction, Path

LINKED_A_PAGE = 3
SUMMARY_CHARACTERS = 120
MAX_SUMMARIES = 20_000  # 5 MB


class LinkedPage(NamedTuple):
    """A page at the other end of a link (`outlink`: the found page has it), and how it begins."""

    page: Page
    link: Link | Neighbor
    direction: Direction
    summary: str


def find_linked(
    view: View, found: Sequence[FilePath], link_types: Collection[LinkType] = ()
) -> dict[FilePath, tuple[LinkedPage, ...]]:
    """The pages that each found page is linked with, the strongest links first.

    Those that were not found themselves come first, pages that it leads to before pages that lead
    to it.
    """
    around = view.adjacency().neighbors(found, MAX_LINKS)
    chosen = {path: _choose(path, around[path], found, link_types) for path in found}
    pages = view.pages_at({link.filepath for links in chosen.values() for link in links})
    summaries = _summarise(view, pages)
    return {
        path: tuple(
            LinkedPage(pages[link.filepath], link.link, link.direction, summaries[link.filepath])
            for link in links
            if link.filepath in pages
        )
        for path, links in chosen.items()
    }


def _choose(
    path: FilePath,
    around: Neighborhood,
    found: Collection[FilePath],
    link_types: Collection[LinkType],
) -> list[Path]:
    ranked = sorted(
        paths_around(path, around, 1, link_types),
        key=lambda link: (link.filepath in found, LINK_TYPE_RANKS[link.link.link_type]),
    )
    first: dict[FilePath, Path] = {}
    for link in ranked:
        first.setdefault(link.filepath, link)
    return list(first.values())[:LINKED_A_PAGE]


def _summarise(view: View, pages: Mapping[FilePath, Page]) -> dict[FilePath, str]:
    """How pages begin; remembered of those that are as they were committed."""
    known: dict[ObjectId, str] = view.context.cache.derived("summaries", dict)
    if len(known) > MAX_SUMMARIES:
        known.clear()
    steady = {path: page.blob for path, page in pages.items() if not view.is_changed(path)}
    new = [path for path in pages if steady.get(path) not in known]
    contents, sections = view.read(new), view.link_graph().sections_of(new)
    made = {path: _begin(contents.get(path) or b"", sections.get(path, ())) for path in new}
    known |= {steady[path]: made[path] for path in new if path in steady and contents.get(path)}
    return {path: made[path] if path in made else known[steady[path]] for path in pages}


def _begin(data: bytes, sections: Sequence[Section]) -> str:
    text = data[sections[0].byte_start :] if sections else b""
    return summarize(text.decode("utf-8", "replace"), SUMMARY_CHARACTERS)


# To read a page, its sections and its chunks takes 0.2 ms, and who asks again is shown much of the
# same: so many bytes of pages are remembered, a section and a chunk as so many.
MOST_REMEMBERED, BYTES_A_PART = 8 << 20, 500


class Text(NamedTuple):
    """A page; `data` are its bytes, empty where they cannot be had."""

    page: Page
    sections: Sequence[Section]
    chunks: Sequence[Chunk]
    data: bytes

    def cut(self, part: Section | Chunk) -> str:
        """The text of a part of it."""
        return self.data[part.byte_start : part.byte_end].decode("utf-8", "replace")

    def section_at(self, line: int) -> int | None:
        """The number of the section that a line lies in."""
        for number, section in enumerate(self.sections):
            if section.line_start <= line <= section.line_end:
                return number
        return None


def read_texts(view: View, paths: Collection[FilePath]) -> dict[FilePath, Text]:
    """Read these pages; those that are gone meanwhile are left out."""
    pages = view.pages_at(paths)
    remembered = view.context.cache.derived("texts", _Remembered)
    known = {path: remembered.text(page) for path, page in pages.items()}
    read = _read(view, {path: page for path, page in pages.items() if not known[path]})
    for path, text in read.items():
        # What differs from the commit may have come through Git's filters.
        if text.data and text.chunks and not view.is_changed(path):
            remembered.add(text)
    return {path: known[path] or read[path] for path in pages}


def _read(view: View, pages: Mapping[FilePath, Page]) -> dict[FilePath, Text]:
    if not pages:
        return {}
    sections = view.link_graph().sections_of(pages)
    chunks = view.full_text().chunks({page.blob for page in pages.values()})
    contents = view.read(pages)
    return {
        path: Text(
            page, sections.get(path, ()), chunks.get(page.blob, ()), contents.get(path) or b""
        )
        for path, page in pages.items()
    }


class _Remembered:
    """Pages by their blobs, those that were asked for last."""

    def __init__(self) -> None:
        self._texts: dict[ObjectId, Text] = {}
        self._size = 0

    def text(self, page: Page) -> Text | None:
        text = self._texts.pop(page.blob, None)
        if text is None:
            return None
        self._texts[page.blob] = text
        return text if text.page == page else text._replace(page=page)

    def add(self, text: Text) -> None:
        if text.page.blob in self._texts:
            return
        self._texts[text.page.blob] = text
        self._size += _size(text)
        while self._size > MOST_REMEMBERED:
            self._size -= _size(self._texts.pop(next(iter(self._texts))))


def _size(text: Text) -> int:
    return len(text.data) + BYTES_A_PART * (len(text.sections) + len(text.chunks))


# A page that holds the words everywhere shows its best places.
SECTIONS_A_PAGE = 3


class SectionHit(NamedTuple):
    """A section that answers; only the best one of a page has a passage.

    `section` is None where the page has none. `line`, from 1, is that of the passage's first
    highlight, else where the section begins. `score` is the page's for its best section, less for
    others.
    """

    section: Section | None
    score: float
    line: int
    passage: Passage | None = None


def best_sections(
    text: Text, chunk_scores: Mapping[int, float], page_score: float, terms: Sequence[Term]
) -> tuple[SectionHit, ...]:
    """The best sections of a page; where no chunk of it is scored its beginning.

    `chunk_scores` are those of its chunks, by their numbers. What two chunks, or both legs, found
    in the same section is told once.
    """
    numbers = sorted(chunk_scores, key=lambda number: (-chunk_scores[number], number))
    parts: list[tuple[Section | Chunk, float]] = [
        (text.chunks[number], chunk_scores[number])
        for number in numbers
        if number < len(text.chunks)
    ] or [(section, 1.0) for section in text.sections[:1]]
    if not parts:
        return (SectionHit(None, page_score, 1),)
    best_part, best_score = parts[0]
    passage = cut_passage(text.cut(best_part), terms)
    line = best_part.line_start + passage.line
    found = {text.section_at(line): SectionHit(None, page_score, line, passage)}
    for part, score in parts[1:]:
        section = _section_of(text, part, terms)
        if len(found) < SECTIONS_A_PAGE and section not in found:
            share = max(0.0, score) / best_score if best_score > 0 else 0.0
            found[section] = SectionHit(None, page_score * share, part.line_start)
    return tuple(
        _placed(hit, None if number is None else text.sections[number])
        for number, hit in found.items()
    )


def _placed(hit: SectionHit, section: Section | None) -> SectionHit:
    if section is None or hit.passage:
        return hit._replace(section=section)
    return hit._replace(section=section, line=section.line_start)


def _section_of(text: Text, part: Section | Chunk, terms: Sequence[Term]) -> int | None:
    """The section that a part lies in; of several that are one chunk that with the first term."""
    number = text.section_at(part.line_start)
    if number is None or part.line_end <= text.sections[number].line_end:
        return number
    body = text.cut(part)
    spans = find_terms(body, terms)
    return text.section_at(part.line_start + (body.count("\n", 0, spans[0].start) if spans else 0))


Reason = Literal["direct_match", "direct_link", "2hop", "graph_proximity"]
REASONS: Mapping[int, Reason] = {1: "direct_link", 2: "2hop"}


class Rankings(NamedTuple):
    """What each leg has found."""

    words: Ranking = Ranking()
    meaning: Ranking = Ranking()
    links: Ranking = Ranking()


class Breakdown(NamedTuple):
    """What each leg says of a page, None where it says nothing.

    `words`: its BM25 as a share of what it could be, or of the best page's where words alone were
    asked; `meaning`: the cosine of its closest chunk, and of a page without a title what its
    name adds; `links`: its proximity to another of the best pages.
    """

    words: float | None
    meaning: float | None
    links: float | None


class PageHit(NamedTuple):
    """A page that answers; `score` lies between 0 and 1.

    `held` is what it holds of what was looked for, as far as its best section, its title and the
    name of its file tell. `link_path` is how a page was reached that does not answer by itself; `near` is
    the page that it was reached from.
    """

    page: Page
    score: float
    breakdown: Breakdown
    reason: Reason
    held: tuple[str, ...]
    sections: tuple[SectionHit, ...]
    link_path: Path | None = None
    near: Page | None = None


def is_found(one: Fused, legs: Rankings) -> bool:
    """Whether a page answers: it holds the words, or is near in meaning or by links."""
    path = one.path
    return path in legs.words.scores or is_near(path, legs) or path in legs.links.scores


def is_near(path: FilePath, legs: Rankings) -> bool:
    """Whether a page is near enough in meaning to be told."""
    return legs.meaning.scores.get(path, -1.0) >= FAR


def show_pages(
    view: View,
    found: Sequence[Fused],
    legs: Rankings,
    ways: Mapping[FilePath, Path],
    terms: Sequence[Term],
) -> tuple[PageHit, ...]:
    """Read what is shown of these pages; one that is gone meanwhile is left out."""
    linking = {
        one.path: ways[one.path]
        for one in found
        if one.path in ways and not _is_direct(one.path, legs)
    }
    texts = read_texts(view, [one.path for one in found])
    others = view.pages_at({way.via for way in linking.values()} - texts.keys())
    others |= {path: text.page for path, text in texts.items()}
    scores = _chunk_scores(legs, texts.keys())
    hits = []
    for one in found:
        if one.path not in texts:
            continue
        page, way = texts[one.path].page, linking.get(one.path)
        sections = best_sections(texts[one.path], scores.get(one.path, {}), one.score, terms)
        hit = PageHit(
            page,
            one.score,
            _breakdown(one, legs),
            "direct_match" if way is None else REASONS.get(way.depth, "graph_proximity"),
            _held(page, sections, terms),
            sections,
            way,
            others.get(way.via) if way else None,
        )
        hits.append(hit)
    return tuple(hits)


def _is_direct(path: FilePath, legs: Rankings) -> bool:
    return path in legs.words.scores or is_near(path, legs)


def _chunk_scores(legs: Rankings, paths: Collection[FilePath]) -> dict[FilePath, dict[int, float]]:
    """By page and chunk what words and meaning say of it, each by the best there is."""
    scores: dict[FilePath, dict[int, float]] = {}
    for leg, least in ((legs.words, 0.0), (legs.meaning, FAR)):
        best = max(leg.scores.values(), default=0.0)
        for place in leg.places:
            if place.path in paths and place.number is not None and place.score >= least < best:
                told = scores.setdefault(place.path, {})
                told[place.number] = told.get(place.number, 0.0) + place.score / best
    return scores


def _breakdown(one: Fused, legs: Rankings) -> Breakdown:
    cosine = legs.meaning.scores.get(one.path)
    return Breakdown(
        one.words,
        None if cosine is None else min(1.0, max(0.0, cosine)),
        legs.links.scores.get(one.path),
    )


def _held(page: Page, sections: Sequence[SectionHit], terms: Sequence[Term]) -> tuple[str, ...]:
    facts = page.facts
    headings = (heading for hit in sections if hit.section for heading in hit.section.heading_path)
    told = "\n".join([facts.title or "", page.filepath, *facts.aliases, *headings])
    held = {span.term for span in find_terms(told, terms)}
    for hit in sections:
        held |= set(hit.passage.held) if hit.passage else set()
    return tuple(term.written for number, term in enumerate(terms) if number in held)

"""Found pages as they are shown: why they are here, their best sections, the way to them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from ubp.index import View
from ubp.model import FilePath, Page
from ubp.search.folding import find_terms
from ubp.search.fusion import Fused
from ubp.search.leg import Leg
from ubp.search.links import Way
from ubp.search.meaning import FAR
from ubp.search.sections import SectionHit, find_sections
from ubp.search.terms import Term
from ubp.search.texts import read_texts

Reason = Literal["direct_match", "direct_link", "2hop", "graph_proximity"]
REASONS: Mapping[int, Reason] = {1: "direct_link", 2: "2hop"}


class Legs(NamedTuple):
    """What each leg has found."""

    words: Leg = Leg()
    meaning: Leg = Leg()
    links: Leg = Leg()


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
    name of its file tell. `way` is how a page was reached that does not answer by itself; `near` is
    the page that it was reached from.
    """

    page: Page
    score: float
    breakdown: Breakdown
    reason: Reason
    held: tuple[str, ...]
    sections: tuple[SectionHit, ...]
    way: Way | None = None
    near: Page | None = None


def is_found(one: Fused, legs: Legs) -> bool:
    """Whether a page answers: it holds the words, or is near in meaning or by links."""
    path = one.path
    return path in legs.words.scores or is_near(path, legs) or path in legs.links.scores


def is_near(path: FilePath, legs: Legs) -> bool:
    """Whether a page is near enough in meaning to be told."""
    return legs.meaning.scores.get(path, -1.0) >= FAR


def show_pages(
    view: View,
    found: Sequence[Fused],
    legs: Legs,
    ways: Mapping[FilePath, Way],
    terms: Sequence[Term],
) -> tuple[PageHit, ...]:
    """Read what is shown of these pages; one that is gone meanwhile is left out."""
    linking = {
        one.path: ways[one.path]
        for one in found
        if one.path in ways and not _is_direct(one.path, legs)
    }
    texts = read_texts(view, [one.path for one in found])
    others = view.pages_at({way.near for way in linking.values()} - texts.keys())
    others |= {path: text.page for path, text in texts.items()}
    scores = _chunk_scores(legs, texts.keys())
    hits = []
    for one in found:
        if one.path not in texts:
            continue
        page, way = texts[one.path].page, linking.get(one.path)
        sections = find_sections(texts[one.path], scores.get(one.path, {}), one.score, terms)
        hit = PageHit(
            page,
            one.score,
            _breakdown(one, legs),
            "direct_match" if way is None else REASONS.get(way.hops, "graph_proximity"),
            _held(page, sections, terms),
            sections,
            way,
            others.get(way.near) if way else None,
        )
        hits.append(hit)
    return tuple(hits)


def _is_direct(path: FilePath, legs: Legs) -> bool:
    return path in legs.words.scores or is_near(path, legs)


def _chunk_scores(legs: Legs, paths: Collection[FilePath]) -> dict[FilePath, dict[int, float]]:
    """By page and chunk what words and meaning say of it, each by the best there is."""
    scores: dict[FilePath, dict[int, float]] = {}
    for leg, least in ((legs.words, 0.0), (legs.meaning, FAR)):
        best = max(leg.scores.values(), default=0.0)
        for place in leg.places:
            if place.path in paths and place.number is not None and place.score >= least < best:
                told = scores.setdefault(place.path, {})
                told[place.number] = told.get(place.number, 0.0) + place.score / best
    return scores


def _breakdown(one: Fused, legs: Legs) -> Breakdown:
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

"""The sections of a page that answer: chunks of both legs put where a reader finds them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.model import Chunk, Section
from ubp.search.folding import find_terms
from ubp.search.passage import Passage, cut_passage
from ubp.search.terms import Term
from ubp.search.texts import Text

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


def find_sections(
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

"""Records of suggested links."""

from dataclasses import dataclass
from typing import Annotated

from ubp.core.text import summarize
from ubp.frame.fields import (
    Count,
    DocId,
    DocType,
    Fraction,
    Keyword,
    Line,
    PageLevel,
    PagePath,
    Title,
)
from ubp.index.semantic_hits import SemanticHit
from ubp.search.suggest_links import LinkSuggestions, Suggestion

PASSAGE_CHARACTERS = 240

PairScore = Annotated[
    Fraction,
    "from 0 to 1; at 0.8 and above four of five pairs are worth a link, at 0.5 three of five",
]
Similarity = Annotated[
    float,
    "cosine similarity of the two passages; the score rates how unusual it is",
    Keyword("minimum", -1),
    Keyword("maximum", 1),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRecord:
    """A passage of one of two similar pages."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    doc_type: DocType
    heading_path: Annotated[
        tuple[str, ...], "headings above the passage, starting with the page's H1"
    ]
    line_start: Annotated[Line, "first line of the passage in the page, from 1"]
    line_end: Annotated[Line, "last line"]
    content: Annotated[
        str, "first prose of the page, at most 240 characters; empty if there is none"
    ] = ""
    staleness: PageLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecord:
    """Two pages without a link."""

    score: PairScore
    similarity: Similarity
    first: Annotated[PassageRecord, "passage of the first page (the requested page, if any)"]
    second: Annotated[PassageRecord, "passage of the second page"]
    shared_terms: Annotated[tuple[str, ...], "rarest words in both passages"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRecord:
    """Two pages with identical text."""

    score: PairScore
    similarity: Similarity
    first: Annotated[PassageRecord, "passage of the first page (the requested page, if any)"]
    second: Annotated[PassageRecord, "passage of the second page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionsRecord:
    """Similar pages that are not linked."""

    suggestions: Annotated[
        tuple[PairRecord, ...],
        "pairs of pages without a link in either direction, best first; translations and versions"
        " of a page count as one page",
    ]
    duplicates: Annotated[tuple[DuplicateRecord, ...], "pairs with identical text"] = ()
    pending_sections: Annotated[
        Count,
        "number of sections that could not be compared, because their content is missing from this"
        " clone",
    ] = 0


def suggestions_record(result: LinkSuggestions) -> SuggestionsRecord:
    """Return the record of `ubp suggest-links`."""
    suggestions = result.suggestions
    return SuggestionsRecord(
        suggestions=tuple(_pair(suggestion, result) for suggestion in suggestions.links),
        duplicates=tuple(_duplicate(suggestion, result) for suggestion in suggestions.duplicates),
        pending_sections=suggestions.pending,
    )


def _pair(suggestion: Suggestion, result: LinkSuggestions) -> PairRecord:
    return PairRecord(
        score=round(suggestion.score, 3),
        similarity=round(suggestion.first.score, 3),
        first=_passage(suggestion.first, suggestion.texts[0], result),
        second=_passage(suggestion.second, suggestion.texts[1], result),
        shared_terms=tuple(suggestion.terms),
    )


def _duplicate(suggestion: Suggestion, result: LinkSuggestions) -> DuplicateRecord:
    return DuplicateRecord(
        score=round(suggestion.score, 3),
        similarity=round(suggestion.first.score, 3),
        first=_passage(suggestion.first, suggestion.texts[0], result),
        second=_passage(suggestion.second, suggestion.texts[1], result),
    )


def _passage(hit: SemanticHit, text: str, result: LinkSuggestions) -> PassageRecord:
    document = result.documents[hit.path]
    return PassageRecord(
        doc_id=document.doc_id,
        filepath=document.path,
        title=document.title,
        doc_type=document.doc_type,
        heading_path=tuple(hit.heading_path),
        line_start=hit.line_start,
        line_end=hit.line_end,
        content=summarize(text, PASSAGE_CHARACTERS),
        staleness=result.assessments[hit.path].level,
    )

"""Records of suggested links: schemas/suggest-links.json."""

from typing import Any

from ubp.core.text import summarize
from ubp.index.vectors import SemanticHit
from ubp.output.records.pages import document_record
from ubp.search.suggest_links import LinkSuggestions, Suggestion

Record = dict[str, Any]

PASSAGE_CHARACTERS = 240


def suggestions_record(result: LinkSuggestions) -> Record:
    """Return the record of `ubp suggest-links`: schemas/suggest-links.json."""
    suggestions = result.suggestions
    return {
        "suggestions": [
            {**_pair(suggestion, result), "shared_terms": list(suggestion.terms)}
            for suggestion in suggestions.links
        ],
        "duplicates": [_pair(suggestion, result) for suggestion in suggestions.duplicates],
        "pending_sections": suggestions.pending,
    }


def _pair(suggestion: Suggestion, result: LinkSuggestions) -> Record:
    return {
        "score": round(suggestion.score, 3),
        "similarity": round(suggestion.first.score, 3),
        "first": _part(suggestion.first, suggestion.texts[0], result),
        "second": _part(suggestion.second, suggestion.texts[1], result),
    }


def _part(hit: SemanticHit, text: str, result: LinkSuggestions) -> Record:
    return {
        **document_record(result.documents[hit.path]),
        "heading_path": list(hit.heading_path),
        "line_start": hit.line_start,
        "line_end": hit.line_end,
        "content": summarize(text, PASSAGE_CHARACTERS),
        "staleness": result.assessments[hit.path].level,
    }

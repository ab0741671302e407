"""Links that may be missing, as records: schemas/suggest-links.json."""

from typing import Any

from ubp.core.text import summarize
from ubp.index.vectors import SemanticHit
from ubp.output.records.pages import document_record
from ubp.search.suggest_links import LinkSuggestions, Suggestion

Record = dict[str, Any]

PASSAGE_CHARACTERS = 240


def suggestions_record(found: LinkSuggestions) -> Record:
    """`ubp suggest-links`: schemas/suggest-links.json."""
    suggestions = found.suggestions
    return {
        "suggestions": [
            {**_pair(one, found), "shared_terms": list(one.terms)} for one in suggestions.links
        ],
        "duplicates": [_pair(one, found) for one in suggestions.duplicates],
        "pending_sections": suggestions.pending,
    }


def _pair(one: Suggestion, found: LinkSuggestions) -> Record:
    return {
        "score": round(one.score, 3),
        "similarity": round(one.first.score, 3),
        "first": _part(one.first, one.texts[0], found),
        "second": _part(one.second, one.texts[1], found),
    }


def _part(hit: SemanticHit, text: str, found: LinkSuggestions) -> Record:
    return {
        **document_record(found.documents[hit.path]),
        "heading_path": list(hit.heading_path),
        "line_start": hit.line_start,
        "line_end": hit.line_end,
        "content": summarize(text, PASSAGE_CHARACTERS),
        "staleness": found.assessments[hit.path].level,
    }

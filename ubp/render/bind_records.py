"""What pages seem to describe, as records: schemas/bind.json."""

from collections.abc import Sequence
from typing import Any

from ubp.binding.choosing import count_bindings
from ubp.binding.suggestion import BindingSuggestions, Evidence, Suggestion
from ubp.binding.writing import Bound
from ubp.paths import doc_id

Record = dict[str, Any]


def bind_record(found: BindingSuggestions, sure: float, done: Sequence[Bound] | None) -> Record:
    """`ubp bind`: schemas/bind.json. `done` is None where nothing was to be written."""
    counted = count_bindings(found, sure)
    return {
        "pages": [
            {
                "doc_id": doc_id(page.filepath),
                "filepath": page.filepath,
                "suggestions": [suggestion_record(one) for one in page.suggestions],
            }
            for page in found.pages
        ],
        "written": [_written(one) for one in done or () if not one.why_left],
        "left": [
            {"filepath": one.filepath, "reason": one.why_left} for one in done or () if one.why_left
        ],
        "summary": {
            "documents": found.documents,
            "bound": found.bound,
            "asked": len(found.pages),
            "proposed": counted.proposed,
            "confident": counted.confident,
            "sources": counted.sources,
        },
        "min_confidence": sure,
    }


def suggestion_record(one: Suggestion) -> Record:
    """A source that a page seems to describe, and why."""
    return {
        "source_path": one.source_path,
        "confidence": round(one.confidence, 3),
        "evidence": [_evidence(reason) for reason in one.evidence],
    }


def _evidence(one: Evidence) -> Record:
    return {
        "kind": one.kind,
        "detail": one.detail,
        "line": one.line,
        "weight": round(one.weight, 3),
    }


def _written(one: Bound) -> Record:
    return {
        "filepath": one.filepath,
        "sources": [naming._asdict() for naming in one.named],
        "diff": one.diff,
    }

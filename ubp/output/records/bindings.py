"""Records of bindings: schemas/bind.json, bind-review.json and coverage.json."""

from collections.abc import Sequence
from typing import Any

from ubp.bindings.coverage import Coverage
from ubp.bindings.features import BindingSuggestions, Evidence, Suggestion
from ubp.bindings.review import JUDGEMENTS, BindingReview, ReviewedBinding, estimate_effect
from ubp.bindings.suggest import count_bindings
from ubp.bindings.write import WriteResult
from ubp.core.paths import doc_id
from ubp.output.records.pages import moment_or_none

Record = dict[str, Any]


def bind_record(
    suggestions: BindingSuggestions, min_confidence: float, results: Sequence[WriteResult] | None
) -> Record:
    """Return the record of `ubp bind`; `done` is None where nothing was to be written."""
    counts = count_bindings(suggestions, min_confidence)
    return {
        "pages": [
            {
                "doc_id": doc_id(page.filepath),
                "filepath": page.filepath,
                "suggestions": [suggestion_record(suggestion) for suggestion in page.suggestions],
            }
            for page in suggestions.pages
        ],
        "written": [_written(result) for result in results or () if not result.skip_reason],
        "left": [
            {"filepath": result.filepath, "reason": result.skip_reason}
            for result in results or ()
            if result.skip_reason
        ],
        "summary": {
            "documents": suggestions.documents,
            "bound": suggestions.bound,
            "asked": len(suggestions.pages),
            "proposed": counts.proposed,
            "confident": counts.confident,
            "sources": counts.sources,
        },
        "min_confidence": min_confidence,
    }


def suggestion_record(suggestion: Suggestion) -> Record:
    """Return a proposed source with its evidence."""
    return {
        "source_path": suggestion.source_path,
        "confidence": round(suggestion.confidence, 3),
        "evidence": [_evidence(evidence) for evidence in suggestion.evidence],
    }


def _evidence(evidence: Evidence) -> Record:
    return {
        "kind": evidence.kind,
        "detail": evidence.detail,
        "line": evidence.line,
        "weight": round(evidence.weight, 3),
    }


def _written(result: WriteResult) -> Record:
    return {
        "filepath": result.filepath,
        "sources": [reference._asdict() for reference in result.written],
        "diff": result.diff,
    }


def coverage_record(coverage: Coverage, limit: int) -> Record:
    """Return the record of `ubp coverage` with the first `limit` gaps."""
    return {
        "snapshot": {"kind": coverage.snapshot.kind, "commit": coverage.snapshot.commit},
        "is_shallow": coverage.is_shallow,
        **coverage_parts(coverage, limit),
    }


def coverage_parts(coverage: Coverage, limit: int) -> Record:
    """Return the part of it that a report contains, too."""
    total = coverage.total
    return {
        "days": coverage.days,
        "since": moment_or_none(coverage.since),
        "files": {
            "total": total.files,
            "described": total.described_files,
            "described_percent": total.files_percent,
        },
        "changes": {
            "total": total.changes,
            "described": total.described_changes,
            "described_percent": total.changes_percent,
        },
        "gaps": [
            {"source_path": gap.path, "files": gap.files, "changes": gap.changes}
            for gap in coverage.gaps[:limit]
        ],
        "gap_count": len(coverage.gaps),
    }


def review_record(review: BindingReview, limit: int | None = None) -> Record:
    """Return the record of `ubp bind --review` with at most `limit` bindings."""
    return {
        "bindings": [_binding(binding) for binding in review.bindings[:limit]],
        "total": len(review.bindings),
        "commits": review.commits,
        "since": moment_or_none(review.since),
        "is_shallow": review.is_shallow,
        "summary": {name: review.count(name) for name in JUDGEMENTS},
        "effect": estimate_effect(review)._asdict(),
    }


def _binding(reviewed: ReviewedBinding) -> Record:
    binding, useful_share = reviewed.binding, reviewed.useful_share
    return {
        "doc_id": doc_id(binding.filepath),
        "filepath": binding.filepath,
        "line": binding.line,
        "source_path": binding.source_path,
        "judgement": reviewed.judgement,
        "verdict": binding.verdict,
        "commits": reviewed.commits,
        "changed": reviewed.changed,
        "together": reviewed.together,
        "fired": reviewed.fired,
        "followed": reviewed.followed,
        "pending": reviewed.pending,
        "useful_share": None if useful_share is None else round(useful_share, 3),
        "pages": binding.pages,
        "proposal": list(reviewed.proposal),
    }

"""What pages seem to describe, as records: schemas/bind.json.

What no page describes, as records: schemas/coverage.json.

Bindings held against history, as records: schemas/bind-review.json.
"""

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
    found: BindingSuggestions, sure: float, done: Sequence[WriteResult] | None
) -> Record:
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
        "written": [_written(one) for one in done or () if not one.skip_reason],
        "left": [
            {"filepath": one.filepath, "reason": one.skip_reason}
            for one in done or ()
            if one.skip_reason
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


def _written(one: WriteResult) -> Record:
    return {
        "filepath": one.filepath,
        "sources": [naming._asdict() for naming in one.written],
        "diff": one.diff,
    }


def coverage_record(found: Coverage, limit: int) -> Record:
    """`ubp coverage`: schemas/coverage.json; of the gaps the first `limit`."""
    return {
        "snapshot": {"kind": found.snapshot.kind, "commit": found.snapshot.commit},
        "is_shallow": found.is_shallow,
        **coverage_parts(found, limit),
    }


def coverage_parts(found: Coverage, limit: int) -> Record:
    """What is told of it in a report too."""
    total = found.total
    return {
        "days": found.days,
        "since": moment_or_none(found.since),
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
            for gap in found.gaps[:limit]
        ],
        "gap_count": len(found.gaps),
    }


def review_record(review: BindingReview, limit: int | None = None) -> Record:
    """`ubp bind --review`: schemas/bind-review.json; so many bindings at most."""
    return {
        "bindings": [_binding(one) for one in review.bindings[:limit]],
        "total": len(review.bindings),
        "commits": review.commits,
        "since": moment_or_none(review.since),
        "is_shallow": review.is_shallow,
        "summary": {name: review.count(name) for name in JUDGEMENTS},
        "effect": estimate_effect(review)._asdict(),
    }


def _binding(one: ReviewedBinding) -> Record:
    binding, share = one.binding, one.useful_share
    return {
        "doc_id": doc_id(binding.filepath),
        "filepath": binding.filepath,
        "line": binding.line,
        "source_path": binding.source_path,
        "judgement": one.judgement,
        "verdict": binding.verdict,
        "commits": one.commits,
        "changed": one.changed,
        "together": one.together,
        "fired": one.fired,
        "followed": one.followed,
        "pending": one.pending,
        "useful_share": None if share is None else round(share, 3),
        "pages": binding.pages,
        "proposal": list(one.proposal),
    }

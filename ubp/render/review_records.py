"""Bindings held against history, as records: schemas/bind-review.json."""

from typing import Any

from ubp.binding.review import JUDGEMENTS, BindingReview, ReviewedBinding, tell_effect
from ubp.paths import doc_id
from ubp.render.page_parts import moment_or_none

Record = dict[str, Any]


def review_record(review: BindingReview, limit: int | None = None) -> Record:
    """`ubp bind --review`: schemas/bind-review.json; so many bindings at most."""
    return {
        "bindings": [_binding(one) for one in review.bindings[:limit]],
        "total": len(review.bindings),
        "commits": review.commits,
        "since": moment_or_none(review.since),
        "is_shallow": review.is_shallow,
        "summary": {name: review.count(name) for name in JUDGEMENTS},
        "effect": tell_effect(review)._asdict(),
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

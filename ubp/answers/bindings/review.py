"""The record of the bindings that exist, compared with history."""

from dataclasses import dataclass
from typing import Annotated

from ubp.bindings.review import (
    JUDGEMENTS,
    BindingReview,
    Judgement,
    ReviewedBinding,
    estimate_effect,
)
from ubp.core.model import Verdict
from ubp.core.paths import doc_id
from ubp.frame.fields import Count, DocId, Fraction, Line, Moment, PagePath
from ubp.frame.records import moment_or_none


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedRecord:
    """Effect of a narrower source in the commits compared; of a file at most 100 changes count."""

    fired: Annotated[Count, "firings of the source"]
    fired_left: Annotated[Count, "firings of the proposal"]
    edits: Annotated[
        Count, "edits of the page with a change of the source or within 30 days after one"
    ]
    edits_left: Annotated[Count, "of these, those that the proposal would have announced, too"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRecord:
    """A binding, and how often changes of its source concerned its page."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "line of the reference in the page"]
    source_path: Annotated[str, "the source: a file, directory or glob, or a part: path#symbol"]
    judgement: Annotated[
        Judgement,
        "worst first: noise: firings are rarely followed by a change of the page; hub: noise, and"
        " many pages list the source; wide: only some of its files or symbols matter to the page;"
        " dead: the source does not exist; unproven: too few changes to judge; sound: all others",
    ]
    verdict: Annotated[Verdict, "verdict on the source"]
    commits: Annotated[Count, "recent commits during the page's lifetime"]
    changed: Annotated[Count, "of these, those that changed the source"]
    together: Annotated[Count, "of these, those that also changed the page"]
    fired: Annotated[
        Count, "those that did not change the page: `ubp stale --base` would have reported it"
    ]
    followed: Annotated[Count, "firings followed by a change of the page within 30 days"]
    pending: Annotated[Count, "firings too recent to judge"]
    useful_share: Annotated[
        Fraction | None,
        "share of the source's changes that came with or were followed by a change of the page,"
        " without undecided ones; null if there are none",
    ]
    pages: Annotated[Count, "number of pages that list this source"]
    proposal: Annotated[
        tuple[str, ...],
        "sources to list instead; empty if the binding should be removed or is good",
    ]
    narrowed: Annotated[
        NarrowedRecord | None, "effect of the proposal, if it is a part of the source"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementsRecord:
    """Number of bindings per judgment."""

    hub: Annotated[Count, "rarely followed by a change of the page, and listed by many pages"]
    noise: Annotated[Count, "rarely followed by a change of the page"]
    wide: Annotated[Count, "only some of its files or symbols matter to the page"]
    dead: Annotated[Count, "the source does not exist"]
    unproven: Annotated[Count, "too few changes to judge"]
    sound: Annotated[Count, "followed by changes of the page often enough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """Effect of removing hubs and noise, for bindings whose source exists."""

    fired: Annotated[Count, "all firings"]
    fired_left: Annotated[Count, "firings that would remain"]
    followed: Annotated[Count, "firings followed by a change of the page within 30 days"]
    followed_left: Annotated[Count, "of these, those that would remain"]
    narrowed: Annotated[Count, "firings saved by the proposals for wide bindings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """Existing bindings, compared with history."""

    bindings: Annotated[
        tuple[BindingRecord, ...],
        "worst judgment first, then most firings, then path and line; at most --limit",
    ]
    total: Annotated[Count, "number of bindings"]
    commits: Annotated[Count, "number of commits compared, without merges"]
    since: Annotated[Moment | None, "date of the oldest of these commits; null if there are none"]
    is_shallow: Annotated[bool, "whether this clone's history is incomplete"]
    summary: JudgementsRecord
    effect: EffectRecord


def review_record(review: BindingReview, limit: int | None = None) -> ReviewRecord:
    """Return the record of `ubp bind --review` with at most `limit` bindings."""
    return ReviewRecord(
        bindings=tuple(map(_binding, review.bindings[:limit])),
        total=len(review.bindings),
        commits=review.commits,
        since=moment_or_none(review.since),
        is_shallow=review.is_shallow,
        summary=JudgementsRecord(**{name: review.count(name) for name in JUDGEMENTS}),
        effect=EffectRecord(**estimate_effect(review)._asdict()),
    )


def _binding(reviewed: ReviewedBinding) -> BindingRecord:
    binding, useful_share = reviewed.binding, reviewed.useful_share
    return BindingRecord(
        doc_id=doc_id(binding.filepath),
        filepath=binding.filepath,
        line=binding.line,
        source_path=binding.source,
        judgement=reviewed.judgement,
        verdict=binding.verdict,
        commits=reviewed.commits,
        changed=reviewed.changed,
        together=reviewed.together,
        fired=reviewed.fired,
        followed=reviewed.followed,
        pending=reviewed.pending,
        useful_share=None if useful_share is None else round(useful_share, 3),
        pages=binding.pages,
        proposal=tuple(reviewed.proposal),
        narrowed=None
        if reviewed.narrowed is None
        else NarrowedRecord(**reviewed.narrowed._asdict()),
    )

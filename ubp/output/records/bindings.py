"""Records of bindings: proposals, their review, and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.bindings.suggestion import SuggestionRecord, suggestion_record
from ubp.bindings.coverage import Coverage
from ubp.bindings.features import BindingSuggestions
from ubp.bindings.review import (
    JUDGEMENTS,
    BindingReview,
    Judgement,
    ReviewedBinding,
    estimate_effect,
)
from ubp.bindings.suggest import count_bindings
from ubp.bindings.write import WriteResult
from ubp.core.model import Verdict
from ubp.core.paths import doc_id
from ubp.frame.fields import (
    Count,
    DocId,
    Fraction,
    Keyword,
    Line,
    Moment,
    PagePath,
    Percent,
    Pin,
)
from ubp.frame.records import SkippedPageRecord, SnapshotRecord, moment_or_none, snapshot_record


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedPageRecord:
    """A page with its proposed sources."""

    doc_id: DocId
    filepath: PagePath
    suggestions: Annotated[tuple[SuggestionRecord, ...], "sources, best first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReferenceRecord:
    """A source that a page lists now."""

    source_path: Annotated[str, "the source"]
    pin: Annotated[Pin | None, "its pin; null if there is none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPageRecord:
    """A page that was or would be changed."""

    filepath: PagePath
    sources: Annotated[tuple[WrittenReferenceRecord, ...], "sources that the page lists now"]
    diff: Annotated[str, "text that is written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindSummaryRecord:
    """Counts."""

    documents: Annotated[Count, "number of pages"]
    bound: Annotated[Count, "number of pages that listed sources before"]
    asked: Annotated[Count, "number of requested pages"]
    proposed: Annotated[Count, "of these, pages with a proposal of 0.2 or above"]
    confident: Annotated[Count, "of these, pages with a proposal of `min_confidence` or above"]
    sources: Annotated[Count, "proposals of `min_confidence` or above"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindRecord:
    """Proposed sources of pages."""

    pages: Annotated[
        tuple[SuggestedPageRecord, ...],
        "requested pages by path, including those without a proposal",
    ]
    written: Annotated[
        tuple[WrittenPageRecord, ...],
        "with --write or --dry-run: pages that were or would be changed",
    ]
    left: Annotated[tuple[SkippedPageRecord, ...], "pages that could not be written"]
    summary: BindSummaryRecord
    min_confidence: Annotated[Fraction, "minimum confidence of proposals to write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRecord:
    """How many are described by a page."""

    total: Annotated[Count, "all of them"]
    described: Annotated[Count, "number covered by a page, by path, directory or glob"]
    described_percent: Annotated[Percent | None, "rounded down; null if there are none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRecord:
    """A source that no page covers."""

    source_path: Annotated[str, "a file, or a directory without any described file (ends in /)"]
    files: Annotated[Line, "number of source files"]
    changes: Annotated[Count, "number of changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRecord:
    """Sources that no page covers."""

    snapshot: SnapshotRecord
    is_shallow: Annotated[
        bool, "whether this clone is shallow, so that older changes are not counted"
    ]
    days: Annotated[
        float,
        "number of days before the last commit in which changes are counted",
        Keyword("exclusiveMinimum", 0),
    ]
    since: Annotated[Moment | None, "start of the period; null if there is no commit"]
    files: Annotated[
        ShareRecord,
        "source files, without pages and hidden, ignored, binary, generated or lock files",
    ]
    changes: Annotated[
        ShareRecord, "number of changes; a commit counts once for each file that it changes"
    ]
    gaps: Annotated[
        tuple[GapRecord, ...], "sources that no page covers, most frequently changed first"
    ]
    gap_count: Annotated[Count, "number of gaps, including those that are not listed"]


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


def bind_record(
    suggestions: BindingSuggestions, min_confidence: float, results: Sequence[WriteResult] | None
) -> BindRecord:
    """Return the record of `ubp bind`; `results` is None where nothing was to be written."""
    counts = count_bindings(suggestions, min_confidence)
    return BindRecord(
        pages=tuple(
            SuggestedPageRecord(
                doc_id=doc_id(page.filepath),
                filepath=page.filepath,
                suggestions=tuple(map(suggestion_record, page.suggestions)),
            )
            for page in suggestions.pages
        ),
        written=tuple(_written(result) for result in results or () if not result.skip_reason),
        left=tuple(
            SkippedPageRecord(filepath=result.filepath, reason=result.skip_reason)
            for result in results or ()
            if result.skip_reason
        ),
        summary=BindSummaryRecord(
            documents=suggestions.documents,
            bound=suggestions.bound,
            asked=len(suggestions.pages),
            proposed=counts.proposed,
            confident=counts.confident,
            sources=counts.sources,
        ),
        min_confidence=min_confidence,
    )


def _written(result: WriteResult) -> WrittenPageRecord:
    return WrittenPageRecord(
        filepath=result.filepath,
        sources=tuple(
            WrittenReferenceRecord(**reference._asdict()) for reference in result.written
        ),
        diff=result.diff,
    )


def coverage_record(coverage: Coverage, limit: int) -> CoverageRecord:
    """Return the record of `ubp coverage` with the first `limit` gaps."""
    total = coverage.total
    return CoverageRecord(
        snapshot=snapshot_record(coverage.snapshot),
        is_shallow=coverage.is_shallow,
        days=coverage.days,
        since=moment_or_none(coverage.since),
        files=ShareRecord(
            total=total.files,
            described=total.described_files,
            described_percent=total.files_percent,
        ),
        changes=ShareRecord(
            total=total.changes,
            described=total.described_changes,
            described_percent=total.changes_percent,
        ),
        gaps=tuple(
            GapRecord(source_path=gap.path, files=gap.files, changes=gap.changes)
            for gap in coverage.gaps[:limit]
        ),
        gap_count=len(coverage.gaps),
    )


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

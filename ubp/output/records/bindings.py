"""Records of bindings: proposals, their review, and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.answers.bindings.suggestion import SuggestionRecord, suggestion_record
from ubp.bindings.features import BindingSuggestions
from ubp.bindings.suggest import count_bindings
from ubp.bindings.write import WriteResult
from ubp.core.paths import doc_id
from ubp.frame.fields import (
    Count,
    DocId,
    Fraction,
    PagePath,
    Pin,
)
from ubp.frame.records import SkippedPageRecord


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

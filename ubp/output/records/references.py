"""Records of `ubp ack`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ubp.core.paths import doc_id
from ubp.frame.fields import Count, DocId, PagePath, Pin
from ubp.output.records.staleness import DiffRecord
from ubp.staleness.model import Acknowledgement, Pinned


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedRecord:
    """A reference that was pinned."""

    source_path: Annotated[str, "the source"]
    before: Annotated[str | None, "previous pin"]
    pin: Annotated[Pin, "the new pin"]
    diff: Annotated[DiffRecord | None, "with --diff: the changes that were acknowledged"]
    is_older: Annotated[
        bool, "whether the pin is the old baseline, because the change did not make it stale"
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedReferenceRecord:
    """A reference that could not be pinned."""

    source_path: Annotated[str, "the source"]
    reason: Annotated[str, "why not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgedPageRecord:
    """A page that was acknowledged."""

    doc_id: DocId
    filepath: PagePath
    pinned: Annotated[tuple[PinnedRecord, ...], "references that were pinned"]
    left: Annotated[tuple[SkippedReferenceRecord, ...], "references that could not be pinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgeSummaryRecord:
    """Counts."""

    documents: Annotated[Count, "pages that were changed"]
    pinned: Annotated[Count, "references pinned"]
    left: Annotated[Count, "references skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgeRecord:
    """What was pinned."""

    documents: Annotated[tuple[AcknowledgedPageRecord, ...], "pages that were checked"]
    summary: AcknowledgeSummaryRecord


def acknowledge_record(results: Sequence[Acknowledgement]) -> AcknowledgeRecord:
    """Return the record of `ubp ack`."""
    return AcknowledgeRecord(
        documents=tuple(
            AcknowledgedPageRecord(
                doc_id=doc_id(result.filepath),
                filepath=result.filepath,
                pinned=tuple(_pinned(pinned) for pinned in result.pinned),
                left=tuple(SkippedReferenceRecord(**left._asdict()) for left in result.skipped),
            )
            for result in results
        ),
        summary=AcknowledgeSummaryRecord(
            documents=sum(1 for result in results if result.pinned),
            pinned=sum(len(result.pinned) for result in results),
            left=sum(len(result.skipped) for result in results),
        ),
    )


def _pinned(pinned: Pinned) -> PinnedRecord:
    return PinnedRecord(
        source_path=pinned.source_path,
        before=pinned.before,
        pin=pinned.pin,
        diff=None if pinned.diff is None else DiffRecord(pinned.diff.text, pinned.diff.missing),
        is_older=pinned.is_older,
    )

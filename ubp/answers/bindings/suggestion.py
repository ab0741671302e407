"""The record of a proposed source, which several answers contain."""

from dataclasses import dataclass
from typing import Annotated

from ubp.bindings.features import Evidence, EvidenceKind, Suggestion
from ubp.frame.fields import Fraction, Line


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """A reason for a proposal."""

    kind: Annotated[
        EvidenceKind,
        "path, file_name: mentioned in the page's text; identifier: defines a name that the page"
        " mentions; link: the source mentions the page; commit: changed in the same commits;"
        " sibling: listed by a similar page; place: similar location in the tree; symbol: the page"
        " names few symbols of a file that changes often (of no weight)",
    ]
    detail: Annotated[str, "description of the evidence"]
    line: Annotated[Line | None, "line in the page; null if it is not in the page"] = None
    weight: Annotated[float, "its share of the evidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionRecord:
    """A proposed source with its evidence."""

    source_path: Annotated[
        str,
        'path of the source from the root; a directory ends in "/", a symbol is "path#symbol"',
    ]
    confidence: Annotated[Fraction, "confidence: at 0.75, three of four proposals are correct"]
    evidence: Annotated[tuple[EvidenceRecord, ...], "evidence, strongest first"]


def suggestion_record(suggestion: Suggestion) -> SuggestionRecord:
    """Return the record of a proposed source."""
    return SuggestionRecord(
        source_path=suggestion.source_path,
        confidence=suggestion.confidence,
        evidence=tuple(map(_evidence, suggestion.evidence)),
    )


def _evidence(evidence: Evidence) -> EvidenceRecord:
    return EvidenceRecord(
        kind=evidence.kind,
        detail=evidence.detail,
        line=evidence.line,
        weight=round(evidence.weight, 3),
    )

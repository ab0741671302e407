"""The record of a finding, which several answers contain."""

from typing import Annotated, NamedTuple

from ubp.checks.finding import Finding, Severity, fingerprint
from ubp.core.paths import doc_id
from ubp.frame.fields import Digest, DocId, Line, PagePath


class FindingRecord(NamedTuple):
    """A finding, its place, and its hint."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "line of the page, from 1"]
    column: Annotated[Line | None, "column in characters, from 1; null for the whole line"]
    rule: Annotated[str, "name of the rule"]
    severity: Annotated[Severity, "error or warning"]
    message: Annotated[str, "description of the problem"]
    hint: Annotated[str | None, "how to fix it"]
    related: Annotated[str | None, "path of the other file involved: a source or a page"]
    is_fixable: Annotated[bool, "whether --fix can fix it"]
    fingerprint: Annotated[Digest, "identifies the finding across runs, even if its line changes"]


def finding_record(finding: Finding) -> FindingRecord:
    """Return the record of a finding."""
    return FindingRecord(
        doc_id=doc_id(finding.filepath),
        filepath=finding.filepath,
        line=finding.line,
        column=finding.column,
        rule=finding.rule,
        severity=finding.severity,
        message=finding.message,
        hint=finding.hint or None,
        related=finding.related,
        is_fixable=finding.fix is not None,
        fingerprint=fingerprint(finding),
    )

"""Records of findings."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated

from ubp.checks.finding import (
    CheckReport,
    Finding,
    Fixed,
    FixReport,
    NotUnderstood,
    Severity,
    fingerprint,
)
from ubp.core.paths import doc_id
from ubp.frame.fields import Count, Digest, DocId, Line, PagePath
from ubp.frame.records import SnapshotRecord, snapshot_record


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRecord:
    """A finding that was fixed."""

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
    before: Annotated[str, "old text"]
    after: Annotated[str, "new text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedPageRecord:
    """A page that was not edited."""

    filepath: PagePath
    reason: Annotated[str, "why not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixRecord:
    """What was fixed; findings and summary contain the rest."""

    is_dry_run: Annotated[bool, "whether nothing was written (dry run)"]
    fixed: Annotated[tuple[FixedRecord, ...], "findings that were fixed"]
    left: Annotated[tuple[SkippedPageRecord, ...], "pages that were not edited"]
    diff: Annotated[str, "unified diff of the pages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSummaryRecord:
    """Counts."""

    documents: Annotated[Count, "number of pages checked"]
    errors: Annotated[Count, "findings of severity error"]
    warnings: Annotated[Count, "findings of severity warning"]
    fixable: Annotated[Count, "findings that --fix can fix"]
    ignored: Annotated[Count, "findings that a comment or the configuration ignores"]
    accepted: Annotated[Count, "number of findings accepted as debt"]
    unverified: Annotated[
        Count, "number of sources that could not be verified, because the clone is shallow"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class UncheckedRuleRecord:
    """A rule that could not be checked, and why."""

    rule: Annotated[str, "a rule's name"]
    reason: Annotated[str, "why it could not be checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUnderstoodRecord:
    """Links of a site that are written in the same way and were not checked."""

    rule: Annotated[str, "the rule that would have reported them"]
    site: Annotated[str, "folder of the site, from the root; empty outside of sites"]
    generator: Annotated[str, "the site's generator, as it was recognized; empty: none"]
    written: Annotated[str, "how they are written; `#` for links to headings"]
    lost: Annotated[Count, "number of them that lead nowhere"]
    links: Annotated[Count, "number of all that are written so"]
    example: Annotated[str, "one that leads nowhere"]
    filepath: PagePath
    line: Annotated[Line, "line of the example, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecord:
    """Findings in the pages."""

    findings: Annotated[tuple[FindingRecord, ...], "findings, sorted by path, line and column"]
    summary: CheckSummaryRecord
    ignored: Annotated[Mapping[str, Count], "ignored findings by rule"]
    accepted: Annotated[Mapping[str, Count], "old findings that the debt file accepts, by rule"]
    rules: Annotated[tuple[str, ...], "rules that were run"]
    not_checked: Annotated[tuple[UncheckedRuleRecord, ...], "rules that could not be checked here"]
    not_understood: Annotated[
        tuple[NotUnderstoodRecord, ...],
        "forms of links of which so many lead nowhere that no rule for them is known; their"
        " findings are left out",
    ]
    snapshot: SnapshotRecord
    is_change: Annotated[bool, "whether only findings introduced by a change were reported"]
    fix: Annotated[
        FixRecord | None, "with --fix: what was fixed; findings and summary contain the rest"
    ]


def check_record(report: CheckReport, fix: FixRecord | None = None) -> CheckRecord:
    """Return the record of `ubp check`."""
    return CheckRecord(
        findings=tuple(map(finding_record, report.findings)),
        summary=CheckSummaryRecord(
            documents=report.documents,
            errors=report.count("error"),
            warnings=report.count("warning"),
            fixable=report.fixable,
            ignored=len(report.ignored) - report.accepted,
            accepted=report.accepted,
            unverified=report.unverified,
        ),
        ignored=_by_rule(report, is_accepted=False),
        accepted=_by_rule(report, is_accepted=True),
        rules=tuple(report.rules),
        not_checked=tuple(UncheckedRuleRecord(**item._asdict()) for item in report.not_checked),
        not_understood=tuple(map(_not_understood, report.not_understood)),
        snapshot=snapshot_record(report.snapshot),
        is_change=report.is_change,
        fix=fix,
    )


def fix_record(result: FixReport) -> CheckRecord:
    """Return the record of `ubp check --fix`."""
    fix = FixRecord(
        is_dry_run=result.is_dry,
        fixed=tuple(map(_fixed, result.fixed)),
        left=tuple(SkippedPageRecord(**skipped._asdict()) for skipped in result.skipped),
        diff=result.diff,
    )
    return check_record(result.check, fix)


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


def _fixed(fixed: Fixed) -> FixedRecord:
    return FixedRecord(
        **asdict(finding_record(fixed.finding)), before=fixed.before, after=fixed.after
    )


def _by_rule(report: CheckReport, *, is_accepted: bool) -> Mapping[str, int]:
    counts = Counter(
        finding.rule for finding in report.ignored if finding.is_accepted == is_accepted
    )
    return dict(sorted(counts.items()))


def _not_understood(item: NotUnderstood) -> NotUnderstoodRecord:
    form = item.form
    return NotUnderstoodRecord(
        rule=form.rule,
        site=form.site,
        generator=form.generator,
        written=form.written,
        lost=item.lost,
        links=item.links,
        example=item.example,
        filepath=item.filepath,
        line=item.line,
    )

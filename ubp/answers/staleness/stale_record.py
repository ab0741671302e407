"""Records of `ubp stale`, and of errors.

They are NamedTuples, not dataclasses, because `ubp stale --json` is as lean as the hook: importing
`dataclasses` takes 6.5 ms of CPU and each class another 0.63 ms, a NamedTuple 0.10 ms, while a warm
`ubp stale` takes about 70 ms.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from ubp.answers.staleness.stale import Relaxed
from ubp.core.model import (
    Assessment,
    BaselineKind,
    Evidence,
    FilePath,
    Level,
    NameChange,
    Note,
    ReferenceVerdict,
    Verdict,
)
from ubp.core.paths import doc_id
from ubp.frame.fields import Count, DocId, GitId, Keyword, Line, Moment, PagePath, Title
from ubp.frame.records import (
    CommitRecord,
    DeniedRecord,
    JudgementRecord,
    JudgeRecord,
    ProblemRecord,
    SnapshotRecord,
    commit_record,
    moment_or_none,
    problem_record,
    snapshot_record,
    title_of,
)
from ubp.staleness.model import SourceDiff, StaleReport, Summary, visible_pages


class SummaryRecord(NamedTuple):
    """Counts; untracked pages list no sources. Translations are counted apart."""

    documents: Annotated[Count, "number of pages"]
    bound: Annotated[Count, "number of pages that list sources"]
    verified: Annotated[Count, "number of pages with at least one verified reference"]
    untracked: Annotated[Count, "number of pages that list no sources"]
    fresh: Annotated[Count, "number of pages with this level"]
    possibly_stale: Annotated[Count, "number of pages with this level"]
    stale: Annotated[Count, "number of pages with this level"]
    unknown: Annotated[Count, "number of pages with this level"]


class DiffRecord(NamedTuple):
    """What changed in a source since its baseline."""

    text: Annotated[str, "unified diff, or the reason why there is none"]
    missing_blobs: Annotated[tuple[GitId, ...], "blobs missing from a partial clone"]


class EvidenceRecord(NamedTuple):
    """A name in the changed code of a source that the page contains."""

    name: Annotated[str, "identifier, option, path, number or quoted text"]
    line: Annotated[Line, "line of the page that contains it, from 1"]
    change: Annotated[
        NameChange, "the source lost the name, has it for the first time, or has it in changed code"
    ]


class VerdictRecord(NamedTuple):
    """The assessment of a reference."""

    source_path: Annotated[str, "path or glob from the root, as it was assessed"]
    verdict: Annotated[Verdict, "verdict on the reference"]
    staleness: Annotated[Level, "level of this reference; never untracked"]
    baseline: Annotated[
        BaselineKind, "origin of the baseline: a pin, history, or the snapshot itself"
    ]
    baseline_commit: Annotated[GitId | None, "commit that contains the baseline"]
    baseline_blob: Annotated[
        str | None,
        "object id of the baseline: the blob of a file, the tree of a directory or glob;"
        " a pin may be abbreviated",
        Keyword("pattern", "^[0-9a-f]{7,40}$"),
    ]
    current_blob: Annotated[GitId | None, "current object id; null if it does not exist"]
    moved_to: Annotated[str | None, "current path of the source, with its #symbol"]
    note: Annotated[
        Note | None,
        "why a symbol, section or line range was not compared (its file was, or nothing could be),"
        " or a document of a collection",
    ]
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if there is none or it is unknown",
    ]
    age_days: Annotated[Count | None, "whole days since then; 0 if not committed yet"]
    commits: Annotated[
        tuple[CommitRecord, ...],
        "commits since the baseline that changed the source, newest first",
    ]
    evidence: Annotated[
        tuple[EvidenceRecord, ...],
        "names in the changed lines that the page contains; looked for in changes",
    ]
    is_unread: Annotated[bool, "whether the clone lacks the changed lines, or there are too many"]
    is_noted: Annotated[
        bool, "whether it is not an alarm: it drifted, and the page names nothing that changed"
    ]
    judgement: Annotated[
        JudgementRecord | None, "what the judge says of the page; null: it was not asked"
    ]
    collection: Annotated[str | None, "collection that has the source, its commits and its blobs"]
    unfetched: Annotated[
        str | None, "what to fetch, so that it can be compared: ubp collections sync UNFETCHED"
    ]
    line: Annotated[Line, "line of the reference in the page, from 1"]
    key: Annotated[
        str, 'front matter key that contains the reference; "translations" for an original'
    ]
    pin_key: Annotated[str | None, "front matter key of the pin, if it is not beside the reference"]
    language: Annotated[str | None, "language of a translation, whose original the source is"]
    fragment: Annotated[str | None, "suffix removed from the path: #symbol, :12, #L3-L9"]
    pin: Annotated[str | None, "object id of the pin; with `pin_key` also of a commit"]
    reason: Annotated[str | None, "reason given when it was acknowledged"]
    is_debt: Annotated[
        bool | None,
        "with --staged, --base or a debt file: whether it existed before or is accepted; else null",
    ]
    diff: Annotated[DiffRecord | None, "with --diff: changes since the baseline"]


class AssessedPageRecord(NamedTuple):
    """A page with the verdicts on its references."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    staleness: Annotated[Level, "worst level of its references; untracked: it lists no sources"]
    references: Annotated[tuple[VerdictRecord, ...], "all of its references"]
    problems: Annotated[tuple[ProblemRecord, ...], "problems in its front matter"]


class RelaxedRecord(NamedTuple):
    """A finding that the change keeps from being reported."""

    filepath: PagePath
    line: Annotated[Line, "line of the page, from 1"]
    severity: Annotated[str, "error or warning"]
    message: Annotated[str, "what is not reported"]


class ProposedReferenceRecord(NamedTuple):
    """A source that a page without sources seems to describe, and what became of it."""

    source_path: Annotated[str, "the source that `ubp bind` would propose, with its #symbol"]
    verdict: Annotated[Verdict, "verdict on it, were it listed"]
    moved_to: Annotated[str | None, "current path of the source, with its #symbol"]
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if there is none or it is unknown",
    ]
    evidence: Annotated[
        tuple[EvidenceRecord, ...], "names in the changed lines that the page contains"
    ]


class ProbablyStaleRecord(NamedTuple):
    """A page without sources that names what changed in sources that it seems to describe."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    references: Annotated[
        tuple[ProposedReferenceRecord, ...], "the sources, the most evidence first"
    ]


class StaleRecord(NamedTuple):
    """Stale pages; without --all only pages that are not fresh or have front matter problems."""

    documents: Annotated[
        tuple[AssessedPageRecord, ...],
        "pages (for a change, those for which it fails): those that name what changed first, then"
        " worst level first, then by relevance"
        " (how often the page changed with the drifted source, and how few pages list it),"
        " then by path",
    ]
    noted: Annotated[
        tuple[PagePath, ...],
        "pages that the change makes drift without failing: they name nothing that it changes",
    ]
    denied: Annotated[tuple[DeniedRecord, ...], "other pages, which the judge finds accurate"]
    judge: Annotated[JudgeRecord | None, "who judged the alarms; null: nobody"]
    summary: SummaryRecord
    snapshot: SnapshotRecord
    threshold_days: Annotated[float, "number of days after which drift counts as stale"]
    is_shallow: Annotated[bool, "whether this clone is shallow"]
    accepted: Annotated[Count, "number of references accepted as debt"]
    settled: Annotated[Count, "number of obsolete lines in the debt file"]
    relaxed: Annotated[
        tuple[RelaxedRecord, ...],
        "with --base: what the base's configuration would have reported, and the change's does not",
    ]
    probable: Annotated[
        tuple[ProbablyStaleRecord, ...],
        "pages without sources that are probably stale, which never fail a run, those with"
        " removed names first; empty with --staged, --quiet, --exit-code or --fail-on, in a hook,"
        " where a quarter of the pages list sources, or where finding them takes over five seconds",
    ]


def stale_record(  # noqa: PLR0913  # what the options add
    report: StaleReport,
    *,
    every: bool = False,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] | None = None,
    relaxed: Sequence[Relaxed] = (),
    judge: JudgeRecord | None = None,
    probable: Sequence[Assessment] = (),
) -> StaleRecord:
    """Return the record of `ubp stale`; without `every` only the pages that are not fresh."""
    pages = visible_pages(report, every=every)
    return StaleRecord(
        documents=tuple(
            assessed_page_record(assessment, report, diffs or {}) for assessment in pages
        ),
        noted=tuple(assessment.page.filepath for assessment in report.noted),
        denied=tuple(DeniedRecord(*page) for page in report.denied),
        judge=judge,
        summary=summary_record(report.summary),
        snapshot=snapshot_record(report.snapshot),
        threshold_days=report.threshold_days,
        is_shallow=report.is_shallow,
        accepted=report.accepted,
        settled=len(report.obsolete_debts),
        relaxed=tuple(
            RelaxedRecord(finding.filepath, finding.line, finding.severity, finding.message)
            for finding in relaxed
        ),
        probable=tuple(map(_probable, probable)),
    )


def summary_record(summary: Summary) -> SummaryRecord:
    """Return the record of counts of pages."""
    return SummaryRecord(**summary._asdict())


def evidence_record(evidence: Evidence) -> EvidenceRecord:
    """Return the record of evidence."""
    return EvidenceRecord(*evidence)


def assessed_page_record(
    assessment: Assessment,
    report: StaleReport,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff],
) -> AssessedPageRecord:
    """Return the record of a page and the verdicts on its references."""
    page = assessment.page
    return AssessedPageRecord(
        doc_id=doc_id(page.filepath),
        filepath=page.filepath,
        title=title_of(page),
        staleness=assessment.level,
        references=tuple(
            _verdict(reference, report, diffs.get((page.filepath, reference)))
            for reference in assessment.references
        ),
        problems=tuple(map(problem_record, page.facts.problems)),
    )


def _probable(assessment: Assessment) -> ProbablyStaleRecord:
    page = assessment.page
    return ProbablyStaleRecord(
        doc_id=doc_id(page.filepath),
        filepath=page.filepath,
        title=title_of(page),
        references=tuple(
            ProposedReferenceRecord(
                source_path=verdict.name,
                verdict=verdict.verdict,
                moved_to=verdict.new_name,
                since=moment_or_none(verdict.since),
                evidence=tuple(map(evidence_record, verdict.evidence)),
            )
            for verdict in assessment.references
        ),
    )


def _verdict(
    verdict: ReferenceVerdict, report: StaleReport, diff: SourceDiff | None
) -> VerdictRecord:
    reference = verdict.reference
    return VerdictRecord(
        source_path=verdict.source_path,
        verdict=verdict.verdict,
        staleness=verdict.level,
        baseline=verdict.baseline,
        baseline_commit=verdict.baseline_commit,
        baseline_blob=verdict.baseline_blob,
        current_blob=verdict.current_blob,
        moved_to=verdict.new_name,
        note=verdict.note,
        since=moment_or_none(verdict.since),
        age_days=verdict.age_days,
        commits=tuple(map(commit_record, verdict.commits)),
        evidence=tuple(map(evidence_record, verdict.evidence)),
        is_unread=verdict.is_unread,
        is_noted=verdict.is_noted,
        judgement=JudgementRecord(*verdict.judgement) if verdict.judgement else None,
        collection=verdict.collection or None,
        unfetched=verdict.unfetched or None,
        line=reference.line,
        key=reference.key,
        pin_key=reference.pin_key,
        language=reference.language,
        fragment=reference.fragment,
        pin=reference.pin,
        reason=reference.reason,
        is_debt=verdict.is_debt if report.is_change or verdict.is_debt else None,
        diff=None if diff is None else DiffRecord(diff.text, diff.missing),
    )

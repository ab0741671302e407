"""The record of `ubp_check_staleness`: stale pages as an agent needs them.

It is that of `ubp stale` without Git object ids, which are of no use to a reader, and with the next
step for each page; a single page without sources gets proposals, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ubp.answers.staleness.stale_record import (
    EvidenceRecord,
    SummaryRecord,
    evidence_record,
    summary_record,
)
from ubp.bindings.features import Suggestion
from ubp.checks.finding import Finding
from ubp.core.model import (
    Assessment,
    BaselineKind,
    FilePath,
    Level,
    Note,
    ReferenceVerdict,
    Verdict,
)
from ubp.core.paths import doc_id
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.fields import Count, DocId, GitId, Line, Moment, PageLevel, PagePath, Title
from ubp.frame.records import (
    CommitRecord,
    ProblemRecord,
    SnapshotRecord,
    commit_record,
    moment_or_none,
    problem_record,
    snapshot_record,
    title_of,
)
from ubp.output.records.bindings import SuggestionRecord, suggestion_record
from ubp.staleness.model import LanguageCount, SourceDiff, StaleReport

Diffs = Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiffRecord:
    """What changed in a source since its baseline."""

    text: Annotated[str, "unified diff, or the reason why there is none"]
    left_out_lines: Annotated[Count, "number of lines omitted because of max_size"] = 0
    left_out_names: Annotated[tuple[str, ...], "names in changed lines that are omitted"] = ()
    missing_blobs: Annotated[tuple[GitId, ...], "blobs missing from a partial clone"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReferenceRecord:
    """The assessment of a reference."""

    source_path: Annotated[str, "path or glob from the root, as it was assessed"]
    verdict: Annotated[Verdict, "verdict on the reference"]
    staleness: Annotated[Level, "level of this reference; never untracked"]
    baseline: Annotated[
        BaselineKind, "origin of the baseline: a pin, history, or the snapshot itself"
    ]
    moved_to: Annotated[str | None, "current path of the source, with its #symbol"] = None
    note: Annotated[
        Note | None,
        "why a symbol, section or line range was not compared (its file was, or nothing could be),"
        " or a document of a collection",
    ] = None
    since: Annotated[
        Moment | None,
        "committer date of the first commit that drifted; null if not committed yet or unknown",
    ] = None
    age_days: Annotated[Count | None, "whole days since then; 0 if not committed yet"] = None
    commits: Annotated[
        tuple[CommitRecord, ...],
        "commits since the baseline that changed the source, newest first",
    ] = ()
    commit_count: Annotated[Count, "number of commits that drifted, if some are omitted"] = 0
    evidence: Annotated[
        tuple[EvidenceRecord, ...],
        "names in the changed lines that the page contains: look there first",
    ] = ()
    is_unread: Annotated[bool, "whether a partial clone lacks the changed lines"] = False
    collection: Annotated[str | None, "collection that has the source and its commits"] = None
    unfetched: Annotated[
        str | None, "what to fetch, so that it can be compared: ubp collections sync UNFETCHED"
    ] = None
    line: Annotated[Line, "line of the reference in the page, from 1"]
    key: Annotated[str, "front matter key that contains the reference"]
    pin_key: Annotated[str | None, "front matter key of the pin, if not beside the reference"] = (
        None
    )
    language: Annotated[str | None, "language of a translation, whose original it is"] = None
    fragment: Annotated[str | None, "suffix removed from the path: #symbol, :12, #L3-L9"] = None
    pin: Annotated[str | None, "object id of the pin"] = None
    proposed_pin: Annotated[
        str | None, "with for_update: the pin that the reference has once the page is reviewed"
    ] = None
    reason: Annotated[str | None, "reason given when it was acknowledged"] = None
    is_debt: Annotated[bool, "whether it is accepted as debt"] = False
    diff: Annotated[ShownDiffRecord | None, "with include_diff: changes since the baseline"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPageRecord:
    """A page with the verdicts on its references, and the next step."""

    doc_id: DocId
    filepath: PagePath
    title: Title
    staleness: PageLevel
    references: Annotated[tuple[CheckedReferenceRecord, ...], "its references"]
    problems: Annotated[tuple[ProblemRecord, ...], "problems in its front matter"] = ()
    suggested_refs: Annotated[
        tuple[SuggestionRecord, ...],
        "for a single page that lists no sources: proposed sources, best first",
    ] = ()
    content: Annotated[
        str | None, "with for_update: the page's text, or of a long page the sections concerned"
    ] = None
    is_partial: Annotated[bool, "whether `content` is a part of the page"] = False
    blob: Annotated[GitId | None, "with for_update: id that Git gives the file"] = None
    hidden_references: Annotated[Count, "number of references omitted because of max_tokens"] = 0
    resolve: Annotated[str, "suggested action, with the command"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedNameRecord:
    """A name in a page's code that no source has any more."""

    filepath: PagePath
    line: Annotated[Line, "line of the page, from 1"]
    name: Annotated[str, "the name, as the page writes it"]
    message: Annotated[str, "where the name was defined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedRecord:
    """The translations of a language."""

    language: Annotated[str, "language, as the paths name it"]
    fresh: Annotated[Count, "number of translations that are up to date"]
    stale: Annotated[Count, "number of translations whose original changed"]
    missing: Annotated[Count, "number of originals without a translation"]
    orphaned: Annotated[Count, "number of translations whose original does not exist"]
    unknown: Annotated[Count, "number of translations that could not be verified"] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRecord:
    """Pages that no longer describe their sources, with the next step for each page."""

    documents: Annotated[
        tuple[CheckedPageRecord, ...],
        "pages, worst level first, then by path; only those that are not fresh unless pages are"
        " requested",
    ]
    summary: SummaryRecord
    snapshot: SnapshotRecord
    threshold_days: Annotated[float, "number of days after which drift counts as stale"]
    is_shallow: Annotated[bool, "whether this clone is shallow"]
    removed_names: Annotated[
        tuple[RemovedNameRecord, ...],
        "names in pages' code that existed when the page was last changed, and no more",
    ] = ()
    translations: Annotated[
        tuple[TranslatedRecord, ...],
        "without filepath: the languages of translated pages, which documents does not contain",
    ] = ()
    truncated_count: Annotated[Count, "number of pages omitted because of max_size"] = 0
    accepted: Annotated[Count, "number of references accepted as debt"] = 0
    settled: Annotated[Count, "number of obsolete lines in the debt file"] = 0


PIN_DIGITS = 12  # as `ubp ack` writes them


class PageForUpdate(NamedTuple):
    """The text of the only page, which is to be updated, or the sections concerned."""

    content: str
    is_partial: bool


def checked_record(  # noqa: PLR0913  # what a report is shown with
    report: StaleReport,
    *,
    diffs: Diffs,
    suggestions: Iterable[Suggestion],
    key: str,
    removed_names: Iterable[Finding] = (),
    update: PageForUpdate | None = None,
    languages: Iterable[LanguageCount] = (),
) -> CheckedRecord:
    """Return the record of the pages of a report, and of findings of the rule removed-name.

    `suggestions` are proposed sources for the only page; `key` is the front matter key to list
    sources under.
    """
    diff_records = _share_diffs(diffs)
    suggested_refs = tuple(map(suggestion_record, suggestions))
    return CheckedRecord(
        documents=tuple(
            _page(assessment, diff_records, suggested_refs, key, update)
            for assessment in report.pages
        ),
        summary=summary_record(report.summary),
        snapshot=snapshot_record(report.snapshot),
        threshold_days=report.threshold_days,
        is_shallow=report.is_shallow,
        removed_names=tuple(
            RemovedNameRecord(
                filepath=finding.filepath,
                line=finding.line,
                name=finding.subject,
                message=finding.message,
            )
            for finding in removed_names
        ),
        translations=tuple(
            TranslatedRecord(
                language=language.language,
                fresh=language.fresh,
                stale=language.stale,
                missing=len(language.missing),
                orphaned=language.orphaned,
                unknown=language.unknown,
            )
            for language in languages
        ),
        accepted=report.accepted,
        settled=len(report.obsolete_debts),
    )


def _page(
    assessment: Assessment,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], ShownDiffRecord],
    suggested_refs: tuple[SuggestionRecord, ...],
    key: str,
    update: PageForUpdate | None,
) -> CheckedPageRecord:
    page = assessment.page
    path = page.filepath
    return CheckedPageRecord(
        doc_id=doc_id(path),
        filepath=path,
        title=title_of(page),
        staleness=assessment.level,
        references=tuple(
            _reference(reference, diffs.get((path, reference)), has_pin=update is not None)
            for reference in assessment.references
        ),
        problems=tuple(map(problem_record, page.facts.problems)),
        suggested_refs=suggested_refs,
        content=update and update.content,
        is_partial=update is not None and update.is_partial,
        blob=update and page.blob,
        resolve=_next_step(assessment, key, has_suggestions=bool(suggested_refs)),
    )


def _reference(
    verdict: ReferenceVerdict, diff: ShownDiffRecord | None, *, has_pin: bool
) -> CheckedReferenceRecord:
    reference = verdict.reference
    is_drifted = verdict.verdict != "fresh" and verdict.current_blob is not None
    return CheckedReferenceRecord(
        source_path=verdict.source_path,
        verdict=verdict.verdict,
        staleness=verdict.level,
        baseline=verdict.baseline,
        moved_to=verdict.new_name,
        note=verdict.note,
        since=moment_or_none(verdict.since),
        age_days=verdict.age_days,
        commits=tuple(map(commit_record, verdict.commits)),
        evidence=tuple(map(evidence_record, verdict.evidence)),
        is_unread=verdict.is_unread,
        collection=verdict.collection or None,
        unfetched=verdict.unfetched or None,
        line=reference.line,
        key=reference.key,
        pin_key=reference.pin_key,
        language=reference.language,
        fragment=reference.fragment,
        pin=reference.pin,
        proposed_pin=str(verdict.current_blob)[:PIN_DIGITS]
        if has_pin and is_drifted and reference.pin_key is None
        else None,
        reason=reference.reason,
        is_debt=verdict.is_debt,
        diff=diff,
    )


def _share_diffs(
    diffs: Diffs,
) -> Mapping[tuple[FilePath, ReferenceVerdict], ShownDiffRecord]:
    """Show each diff once: translations describe the same sources."""
    first_pages: dict[tuple[str, str], FilePath] = {}
    records = {}
    for (path, reference), diff in diffs.items():
        first = first_pages.setdefault((reference.source_path, diff.text), path)
        is_repeated = bool(diff.text) and first != path
        records[path, reference] = (
            ShownDiffRecord(text=f"Same diff as for {first}.")
            if is_repeated
            else ShownDiffRecord(text=diff.text, missing_blobs=diff.missing)
        )
    return records


def _next_step(assessment: Assessment, key: str, *, has_suggestions: bool) -> str:
    """Return what to do about a page, in a sentence with the command for it."""
    drifted = [reference for reference in assessment.references if reference.verdict != "fresh"]
    verified = [reference for reference in drifted if reference.verdict != "unknown"]
    missing_lines = [
        str(reference.reference.line) for reference in verified if reference.current_blob is None
    ]
    steps = []
    if assessment.level == "untracked":
        proposals = " (see suggested_refs)" if has_suggestions else ""
        steps.append(
            f"List the sources that the page describes{proposals} under {key} in its front matter."
        )
    if missing_lines:
        lines = "line" if len(missing_lines) == 1 else "lines"
        steps.append(
            "Update or remove the missing sources in its front matter"
            f" ({lines} {', '.join(missing_lines)})."
        )
    if len(missing_lines) < len(verified):
        command = ubp_command("ack", path_argument(assessment.page.filepath))
        steps.append(f"Update the page, or if it is still accurate run: {command}")
    if len(verified) < len(drifted):
        steps.append("This clone is too shallow to verify all sources. Run: git fetch --unshallow")
    return " ".join(steps)

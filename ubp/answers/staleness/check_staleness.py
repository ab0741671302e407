"""`ubp_check_staleness`: the pages that no longer match their sources, and what changed there.

Its record is that of `ubp stale` without Git object ids, which are of no use to a reader, and with
the next step for each page; a single page without sources gets proposals, too.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from ubp.answers.bindings.suggestion import SuggestionRecord, suggestion_record
from ubp.answers.staleness.stale import report_stale
from ubp.answers.staleness.stale_record import (
    EvidenceRecord,
    SummaryRecord,
    evidence_record,
    summary_record,
)
from ubp.bindings.features import Suggestion
from ubp.bindings.probable import find_probable, propose
from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE, confident_suggestions, suggest_bindings
from ubp.checks.run import find_removed_mentions
from ubp.core.errors import BadArgumentError
from ubp.core.model import (
    QUIET_LEVELS,
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
from ubp.edits.model import Proposal
from ubp.edits.proposals import find_own
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import Caller, MaxTokens, between
from ubp.frame.budget import TokenLimit, count_tokens
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, DocId, GitId, Line, Moment, PageLevel, PagePath, Title
from ubp.frame.quoting import quoted
from ubp.frame.records import (
    DAY,
    CommitRecord,
    ProblemRecord,
    SnapshotRecord,
    commit_record,
    moment_or_none,
    problem_record,
    snapshot_record,
    title_of,
)
from ubp.frame.wording import SHORT_ID, count, printable, printable_line
from ubp.frame.writer import Writer
from ubp.git.diff import join_hunks
from ubp.index.session import Session, Target
from ubp.index.view import View
from ubp.review.ordered_diff import rank_diffs
from ubp.search.graph import open_graph
from ubp.search.list_pages import read_page
from ubp.staleness.diff import diff_pages
from ubp.staleness.evidence import names_in_code
from ubp.staleness.model import SourceDiff, StaleReport, worst_first
from ubp.staleness.state import join_translations, open_context
from ubp.staleness.translations import count_languages
from ubp.staleness.wording import describe_noted

Diffs = Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff]

DEFAULT_SIZE, MIN_SIZE, MAX_SIZE = 20_000, 2_000, 200_000
# A page with a diff takes more characters than this: further ones would be cut off again.
MIN_PAGE_SIZE = 500
# The newest commits explain most.
MIN_COMMITS = 3
# The sentence below a diff that is cut, in characters (in tokens it takes fewer).
CUT_LINE_SIZE = 60
# Names of changed lines that are left out: of all diffs together, and of each at least.
MAX_NAMES, MIN_NAMES = 100, 8
MAX_READ = 5_000  # lines, in 0.2 s
# The advised size of a whole answer: a little more, in round numbers.
SPARE, SIZE_STEP = 1.05, 500
_FILES = frozenset({"---", "+++"})
_WORDS = re.compile(r"[\w.-]+")
# Of the proposed sources the first are right most often, and the strongest evidence suffices.
MAX_UNLISTED = 5
MAX_SUGGESTED, MAX_EVIDENCE = 5, 3
MAX_HEADINGS = 12  # of sections that are left out
ACKNOWLEDGE, UPDATE, BIND = "ubp_acknowledge", "ubp_update_page", "ubp_bind"
PIN_DIGITS = 12  # as `ubp ack` writes them


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
    is_unread: Annotated[
        bool, "whether the clone lacks the changed lines, or there are too many"
    ] = False
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
    left_out_sections: Annotated[tuple[str, ...], "headings that `content` leaves out"] = ()
    proposal: Annotated[
        Count | None, "number of the reader's own proposal whose text it is; null: of none"
    ] = None
    blob: Annotated[GitId | None, "with for_update: id that Git gives the file"] = None
    hidden_references: Annotated[Count, "number of references omitted because of max_tokens"] = 0
    resolve: Annotated[str, "suggested action"] = ""
    acknowledge: Annotated[
        str | None, "the command of a person for a page that is still accurate; null: none fits"
    ] = None


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
class UnlistedRecord:
    """A page that lists no sources, but names what changed in one that it seems to describe."""

    filepath: PagePath
    suggestion: Annotated[
        SuggestionRecord, "the source that it seems to describe, with the confidence"
    ]
    verdict: Annotated[Verdict, "what became of the source since the page's last edit"]
    since: Annotated[Moment | None, "since when; null if not committed yet"]
    evidence: Annotated[tuple[EvidenceRecord, ...], "names in the page that the source changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRecord:
    """Pages that no longer describe their sources, with the next step for each page."""

    documents: Annotated[
        tuple[CheckedPageRecord, ...],
        "pages, those that name what changed first; only those that are not fresh unless pages are"
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
    complete_with: Annotated[
        str | None, "the argument that returns what is omitted, e.g. max_size=31000"
    ] = None
    accepted: Annotated[Count, "number of references accepted as debt"] = 0
    unlisted: Annotated[
        tuple[UnlistedRecord, ...],
        "where none of these pages lists sources: those that name what changed after them in a"
        " source that they seem to describe",
    ] = ()
    settled: Annotated[Count, "number of obsolete lines in the debt file"] = 0


@dataclass(frozen=True, slots=True)
class CheckStalenessRequest(Request[CheckedRecord]):
    """Which pages to check, and how much of what changed to return."""

    filepath: Annotated[str, "page, folder or glob; default: all not fresh"] | None = None
    include_diff: Annotated[bool, "of each changed source"] = False
    for_update: Annotated[bool, "all of one page: text, diffs, pins"] = False
    max_size: Annotated[int, *between(MIN_SIZE, MAX_SIZE), "in characters"] = DEFAULT_SIZE
    max_tokens: MaxTokens | None = None
    agent: Caller = None


class _PageForUpdate(NamedTuple):
    """The text of the only page, which is to be updated, or the sections concerned.

    `left_out` are the headings of the other sections, `proposal` is the agent's own that it is of.
    """

    content: str
    left_out: tuple[str, ...] = ()
    proposal: int | None = None


def run(session: Session, request: CheckStalenessRequest) -> CheckedRecord:
    """Return the record of a page's sources, or of those of all pages that are not fresh.

    Raises:
        UsageError: `filepath` matches no page.
        BadArgumentError: `for_update` of several pages.
    """
    path, max_size = request.filepath, request.max_size
    paths = [path] if path else []
    own = find_own(session.repository, request.agent, path) if path else None
    target = Target(own.tip) if own else Target()
    report = report_stale(session, target, paths, every=path is not None, has_evidence=True)
    if path is None:
        # With what the debt file accepts: it is no less stale, and marked as accepted.
        report = report._replace(pages=tuple(page for page in report.pages if _is_shown(page)))
    elif report.translations:
        pages = join_translations(report.pages, report.translations)
        report = report._replace(pages=worst_first(pages))
    shown = max_size // MIN_PAGE_SIZE
    view = session.view(target)
    context = open_context(session, view)
    update = _read_for_update(view, report, max_size, own) if request.for_update else None
    diffs: Diffs = {}
    if request.include_diff or update:
        compared = diff_pages(report.pages[:shown], context)
        diffs = {(assessed.page.filepath, ref): diff for assessed, ref, diff in compared}
        if request.agent is not None:
            request.agent.judged.update(page.page.blob for page in report.pages[:shown])
    if update and diffs:
        diffs = _ordered(diffs, update.content)
    diff_records = _share_diffs(diffs)
    suggested_refs = tuple(map(suggestion_record, _suggest(session, report, path)))
    key = session.config.keys[0]
    return CheckedRecord(
        documents=tuple(
            _page_record(assessment, diff_records, suggested_refs, key, update)
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
            for finding in find_removed_mentions(session, paths, target)
        ),
        translations=_count_languages(session, report) if path is None else (),
        unlisted=() if own or report.summary.bound else tuple(_find_unlisted(session, paths)),
        accepted=report.accepted,
        settled=len(report.obsolete_debts),
    )


def _find_unlisted(session: Session, paths: Sequence[str]) -> Iterator[UnlistedRecord]:
    """Yield the pages that are probably not fresh, where none lists sources."""
    view = session.view()
    proposed = propose(session, view, paths)
    found = find_probable(session, open_context(session, view), proposed)
    for assessment in found[:MAX_UNLISTED]:
        path, verdict = assessment.page.filepath, assessment.references[0]
        suggestion = next(s for s in proposed[path] if s.source_path == verdict.reference.written)
        yield UnlistedRecord(
            filepath=path,
            suggestion=suggestion_record(
                suggestion._replace(evidence=suggestion.evidence[:MAX_EVIDENCE])
            ),
            verdict=verdict.verdict,
            since=moment_or_none(verdict.since),
            evidence=tuple(map(evidence_record, verdict.evidence)),
        )


def _count_languages(session: Session, report: StaleReport) -> tuple[TranslatedRecord, ...]:
    languages = count_languages(session.view(), session.config.translations, report.translations)
    return tuple(
        TranslatedRecord(
            language=language.language,
            fresh=language.fresh,
            stale=language.stale,
            missing=len(language.missing),
            orphaned=language.orphaned,
            unknown=language.unknown,
        )
        for language in languages
    )


def _ordered(diffs: Diffs, page: str) -> Diffs:
    """Return the diffs of a page's sources, in each the hunks first that concern the page most."""
    names = {evidence.name for _, reference in diffs for evidence in reference.evidence}
    ranked = rank_diffs([diff.text for diff in diffs.values()], page, names)
    return {
        key: diff._replace(text=join_hunks([item.part for item in items]))
        for (key, diff), items in zip(diffs.items(), ranked, strict=True)
    }


def _importance(reference: ReferenceVerdict) -> tuple[bool, bool, int, int]:
    """Return the order of a page's references: missing sources, then by the names on the page."""
    removed = sum(evidence.change == "removed" for evidence in reference.evidence)
    return (
        reference.verdict == "fresh",
        reference.current_blob is not None,
        -removed,
        -len(reference.evidence),
    )


def _read_for_update(
    view: View, report: StaleReport, max_size: int, own: Proposal | None
) -> _PageForUpdate:
    """Return the text of the page; of a page too long for half of the answer, what is concerned.

    That are the sections with names of changed lines, if there are any.
    """
    if len(report.pages) != 1:
        raise BadArgumentError(
            "filepath",
            "`for_update` requires the `filepath` of one page.",
            cause=f"It matches {len(report.pages)} pages.",
        )
    (assessment,) = report.pages
    page = read_page(open_graph(view), assessment.page.filepath)
    lines = [evidence.line for ref in assessment.references for evidence in ref.evidence]
    concerned = [
        part
        for part in page.parts
        if any(part.section.line_start <= line <= part.section.line_end for line in lines)
    ]
    if not concerned or len(page.content) <= max_size // 2:
        return _PageForUpdate(page.content, proposal=own.id if own else None)
    shown = "\n\n".join(part.content for part in concerned)
    headings = (part.section.heading for part in page.parts if part not in concerned)
    return _PageForUpdate(shown, tuple(filter(None, headings)), own.id if own else None)


def _is_shown(assessment: Assessment) -> bool:
    has_problems = bool(assessment.page.facts.problems)
    return has_problems or assessment.level not in QUIET_LEVELS


def _suggest(session: Session, report: StaleReport, path: str | None) -> Iterator[Suggestion]:
    """Yield proposed sources for a page without any that is requested by its path."""
    if path is None or [page.level for page in report.pages] != ["untracked"]:
        return
    view = session.view()
    found = suggest_bindings(session, view, [path], limit=MAX_SUGGESTED, all_pages=False)
    (suggestions,) = found.pages
    for suggestion in confident_suggestions(suggestions, MIN_REVIEW_CONFIDENCE):
        yield suggestion._replace(evidence=suggestion.evidence[:MAX_EVIDENCE])


def _page_record(
    assessment: Assessment,
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], ShownDiffRecord],
    suggested_refs: tuple[SuggestionRecord, ...],
    key: str,
    update: _PageForUpdate | None,
) -> CheckedPageRecord:
    page = assessment.page
    path = page.filepath
    return CheckedPageRecord(
        doc_id=doc_id(path),
        filepath=path,
        title=title_of(page),
        staleness=assessment.level,
        references=tuple(
            _reference_record(reference, diffs.get((path, reference)), has_pin=update is not None)
            for reference in sorted(assessment.references, key=_importance)
        ),
        problems=tuple(map(problem_record, page.facts.problems)),
        suggested_refs=suggested_refs,
        content=update and update.content,
        is_partial=bool(update and update.left_out),
        left_out_sections=update.left_out if update else (),
        blob=update and page.blob,
        proposal=update.proposal if update else None,
        resolve=_next_step(assessment, key, has_suggestions=bool(suggested_refs)),
        acknowledge=_acknowledge_command(assessment),
    )


def _reference_record(
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
    """Return what to do about a page, in sentences."""
    drifted = [reference for reference in assessment.references if reference.verdict != "fresh"]
    verified = [reference for reference in drifted if reference.verdict != "unknown"]
    missing_lines = [
        str(reference.reference.line) for reference in verified if reference.current_blob is None
    ]
    problems = dict.fromkeys(str(problem.line) for problem in assessment.page.facts.problems)
    steps = []
    if problems:
        steps.append(f"Correct {_lines(problems)}.")
    if assessment.level == "untracked":
        proposals = ", such as those suggested," if has_suggestions else ""
        beginning = "Then, unless it lists any, list" if problems else "List"
        steps.append(
            f"{beginning} the sources that the page describes{proposals} under {key} in its front"
            " matter."
        )
    if missing_lines:
        steps.append(
            f"Update or remove the missing sources in its front matter ({_lines(missing_lines)})."
        )
    if len(missing_lines) < len(verified):
        steps.append("Update the page, or acknowledge it if it is still accurate.")
    if len(verified) < len(drifted):
        steps.append("This clone is too shallow to verify all sources. Run: git fetch --unshallow")
    return " ".join(steps)


def _lines(numbers: Collection[str]) -> str:
    return f"{'line' if len(numbers) == 1 else 'lines'} {', '.join(numbers)}"


def _acknowledge_command(assessment: Assessment) -> str | None:
    can_be_pinned = any(
        reference.verdict not in {"fresh", "unknown"} and reference.current_blob is not None
        for reference in assessment.references
    )
    return ubp_command("ack", path_argument(assessment.page.filepath)) if can_be_pinned else None


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop suggestions, then commits, then hunks and ends of diffs, then names, then pages.

    Of a single page the hunks that concern it least are dropped first.
    """
    # The first of two limits sees the whole answer.
    if "complete_with" not in record and limit.excess(record) > 0:
        record["complete_with"] = _complete_with(limit.write(record), limit)
    if (
        limit.drop(record, _drop_suggestions(record))
        or limit.drop(record, _drop_old_commits(record))
        or _fit_diffs(record, limit)
        or limit.drop(record, _drop_removed_names(record))
        or limit.drop(record, _drop_unlisted(record))
    ):
        return
    documents = record["documents"]
    record["truncated_count"] = 0
    if limit.drop(record, _drop_last_documents(record, documents)):
        return
    for document in documents:
        if content := document.get("content"):
            limit.truncate(record, document, "content")
            document["is_partial"] = document["content"] != content
    if not (
        limit.drop(record, _drop_names(record)) or limit.drop(record, _drop_references(documents))
    ):
        record.pop("complete_with", None)


def _fit_diffs(record: Json, limit: TokenLimit) -> bool:
    """Cut diffs, and return whether the record fits."""
    references = reversed(list(_references(record)))
    diffs = [reference["diff"] for reference in references if reference.get("diff")]
    words = " ".join(document.get("content") or "" for document in record["documents"])
    max_names = max(MIN_NAMES, MAX_NAMES // max(1, len(diffs))) if words else 0
    if words and limit.drop(record, _drop_hunks(record, words, max_names)):
        return True
    for diff in diffs:
        excess = limit.excess(record)
        if excess <= 0:
            return True
        _shorten(diff, excess, limit, words, max_names)
    return limit.excess(record) <= 0


def _complete_with(text: str, limit: TokenLimit) -> str:
    """Return the arguments with which nothing of a text is omitted, if it may be so large."""
    tokens, size = (
        -(-int(measure(text) * SPARE) // SIZE_STEP) * SIZE_STEP for measure in (count_tokens, len)
    )
    is_tokens = limit.measure is count_tokens
    larger = f"max_tokens={tokens}"
    return larger if is_tokens else f"max_size={min(size, MAX_SIZE)}, {larger}"


def _drop_hunks(record: Json, page: str, max_names: int) -> Iterator[Any]:
    """Drop the hunks that concern the page least, but for the first one of all."""
    references = list(_references(record))
    names = {found["name"] for reference in references for found in reference.get("evidence", ())}
    diffs = [reference["diff"] for reference in references if reference.get("diff")]
    ranked = rank_diffs([diff["text"] for diff in diffs], page, names)
    kept = [list(items) for items in ranked]
    order = sorted(
        ((item.rank, number) for number, items in enumerate(ranked) for item in items),
        key=lambda place: (place[0], -place[1]),
    )
    for _, number in order[:-1]:
        diff, items = diffs[number], kept[number]
        dropped = items.pop().part.text.split("\n")
        diff["text"] = join_hunks([item.part for item in items])
        diff["left_out_lines"] = diff.get("left_out_lines", 0) + len(dropped)
        shown = names_in_code(diff["text"].split("\n"))
        left_out = _changed_names(diff, dropped, page)
        diff["left_out_names"] = [name for name in left_out if name not in shown][:max_names]
        yield dropped


def _drop_names(record: Json) -> Iterator[Any]:
    for reference in reversed(list(_references(record))):
        if names := reference.get("diff", {}).pop("left_out_names", None):
            yield names


def _drop_references(documents: list[Json]) -> Iterator[Any]:
    for document in documents:
        while len(document["references"]) > 1:
            document["hidden_references"] = document.get("hidden_references", 0) + 1
            yield document["references"].pop()


def _references(record: Json) -> Iterator[Json]:
    for document in record["documents"]:
        yield from document["references"]


def _drop_suggestions(record: Json) -> Iterator[Any]:
    for document in record["documents"]:
        while document.get("suggested_refs"):
            yield document["suggested_refs"].pop()


def _drop_old_commits(record: Json) -> Iterator[Any]:
    for reference in reversed(list(_references(record))):
        commits = reference.get("commits", [])
        if len(commits) > MIN_COMMITS:
            reference["commit_count"] = len(commits)
            reference["commits"] = commits[:MIN_COMMITS]
            yield commits[MIN_COMMITS:]


def _drop_removed_names(record: Json) -> Iterator[Any]:
    while record.get("removed_names"):
        yield record["removed_names"].pop()


def _drop_unlisted(record: Json) -> Iterator[Any]:
    while len(record.get("unlisted", ())) > 1:
        yield record["unlisted"].pop()


def _shorten(diff: Json, excess: int, limit: TokenLimit, page: str, max_names: int) -> None:
    """Cut lines off the end of a diff, and list names that they change: first those of the page."""
    lines = diff["text"].split("\n")
    names = _changed_names(diff, lines, page)[:max_names]
    size = limit.measure(diff["text"]) - excess - CUT_LINE_SIZE - limit.measure(", ".join(names))

    def size_of(number: int) -> int:
        return limit.measure("\n".join(lines[:number]))

    kept_lines = max(0, bisect_right(range(len(lines) + 1), size, key=size_of) - 1)
    diff["text"] = "\n".join(lines[:kept_lines])
    diff["left_out_lines"] = diff.get("left_out_lines", 0) + len(lines) - kept_lines
    shown = names_in_code(lines[:kept_lines])
    left_out = _changed_names(diff, lines[kept_lines:], page)
    diff["left_out_names"] = [name for name in left_out if name not in shown][:max_names]


def _changed_names(diff: Json, lines: Sequence[str], page: str) -> list[str]:
    """Return the names that lines of a diff change, and those that were left out before."""
    changed = [line[1:] for line in lines if line[:1] in {"+", "-"} and line[:3] not in _FILES]
    counts = Counter(name for line in changed[:MAX_READ] for name in names_in_code([line]))
    counts.update(diff.get("left_out_names", ()))
    words = set(_WORDS.findall(page))
    return sorted(counts, key=lambda name: (name not in words, -counts[name], name))


def _drop_last_documents(record: Json, documents: list[Json]) -> Iterator[Any]:
    while len(documents) > 1:
        record["truncated_count"] += 1
        yield documents.pop()


LEVELS = ("stale", "possibly_stale", "unknown", "fresh")


def text(record: CheckedRecord, write: Writer) -> Iterator[str]:
    """Yield the pages, worst first, each with its sources and the next step."""
    diffs = [
        reference.diff.text
        for page in record.documents
        for reference in page.references
        if reference.diff is not None and _is_long(reference.diff.text)
    ]
    marker = write.marker(*diffs, *(page.content or "" for page in record.documents))
    yield f"{_summary(record.summary)} {write.notice(marker)}"
    bare = [page for page in record.documents if _is_bare(page)]
    for page in record.documents:
        if page not in bare or len(bare) == 1:
            yield from _page_text(page, marker, write, record.complete_with)
    if len(bare) > 1:
        yield ""
        names = ", ".join(write.path(page.filepath) for page in bare)
        yield f"{count(len(bare), 'page')} without sources: {names}"
        yield f"  Next: {printable(bare[0].resolve)}"
    if record.translations:
        yield ""
        yield "Translations (give a filepath to see one):"
        yield from (f"  {_language(language)}" for language in record.translations)
    if record.unlisted or not (record.summary.bound or record.documents):
        yield from ([""] if record.documents else [])
        yield from _unlisted_text(record, write)
    if record.removed_names:
        yield ""
        yield "Names in pages that the code no longer has; update the pages:"
        for removed in record.removed_names:
            yield f"  {removed.filepath}:{removed.line}: {printable(removed.message)}"
    if record.truncated_count:
        advice = f"repeat the call with {record.complete_with or 'a larger max_size'}"
        yield f"[{count(record.truncated_count, 'page')} omitted: {advice}]"


def _is_bare(page: CheckedPageRecord) -> bool:
    """Return whether there is nothing to say about a page but that it lists no sources."""
    has_more = page.problems or page.suggested_refs or page.content
    return page.staleness == "untracked" and not has_more


def _unlisted_text(record: CheckedRecord, write: Writer) -> Iterator[str]:
    """Yield the pages that are probably outdated, or that there is none."""
    if not record.unlisted:
        yield "None names what changed after its last edit in a source that it seems to describe."
        return
    yield (
        "These name what changed after their last edit in a source that they seem to describe, with"
        " a confidence:"
    )
    for page in record.unlisted:
        when = f" since {page.since[:DAY]}" if page.since else ""
        source = write.name(page.suggestion.source_path)
        verdict = describe_noted(page.verdict, None, when)
        names = ", ".join(write.quote(evidence.name) for evidence in page.evidence)
        named = f"; the page names {names}, which it changed"
        confidence = f"{page.suggestion.confidence:.2f}"
        yield f"  {write.path(page.filepath)}  {confidence}  {source} {verdict}{named}"
    first = quoted(record.unlisted[0].filepath)
    yield f"What changed since then: ubp_review_change(paths=[{first}]{write.arguments()})"


def _omitted(number: int, noun: str) -> Iterator[str]:
    if number:
        yield f"[{count(number, noun)} omitted]"


def _language(language: TranslatedRecord) -> str:
    names = ("fresh", "stale", "orphaned", "unknown", "missing")
    counts = ((name, getattr(language, name)) for name in names)
    shown = ", ".join(f"{number} {name}" for name, number in counts if number)
    return f"{printable(language.language)}: {shown}"


def _summary(summary: SummaryRecord) -> str:
    counts = ((level, getattr(summary, level)) for level in LEVELS)
    levels = ", ".join(f"{number} {level}" for level, number in counts if number)
    verb = "lists" if summary.documents == 1 else "list"
    bound = f"{summary.bound} of {count(summary.documents, 'page')} {verb} sources"
    return f"{bound}: {levels}." if levels else f"{bound}."


def _is_long(diff: str) -> bool:
    """Return whether it is a diff and not a sentence in place of one, which is ours."""
    return len(diff.splitlines()) > 1


def _page_text(
    page: CheckedPageRecord, marker: str, write: Writer, complete_with: str | None
) -> Iterator[str]:
    yield ""
    yield f"{write.path(page.filepath)}: {write.title(page.title)} ({page.staleness})"
    for problem in page.problems:
        yield f"  line {problem.line}: {printable(problem.message)}"
    fresh = [ref.source_path for ref in page.references if ref.verdict == "fresh"]
    for reference in page.references:
        if reference.verdict != "fresh":
            yield from _reference_text(reference, marker, write)
    if fresh:
        yield f"  fresh: {', '.join(map(write.name, fresh))}"
    for suggestion in page.suggested_refs:
        reasons = "; ".join(printable(evidence.detail) for evidence in suggestion.evidence)
        confidence = f"{suggestion.confidence:.2f}"
        yield f"  suggested: {write.name(suggestion.source_path)} ({confidence}: {reasons})"
    yield from _omitted(page.hidden_references, "source")
    if page.content:
        own = f" as your proposal {page.proposal} has it" if page.proposal else ""
        yield f"  The page{own}, blob {(page.blob or '')[:SHORT_ID]}{_part_of(page, write)}:"
        yield from write.enclose(page.content, marker)
    if complete_with and _is_cut(page):
        flag = "for_update" if page.content else "include_diff"
        path = f"filepath={quoted(page.filepath)}"
        call = f"ubp_check_staleness({path}, {flag}=true, {complete_with}{write.arguments()})"
        yield f"  With what is omitted: {call}"
    if page.resolve:
        is_call = page.acknowledge is None or ACKNOWLEDGE in write.offered
        command = "" if is_call else f" Command: {printable(page.acknowledge or '')}"
        yield f"  Next: {printable(page.resolve)}{command}"
    yield from _calls(page, write)


def _is_cut(page: CheckedPageRecord) -> bool:
    diffs = [reference.diff for reference in page.references if reference.diff]
    return bool(page.hidden_references) or any(diff.left_out_lines for diff in diffs)


def _part_of(page: CheckedPageRecord, write: Writer) -> str:
    """Return which sections are left out of the page's text, and what returns them."""
    if not page.is_partial:
        return ""
    headings = page.left_out_sections
    more = f" and {len(headings) - MAX_HEADINGS} more" if headings[MAX_HEADINGS:] else ""
    without = f" without {', '.join(map(write.title, headings[:MAX_HEADINGS]))}{more}"
    return f", in part{f',{without}' if headings else ''} (ubp_get_page has all)"


def _calls(page: CheckedPageRecord, write: Writer) -> Iterator[str]:
    """Yield the calls that settle a page, where their tools are offered."""
    path = f"filepath={quoted(page.filepath)}"
    end = f', reason="\u2026"{write.arguments()})'
    listed = {reference.source_path for reference in page.references}
    moved = dict.fromkeys(
        reference.moved_to
        for reference in page.references
        if reference.moved_to and reference.moved_to not in listed and not reference.language
    )
    if moved and BIND in write.offered:
        sources = f"sources=[{', '.join(map(quoted, moved))}]"
        yield f"  If it describes what moved: {BIND}({path}, {sources}{end}"
    if page.acknowledge is None or ACKNOWLEDGE not in write.offered:
        return
    if page.blob and UPDATE in write.offered:
        blob = f'expected_blob="{page.blob[:SHORT_ID]}"'
        yield f"  If it must change: {UPDATE}({path}, {blob}{end}"
    yield f"  If it is still accurate: {ACKNOWLEDGE}({path}{end}"


def _reference_text(reference: CheckedReferenceRecord, marker: str, write: Writer) -> Iterator[str]:
    debt = " (accepted debt)" if reference.is_debt else ""
    yield f"  {_source(reference, write)} {_verdict(reference, write)}{debt}"
    for evidence in reference.evidence:
        name = write.quote(evidence.name)
        yield f"    the page names {name} (line {evidence.line}), which is {evidence.change}"
    if reference.proposed_pin:
        yield f"    pin after the update: {reference.proposed_pin}"
    if reference.is_unread:
        yield "    the changed lines could not be read: the clone lacks them, or there are too many"
    for commit in reference.commits:
        origin = f"{commit.date[:DAY]} {write.name(commit.author)}"
        yield f"    {commit.id[:SHORT_ID]} {origin}: {write.quote(commit.subject)}"
    if (older := reference.commit_count - len(reference.commits)) > 0:
        yield f"    and {count(older, 'older commit')}"
    if reference.diff is not None:
        yield from _diff_text(reference.diff, marker, write)


def _source(reference: CheckedReferenceRecord, write: Writer) -> str:
    """Return the source with its symbol, but without its lines."""
    fragment = reference.fragment or ""
    tail = fragment if fragment.startswith("#") else ""
    return write.name(reference.source_path.removesuffix(tail) + tail)


def _verdict(reference: CheckedReferenceRecord, write: Writer) -> str:
    when = f" since {reference.since[:DAY]}" if reference.since else ""
    moved_to = write.name(reference.moved_to) if reference.moved_to else None
    unfetched = reference.unfetched or ""
    return describe_noted(reference.verdict, reference.note, when, moved_to, unfetched=unfetched)


def _diff_text(diff: ShownDiffRecord, marker: str, write: Writer) -> Iterator[str]:
    if _is_long(diff.text):
        yield from write.enclose(diff.text, marker)
    else:
        yield from (f"    {printable_line(line)}" for line in diff.text.splitlines())
    yield from _omitted(diff.left_out_lines, "line")
    if diff.left_out_names:
        yield f"    they change {', '.join(map(write.name, diff.left_out_names))}"
    if diff.missing_blobs:
        yield f"    {count(len(diff.missing_blobs), 'blob')} missing from this clone."


CHECK_STALENESS = Answer(
    request=CheckStalenessRequest,
    record=CheckedRecord,
    run=run,
    text=text,
    fit=fit,
    budgets=("max_size", "max_tokens"),
    tool=ToolTraits(
        title="Find stale pages",
        description=(
            "Find documentation pages that no longer match the code: each source that changed "
            "since its page was written, its commits and, with include_diff, its diff; also "
            "names that the code lost. Use it before relying on a page, or to update one "
            "(for_update)."
        ),
    ),
)

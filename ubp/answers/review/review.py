"""`ubp review` and `ubp_review_change`: the pages that a change concerns, each as a case to decide.

A case is what a reader needs to decide about one page, and no more; what settles it is a command.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from ubp.answers.review.judge import find_judge, judge_cases
from ubp.bindings.features import MIN_CONFIDENCE
from ubp.core.errors import UsageError
from ubp.core.model import FilePath, Judgement, NameChange
from ubp.core.paths import doc_id
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.answer import Answer, Request, ToolTraits
from ubp.frame.arguments import MaxTokens, between
from ubp.frame.budget import TokenLimit
from ubp.frame.encoding import Json
from ubp.frame.fields import Count, Digest, DocId, Fraction, Line, Option, PagePath
from ubp.frame.quoting import quoted
from ubp.frame.records import (
    JudgementRecord,
    JudgeRecord,
    SnapshotRecord,
    judge_sentences,
    snapshot_record,
)
from ubp.frame.word_diff import paint_diff
from ubp.frame.wording import (
    ChangeWords,
    acknowledge_command,
    count,
    printable,
    printable_line,
)
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.review.excerpt import (
    case_digest,
    change_heading,
    extra_lines,
    hunk_heading,
    passage_heading,
    passage_lines,
)
from ubp.review.model import Case, CaseKind, Reason
from ubp.review.probability import MIN_PROBABILITY
from ubp.review.run import Extent, review_change
from ubp.staleness.wording import judgement_sentence

MAX_CASES, DEFAULT_CASES = 100, 10
LIKELY = 0.3  # cases of this probability are marked
# People read cases below it as a line each: of 40 such cases that were judged none was right, of
# the 23 above 2 (docs/measurements.md).
WHOLE = 0.1
MAX_SUBJECTS = 2  # that agents read with each case
INTERACTIVE = "-i"  # which agents cannot use
UPDATE = "ubp_update_page"
DESCRIBES = "the page describes the source"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRecord:
    """A name that the change touches, and that the page has."""

    name: Annotated[str, "the name as the page writes it"]
    change: Annotated[NameChange, "what the change does with it"]
    line: Annotated[Line, "its line in the page, from 1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonRecord:
    """Why a page is a case."""

    kind: Annotated[
        CaseKind,
        "bound: the page lists a changed source; removed-name: it names what no source has any"
        " more; changed-value: it gives a value that the change replaces; proposed: it does not"
        " list the source, but names what changed; translation: of a page that changed;"
        " collection: it lists a document of a collection; link: it leads nowhere now",
    ]
    text: Annotated[str, "the reason in words"]
    line: Annotated[Line, "line of the page, from 1"]
    path: Annotated[str | None, "the source or other file that it is about"]
    names: Annotated[tuple[NameRecord, ...], "names that the change touches, and the page has"]
    confidence: Annotated[
        Fraction | None, "of a proposed source: that the page describes it; null for the others"
    ]
    hint: Annotated[str, "how to fix it; may be empty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRecord:
    """Lines of the page."""

    heading: Annotated[str, "the heading above; empty before the first one"]
    line: Annotated[Line, "line of the first one, from 1"]
    lines: Annotated[tuple[str, ...], "the lines; `…` where some are left out"]
    is_whole: Annotated[bool, "whether nothing of this part of the section is left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkRecord:
    """A hunk of the change."""

    path: Annotated[str, "file, from the root"]
    old_start: Annotated[Count, "line of the first one before the change"]
    new_start: Annotated[Count, "line of the first one after the change"]
    lines: Annotated[tuple[str, ...], "the lines, each with its sign; ` …` where some are left out"]
    is_whole: Annotated[bool, "whether none of its lines are left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRecord:
    """A definition whose signature changed."""

    name: Annotated[str, "name of the definition"]
    before: Annotated[str, "its signature before the change"]
    after: Annotated[str, "its signature after the change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    """What settles a case."""

    when: Annotated[str, "in which case this is right"]
    command: Annotated[str, "the command"]
    tool: Annotated[str, "the tool that proposes the same, where it is offered; empty: none"]
    source: Annotated[str, "the source to list; empty: none"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """A page that the change may affect, and what a reader needs to decide."""

    doc_id: DocId
    filepath: PagePath
    line: Annotated[Line, "line of the page that has the evidence, from 1"]
    sentence: Annotated[str, "the sentence there"]
    kind: Annotated[CaseKind, "kind of the strongest reason"]
    probability: Annotated[Fraction, "probability that the page must be edited"]
    reasons: Annotated[tuple[ReasonRecord, ...], "why it is a case, the strongest reason first"]
    sources: Annotated[tuple[str, ...], "changed sources that the case is about"]
    headings: Annotated[tuple[str, ...], "headings of the page"]
    page_lines: Annotated[Count, "number of lines of the page"]
    passages: Annotated[tuple[PassageRecord, ...], "what of the page the change may concern"]
    files: Annotated[tuple[str, ...], "files that were added, deleted or renamed"]
    destinations: Annotated[tuple[str, ...], "where removed names are now"]
    manifests: Annotated[tuple[str, ...], "changed lines of manifests, e.g. of package.json"]
    signatures: Annotated[tuple[SignatureRecord, ...], "changed definitions that the page names"]
    changed_files: Annotated[Count, "number of changed files that the case is about"]
    added: Annotated[Count, "number of lines added to them"]
    removed: Annotated[Count, "number of lines removed from them"]
    hunk_count: Annotated[Count, "number of hunks of them"]
    hunks: Annotated[tuple[HunkRecord, ...], "the hunks nearest to the page"]
    actions: Annotated[tuple[ActionRecord, ...], "what settles the case"]
    fingerprint: Annotated[Digest, "the same as long as the case is, whatever its probability"]
    judgement: Annotated[
        JudgementRecord | None, "what the judge says; null: it was not asked about this case"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """What a change means for the documentation."""

    cases: Annotated[tuple[CaseRecord, ...], "cases, the most probable first"]
    truncated_count: Annotated[Count, "number of probable cases that are left out"]
    unlikely: Annotated[Count, "number of pages below the least probability"]
    min_probability: Annotated[Fraction, "probability below which a page is only counted"]
    subjects: Annotated[tuple[str, ...], "subjects of the last commits of the change"]
    changed_files: Annotated[Count, "number of files that the change touches"]
    selected: Annotated[Count | None, "number of pages that were asked about; null: all"]
    base: Annotated[str | None, "revision that it is compared with, as it was given; null: HEAD"]
    ref: Annotated[str | None, "revision where it ends; null: HEAD, the index or the work tree"]
    snapshot: SnapshotRecord
    not_checked: Annotated[tuple[str, ...], "what could not be checked, and why"]
    judge: Annotated[JudgeRecord | None, "who judged the cases; null: nobody"]


@dataclass(frozen=True, slots=True)
class ReviewRequest(Request[ReviewRecord]):
    """The change: staged, since `base`, or of the work tree."""

    paths: Annotated[
        tuple[str, ...],
        "pages",
        Option(
            "A..B, or pages, directories and globs; alone, for all since each was edited.",
            is_argument=True,
        ),
    ] = ()
    staged: Annotated[bool, Option("Review the staged changes.")] = False
    base: (
        Annotated[
            str,
            "since this revision",
            Option("Review all commits since the merge base with this revision.", metavar="REV"),
        ]
        | None
    ) = None
    ref: Annotated[str, "with base: up to this one", Option("", is_only=True)] | None = None
    limit: Annotated[
        int,
        *between(1, MAX_CASES),
        Option("Maximum number of cases (10).", metavar="N"),
    ] = DEFAULT_CASES
    max_tokens: MaxTokens | None = None
    judge: Annotated[
        bool,
        Option(
            "Let the language model judge the cases that UBP_REVIEW_URL and UBP_REVIEW_MODEL name.",
            is_only=True,
        ),
    ] = False
    max_cases: Annotated[
        int,
        *between(1, MAX_CASES),
        Option("With --judge, ask about at most this many cases (10).", metavar="N", is_only=True),
    ] = DEFAULT_CASES

    @property
    def target(self) -> Target:
        """The change that is reviewed."""
        return Target(self.ref, self.staged, self.base)


def run(
    session: Session,
    request: ReviewRequest,
    least: float = MIN_PROBABILITY,
    least_whole: float = 0.0,
) -> ReviewRecord:
    """Return the cases of a change that are at least this probable (see `Extent`).

    Raises:
        UsageError: the change is not one, a path matches no page, or no judge can be asked.
    """
    request = with_range(request)
    judge = find_judge(session.environment) if request.judge else None  # an error before any work
    # A judge reads each case.
    extent = Extent(request.limit, least, 0.0 if judge else least_whole)
    review = review_change(session, request.target, request.paths, extent)
    disputable = [case for case in review.cases if case.kind != "link"]  # no matter of opinion
    judged = (
        judge_cases(session, judge, disputable, review.subjects, request.max_cases)
        if judge
        else None
    )
    judgements = judged.judgements if judged else {}
    words = ChangeWords(request.base, request.ref)
    prefix = session.repository.prefix
    is_open = not request.ref
    cases = [
        _case_record(
            case,
            _actions(case, request, words, prefix) if is_open else (),
            judgements.get(case.filepath),
        )
        for case in review.cases
    ]
    return ReviewRecord(
        cases=tuple(sorted(cases, key=_verdict_order)),
        truncated_count=review.omitted,
        unlikely=review.unlikely,
        min_probability=MIN_PROBABILITY,
        subjects=review.subjects,
        changed_files=review.changed_files,
        selected=review.selected,
        base=request.base,
        ref=request.ref,
        snapshot=snapshot_record(review.snapshot),
        not_checked=review.not_checked,
        judge=judged.record if judged else None,
    )


def _verdict_order(case: CaseRecord) -> int:
    """Return the rank of a case: what the judge affirms first, what it denies last."""
    return {"yes": 0, "no": 2}.get(case.judgement.affected, 1) if case.judgement else 1


def with_range(request: ReviewRequest) -> ReviewRequest:
    """Return a request whose `A..B`, if its paths have one, is its base and its end.

    Raises:
        UsageError: another change is given, too.
    """
    ranges = [path for path in request.paths if ".." in path and not path.startswith((".", "/"))]
    if not ranges:
        return request
    if request.base or request.staged or len(ranges) > 1:
        raise UsageError(
            "Several changes were given.",
            cause="`ubp review` reviews one: --staged, --base REV, A..B, or the work tree.",
            hint="Remove all but one of them.",
        )
    old, _, new = ranges[0].partition("..")
    paths = tuple(path for path in request.paths if path != ranges[0])
    return replace(request, paths=paths, base=old, ref=new.lstrip(".") or "HEAD")


def _actions(
    case: Case, request: ReviewRequest, words: ChangeWords, prefix: FilePath
) -> Iterator[ActionRecord]:
    kinds = {reason.kind for reason in case.reasons}
    page = path_argument(case.filepath, prefix)
    bound = [reason for reason in case.reasons if reason.kind in {"bound", "collection"}]
    if any(reason.is_moved for reason in bound):
        command = ubp_command("check", "--fix", page)
        yield ActionRecord(when="the page still describes what moved", command=command, tool="")
    if any(not reason.is_gone for reason in bound) or any(
        reason.kind == "translation" and reason.hint for reason in case.reasons
    ):
        command = ubp_command("ack", page)
        if request.staged or request.base:
            command = acknowledge_command([case.filepath], words, prefix=prefix)
        yield ActionRecord(
            when="the page is still accurate", command=command, tool="ubp_acknowledge"
        )
    if "link" in kinds:
        command = ubp_command("check", "--fix", page)
        yield ActionRecord(when="the link has one possible target", command=command, tool="")
    for reason in case.reasons:
        if reason.kind == "proposed" and reason.path and not reason.is_gone:
            is_confident = (reason.confidence or 0.0) >= MIN_CONFIDENCE
            yield ActionRecord(
                when=DESCRIBES,
                command=ubp_command("bind", "--write" if is_confident else INTERACTIVE, page),
                tool="ubp_bind",
                source=reason.path,
            )
            break


def _case_record(
    case: Case, actions: Iterable[ActionRecord], judgement: Judgement | None
) -> CaseRecord:
    excerpt = case.excerpt
    return CaseRecord(
        doc_id=doc_id(case.filepath),
        filepath=case.filepath,
        line=case.line,
        sentence=case.sentence,
        kind=case.kind,
        probability=case.probability,
        reasons=tuple(map(_reason_record, case.reasons)),
        sources=case.sources,
        headings=excerpt.headings,
        page_lines=excerpt.page_lines,
        passages=tuple(
            PassageRecord(
                heading=passage.heading,
                line=passage.lines[0][0],
                lines=tuple(passage_lines(passage)),
                is_whole=passage.is_whole,
            )
            for passage in excerpt.passages
        ),
        files=excerpt.files,
        destinations=excerpt.destinations,
        manifests=excerpt.manifests,
        signatures=tuple(
            SignatureRecord(name=item.name, before=item.before, after=item.after)
            for item in excerpt.signatures
        ),
        changed_files=excerpt.file_count,
        added=excerpt.added,
        removed=excerpt.removed,
        hunk_count=excerpt.hunk_count,
        hunks=tuple(
            HunkRecord(
                path=hunk.path,
                old_start=hunk.old_start,
                new_start=hunk.new_start,
                lines=hunk.lines,
                is_whole=hunk.is_whole,
            )
            for hunk in excerpt.hunks
        ),
        actions=tuple(actions),
        fingerprint=case_digest(case),
        judgement=JudgementRecord(*judgement) if judgement else None,
    )


def _reason_record(reason: Reason) -> ReasonRecord:
    return ReasonRecord(
        kind=reason.kind,
        text=reason.text,
        line=reason.line,
        path=reason.path,
        names=tuple(
            NameRecord(name=name.name, change=name.change, line=name.line) for name in reason.names
        ),
        confidence=reason.confidence,
        hint=reason.hint,
    )


def fit(record: Json, limit: TokenLimit) -> None:
    """Drop headings, then the last hunks and passages of cases, then the last cases."""
    cases: list[Json] = record["cases"]
    if limit.drop(record, _drop_all(cases, "headings", "manifests")):
        return
    if limit.drop(record, _drop_last(record, cases)):
        return
    limit.drop(record, _shorten(cases))


def _drop_all(cases: list[Json], *names: str) -> Iterator[Any]:
    for name in names:
        for case in reversed(cases):
            if case.get(name):
                value = case[name]
                case[name] = []
                yield value


def _drop_last(record: Json, cases: list[Json]) -> Iterator[Any]:
    while len(cases) > 1:
        record["truncated_count"] = record.get("truncated_count", 0) + 1
        yield cases.pop()


def _shorten(cases: list[Json]) -> Iterator[Any]:
    for case in reversed(cases):
        for name in ("signatures", "hunks", "passages"):
            while len(case.get(name) or ()) > (0 if name == "signatures" else 1):
                yield case[name].pop()


def text(record: ReviewRecord, write: Writer) -> Iterator[str]:
    """Yield the cases, each with the page beside the change, and what settles it."""
    if write.is_quiet:
        yield from (f"{write.name(case.filepath)}:{case.line}" for case in record.cases)
        return
    cases = [case for case in record.cases if not _is_denied(case)]
    bodies = [_body(case, record) if write.is_agent else "" for case in cases]
    marker = write.marker(*bodies)
    if write.is_agent:
        yield f"{summary(record, write)} {write.notice(marker)}"
    brief = [] if write.is_agent else [case for case in cases[1:] if _is_brief(case)]
    for case, body in zip(cases, bodies, strict=True):
        if case in brief:
            continue
        if write.is_agent or case is not cases[0]:
            yield ""
        if write.is_agent:
            yield from _head(case, write)
            yield from _evidence_line(case, write)
            yield from write.enclose(body, marker)
        else:
            yield from case_text(case, write)
            yield from (f"  {line}" for line in change_text(case, write))
        yield from _steps(case, write)
    if not write.is_agent:
        if cases:
            yield ""
        yield from _brief_lines(brief, record, write)
        yield from _judge_text(record, write)
        yield summary(record, write)
    yield from (write.quote(sentence) for sentence in record.not_checked)


def _is_brief(case: CaseRecord) -> bool:
    """Return whether people see a line of a case: it is improbable, and no judge affirms it."""
    return case.probability < WHOLE and case.judgement is None


def _brief_lines(cases: Sequence[CaseRecord], record: ReviewRecord, write: Writer) -> Iterator[str]:
    if not cases:
        return
    yield f"Less probable than {WHOLE:.0%}:"
    for case in cases:
        place = write.path(f"{case.filepath}:{case.line}")
        yield f"  {place}  {case.probability:.0%}  {write.quote(case.reasons[0].text)}"
    command = ubp_command("review", *_change_arguments(record), cases[0].filepath)
    yield f"To read one: {write.style.cyan(printable(command))}"
    yield ""


def _change_arguments(record: ReviewRecord) -> tuple[str, ...]:
    """Return the arguments of `ubp review` for the change of a record."""
    if record.base and record.ref:
        return (f"{record.base}..{record.ref}",)
    if record.base:
        return ("--base", record.base)
    return ("--staged",) if record.snapshot.kind == "staged" else ()


def _is_denied(case: CaseRecord) -> bool:
    return case.judgement is not None and case.judgement.affected == "no"


def _judge_text(record: ReviewRecord, write: Writer) -> Iterator[str]:
    """Yield a line for each case that the judge denies, and what its verdicts cost."""
    judge = record.judge
    if judge is None:
        return
    for case in filter(_is_denied, record.cases):
        assert case.judgement is not None  # noqa: S101  # for mypy: it is denied
        place = write.path(f"{case.filepath}:{case.line}")
        yield f"{place}  judged accurate: {write.quote(case.judgement.why)}"
    yield from judge_sentences(judge, write.quote)


def summary(record: ReviewRecord, write: Writer) -> str:
    """Return how many pages a change may concern."""
    pages = len(record.cases) + record.truncated_count
    shown = f" ({len(record.cases)} shown)" if record.truncated_count else ""
    unlikely = ""
    if record.unlikely:
        others = count(record.unlikely, "other page")
        verb = "names" if record.unlikely == 1 else "name"
        least = f"{record.min_probability:.0%}"
        unlikely = f" {others} {verb} what it touches, with a probability below {least}."
    if not record.changed_files:
        return write.style.green("Nothing changed.")
    subject = f"The change of {count(record.changed_files, 'file')}"
    if not pages:
        sentence = f"{subject} probably affects {_pages(0, record.selected)}."
        return (sentence if unlikely else write.style.green(sentence)) + unlikely
    return f"{subject} may affect {_pages(pages, record.selected)}{shown}.{unlikely}"


def _pages(affected: int, selected: int | None) -> str:
    """Return how many pages are affected: of all, or of those that were given."""
    if selected is None:
        return count(affected, "page") if affected else "no page"
    if selected == 1:
        return "the given page" if affected else "nothing in the given page"
    return f"{affected or 'none'} of the {selected} given pages"


def _head(case: CaseRecord, write: Writer) -> Iterator[str]:
    chance = f"{case.probability:.0%}"
    chance = write.style.yellow(chance) if case.probability >= LIKELY else chance
    yield f"{write.path(f'{case.filepath}:{case.line}')}  {chance}  {case.kind}"
    if case.judgement:
        yield f"  {judgement_sentence(case.judgement, write.quote)}"
    for reason in case.reasons:
        yield f"  {write.quote(reason.text)}"
        if reason.hint and not write.is_agent:
            yield f"  {write.style.dim(write.quote(reason.hint))}"


def _evidence_line(case: CaseRecord, write: Writer) -> Iterator[str]:
    """Yield the sentence of the page that has the evidence, where there is a name in it."""
    names = [name.name for name in case.reasons[0].names]
    if case.sentence and names:
        sentence = write.quote(case.sentence)
        shown = sentence if write.is_agent else _emphasized(sentence, names, write)
        yield f"  line {case.line}: {shown}"


def case_text(case: CaseRecord, write: Writer) -> Iterator[str]:
    """Yield why a page is a case, and its passages, with the names of the reasons in bold."""
    yield from _head(case, write)
    yield from _evidence_line(case, write)
    names = [name.name for reason in case.reasons for name in reason.names]
    for line in page_lines(case.passages):
        yield f"  {write.style.dim('|')} {_emphasized(printable_line(line), names, write)}"


def change_text(case: CaseRecord, write: Writer) -> Iterator[str]:
    """Yield what a case shows of the change, in colors."""
    yield from paint_diff("\n".join(change_lines(case)), write.style)


def _emphasized(line: str, names: Sequence[str], write: Writer) -> str:
    if not names:
        return line
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda match: write.style.bold(match[0]), line)


def _body(case: CaseRecord, record: ReviewRecord) -> str:
    # The last ones of many are seldom those that concern the page.
    is_whole = len(record.subjects) <= MAX_SUBJECTS
    subjects = (f"Commit: {subject}" for subject in record.subjects if is_whole)
    return "\n".join([*subjects, *page_lines(case.passages), *change_lines(case)])


def _steps(case: CaseRecord, write: Writer) -> Iterator[str]:
    if write.is_agent and UPDATE in write.offered:
        page = quoted(case.filepath)
        arguments = f', expected_blob="\u2026", reason="\u2026"{write.arguments()}'
        yield f"  If the page must change: {UPDATE}(filepath={page}{arguments})"
    for action in case.actions:
        if write.is_agent and action.tool in write.offered:
            arguments = "".join(f", {name}={value}" for name, value in _arguments(action))
            call = f"{action.tool}(filepath={quoted(case.filepath)}{arguments}{write.arguments()})"
            yield f"  If {_when(action, write)}: {call}"
        elif write.is_agent and f" {INTERACTIVE} " in action.command:
            yield f"  If {_when(action, write)}: list it as a source in its front matter"
        else:
            command = write.style.cyan(printable(action.command))
            yield f"  If {_when(action, write)}: {command}"


def _when(action: ActionRecord, write: Writer) -> str:
    """Return in which case an action is right, with the name of the source that it is about."""
    return f"the page describes {write.name(action.source)}" if action.source else action.when


def _arguments(action: ActionRecord) -> Iterator[tuple[str, str]]:
    if action.source:
        yield "sources", f"[{quoted(action.source)}]"
    yield "reason", '"…"'


def page_lines(passages: Sequence[PassageRecord]) -> Iterator[str]:
    """Yield the lines of the page that a case shows, below their headings."""
    for passage in passages:
        yield passage_heading(passage.heading, passage.line, is_whole=passage.is_whole)
        yield from passage.lines


def change_lines(case: CaseRecord) -> Iterator[str]:
    """Yield the lines of the change that a case shows."""
    if case.changed_files:  # a link may lead nowhere without any
        yield change_heading(
            case.changed_files, case.added, case.removed, case.hunk_count, len(case.hunks)
        )
    yield from case.files
    yield from extra_lines(case.destinations, case.manifests, case.signatures)
    last = ""
    for hunk in case.hunks:
        if hunk.path != last:
            yield f"--- {hunk.path}"
            last = hunk.path
        yield hunk_heading(hunk.old_start, hunk.new_start, is_whole=hunk.is_whole)
        yield from hunk.lines


REVIEW = Answer(
    request=ReviewRequest,
    record=ReviewRecord,
    run=run,
    run_for_people=partial(run, least_whole=WHOLE),
    text=text,
    fit=fit,
    tool=ToolTraits(
        title="Review a change",
        description=(
            "Find the documentation pages that a change may make wrong, listing its sources or "
            "not, by probability: passages, hunks, and what settles each. Use it after changing "
            "code."
        ),
    ),
)

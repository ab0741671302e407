"""`ubp check`: the findings of rules in the pages, or those that a change introduces.

The records are NamedTuples because a hook builds one: a class takes 0.10 ms, a dataclass 0.63 ms.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, NamedTuple

from ubp.answers.checks.finding import FindingRecord, finding_record
from ubp.checks.finding import CheckReport, Finding, FixReport, Form, Severity, UnconfirmedLinks
from ubp.checks.forms import unconfirmed_sentences
from ubp.checks.registry import VERIFYING
from ubp.checks.rules import stale_doc
from ubp.checks.run import check_target
from ubp.core.model import DEBT_FILE, FilePath, Note
from ubp.core.shell import path_argument, ubp_command
from ubp.frame.answer import Answer, Request
from ubp.frame.arguments import Ref
from ubp.frame.fields import Count, Digest, DocId, Line, PagePath
from ubp.frame.records import (
    DeniedRecord,
    JudgeRecord,
    SkippedPageRecord,
    SnapshotRecord,
    judge_sentences,
    snapshot_record,
)
from ubp.frame.wording import (
    acknowledge_command,
    count,
    denied_lines,
    fix_command,
    not_checked_sentences,
    severity_counts,
    suppression_note,
    unread_sentences,
)
from ubp.frame.writer import Writer
from ubp.index.session import Session, Target
from ubp.staleness.wording import unknown_cause, unknown_remedies

MAX_PLACES = 3  # of one finding


class FixedRecord(NamedTuple):
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


class FixRecord(NamedTuple):
    """What was fixed; findings and summary contain the rest."""

    is_dry_run: Annotated[bool, "whether nothing was written (dry run)"]
    fixed: Annotated[tuple[FixedRecord, ...], "findings that were fixed"]
    left: Annotated[tuple[SkippedPageRecord, ...], "pages that were not edited"]
    diff: Annotated[str, "unified diff of the pages"]


class CheckSummaryRecord(NamedTuple):
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


class UncheckedRuleRecord(NamedTuple):
    """A rule that could not be checked, and why."""

    rule: Annotated[str, "a rule's name"]
    reason: Annotated[str, "why it could not be checked"]


class UnconfirmedLinksRecord(NamedTuple):
    """Links that lead nowhere by UBP's rules, though nothing shows that they are broken."""

    rule: Annotated[str, "the rule that finds them"]
    site: Annotated[str, "folder of the site, from the root; empty outside of sites"]
    generator: Annotated[str, "the site's generator, as it was recognized; empty: none"]
    written: Annotated[str, "how they are written; `#` for links to headings"]
    lost: Annotated[Count, "number of them"]
    example: Annotated[str, "one of them"]
    filepath: PagePath
    line: Annotated[Line, "line of the example, from 1"]


class UnverifiedRecord(NamedTuple):
    """A source that could not be verified, and why."""

    filepath: PagePath
    line: Annotated[Line, "line of the page, from 1"]
    source_path: Annotated[str | None, "path or glob of the source, from the root"]
    note: Annotated[Note | None, "why not; null: this clone is shallow"]
    unfetched: Annotated[
        str | None, "what to fetch, so that it can be compared: ubp collections sync UNFETCHED"
    ]


class CheckRecord(NamedTuple):
    """Findings in the pages."""

    findings: Annotated[tuple[FindingRecord, ...], "findings, sorted by path, line and column"]
    summary: CheckSummaryRecord
    ignored: Annotated[Mapping[str, Count], "ignored findings by rule"]
    accepted: Annotated[Mapping[str, Count], "old findings that the debt file accepts, by rule"]
    rules: Annotated[tuple[str, ...], "rules that were run"]
    not_checked: Annotated[
        tuple[UncheckedRuleRecord, ...], "rules that could not be checked here, or not in full"
    ]
    unconfirmed: Annotated[
        tuple[UnconfirmedLinksRecord, ...],
        "links that lead nowhere by the rules that UBP knows, by form; nothing else shows that they"
        " are broken, so they are not findings",
    ]
    lacks_history: Annotated[
        bool, "whether the clone is shallow, so that earlier versions may show more of these links"
    ]
    unread: Annotated[
        Mapping[str, Count], "files that seem to be pages in formats that are not read, by suffix"
    ]
    unverified: Annotated[tuple[UnverifiedRecord, ...], "sources that could not be verified"]
    behind: Annotated[
        tuple[str, ...], "pages that the change touches and that were stale before it"
    ]
    noted: Annotated[
        tuple[str, ...],
        "pages that the change makes drift without failing: they name nothing that it changes",
    ]
    denied: Annotated[tuple[DeniedRecord, ...], "other pages, which the judge finds accurate"]
    judge: Annotated[JudgeRecord | None, "who judged the alarms; null: nobody"]
    obsolete_debts: Annotated[Count, "lines of the debt file whose findings the change fixes"]
    snapshot: SnapshotRecord
    is_change: Annotated[bool, "whether only findings introduced by a change were reported"]
    fix: Annotated[
        FixRecord | None, "with --fix: what was fixed; findings and summary contain the rest"
    ]


@dataclass(frozen=True, slots=True)
class CheckRequest(Request[CheckRecord]):
    """Which pages to check, of which state or change, and with which rules."""

    paths: Annotated[tuple[str, ...], "pages, directories or globs; none: all pages"] = ()
    rules: Annotated[
        tuple[str, ...], "names of rules, even of some that are off; none: those that are on"
    ] = ()
    staged: Annotated[bool, "only what the staged changes introduce"] = False
    amend: Annotated[bool, "with staged: the commit replaces HEAD"] = False
    base: Annotated[str, "only what changes since the merge base with this revision do"] | None = (
        None
    )
    ref: Ref | None = None
    fix: Annotated[bool, "fix in the work tree what has a single possible remedy"] = False
    dry_run: Annotated[bool, "with fix: only return the diff"] = False

    @property
    def target(self) -> Target:
        """The state or change that is checked."""
        return Target(self.ref, self.staged, self.base, self.amend)


def run(session: Session, request: CheckRequest) -> CheckRecord:
    """Check the pages and, where that is asked, fix them first.

    Raises:
        UsageError: there is no such rule, or a path matches no page.
    """
    if request.fix:
        from ubp.checks.fix import fix_findings  # loads the Markdown parser

        result = fix_findings(session, request.paths, request.rules, is_dry=request.dry_run)
        return check_record(result.check, result)
    target, paths, rules = request.target, request.paths, request.rules
    return check_record(check_target(session, target, paths, rules, has_evidence=True))


def check_record(
    report: CheckReport, result: FixReport | None = None, judge: JudgeRecord | None = None
) -> CheckRecord:
    """Return the record of a report, and of the fixes after which it was made."""
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
        rules=report.rules,
        not_checked=tuple(UncheckedRuleRecord(*rule) for rule in report.not_checked),
        unconfirmed=tuple(map(_unconfirmed, report.unconfirmed)),
        lacks_history=report.lacks_history,
        unread=report.unread,
        unverified=tuple(map(_unverified, report.unknown)),
        behind=report.behind,
        noted=report.noted,
        denied=tuple(DeniedRecord(*page) for page in report.denied),
        judge=judge,
        obsolete_debts=len(report.obsolete_debts),
        snapshot=snapshot_record(report.snapshot),
        is_change=report.is_change,
        fix=_fix_record(result) if result else None,
    )


def _by_rule(report: CheckReport, *, is_accepted: bool) -> Mapping[str, int]:
    counts = Counter(
        finding.rule for finding in report.ignored if finding.is_accepted == is_accepted
    )
    return dict(sorted(counts.items()))


def _unconfirmed(links: UnconfirmedLinks) -> UnconfirmedLinksRecord:
    rule, generator, site, written, _ = links.form
    return UnconfirmedLinksRecord(rule, site, generator, written, *links[1:])


def _unverified(finding: Finding) -> UnverifiedRecord:
    drift = finding.drift
    return UnverifiedRecord(
        filepath=finding.filepath,
        line=finding.line,
        source_path=finding.related,
        note=drift.note if drift else None,
        unfetched=(drift.unfetched or None) if drift else None,
    )


def _fix_record(result: FixReport) -> FixRecord:
    return FixRecord(
        is_dry_run=result.is_dry,
        fixed=tuple(
            FixedRecord(*finding_record(fixed.finding), fixed.before, fixed.after)
            for fixed in result.fixed
        ),
        left=tuple(SkippedPageRecord(*skipped) for skipped in result.skipped),
        diff=result.diff,
    )


SourceLines = Mapping[FindingRecord, Sequence[str]]


def text(
    record: CheckRecord, write: Writer, source_lines: SourceLines = MappingProxyType({})
) -> Iterator[str]:
    """Yield what was fixed, or in a dry run the diff; then the findings, and what to do next.

    Below a finding are the lines that are given for it.
    """
    if record.fix is not None:
        yield from _fixes(record.fix, write)
        if record.fix.is_dry_run:
            return
    if write.is_quiet:
        for finding in record.findings:
            yield _finding(finding, write)
        return
    if record.findings:
        yield from _findings(record.findings, write, source_lines)
    yield _summary(record, write)
    yield from unread_sentences(record.unread)
    yield from not_checked_sentences(record.not_checked)
    links = tuple(map(_links, record.unconfirmed))
    notes = unconfirmed_sentences(links, lacks_history=record.lacks_history)
    yield from map(write.quote, notes)
    yield from _debts(record, write)
    yield from _steps(record, write)


def _links(item: UnconfirmedLinksRecord) -> UnconfirmedLinks:
    form = Form(item.rule, item.generator, FilePath(item.site), item.written)
    return UnconfirmedLinks(form, item.lost, item.example, FilePath(item.filepath), item.line)


def _fixes(fix: FixRecord, write: Writer) -> Iterator[str]:
    """Yield the fixes and the skipped pages; quietly only the diff of a dry run, to be applied."""
    if write.is_quiet:
        if fix.is_dry_run and fix.diff:
            yield fix.diff.removesuffix("\n")
        return
    if fix.is_dry_run:
        yield from write.diff(fix.diff, "")
    else:
        for fixed in fix.fixed:
            after = write.style.green(write.name(fixed.after))
            place = write.path(f"{fixed.filepath}:{fixed.line}")
            yield f"{place}  {write.name(fixed.before)} -> {after}"
    for page in fix.left:
        skipped = write.style.yellow("skipped")
        yield f"{write.path(page.filepath)}  {skipped}: {write.quote(page.reason)}"
    pages = len({fixed.filepath for fixed in fix.fixed})
    verb = "would be fixed" if fix.is_dry_run else "fixed"
    yield f"{count(len(fix.fixed), 'finding')} {verb} in {count(pages, 'page')}."
    if not fix.is_dry_run:
        yield ""


def _finding(finding: FindingRecord, write: Writer) -> str:
    style = write.style
    column = f":{finding.column}" if finding.column else ""
    place = write.path(f"{finding.filepath}:{finding.line}{column}")
    severity = style.red("error") if finding.severity == "error" else style.yellow("warning")
    return f"{place}  {severity}  {finding.rule}: {write.quote(finding.message)}"


def _findings(
    findings: Sequence[FindingRecord], write: Writer, source_lines: SourceLines
) -> Iterator[str]:
    """Yield the findings, each cause once, and an advice that several have with the first."""
    from ubp.checks.places import by_place  # not where nothing is found

    given: set[tuple[str, str]] = set()
    for finding, others in by_place(findings):
        yield _finding(finding, write)
        yield from source_lines.get(finding, ())
        if finding.hint and (finding.rule, finding.hint) not in given:
            given.add((finding.rule, finding.hint))
            yield f"  {write.quote(finding.hint)}"
        if others:
            yield write.style.dim(f"  {_other_places(others, write)}")
    yield ""


def statistics_text(record: CheckRecord, write: Writer) -> Iterator[str]:
    """Yield how many findings each rule has, most first, and how many of them can be fixed."""
    groups: dict[tuple[str, Severity], list[FindingRecord]] = {}
    for finding in record.findings:
        groups.setdefault((finding.rule, finding.severity), []).append(finding)
    width = len(str(max(map(len, groups.values()), default=0)))
    longest = max((len(rule) for rule, _ in groups), default=0)
    for (rule, severity), findings in sorted(
        groups.items(), key=lambda group: (-len(group[1]), group[0])
    ):
        pages = count(len({finding.filepath for finding in findings}), "page")
        fixable = sum(1 for finding in findings if finding.is_fixable)
        fix = f", {fixable} fixable" if fixable else ""
        color = write.style.red if severity == "error" else write.style.yellow
        padding = " " * (len("warning") - len(severity))
        yield (
            f"{len(findings):>{width}}  {rule:<{longest}}  {color(severity)}{padding}"
            f"  in {pages}{fix}"
        )
    if groups and not write.is_quiet:
        yield ""
    if not write.is_quiet:
        yield _summary(record, write)


def _other_places(others: Sequence[FindingRecord], write: Writer) -> str:
    shown = [write.name(f"{f.filepath}:{f.line}") for f in others[:MAX_PLACES]]
    rest = len(others) - len(shown)
    more = f", and {count(rest, 'more place')} (--quiet lists all)" if rest else ""
    return f"Also in {', '.join(shown)}{more}"


def _summary(record: CheckRecord, write: Writer) -> str:
    style, summary = write.style, record.summary
    pages = count(summary.documents, "page")
    ignored = suppression_note(summary.ignored, summary.accepted)
    unknown = ""
    if record.unverified:
        sources = count(len(record.unverified), "source")
        cause = unknown_cause(record.unverified)
        unknown = f"; {sources} could not be verified because {cause}"
    if not record.findings:
        if not summary.documents:
            return style.yellow("No pages found; nothing to check.")
        outcome = "No new findings" if record.is_change else "No findings"
        sentence = f"{outcome} in {pages}{ignored}{unknown}."
        return style.yellow(sentence) if unknown else style.green(sentence)
    counts = ", ".join(severity_counts(summary.errors, summary.warnings))
    affected = len({finding.filepath for finding in record.findings})
    subject = f"{write.change.subject()} introduces " if record.is_change else ""
    return f"{subject}{counts} in {affected} of {pages}{ignored}{unknown}."


def _debts(record: CheckRecord, write: Writer) -> Iterator[str]:
    """Yield what a change touches without failing for it."""
    failing = {finding.filepath for finding in record.findings if finding.rule in VERIFYING}
    if record.noted:
        yield write.change.noted(record.noted, len(failing), write.keys)
    yield from denied_lines(record.denied)
    yield from judge_sentences(record.judge)
    mentioned = failing.union(record.noted, (page.filepath for page in record.denied))
    already_stale = sum(1 for page in record.behind if page not in mentioned)
    if already_stale:
        yield write.change.already_stale(already_stale, write.keys)
    if record.obsolete_debts:
        obsolete = count(record.obsolete_debts, "line")
        command = write.style.cyan(ubp_command("debt", "--prune"))
        yield f"This change fixes what {obsolete} of {DEBT_FILE} accepted: {command}"


def _steps(record: CheckRecord, write: Writer) -> Iterator[str]:
    steps: list[tuple[str, str]] = []
    keys, change = write.keys, write.change
    stale_pages = list(
        dict.fromkeys(
            FilePath(finding.filepath)
            for finding in record.findings
            if finding.rule == stale_doc.NAME
        )
    )
    skipped = {page.filepath for page in record.fix.left} if record.fix else set()
    fixable = [
        FilePath(finding.filepath)
        for finding in record.findings
        if finding.is_fixable and finding.filepath not in skipped
    ]
    if fixable:
        # Of a change, older findings of other pages are left alone.
        pages = dict.fromkeys(fixable) if record.is_change else ()
        steps.append((fix_command(pages, write.prefix, keys), f"fixes {len(fixable)} of them"))
    errors = [finding for finding in record.findings if finding.severity == "error"]
    if worst := errors or record.findings:
        (rule, _), *_ = Counter(finding.rule for finding in worst).most_common(1)
        steps.append((ubp_command("explain", rule), "explains the rule and how to ignore it"))
    if stale_pages and record.is_change and not change.ref:
        command = acknowledge_command(
            stale_pages,
            change,
            prefix=write.prefix,
            keys=keys,
            has_older=not set(stale_pages).isdisjoint(record.behind),
        )
        steps.append((command, "if still accurate"))
    elif stale_pages:
        selection = change.options if record.is_change else ()
        command = ubp_command("stale", *selection, keys=keys)
        purpose = "shows the commits and authors"
        if len(stale_pages) == 1 and not (record.is_change or change.ref):
            page = path_argument(stale_pages[0], write.prefix)
            command = ubp_command("stale", "--diff", page, keys=keys)
            purpose = "shows what changed in its sources"
        steps.append((command, purpose))
    steps += unknown_remedies(record.unverified)
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {write.style.cyan(command)}{' ' * (width - len(command))}  {purpose}"
    if record.is_change and stale_pages and change.note:
        yield change.note


CHECK = Answer(request=CheckRequest, record=CheckRecord, run=run, text=text, has_facts=False)

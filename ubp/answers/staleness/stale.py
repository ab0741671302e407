"""The text of `ubp stale` for people.

The summary of `ubp stale` never claims more than was verified. Commands to type are printed for the
directory where the user is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ubp.core.config import DEFAULT_INCLUDE
from ubp.core.model import DEBT_FILE, Assessment, Commit, FilePath, Note, ObjectId, ReferenceVerdict
from ubp.core.shell import git_fetch, path_argument, ubp_command
from ubp.frame.wording import (
    MAX_COMMITS,
    NOW_STALE,
    SHORT_ID,
    ChangeWords,
    Style,
    acknowledge_command,
    count,
    day,
    denied_lines,
    fix_command,
    printable,
    stale_change_sentence,
)
from ubp.index.session import Session, Target
from ubp.staleness.first_reference import FirstReference
from ubp.staleness.model import (
    Change,
    Judge,
    SourceDiff,
    StaleReport,
    lists_few_sources,
    visible_pages,
    visible_references,
)
from ubp.staleness.ranking import rank_pages
from ubp.staleness.state import find_stale, open_change, open_context
from ubp.staleness.wording import (
    HOOK_PARSER,
    LEVEL_WORDS,
    UNKNOWN_CAUSES,
    counted_bound,
    counted_levels,
    describe_drift_time,
    describe_reference,
    evidence_sentence,
    install_parser,
    judgement_sentence,
    unknown_remedies,
    unnamed_collection,
)

if TYPE_CHECKING:
    from ubp.checks.finding import Finding


class Relaxed(Protocol):
    """A finding of relaxed-check; the hook does not load `ubp.checks.finding`."""

    @property
    def filepath(self) -> FilePath:
        """The page."""

    @property
    def line(self) -> int:
        """The line of the page, from 1."""

    @property
    def severity(self) -> str:
        """Whether it is an error or a warning."""

    @property
    def message(self) -> str:
        """What is not reported."""

    @property
    def hint(self) -> str:
        """Why it is not."""


class StaleTextOptions(NamedTuple):
    """What a text about staleness contains, and where it is read.

    `every`: fresh pages and old debts, too. `quiet`: one line a finding, nothing else. `prefix`:
    the directory, from the root, where commands are typed. `change`: how the change is named.
    `keys`: the front matter keys given on the command line. `diffs`: the changes of references'
    sources. `key` and `example`: what to write where no page names a source. `relaxed`: what the
    change keeps from being reported. `probable`: pages that are stale if proposals are right.
    `judge`: sentences on what the judge could not answer, and on what it cost.
    """

    style: Style
    every: bool = False
    quiet: bool = False
    prefix: FilePath = FilePath("")
    change: ChangeWords = ChangeWords()
    keys: tuple[str, ...] = ()
    diffs: Mapping[tuple[FilePath, ReferenceVerdict], SourceDiff] = {}
    key: str = "source_refs"
    example: FirstReference | None = None
    relaxed: Sequence[Relaxed] = ()
    probable: Sequence[Assessment] = ()
    judge: Sequence[str] = ()

    def command(self, *words: str) -> str:
        """Return a command to type, with the keys that this one was given."""
        return self.style.cyan(ubp_command(*words, keys=self.keys))


def report_stale(  # noqa: PLR0913  # what is asked, and who judges
    session: Session,
    target: Target,
    paths: Sequence[str] = (),
    *,
    every: bool = False,
    has_evidence: bool = False,
    judge: Judge | None = None,
) -> StaleReport:
    """Return the pages that no longer describe their sources, the most important first.

    `paths` (relative to the directory of the session) narrow it; `every` includes pages without
    sources, and of a change the pages that were stale before it. Of a state evidence is found only
    if it `has_evidence`. `judge` is asked about a change with the alarms `judged`.

    Raises:
        UsageError: the target contradicts itself, or a path matches no page.
    """
    report, context = find_stale(
        session, target, paths, every=every, has_evidence=has_evidence, judge=judge
    )
    # What a change makes stale is new, whatever the debt file accepts.
    if not report.is_change and context.view.entry(DEBT_FILE) is not None:
        from ubp.checks.debt import accepted_debts
        from ubp.checks.from_staleness import accept_debts

        report = accept_debts(report, accepted_debts(context.view), is_whole=not paths)
    return rank_pages(report, context)


def find_relaxed(
    session: Session,
    report: StaleReport,
    target: Target,
    paths: Sequence[str] = (),
    judge: Judge | None = None,
) -> "tuple[Finding, ...]":
    """Return what the base's configuration reports as stale, and the change's own does not."""
    if not (report.is_reconfigured or session.config.ignored_commits):
        return ()
    from ubp.checks.from_staleness import stale_findings
    from ubp.checks.relaxed import find_relaxation, relaxed_findings

    relaxation = find_relaxation(session, target, open_change(session, target))
    if relaxation is None:
        return ()
    strict, _ = find_stale(relaxation.session, target, paths, every=False, judge=judge)
    return relaxed_findings(stale_findings(strict), stale_findings(report), relaxation)


def diff_report(
    session: Session, report: StaleReport
) -> Iterator[tuple[Assessment, ReferenceVerdict, SourceDiff]]:
    """Yield each reference that drifted, with what changed since the page described it."""
    from ubp.staleness.diff import diff_pages

    return diff_pages(report.pages, open_context(session, session.view_of(report.snapshot)))


def find_example(
    session: Session, report: StaleReport, paths: Sequence[str] = ()
) -> FirstReference:
    """Return a page and a source to begin with, where no page of a report names a source."""
    from ubp.bindings.sources import likeness
    from ubp.git.snapshot import read_document
    from ubp.index.select import select_pages
    from ubp.staleness.first_reference import find_first_reference

    view = session.view_of(report.snapshot)
    read = partial(read_document, session.repository, report.snapshot)
    selected = select_pages(paths, view, session.repository)

    def alike(page: FilePath, source: FilePath) -> float | None:
        return None if session.is_hidden(source) else likeness(page, source)

    return find_first_reference(view, read, alike, selected)


def find_probably_stale(
    session: Session,
    report: StaleReport,
    target: Target,
    paths: Sequence[str] = (),
    *,
    is_asked: bool = True,
) -> tuple[Assessment, ...]:
    """Return the pages without sources that name what changed in those proposed for them.

    None where nobody asked, a quarter of the pages list sources, or it would take long.
    """
    if not (is_asked and lists_few_sources(report.summary.bound, report.summary.documents)):
        return ()
    from ubp.bindings.probable import OutOfTimeError, find_probable, propose_in_time  # not in hooks

    try:
        if report.is_change:
            return _find_touched(session, open_change(session, target), paths)
        context = open_context(session, session.view_of(report.snapshot))
        return find_probable(session, context, propose_in_time(session, context.view, paths))
    except OutOfTimeError:
        return ()


def _find_touched(session: Session, change: Change, paths: Sequence[str]) -> tuple[Assessment, ...]:
    """Return the pages that name what a change touches in files that they seem to describe."""
    from ubp.bindings.probable import MIN_PROBABLE_CONFIDENCE, limited_time, naming
    from ubp.index.select import select_pages
    from ubp.review.changed_files import ChangedFiles
    from ubp.review.proposed import find_proposed

    view = change.after.view
    selected = select_pages(paths, view, session.repository) if paths else None
    bound = {page.filepath for page in view.bound_pages()}
    with limited_time():
        found = find_proposed(session, change, ChangedFiles(change, session.is_hidden), selected)
    return naming(
        Assessment(
            page,
            "stale",
            tuple(
                pair.verdict
                for pair in pairs
                if pair.suggestion.confidence >= MIN_PROBABLE_CONFIDENCE
            ),
        )
        for page, pairs in found
        if page.filepath not in bound
    )


MAX_PROBABLE = 5  # pages that are shown
MAX_ORIGINALS = 10  # with translations, that a change lists


def stale_text(report: StaleReport, options: StaleTextOptions) -> str:
    """Return the whole text; with `quiet` only a line for each page."""
    pages = visible_pages(report, every=options.every)
    if options.quiet:
        return "".join(f"{_heading(assessment, report, options)}\n" for assessment in pages)
    lines: list[str] = []
    for assessment in pages:
        lines.append(_heading(assessment, report, options))
        lines += _problems(assessment, options.style)
        for reference in visible_references(assessment, every=options.every):
            lines += _reference(assessment, reference, report, options)
    for finding in options.relaxed:
        place = options.style.bold(printable(f"{finding.filepath}:{finding.line}"))
        severity = options.style.yellow(finding.severity)
        lines.append(f"{place}  {severity}  relaxed-check: {printable(finding.message)}")
        lines.append(f"  {printable(finding.hint)}")
    if lines:
        lines.append("")
    lines += _summary(report, options)
    lines += options.judge
    lines += _debts(report, options)
    lines += _translations(report, options)
    lines += advise(report, options)
    lines += _probable(report, options)
    return "\n".join(lines) + "\n"


def _heading(assessment: Assessment, report: StaleReport, options: StaleTextOptions) -> str:
    references = visible_references(assessment, every=options.every)
    lines = [reference.reference.line for reference in references if reference.verdict != "fresh"]
    lines += [problem.line for problem in assessment.page.facts.problems]
    lines += [reference.reference.line for reference in references]
    place = printable(assessment.page.filepath) + (f":{lines[0]}" if lines else "")
    is_newly_stale = report.is_change and any(
        not reference.is_debt and not reference.is_noted and reference.verdict != "fresh"
        for reference in references
    )
    level = options.style.red(NOW_STALE) if is_newly_stale else _level(assessment, options.style)
    return f"{options.style.bold(place)}  {level}"


def _level(assessment: Assessment, style: Style) -> str:
    if assessment.page.facts.problems and not assessment.references:
        return style.yellow("front matter has problems")
    if assessment.page.facts.references and not assessment.references:
        return style.dim("a record of the past")
    words = LEVEL_WORDS[assessment.level]
    if assessment.level == "stale":
        return style.red(words)
    if assessment.level == "fresh":
        return style.green(words)
    return style.dim(words) if assessment.level == "untracked" else style.yellow(words)


def _problems(assessment: Assessment, style: Style) -> Iterator[str]:
    for problem in assessment.page.facts.problems:
        yield f"  {style.yellow(f'line {problem.line}:')} {printable(problem.message)}"


def _reference(
    assessment: Assessment,
    reference: ReferenceVerdict,
    report: StaleReport,
    options: StaleTextOptions,
) -> Iterator[str]:
    style = options.style
    note = " (before this change)" if report.is_change else " (accepted as debt)"
    debt = style.dim(note) if reference.is_debt else ""
    is_staged = report.snapshot.kind == "staged" and not reference.is_debt
    when = describe_drift_time(reference, is_staged=is_staged, is_shallow=report.is_shallow)
    verdict = printable(describe_reference(reference, when))
    yield f"  {printable(reference.name or '.')}  {verdict}{debt}"
    if evidence := evidence_sentence(reference, " by this commit" if is_staged else ""):
        yield f"    {printable(evidence)}"
    if reference.judgement:
        yield f"    {judgement_sentence(reference.judgement, printable)}"
    yield from commit_lines(reference.commits, style)
    # A verdict with a long history takes long to hash.
    diff = options.diffs.get((assessment.page.filepath, reference)) if options.diffs else None
    if diff is not None:
        yield from diff_lines(diff.text, diff.missing, style)


def commit_lines(commits: tuple[Commit, ...], style: Style) -> Iterator[str]:
    """Yield the commits, oldest first: the first one is the commit that outdated the page."""
    for commit in commits[: -MAX_COMMITS - 1 : -1]:
        yield _commit(commit, style)
    if len(commits) > MAX_COMMITS:
        yield style.dim(f"    and {count(len(commits) - MAX_COMMITS, 'more commit')}")


@lru_cache  # one commit makes many pages stale
def _commit(commit: Commit, style: Style) -> str:
    name = style.yellow(commit.id[:SHORT_ID])
    origin = style.dim(f"{day(commit.date)} {printable(commit.author)}:")
    return f"    {name} {origin} {printable(commit.subject)}"


def diff_lines(diff: str, missing: Sequence[ObjectId], style: Style) -> Iterator[str]:
    """Yield a diff, indented, and how to fetch the blobs that a partial clone lacks of it."""
    from ubp.frame.word_diff import paint_diff  # a hook prints no diff

    yield from (f"    {line}" for line in paint_diff(diff, style))
    if missing:
        yield f"    This partial clone lacks {count(len(missing), 'blob')} of it. Fetch with:"
        yield f"      {style.cyan(git_fetch(missing))}"


def _summary(report: StaleReport, options: StaleTextOptions) -> list[str]:
    summary, style = report.summary, options.style
    bound = counted_bound(summary)
    if not summary.bound:
        return [style.yellow(f"{bound}; nothing to verify."), *explain(report, options)]
    if report.is_change:
        stale, behind = len(report.introduced), len(report.behind)
        subject, noted = options.change.subject(), len(report.noted)
        named = 0 if report.denied else noted
        sentence = stale_change_sentence(subject, stale, summary.verified, bound, named)
        lines = [style.green(sentence) if summary.verified and not stale else sentence]
        if noted and not options.every:
            paths = [assessment.page.filepath for assessment in report.noted]
            lines.append(options.change.noted(paths, stale, options.keys))
        lines += denied_lines(report.denied)
        if behind and not options.every:
            lines.append(options.change.already_stale(behind, options.keys))
        return lines
    if summary.fresh == summary.bound:
        return [style.green(f"{bound}: {'all ' if summary.fresh > 1 else ''}fresh.")]
    verified = f", {summary.verified} could be verified" if summary.unknown else ""
    return [f"{bound}{verified}: {counted_levels(summary)}."]


def _probable(report: StaleReport, options: StaleTextOptions) -> Iterator[str]:
    """Yield the pages that proposals make stale, and how to bind them."""
    pages, style = options.probable, options.style
    if not pages:
        return
    by = "by this change" if report.is_change else "since it was edited"
    yield ""
    yield style.bold(f"Probably stale: {count(len(pages), 'page')} without sources")
    yield f"Each names what changed {by} in a file that it seems to describe; nothing fails for it."
    for assessment in pages[:MAX_PROBABLE]:
        verdict = assessment.references[0]
        is_staged = report.snapshot.kind == "staged"
        when = describe_drift_time(verdict, is_staged=is_staged, is_shallow=report.is_shallow)
        place = f"{assessment.page.filepath}:{verdict.evidence[0].line}"
        what = f"{verdict.name} {describe_reference(verdict, when)}"
        yield f"  {printable(place)}  {printable(what)}"
        yield f"    {printable(evidence_sentence(verdict))}"
    if len(pages) > MAX_PROBABLE:
        yield style.dim(f"  and {count(len(pages) - MAX_PROBABLE, 'more page')}")
    page = path_argument(pages[0].page.filepath, options.prefix)
    yield f"To verify a page from now on, list its sources: {options.command('bind', page)}"


def _debts(report: StaleReport, options: StaleTextOptions) -> Iterator[str]:
    """Yield what the debt file accepts, and how many of its lines are obsolete."""
    if report.accepted:
        debts = f"{count(report.accepted, 'finding')} accepted as debt in {DEBT_FILE}"
        yield options.style.dim(f"{debts} (--all shows them).")
    if report.obsolete_debts:
        obsolete = f"{count(len(report.obsolete_debts), 'obsolete line')} in {DEBT_FILE}:"
        command = options.style.cyan("ubp debt --prune")
        yield f"{options.style.red(obsolete)} run {command}."


def _translations(report: StaleReport, options: StaleTextOptions) -> Iterator[str]:
    """Yield how many translations are stale; of a change, of which originals it makes them so."""
    outdated = report.outdated_translations
    if not report.is_change:
        if report.translations:
            state = f"{len(outdated)} not up to date" if outdated else "all up to date"
            command = options.command("stale", "--translations")
            yield f"{count(len(report.translations), 'translation')}: {state} ({command})."
        return
    if not outdated or report.translation_severity == "off":
        return
    fails = report.translation_severity == "error"
    note = "" if fails else ", which is not a failure"
    yield f"{count(len(outdated), 'translation')} not up to date after this change{note}:"
    languages: dict[str, list[str]] = {}
    for assessment in outdated:
        for verdict in assessment.references:
            languages.setdefault(verdict.name, []).append(verdict.reference.language or "")
    for original, names in sorted(languages.items())[:MAX_ORIGINALS]:
        yield f"  {printable(original)}: {printable(', '.join(sorted(names)))}"
    if len(languages) > MAX_ORIGINALS:
        yield f"  and {count(len(languages) - MAX_ORIGINALS, 'more original')}"


def advise(report: StaleReport, options: StaleTextOptions) -> list[str]:
    """Return the next steps; none where nothing has drifted."""
    pages = [
        assessment
        for assessment in visible_pages(report, every=False)
        if any(reference.verdict != "fresh" for reference in assessment.references)
    ]
    verified = [assessment for assessment in pages if assessment.level != "unknown"]
    lines: list[str] = []
    if verified and report.is_change:
        lines += _change_steps(verified, options)
    elif verified:
        lines += _state_steps(verified[0], report, options)
    lines += _unknown_steps(report, options)
    return lines


def _state_steps(
    worst: Assessment, report: StaleReport, options: StaleTextOptions
) -> Iterator[str]:
    page = path_argument(worst.page.filepath, options.prefix)
    is_worktree = report.snapshot.kind == "worktree"
    revision = [] if is_worktree else ["--ref", (report.snapshot.commit or "HEAD")[:SHORT_ID]]
    steps = []
    if not options.diffs:
        command = options.command("stale", "--diff", *revision, page)
        steps.append((command, "show what changed in its sources"))
    if is_worktree and _can_be_acknowledged(worst):
        steps.append((options.command("ack", page), "mark the page as reviewed and still accurate"))
    if is_worktree and _lists_moved(worst):
        command = fix_command([worst.page.filepath], options.prefix, options.keys)
        steps.append((options.style.cyan(command), "write the new path of a source that moved"))
    if steps:
        yield "Next:"
    width = max((len(command) for command, _ in steps), default=0)
    for command, purpose in steps:
        yield f"  {command}{' ' * (width - len(command))}  {purpose}"
    if is_worktree and (name := _unnamed_collection(worst)):
        command = options.style.cyan(ubp_command("collections", "add", name, "SOURCE"))
        yield f"If {name} is a collection, add it: {command}"
    elif is_worktree and not _can_be_acknowledged(worst):
        yield f"Edit {printable(page)}: update or remove the references to missing sources."


def _change_steps(pages: Sequence[Assessment], options: StaleTextOptions) -> Iterator[str]:
    if options.change.ref:  # a past change cannot be mended
        return
    pronoun = "it" if len(pages) == 1 else "them"
    stage = f" and `git add` {pronoun}" if options.change.is_staged else ""
    acknowledgeable = [assessment for assessment in pages if _can_be_acknowledged(assessment)]
    moved = [assessment.page.filepath for assessment in pages if _lists_moved(assessment)]
    if moved:
        command = options.style.cyan(fix_command(moved, options.prefix, options.keys))
        yield f"To write the new paths of sources that moved: {command}"
    if not acknowledgeable:
        yield f"Edit {pronoun}{stage}: update or remove the references to missing sources."
        return
    subject = "it is" if len(acknowledgeable) == 1 else "they are"
    if any(_is_pinned(assessment) for assessment in acknowledgeable):
        # Editing the page does not renew a pin.
        yield f"Edit {pronoun}{stage} if {subject} no longer accurate, then pin what you reviewed:"
    else:
        yield f"Edit {pronoun}{stage}, or if {subject} still accurate:"
    command = acknowledge_command(
        [assessment.page.filepath for assessment in acknowledgeable],
        options.change,
        prefix=options.prefix,
        keys=options.keys,
        has_older=any(
            reference.is_debt for page in acknowledgeable for reference in page.references
        ),
    )
    yield f"  {options.style.cyan(command)}"
    if options.change.note:
        yield options.change.note


def _lists_moved(assessment: Assessment) -> bool:
    return any(
        reference.verdict == "moved" and reference.moved_to and not reference.reference.language
        for reference in visible_references(assessment, every=False)
    )


def _unnamed_collection(assessment: Assessment) -> str:
    """Return the collection that a reference names and the configuration does not."""
    missing = (each for each in assessment.references if each.verdict == "not_found")
    return next(filter(None, map(unnamed_collection, missing)), "")


def _can_be_acknowledged(assessment: Assessment) -> bool:
    """Return whether `ack` can pin a reference: a missing source has no id."""
    return any(
        reference.current_blob is not None
        for reference in visible_references(assessment, every=False)
        if reference.verdict != "unknown"
    )


def _is_pinned(assessment: Assessment) -> bool:
    references = visible_references(assessment, every=False)
    return any(reference.baseline == "pin" for reference in references)


def _unknown_steps(report: StaleReport, options: StaleTextOptions) -> Iterator[str]:
    unknown = _pages_with_unknown(report)
    style = options.style
    if needing := unknown.get("no_parser"):
        yield (
            f"{style.cyan('Hint:')} {count(len(needing), 'page')} could not be verified"
            " because ast-grep, which finds symbols, is not installed. Add it:"
        )
        yield f"  {style.cyan(install_parser())}  (pre-commit: {HOOK_PARSER})"
    notes: tuple[Note, ...] = "no_collection", "no_version", "no_pin", "other_repository"
    for note in notes:
        if needing := unknown.get(note):
            references = [verdict for page in needing for verdict in page.references]
            page = path_argument(needing[0].page.filepath, options.prefix)
            yield (
                f"{style.cyan('Hint:')} {count(len(needing), 'page')} could not be verified"
                f" because {UNKNOWN_CAUSES[note]}:"
            )
            lacking = [verdict for verdict in references if verdict.note == note]
            for remedy in unknown_remedies(lacking, page):
                yield f"  {style.cyan(remedy.command)}  {remedy.purpose}"
    if not (needing := unknown.get(None)):
        return
    page = path_argument(needing[0].page.filepath, options.prefix)
    yield (
        f"{style.cyan('Hint:')} {count(len(needing), 'page')} could not be verified"
        " because this clone is shallow. Fetch the history:"
    )
    yield f"  {style.cyan('git fetch --unshallow')}  (in CI: fetch-depth: 0)"
    yield f"or pin what you reviewed, which needs no history: {options.command('ack', page)}"


def _pages_with_unknown(report: StaleReport) -> dict[Note | None, list[Assessment]]:
    """Return the pages with references that could not be verified, by the reason.

    None is any reason that `UNKNOWN_CAUSES` does not have: this clone is shallow.
    """
    pages: dict[Note | None, list[Assessment]] = {}
    for assessment in report.pages:
        notes = {
            reference.note if reference.note in UNKNOWN_CAUSES else None
            for reference in assessment.references
            if reference.verdict == "unknown"
        }
        for note in notes:
            pages.setdefault(note, []).append(assessment)
    return pages


def explain(report: StaleReport, options: StaleTextOptions) -> Iterator[str]:
    """Yield lines of front matter to paste, and the next command."""
    example, style = options.example, options.style
    if not report.summary.documents:
        yield "Pages are the files that match `source.include` in .ubp/config.json (by default"
        *others, last = DEFAULT_INCLUDE
        yield f"{', '.join(others)} and {last}) and that Git does not ignore."
        return
    yield ""
    yield (
        f"A page lists the files that it describes under `{printable(options.key)}` in its front"
        " matter, by their paths from the repository's root."
    )
    if example and example.page and example.source:
        place = "In the front matter of" if example.has_front_matter else "At the top of"
        fence = [] if example.has_front_matter else ["---"]
        page, source = example.page, example.source
        yield f"{place} {printable(page)}, which mentions {printable(source)}, add:"
        yield ""
        for line in (*fence, f"{options.key}:", f"  - {_yaml(source)}", *fence):
            yield style.cyan(line)
        yield ""
        yield f"Then run: {options.command('stale', path_argument(page, options.prefix))}"
    yield f"To get proposals for all pages: {options.command('bind')}"
    if example and example.other_key and example.other_key not in options.keys:
        key = example.other_key
        command = style.cyan(ubp_command("stale", keys=[key]))
        yield f"If pages already list them under `{key}`: {command}"


def _yaml(path: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_./][\w./-]*", path):  # a plain scalar
        return path
    return "'" + printable(path).replace("'", "''") + "'"

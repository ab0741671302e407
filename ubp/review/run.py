"""Find the pages that a change concerns, and build a case for each."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ubp.bindings.suggest import MIN_REVIEW_CONFIDENCE
from ubp.checks.finding import Finding
from ubp.checks.removed_names import defines_names
from ubp.checks.rules import broken_link, missing_anchor, removed_name, stale_translation
from ubp.checks.run import check_change, check_options
from ubp.code.definitions import is_program
from ubp.core.interruption import with_checkpoints
from ubp.core.languages import without_language
from ubp.core.model import Assessment, Evidence, FilePath, ObjectId, ReferenceVerdict
from ubp.core.source import possible_sources
from ubp.git.snapshot import read_commit
from ubp.git.trees import diff_trees
from ubp.index.select import select_pages
from ubp.index.session import Session, Target
from ubp.review.changed_files import ChangedFiles, changed_lines
from ubp.review.excerpt import build_excerpt
from ubp.review.model import Case, CaseKind, Hunk, Reason, Review
from ubp.review.probability import MIN_PROBABILITY, Features, probability
from ubp.review.proposed import ProposedPair, find_proposed
from ubp.review.remaining import find_remaining
from ubp.review.replaced import find_outdated
from ubp.review.tasks import find_lost_commands
from ubp.staleness.change import assess_alarms, touched_pages
from ubp.staleness.compare import hide
from ubp.staleness.model import GONE, Change
from ubp.staleness.state import open_change, open_context
from ubp.staleness.wording import MAX_EVIDENCE_SHOWN, describe_reference, join_names

RULES = (removed_name.NAME, stale_translation.NAME)
LINK_RULES = (broken_link.NAME, missing_anchor.NAME)
KINDS: Mapping[str, CaseKind] = {
    removed_name.NAME: "removed-name",
    broken_link.NAME: "link",
    missing_anchor.NAME: "link",
    stale_translation.NAME: "translation",
}
MAX_SUBJECTS = 3
SMALL = 4  # changed lines
MAX_SENTENCE = 300
SENTENCE_END = "(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])"


class Candidate(NamedTuple):
    """A page, a reason, its probability, and the changed files that it is about."""

    page: FilePath
    reason: Reason
    features: Features
    files: tuple[FilePath, ...]

    @property
    def probability(self) -> float:
        """How probable it is that the page must change for this reason."""
        return probability(self.features)


class Extent(NamedTuple):
    """Which cases are built, the most probable first: at most `limit` that are at least `least`.

    Cases less probable than `least_whole`, the first excepted, have no sentence and no excerpt:
    these take 8 ms each, and the Markdown parser.
    """

    limit: int | None
    least: float = MIN_PROBABILITY
    least_whole: float = 0.0


def review_change(session: Session, target: Target, paths: Sequence[str], extent: Extent) -> Review:
    """Return the cases of a change: the work tree against HEAD, unless `target` is a change.

    `paths` narrow it to these pages; without a change they are reviewed for all that changed since
    each was last edited.

    Raises:
        UsageError: the target contradicts itself, or a path matches no page.
    """
    if paths and not target.is_change:
        return _review_pages(session, paths, extent)
    change = open_change(session, target)
    selected = select_pages(paths, change.after.view, session.repository) if paths else None
    return _review(session, change, selected, extent, _subjects(session, change))


def review_pages(session: Session, change: Change, pages: frozenset[FilePath]) -> Review:
    """Return a case for each of these pages that the change affects, however improbable."""
    return _review(session, change, pages, Extent(None, 0.0), _subjects(session, change))


def _review_pages(session: Session, paths: Sequence[str], extent: Extent) -> Review:
    """Return the cases of what changed since each page's last edit, in the work tree, too."""
    after = open_context(session, session.view())
    snapshot = after.view.snapshot
    selected = select_pages(paths, after.view, session.repository)
    by_commit: dict[ObjectId, set[FilePath]] = {}
    if snapshot.commit is not None:
        unedited = [path for path in sorted(selected) if path not in snapshot.changes]
        for path, last in session.history.last_changes(snapshot.commit, unedited).items():
            by_commit.setdefault(last.commit, set()).add(path)
    reviews = []
    for commit, pages in with_checkpoints(by_commit.items()):
        before = open_context(session, session.view_of(read_commit(session.repository, commit)))
        committed = diff_trees(session.repository, commit, snapshot.commit or commit)
        change = Change((before,), after, {**committed, **snapshot.changes})
        reviews.append(_review(session, change, frozenset(pages), extent))
    cases = sorted(
        (case for review in reviews for case in review.cases),
        key=lambda case: (-case.probability, case.filepath),
    )
    return Review(
        cases=tuple(cases[: extent.limit]),
        omitted=sum(review.omitted for review in reviews) + len(cases[extent.limit :]),
        unlikely=sum(review.unlikely for review in reviews),
        subjects=(),
        changed_files=max((review.changed_files for review in reviews), default=0),
        snapshot=snapshot,
        selected=len(selected),
        not_checked=tuple(dict.fromkeys(s for review in reviews for s in review.not_checked)),
    )


def _review(
    session: Session,
    change: Change,
    selected: frozenset[FilePath] | None,
    extent: Extent,
    subjects: tuple[str, ...] = (),
) -> Review:
    """Return the cases of a change for all pages, or the selected ones."""
    files = ChangedFiles(change, session.is_hidden)
    findings, not_checked = find_findings(session, change, selected)
    candidates = find_candidates(session, change, files, findings, selected)
    by_page: dict[FilePath, list[Candidate]] = {}
    for candidate in candidates:
        by_page.setdefault(candidate.page, []).append(candidate)
    cases = [_join(page, found) for page, found in by_page.items()]
    cases.sort(key=lambda found: (-found[0].probability, found[0].filepath))
    likely = [found for found in cases if found[0].probability >= extent.least]
    shown = likely[: extent.limit]
    whole = {
        case.filepath
        for case, _ in shown
        if case is shown[0][0] or case.probability >= extent.least_whole
    }
    contents = change.after.view.read(whole)
    return Review(
        cases=tuple(
            _complete(case, touched, contents.get(case.filepath) or b"", files)
            if case.filepath in whole
            else case
            for case, touched in shown
        ),
        omitted=len(likely) - len(shown),
        unlikely=len(cases) - len(likely),
        subjects=subjects,
        changed_files=len(files),
        snapshot=change.after.view.snapshot,
        selected=None if selected is None else len(selected),
        not_checked=not_checked,
    )


def find_candidates(
    session: Session,
    change: Change,
    files: ChangedFiles,
    findings: Sequence[Finding],
    selected: Collection[FilePath] | None,
) -> list[Candidate]:
    """Return the reasons for which a change may affect pages, however improbable."""
    references = _find_bound(session, change, selected)
    proposed = find_proposed(session, change, files, selected)
    remaining = find_remaining(
        [
            *(verdict for _, verdict in references if not verdict.collection),
            *(pair.verdict for _, pairs in proposed for pair in pairs),
        ],
        session,
        change,
        files,
    )
    candidates = [
        _bound_candidate(assessed, verdict, files, remaining) for assessed, verdict in references
    ]
    candidates += _of_findings(findings, files)
    candidates += _find_translations(change, files, selected)
    candidates += _find_values(session, change, files, selected)
    candidates += _find_commands(session, change, files, selected)
    bound = {(candidate.page, path) for candidate in candidates for path in candidate.files}
    candidates += [
        _proposed_candidate(page.filepath, pair, files, remaining)
        for page, pairs in proposed
        for pair in pairs
        if (page.filepath, pair.verdict.source_path) not in bound
    ]
    return candidates


def _find_bound(
    session: Session, change: Change, selected: Collection[FilePath] | None
) -> list[tuple[Assessment, ReferenceVerdict]]:
    """Return the references that were fresh before the change and are not fresh after it."""
    pages = [
        page for page in touched_pages(change) if selected is None or page.filepath in selected
    ]
    assessments = assess_alarms(pages, change)
    return [
        (assessed, verdict)
        for assessed in hide(assessments, session.is_hidden)
        for verdict in assessed.references
        if verdict.verdict not in {"fresh", "unknown"} and not verdict.is_debt
    ]


def _bound_candidate(
    assessed: Assessment,
    verdict: ReferenceVerdict,
    files: ChangedFiles,
    remaining: Collection[str],
) -> Candidate:
    touched = _touched(verdict, files)
    hunks = [hunk for path in touched for hunk in files.hunks(path)]
    names = verdict.evidence
    kind: CaseKind = "collection" if verdict.collection else "bound"
    text = f"The page lists {verdict.name}, which was {describe_reference(verdict)}"
    text += _names_sentence(names, "; it ", () if verdict.collection else remaining)
    reason = Reason(
        kind=kind,
        text=f"{text}.",
        line=names[0].line if names else verdict.reference.line,
        path=verdict.source_path,
        names=names,
        is_gone=verdict.verdict in GONE,
        is_moved=verdict.verdict == "moved",
    )
    features = _features(names, hunks, touched, is_gone=reason.is_gone)
    return Candidate(assessed.page.filepath, reason, features, touched)


def _touched(verdict: ReferenceVerdict, files: ChangedFiles) -> tuple[FilePath, ...]:
    """Return the changed files that a reference means."""
    sources = possible_sources(verdict.source_path)
    found = [path for path in files.paths if any(source.matches(path) for source in sources)]
    if verdict.moved_to in files.paths:
        found.append(verdict.moved_to)
    return tuple(found)


def _whole(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is not part of a longer one."""
    return re.compile(rf"(?<![\w-]){re.escape(name.lstrip('-'))}(?![\w-])")


def _names_sentence(names: Sequence[Evidence], start: str, remaining: Collection[str]) -> str:
    groups = {
        "removes": [n for n in names if n.change == "removed" and n.name not in remaining],
        "removes from that source alone": [
            n for n in names if n.change == "removed" and n.name in remaining
        ],
        "changes": [n for n in names if n.change == "changed"],
        "adds": [n for n in names if n.change == "added"],
    }
    parts = []
    for verb, group in groups.items():
        found = [f"`{name.name}` (line {name.line})" for name in group]
        if found:
            parts.append(f"{verb} {join_names(found[:MAX_EVIDENCE_SHOWN])}")
    return start + join_names(parts) if parts else ""


def _features(
    names: Sequence[Evidence],
    hunks: Sequence[Hunk],
    touched: Sequence[FilePath],
    *,
    is_gone: bool = False,
) -> Features:
    effects = {name.change for name in names}
    effect = next((each for each in ("removed", "changed", "added") if each in effects), "")
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    added, removed = signs.count("+"), signs.count("-")
    return Features(
        removed=effect == "removed",
        changed=effect == "changed",
        added=effect == "added",
        gone=is_gone,
        small=0 < added + removed <= SMALL,
        additions=added > 0 and not removed,
        prose=bool(touched) and not any(map(is_program, touched)),
    )


def find_findings(
    session: Session, change: Change, selected: frozenset[FilePath] | None
) -> tuple[Sequence[Finding], tuple[str, ...]]:
    """Return the findings of the rules that a review joins, and what could not be checked."""
    documents = frozenset(change.after.view.document_paths())
    breaks_links = any(entry is None or path in documents for path, entry in change.changes.items())
    rules = (*RULES, *LINK_RULES) if breaks_links else RULES
    options = check_options(session, change.after.view, (), rules)._replace(paths=selected)
    report = check_change(change, options)
    not_checked = tuple(f"{item.rule}: {item.reason}" for item in report.not_checked)
    return report.findings, not_checked


def _of_findings(findings: Iterable[Finding], files: ChangedFiles) -> Iterator[Candidate]:
    for finding in findings:
        kind = KINDS[finding.rule]
        names: tuple[Evidence, ...] = ()
        touched: tuple[FilePath, ...] = ()
        if kind == "removed-name":
            names = (Evidence(finding.subject, finding.line, "removed"),)
            touched = tuple(_removed_from(finding.subject, files))
        elif kind == "translation" and finding.related in files.paths:
            touched = (finding.related,)
        features = Features(
            dead_name=kind == "removed-name",
            broken_link=kind == "link",
            translation=kind == "translation",
        )
        reason = Reason(
            kind, finding.message, finding.line, finding.related, names, hint=finding.hint
        )
        yield Candidate(finding.filepath, reason, features, touched)


def _removed_from(name: str, files: ChangedFiles) -> Iterator[FilePath]:
    """Yield the sources from which the change removed a name, definitions first."""
    pattern = _whole(name)
    files.read(files.sources)
    found = [
        path
        for path in files.sources
        if any(pattern.search(line) for line in changed_lines(files.hunks(path), "-"))
    ]
    found.sort(key=lambda path: not (is_program(path) and defines_names(path)))
    return iter(found[:3])


def _find_translations(
    change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> Iterator[Candidate]:
    """Yield the translations, by their paths, of pages that the change edits without them."""
    edited = [
        path
        for path in sorted(files.documents)
        if path in files.paths and not files.status(path) and without_language(path)
    ]
    if not edited:
        return
    families: dict[str, list[FilePath]] = {}
    for path in change.after.view.document_paths():
        families.setdefault(without_language(path), []).append(path)
    for original in edited:
        family = families[without_language(original)]
        if len(family) == 1 or original != min(family, key=lambda path: (len(path), path)):
            continue
        for page in family:
            if page not in change.changes and (selected is None or page in selected):
                reason = Reason(
                    "translation",
                    f"It is a translation of {original}, which was modified.",
                    1,
                    original,
                )
                yield Candidate(page, reason, Features(translation=1.0), (original,))


def _find_values(
    session: Session, change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> Iterator[Candidate]:
    """Yield the pages that give a value beside its name which the change replaces."""
    for page, given, source, replaced in find_outdated(session, change, files, selected):
        name = "" if given.name == replaced.old else f" for `{given.name}`"
        reason = Reason(
            kind="changed-value",
            text=f"It gives {replaced.old}{name}, which {source} changes to {replaced.new}.",
            line=given.line,
            path=source,
            names=(Evidence(given.name, given.line, "changed"),),
        )
        yield Candidate(page, reason, Features(value=1.0), (source,))


def _find_commands(
    session: Session, change: Change, files: ChangedFiles, selected: Collection[FilePath] | None
) -> Iterator[Candidate]:
    """Yield the pages with a command whose task the change removes."""
    for page, line, command, source in find_lost_commands(session, change, files, selected):
        reason = Reason(
            kind="removed-name",
            text=f"`{command}` has nothing to run: its task was removed from {source}, and no "
            "other file has it.",
            line=line,
            path=source,
            names=(Evidence(command, line, "removed"),),
        )
        yield Candidate(page, reason, Features(dead_name=1.0), (source,))


def _proposed_candidate(
    page: FilePath, pair: ProposedPair, files: ChangedFiles, remaining: Collection[str]
) -> Candidate:
    path = pair.verdict.source_path
    hunks = files.hunks(path)
    confidence = pair.suggestion.confidence
    names = pair.verdict.evidence
    if confidence < MIN_REVIEW_CONFIDENCE:  # a number may be of anything
        names = tuple(name for name in names if not re.fullmatch(r"[\d.]+", name.name))
    details = join_names([item.detail for item in pair.suggestion.evidence[:2] if item.detail])
    text = f"The page does not list {path}, which was {describe_reference(pair.verdict)}"
    text += _names_sentence(names, "; it names what this ", remaining)
    if confidence >= MIN_REVIEW_CONFIDENCE:
        because = f": {details}" if details else ""
        text += f"; it seems to describe it (confidence {confidence:.2f}{because})"
    lines = [item.line for item in pair.suggestion.evidence if item.line]
    reason = Reason(
        kind="proposed",
        text=f"{text}.",
        line=names[0].line if names else (lines or [1])[0],
        path=path,
        names=names,
        confidence=round(confidence, 3),
        is_gone=pair.verdict.verdict in GONE,
    )
    # That a file is gone concerns the pages that name the file.
    is_gone = reason.is_gone and any(
        item.kind in {"path", "file_name", "link"} for item in pair.suggestion.evidence
    )
    features = _features(names, hunks, [path], is_gone=is_gone)
    features = features._replace(proposed=1.0, confidence=confidence)
    return Candidate(page, reason, features, (path,))


def _join(page: FilePath, candidates: Sequence[Candidate]) -> tuple[Case, tuple[FilePath, ...]]:
    """Return the case of a page, the reasons most probable first, and the files concerned."""
    best_first = sorted(candidates, key=lambda candidate: -candidate.probability)
    ranked = [found for found in best_first if found is best_first[0] or _is_telling(found)]
    touched = tuple(dict.fromkeys(path for candidate in ranked for path in candidate.files))
    first = ranked[0]
    sources = dict.fromkeys(
        candidate.reason.path or path
        for candidate in ranked
        if candidate.reason.kind
        in {"bound", "proposed", "collection", "removed-name", "changed-value"}
        for path in candidate.files[:1]
    )
    case = Case(
        filepath=page,
        kind=first.reason.kind,
        line=first.reason.line,
        sentence="",
        reasons=_distinct([candidate.reason for candidate in ranked]),
        probability=round(first.probability, 3),
        sources=tuple(sources),
    )
    return case, touched


def _distinct(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """Return the first of the reasons with equal words: a page may have a broken link twice."""
    return tuple({reason.text: reason for reason in reversed(reasons)}.values())[::-1]


def _is_telling(candidate: Candidate) -> bool:
    """Return whether a reason is worth reading beside a stronger one."""
    reason = candidate.reason
    is_confident = (reason.confidence or 0.0) >= MIN_REVIEW_CONFIDENCE
    return reason.kind != "proposed" or bool(reason.names) or is_confident


def _complete(case: Case, touched: Sequence[FilePath], page: bytes, files: ChangedFiles) -> Case:
    files.read(touched)
    hunks = [hunk for path in touched for hunk in files.hunks(path)]
    case = replace(case, sentence=_sentence(case, page.decode("utf-8", "replace")))
    return replace(case, excerpt=build_excerpt(case, page, hunks, files))


def _sentence(case: Case, page: str) -> str:
    """Return the sentence of the page at the line of the case, that with the name first."""
    lines = page.split("\n")
    line = lines[case.line - 1].strip() if case.line <= len(lines) else ""
    name = case.reasons[0].names[0].name if case.reasons[0].names else ""
    sentences = re.split(SENTENCE_END, line)
    sentence = next((text for text in sentences if name and name in text), line)
    if len(sentence) <= MAX_SENTENCE:
        return sentence
    at = max(0, sentence.find(name) - MAX_SENTENCE // 3) if name else 0
    return sentence[at : at + MAX_SENTENCE]


def _subjects(session: Session, change: Change) -> tuple[str, ...]:
    """Return the subjects of the last commits of a branch."""
    head = change.after.view.snapshot.commit
    start = change.before[0].view.snapshot.commit if change.before else None
    if head is None or start in {None, head}:
        return ()
    output = session.repository.run(
        "log", f"--max-count={MAX_SUBJECTS}", "--format=%s", f"{start}..{head}", "--"
    )
    return tuple(output.decode("utf-8", "replace").splitlines())

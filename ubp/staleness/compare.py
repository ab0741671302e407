"""Compare sources with their baselines, in one repository, and find the drift between them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ubp.core.model import (
    Assessment,
    FilePath,
    Page,
    ReferenceVerdict,
    SourceReference,
    Verdict,
)
from ubp.core.source import GlobSource, PartSource, file_of
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins
from ubp.staleness.drift import DriftSince, Moves, find_drift
from ubp.staleness.model import (
    SECONDS_PER_DAY,
    StalenessContext,
    StalenessRules,
    compare,
    level_of,
    worst_level,
)
from ubp.staleness.references import LocatedSource, collection_of

if TYPE_CHECKING:  # only where a reference names a part of a file
    from ubp.staleness.parts import PartComparison


def baseline_requests(pages: Sequence[Page], rules: StalenessRules) -> list[BaselineRequest]:
    """Return a request for the baseline of every reference of every page but records of the past.

    A record is assessed as a page without sources.
    """
    return [
        BaselineRequest(page, reference)
        for page in pages
        if page.facts.references and not rules.is_record(page)
        for reference in page.facts.references
    ]


def split_requests(
    requests: Sequence[BaselineRequest], rules: StalenessRules
) -> tuple[Sequence[BaselineRequest], Mapping[str, Sequence[BaselineRequest]]]:
    """Return the requests about this repository, and those about others by the names of these.

    Others are collections, and repositories that are named for all of an organisation.
    """
    if not any(":" in request.reference.source_path for request in requests):
        return requests, {}
    from ubp.core.repository_names import split_reference

    own: list[BaselineRequest] = []
    others: dict[str, list[BaselineRequest]] = {}
    for request in requests:
        path = request.reference.source_path
        name = collection_of(path, rules.collections) or split_reference(path)[0]
        (others.setdefault(name, []) if name else own).append(request)
    return own, others


def assessments_of(
    pages: Sequence[Page],
    requests: Sequence[BaselineRequest],
    verdicts: Mapping[BaselineRequest, ReferenceVerdict],
) -> tuple[Assessment, ...]:
    """Return the assessments of these pages from the verdicts on their references."""
    references: dict[FilePath, list[ReferenceVerdict]] = {page.filepath: [] for page in pages}
    for request in requests:
        references[request.page.filepath].append(verdicts[request])
    return tuple(assessment(page, references[page.filepath]) for page in pages)


def compare_sources(
    baselines: Mapping[BaselineRequest, Baseline],
    located: Mapping[SourceReference, LocatedSource],
    context: StalenessContext,
) -> dict[BaselineRequest, ReferenceVerdict]:
    """Compare the sources with these baselines, and read the history of those that drifted."""
    parts = _compare_parts(baselines, located, context)
    verdicts: dict[BaselineRequest, ReferenceVerdict] = {}
    drifted: dict[BaselineRequest, Baseline] = {}
    for request, baseline in baselines.items():
        verdict = _compare_ids(request, located[request.reference], baseline)
        if parts:
            verdict = parts.apply(request, verdict)
        verdicts[request] = verdict
        if verdict.verdict not in {"fresh", "unknown"}:
            drifted[request] = baseline
    if any(request.reference.language for request in drifted):
        from ubp.staleness.translations import find_unchanged

        unchanged = find_unchanged([verdicts[request] for request in drifted], context)
        for request in [request for request in drifted if verdicts[request] in unchanged]:
            verdicts[request] = verdicts[request]._replace(verdict="fresh", level="fresh")
            del drifted[request]
    if drifted:
        _add_history(verdicts, drifted, context, parts)
    return verdicts


def _compare_parts(
    baselines: Mapping[BaselineRequest, Baseline],
    located: Mapping[SourceReference, LocatedSource],
    context: StalenessContext,
) -> "PartComparison | None":
    """Compare the symbols, sections and lines that references name; None: there are none."""
    named = {
        request: baseline
        for request, baseline in baselines.items()
        if request.reference.fragment
        and baseline.is_known
        and isinstance(baseline.source, PartSource)
        and isinstance(located[request.reference].source, PartSource)
    }
    if not named:
        return None
    from ubp.staleness.parts import PartComparison

    return PartComparison(context, named, located)


def assessment(page: Page, references: Collection[ReferenceVerdict]) -> Assessment:
    """Return the assessment of a page: its level is the worst of its references."""
    return Assessment(page, worst_level(verdict.level for verdict in references), tuple(references))


def hide(
    assessments: Sequence[Assessment], is_hidden: Callable[[FilePath], bool]
) -> tuple[Assessment, ...]:
    """Return the assessments without the ids, commits and new paths of hidden sources.

    Only the verdicts of these sources may be served.
    """
    paths = {reference.source_path for page in assessments for reference in page.references}
    hidden = {path for path in paths if is_hidden(path)}
    if not hidden:
        return tuple(assessments)

    return tuple(
        page._replace(
            references=tuple(
                hide_details(reference) if reference.source_path in hidden else reference
                for reference in page.references
            )
        )
        for page in assessments
    )


def hide_details(reference: ReferenceVerdict) -> ReferenceVerdict:
    """Return a verdict without the ids, commits and new path of its source."""
    return reference._replace(
        baseline_blob=None, current_blob=None, moved_to=None, moved_fragment="", commits=()
    )


def _compare_ids(
    request: BaselineRequest, located: LocatedSource, baseline: Baseline
) -> ReferenceVerdict:
    """Return the verdict by ids alone; `_add_history` completes it."""
    # A literal path that was deleted cannot have become the files that it matches as a glob.
    is_deleted_literal = isinstance(located.source, GlobSource) and not isinstance(
        baseline.source, GlobSource
    )
    current = None if is_deleted_literal else located.id
    verdict = compare(baseline.id, current) if baseline.is_known else "unknown"
    reference, fragment = request.reference, request.reference.fragment
    has_no_part = (
        fragment is not None
        and fragment.startswith("#")
        and not isinstance(baseline.source, PartSource)
        and baseline.source.name != reference.literal
    )
    return ReferenceVerdict(
        reference=reference,
        source_path=file_of(baseline.source).name,
        verdict=verdict,
        level="fresh" if verdict == "fresh" else "unknown",
        baseline=baseline.kind,
        baseline_commit=baseline.commit,
        baseline_blob=baseline.id,
        current_blob=current,
        note=baseline.note or ("no_part" if has_no_part else None),
    )


def _add_history(
    verdicts: dict[BaselineRequest, ReferenceVerdict],
    drifted: Mapping[BaselineRequest, Baseline],
    context: StalenessContext,
    parts: "PartComparison | None",
) -> None:
    """Complete the verdicts of drifted references: level, age, commits, new path."""
    drifts = find_drift(drifted, context, Origins.uncommitted(context.view))
    if parts:
        drifts = parts.narrow(drifts)
    moves = Moves(context)
    for request, baseline in drifted.items():
        drift = drifts[request]
        verdict, moved_to, fragment = verdicts[request].verdict, None, ""
        if verdict == "not_found" and context.view.opaque_folder(verdicts[request].source_path):
            verdicts[request] = verdicts[request]._replace(note="no_listing")
        if verdict == "deleted":
            if parts and isinstance(baseline.source, PartSource):
                verdict, moved_to, fragment = parts.resolve_deleted(request, drift, moves)
            else:
                verdict, moved_to = _resolve_deleted(baseline, drift, moves)
        if verdict in {"modified", "created"} and context.rules.ignored_commits:
            drift = _without_ignored(drift, baseline, context)
            verdict = verdict if drift.commits or drift.is_uncommitted else "fresh"
        age = _age(verdict, drift, context.rules.now)
        verdicts[request] = verdicts[request]._replace(
            verdict=verdict,
            level=level_of(verdict, age, context.rules.threshold_days),
            moved_to=moved_to,
            moved_fragment=fragment,
            since=drift.date,
            age_days=None if age is None else int(age // SECONDS_PER_DAY),
            commits=drift.commits,
            last_age_days=_last_age_days(verdict, drift, baseline, context),
        )


def _without_ignored(
    drift: DriftSince, baseline: Baseline, context: StalenessContext
) -> DriftSince:
    """Return the drift without the commits that the configuration ignores."""
    ignored = context.rules.ignored_commits
    commits = tuple(
        commit for commit in drift.commits if not any(text in commit.subject for text in ignored)
    )
    if len(commits) == len(drift.commits) or drift.date is None:  # or history ends too early
        return drift
    is_uncommitted = _is_edited(baseline, context)
    date = min((commit.date for commit in commits), default=None)
    return drift._replace(commits=commits, date=date, is_uncommitted=is_uncommitted)


def _is_edited(baseline: Baseline, context: StalenessContext) -> bool:
    return any(baseline.source.matches(path) for path in context.view.snapshot.changes)


def _resolve_deleted(
    baseline: Baseline, drift: DriftSince, moves: Moves
) -> tuple[Verdict, FilePath | None]:
    """Distinguish a source that moved, and a pinned one that never existed, from a deleted one."""
    if baseline.kind == "pin" and not drift.existed:
        return "not_found", None
    can_move = not isinstance(baseline.source, GlobSource)
    moved_to = moves.follow(baseline.source.path, drift) if can_move else None
    return ("moved" if moved_to else "deleted"), moved_to


def _age(verdict: Verdict, drift: DriftSince, now: float) -> float | None:
    """Return the seconds since the first drift; 0: not committed yet, None: unknown."""
    if verdict in {"fresh", "unknown", "not_found"}:
        return None
    if drift.date is not None:
        return max(0.0, now - drift.date)
    return 0.0 if drift.is_uncommitted else None


def _last_age_days(
    verdict: Verdict, drift: DriftSince, baseline: Baseline, context: StalenessContext
) -> int | None:
    """Return the whole days since the last drift, None: unknown.

    0: the first one, or the removal of the source, is not committed yet, or was today.
    """
    is_file_removed = verdict in {"deleted", "moved"} and not isinstance(
        baseline.source, PartSource
    )
    is_removed_now = is_file_removed and _is_edited(baseline, context)
    if drift.is_uncommitted or is_removed_now:
        return 0
    if drift.date is None:
        return None
    last = max(commit.date for commit in drift.commits)
    return int(max(0.0, context.rules.now - last) // SECONDS_PER_DAY)

"""The engine behind every question: pages of a view → what became of each of their references."""

from collections.abc import Callable, Collection, Mapping, Sequence

from ubp.core.model import Assessment, FilePath, Page, ReferenceVerdict, SourceReference, Verdict
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins, find_baselines
from ubp.staleness.drift import DriftSince, find_drift
from ubp.staleness.model import SECONDS_PER_DAY, StalenessContext, compare, level_of, worst_level
from ubp.staleness.references import LocatedSource, locate


def assess(pages: Sequence[Page], court: StalenessContext) -> tuple[Assessment, ...]:
    """Judge every reference of these pages, in one pass for all."""
    subjects = baseline_requests(pages)
    located = locate(court.view, {subject.reference for subject in subjects})
    origins = Origins.uncommitted(court.view)
    baselines = find_baselines(subjects, located, court, origins, origins.is_edited)
    return assess_reference(pages, located, baselines, court)


def baseline_requests(pages: Sequence[Page]) -> list[BaselineRequest]:
    """Every reference of every page."""
    return [
        BaselineRequest(page, reference) for page in pages for reference in page.facts.references
    ]


def assess_reference(
    pages: Sequence[Page],
    located: Mapping[SourceReference, LocatedSource],
    baselines: Mapping[BaselineRequest, Baseline],
    court: StalenessContext,
) -> tuple[Assessment, ...]:
    """Compare what stands there with the baselines, and ask history about what drifted."""
    judged: dict[FilePath, list[ReferenceVerdict]] = {page.filepath: [] for page in pages}
    drifted: dict[BaselineRequest, Baseline] = {}
    for subject, baseline in baselines.items():
        answer = _compare(subject, located[subject.reference], baseline)
        judged[subject.page.filepath].append(answer)
        if answer.verdict not in {"fresh", "unknown"}:
            drifted[subject] = baseline
    if drifted:
        _date(judged, drifted, court)
    return tuple(assessment(page, judged[page.filepath]) for page in pages)


def assessment(page: Page, references: Collection[ReferenceVerdict]) -> Assessment:
    """A page with the level that its references give it."""
    return Assessment(page, worst_level(answer.level for answer in references), tuple(references))


def hide(
    assessments: Sequence[Assessment], is_hidden: Callable[[FilePath], bool]
) -> tuple[Assessment, ...]:
    """Tell only the verdict of sources that must not be served: no ids, commits or new places."""
    sources = {answer.source_path for one in assessments for answer in one.references}
    hidden = {path for path in sources if is_hidden(path)}
    return tuple(_hide(one, hidden) for one in assessments) if hidden else tuple(assessments)


def _hide(one: Assessment, hidden: Collection[FilePath]) -> Assessment:
    return one._replace(
        references=tuple(
            answer._replace(baseline_blob=None, current_blob=None, moved_to=None, commits=())
            if answer.source_path in hidden
            else answer
            for answer in one.references
        )
    )


def _compare(
    subject: BaselineRequest, located: LocatedSource, baseline: Baseline
) -> ReferenceVerdict:
    """The verdict by ids alone; its level and age are history's to tell."""
    # What a glob matches is no answer where the page meant a literal path that is gone.
    meant_literally = located.source.pattern and not baseline.source.pattern
    current = None if meant_literally else located.id
    verdict = compare(baseline.id, current) if baseline.is_known else "unknown"
    return ReferenceVerdict(
        reference=subject.reference,
        source_path=baseline.source.name,
        verdict=verdict,
        level="fresh" if verdict == "fresh" else "unknown",
        baseline=baseline.kind,
        baseline_commit=baseline.commit,
        baseline_blob=baseline.id,
        current_blob=current,
    )


def _date(
    judged: Mapping[FilePath, list[ReferenceVerdict]],
    drifted: Mapping[BaselineRequest, Baseline],
    court: StalenessContext,
) -> None:
    """Complete the verdicts of what drifted: since when, through whom, where it went."""
    sinces = find_drift(drifted, court, Origins.uncommitted(court.view))
    follow = _follower(court)
    for subject, baseline in drifted.items():
        answers, since = judged[subject.page.filepath], sinces[subject]
        position = next(i for i, one in enumerate(answers) if one.reference is subject.reference)
        verdict, moved_to = _tell_gone(answers[position].verdict, baseline, since, follow)
        age = _age(verdict, since, court.rules.now)
        answers[position] = answers[position]._replace(
            verdict=verdict,
            level=level_of(verdict, age, court.rules.threshold_days),
            moved_to=moved_to,
            since=since.date,
            age_days=None if age is None else int(age // SECONDS_PER_DAY),
            commits=since.commits,
        )


Follow = Callable[[FilePath, DriftSince], FilePath | None]


def _follower(court: StalenessContext) -> Follow:
    def follow(path: FilePath, since: DriftSince) -> FilePath | None:
        from ubp.staleness.drift import Moves

        return Moves(court).follow(path, since)

    return follow


def _tell_gone(
    verdict: Verdict, baseline: Baseline, since: DriftSince, follow: Follow
) -> tuple[Verdict, FilePath | None]:
    """Tell a source that moved, and a pinned one that never was, from one that is gone."""
    if verdict != "deleted":
        return verdict, None
    if baseline.kind == "pin" and not since.existed:
        return "not_found", None
    moved_to = None if baseline.source.pattern else follow(baseline.source.path, since)
    return ("moved" if moved_to else "deleted"), moved_to


def _age(verdict: Verdict, since: DriftSince, now: float) -> float | None:
    """Seconds since the first drift; 0 while it is not committed, None where nobody can tell."""
    if verdict in {"fresh", "unknown", "not_found"}:
        return None
    if since.date is not None:
        return max(0.0, now - since.date)
    return 0.0 if since.is_uncommitted else None

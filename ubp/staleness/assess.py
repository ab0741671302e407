"""The engine behind every question: pages of a view → what became of each of their references."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from ubp.model import (
    Assessment,
    FilePath,
    ObjectId,
    Page,
    ReferenceVerdict,
    SourceReference,
    Verdict,
)
from ubp.staleness.baseline import Baseline, Subject, find_baselines
from ubp.staleness.court import Court
from ubp.staleness.drift import UNCOMMITTED, Since, find_since
from ubp.staleness.moves import Moves
from ubp.staleness.origin import Origins
from ubp.staleness.reference import Located, locate
from ubp.staleness.verdict import SECONDS_PER_DAY, compare, level_of, worst


def assess(pages: Sequence[Page], court: Court) -> tuple[Assessment, ...]:
    """Judge every reference of these pages, in one pass for all."""
    subjects = subjects_of(pages)
    located = locate(court.view, {reference for _, reference in subjects})
    origins = Origins.uncommitted(court.view)
    baselines = find_baselines(subjects, located, court, origins, origins.is_edited)
    return judge(pages, located, baselines, court)


def subjects_of(pages: Sequence[Page]) -> list[Subject]:
    """Every reference of every page."""
    return [(page, reference) for page in pages for reference in page.facts.references]


def judge(
    pages: Sequence[Page],
    located: Mapping[SourceReference, Located],
    baselines: Mapping[Subject, Baseline],
    court: Court,
) -> tuple[Assessment, ...]:
    """Compare what stands there with the baselines, and ask history about what drifted."""
    subjects = subjects_of(pages)
    current = {subject: _current(located[subject[1]], baselines[subject]) for subject in subjects}
    verdicts = {subject: _verdict(baselines[subject], current[subject]) for subject in subjects}
    drifted = {
        subject: baselines[subject]
        for subject in subjects
        if verdicts[subject] not in {"fresh", "unknown"}
    }
    origins = Origins.uncommitted(court.view)
    sinces = find_since(drifted, court, origins) if drifted else {}
    moves = Moves(court.repository, court.view, court.history)
    judged: dict[Page, list[ReferenceVerdict]] = defaultdict(list)
    for subject in subjects:
        page, reference = subject
        baseline, since = baselines[subject], sinces.get(subject, UNCOMMITTED)
        verdict, moved_to = _follow(verdicts[subject], baseline, since, moves)
        age = _age(verdict, since, court.rules.now)
        answer = ReferenceVerdict(
            reference=reference,
            source_path=baseline.source.name,
            verdict=verdict,
            level=level_of(verdict, age, court.rules.threshold_days),
            baseline=baseline.kind,
            baseline_commit=baseline.commit,
            baseline_blob=baseline.id,
            current_blob=current[subject],
            moved_to=moved_to,
            since=since.date,
            age_days=None if age is None else int(age // SECONDS_PER_DAY),
            commits=since.commits,
        )
        judged[page].append(answer)
    return tuple(assessment(page, judged[page]) for page in pages)


def assessment(page: Page, references: Collection[ReferenceVerdict]) -> Assessment:
    """A page with the level that its references give it."""
    return Assessment(page, worst(answer.level for answer in references), tuple(references))


def hide(
    assessments: Sequence[Assessment], is_hidden: Callable[[FilePath], bool]
) -> tuple[Assessment, ...]:
    """Tell only the verdict of sources that must not be served: no ids, commits or new places."""
    return tuple(
        one._replace(
            references=tuple(
                answer._replace(baseline_blob=None, current_blob=None, moved_to=None, commits=())
                if is_hidden(answer.source_path)
                else answer
                for answer in one.references
            )
        )
        for one in assessments
    )


def _current(located: Located, baseline: Baseline) -> ObjectId | None:
    """What stands there now; what a glob matches is no answer where a literal path was meant."""
    meant_literally = located.source.pattern and not baseline.source.pattern
    return None if meant_literally else located.id


def _verdict(baseline: Baseline, current: ObjectId | None) -> Verdict:
    return compare(baseline.id, current) if baseline.is_known else "unknown"


def _follow(
    verdict: Verdict, baseline: Baseline, since: Since, moves: Moves
) -> tuple[Verdict, FilePath | None]:
    """Tell a source that moved, and a pinned one that never was, from one that is gone."""
    if verdict != "deleted":
        return verdict, None
    if baseline.kind == "pin" and not since.existed:
        return "not_found", None
    moved_to = None if baseline.source.pattern else moves.follow(baseline.source.path, since)
    return ("moved" if moved_to else "deleted"), moved_to


def _age(verdict: Verdict, since: Since, now: float) -> float | None:
    """Seconds since the first drift; 0 while it is not committed, None where nobody can tell."""
    if verdict in {"fresh", "unknown", "not_found"}:
        return None
    if since.date is not None:
        return max(0.0, now - since.date)
    return 0.0 if since.is_uncommitted else None

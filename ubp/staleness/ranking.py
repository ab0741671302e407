"""Rank stale pages: of those with the same level, the ones most likely to need an edit first.

A page that used to change together with a source probably has to change with it again; a page that
shares its source with fifty others hardly ever has.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ubp.core.errors import RepositoryError
from ubp.core.model import Assessment, FilePath, ObjectId, Page, Pair, PairCount, ReferenceVerdict
from ubp.core.source import SourceMap, possible_sources
from ubp.git.listings import TreeTooLargeError
from ubp.staleness.model import SEVERITY, StalenessContext, StaleReport, is_certain

MISSING = frozenset({"deleted", "moved", "not_found"})
CERTAIN = 1.0
"""The score of a reference to a missing source: it is wrong, whatever the source's history."""

NO_HISTORY = PairCount(0, 0)

MAX_COMMITS = 200
"""How many of the last commits are counted, without merges. In two histories of 1,568 and 814
commits they rank as well (AUC 0.76 and 0.71) as 500 (0.76 and 0.70) and all (0.76 and 0.69)."""


def rank_pages(report: StaleReport, context: StalenessContext) -> StaleReport:
    """Sort the pages: those with evidence first, then worst level, then by score, then by path.

    Missing sources are evidence. Pages that a change makes stale come before the others.
    """
    drifted = {
        assessment.page.filepath: references
        for assessment in report.pages
        if (references := _drifted_references(assessment))
    }
    if len(drifted) < 2:  # noqa: PLR2004  # a single page needs no order
        return report
    scores = _score_pages(drifted, context)
    severity = {level: position for position, level in enumerate(SEVERITY)}

    def sort_key(assessment: Assessment) -> tuple[bool, int, float, FilePath]:
        path = assessment.page.filepath
        has_evidence = any(map(is_certain, drifted.get(path, ())))
        is_made_stale = report.is_change and path in drifted
        rank = -1 if is_made_stale else severity[assessment.level]
        return not has_evidence, rank, -scores.get(path, 0.0), path

    return report._replace(pages=tuple(sorted(report.pages, key=sort_key)))


def score_reference(count: PairCount, pages: int) -> float:
    """Return how likely a change of a source affects a page, from 0 to 1; `pages` name the source.

    It is the share of the source's changes that came with one of the page, drawn towards a third
    where there were few, divided by the root of the number of pages. Over all changes of sources in
    two histories of 1,568 and 814 commits, each judged by the commits before it, it separates those
    at which the page changed too from the others with an AUC of 0.76 and 0.71 (the share alone 0.76
    and 0.69, the number of pages alone 0.68 and 0.61, the share divided by the number itself 0.74
    and 0.69; `benchmarks/bindings/binding_review.py`).
    """
    return float((count.together + 0.5) / (count.changed + 1.5) / max(pages, 1) ** 0.5)


def pages_per_source(pages: Collection[Page]) -> Mapping[FilePath, int]:
    """Return how many pages name each source, by the path in their references."""
    return Counter(
        path
        for page in pages
        for path in {reference.source_path for reference in page.facts.references}
    )


def _drifted_references(assessment: Assessment) -> list[ReferenceVerdict]:
    return [
        reference
        for reference in assessment.references
        if reference.verdict not in {"fresh", "unknown"} and not reference.is_debt
    ]


def _score_pages(
    drifted: Mapping[FilePath, Sequence[ReferenceVerdict]], context: StalenessContext
) -> dict[FilePath, float]:
    """Return for each page the score of its best reference."""
    pairs = {
        (path, reference.source_path)
        for path, references in drifted.items()
        for reference in references
        if reference.verdict not in MISSING
    }
    counts = count_co_changes(pairs, context)
    page_counts = pages_per_source(context.view.bound_pages())

    def score(path: FilePath, reference: ReferenceVerdict) -> float:
        if reference.verdict in MISSING:
            return CERTAIN
        count = counts.get((path, reference.source_path), NO_HISTORY)
        return score_reference(count, page_counts[reference.reference.source_path])

    return {
        path: max(score(path, reference) for reference in references)
        for path, references in drifted.items()
    }


def count_co_changes(
    pairs: Collection[Pair], context: StalenessContext
) -> Mapping[Pair, PairCount]:
    """Count for each pair in how many of the last commits the source changed, and both did.

    Only commits since the page's first change count, as far as these commits go. The counts are
    stored per head. Where history cannot be read there are none.
    """
    head = context.view.snapshot.commit
    if head is None:
        return {}
    stored = context.view.context.store.history
    counts = stored.co_changes(head)
    missing = [pair for pair in pairs if pair not in counts]
    if missing:
        counts |= _count_in_history(missing, head, context)
        if not context.repository.is_shallow:  # a shallow clone may be deepened
            stored.save_co_changes(head, counts)
    return counts


def _count_in_history(
    pairs: Collection[Pair], head: ObjectId, context: StalenessContext
) -> dict[Pair, PairCount]:
    try:
        log = context.history.change_log(MAX_COMMITS, head=head)
    except (RepositoryError, TreeTooLargeError):  # a clone without trees, or with endless ones
        return {}
    index = CommitIndex((change.paths for change in log), {name for pair in pairs for name in pair})
    counts = {}
    for page, source in pairs:
        page_commits = index.of(page)  # newest first
        oldest = page_commits[-1] if page_commits else MAX_COMMITS
        source_commits = {number for number in index.of(source) if number <= oldest}
        together = len(source_commits.intersection(page_commits))
        counts[page, source] = PairCount(len(source_commits), together)
    return counts


class CommitIndex:
    """For each name (a file, a directory or a glob) the numbers of the commits that changed it.

    `commits` has the files that each commit changed; the first commit has number 0.
    """

    def __init__(self, commits: Iterable[Collection[FilePath]], names: Collection[str]) -> None:
        by_source = SourceMap(
            (source, name) for name in set(names) for source in possible_sources(FilePath(name))
        )
        matching: dict[FilePath, frozenset[str]] = {}  # most files change many times
        self._numbers: dict[str, list[int]] = {name: [] for name in names}
        for number, paths in enumerate(commits):
            for path in paths:
                if path not in matching:
                    matching[path] = frozenset(by_source.matching(path))
            for name in {name for path in paths for name in matching[path]}:
                self._numbers[name].append(number)

    def of(self, name: str) -> Sequence[int]:
        """Return the numbers of the commits that changed it, in ascending order."""
        return self._numbers[name]

"""Since when, and through which commits, a source has been away from its baseline."""

from collections.abc import Mapping
from typing import NamedTuple

from ubp.history import History
from ubp.model import Commit, Drift, FilePath, ObjectId, Search
from ubp.staleness.baseline import Baseline, Subject
from ubp.staleness.court import Court
from ubp.staleness.origin import Origins
from ubp.staleness.verdict import compare


class Since(NamedTuple):
    """When a source left its baseline.

    `date` is the committer date of the first drifting commit in seconds, None where no commit
    drifted (`is_uncommitted`) or history does not reach it. `existed` is False where the source
    stood in no commit that was looked at.
    """

    commits: tuple[Commit, ...] = ()
    date: int | None = None
    is_uncommitted: bool = False
    existed: bool = True


UNCOMMITTED = Since(is_uncommitted=True)


def find_since(
    drifted: Mapping[Subject, Baseline],
    court: Court,
    origins: Origins,
) -> dict[Subject, Since]:
    """Ask history about every reference that is not at its baseline."""
    history, head = court.history, court.view.snapshot.commit
    if head is None:
        return dict.fromkeys(drifted, UNCOMMITTED)
    left = _left_by_commits(drifted, court)
    searches = {
        subject: Search(baseline.source.path, baseline.source.pattern, baseline.id, baseline.commit)
        for subject, baseline in drifted.items()
        if baseline.kind != "snapshot" and subject in left
    }
    drifts = history.drifts(head, set(searches.values()))
    answers = {subject: drifts[search] for subject, search in searches.items()}
    answers |= _after_the_page(searches, answers, history, head, origins)
    ids = {commit for drift in answers.values() for commit in drift.commits}
    commits = history.commits(ids)
    return {
        subject: _since(answers.get(subject), commits, is_at_baseline=subject not in searches)
        for subject in drifted
    }


def _left_by_commits(drifted: Mapping[Subject, Baseline], court: Court) -> set[Subject]:
    """Those that the snapshot's commit has away from their baseline already.

    The others left it in what is not committed yet: history need not be asked, which is what a
    hook meets. What a glob matched in the commit is left to history.
    """
    paths = {baseline.source.path for baseline in drifted.values() if not baseline.source.pattern}
    stood = court.view.base_entries(paths)
    return {
        subject
        for subject, baseline in drifted.items()
        if baseline.source.pattern
        or compare(baseline.id, entry.id if (entry := stood[baseline.source.path]) else None)
        not in {"fresh", "not_found"}
    }


def _after_the_page(
    searches: Mapping[Subject, Search],
    answers: Mapping[Subject, Drift],
    history: History,
    head: ObjectId,
    origins: Origins,
) -> dict[Subject, Drift]:
    """Bound the drift from a pin that never stood in this history (squashed, amended, mistyped).

    Nothing older than the commit that wrote the page can be drift from what the page describes.
    """
    lost = {
        subject: search
        for subject, search in searches.items()
        if search.commit is None and not answers[subject].is_complete and answers[subject].commits
    }
    pages: dict[FilePath, FilePath] = {}
    for subject in lost:
        path = subject.page.filepath
        if origin := origins.of(path):
            pages[path] = origin
    changes = history.last_changes(head, set(pages.values())) if pages else {}
    bounded: dict[Subject, tuple[Search, ObjectId]] = {}
    for subject, search in lost.items():
        origin = pages.get(subject.page.filepath)
        change = changes.get(origin) if origin else None
        if change and not change.is_boundary:
            bounded[subject] = search._replace(commit=change.commit), change.commit
    drifts = history.drifts(head, {search for search, _ in bounded.values()})
    return {
        subject: Drift(
            drifts[search].commits or (commit,), is_complete=True, existed=answers[subject].existed
        )
        for subject, (search, commit) in bounded.items()
    }


def _since(
    drift: Drift | None, commits: Mapping[ObjectId, Commit], *, is_at_baseline: bool
) -> Since:
    if is_at_baseline or drift is None:
        return UNCOMMITTED
    found = tuple(commits[commit] for commit in drift.commits if commit in commits)
    if not found:
        # A complete search without commits: HEAD stands at the baseline, the rest is not committed.
        return Since(is_uncommitted=drift.is_complete, existed=drift.existed)
    if not drift.is_complete:
        return Since(found, None, existed=drift.existed)
    return Since(found, min(commit.date for commit in found), existed=drift.existed)

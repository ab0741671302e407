"""Since when, and through which commits, a source has been away from its baseline.

Where a source went that is gone from its path.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ubp.core.model import BaselineQuery, Commit, Drift, Entry, FilePath, ObjectId
from ubp.core.paths import closest_path
from ubp.git.trees import diff_trees, similar_file
from ubp.index.history import History
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins
from ubp.staleness.model import StalenessContext, compare


class DriftSince(NamedTuple):
    """When a source left its baseline.

    `date` is the committer date of the first drifting commit in seconds, None where no commit
    drifted (`is_uncommitted`) or history does not reach it. `existed` is False where the source
    stood in no commit that was looked at.
    """

    commits: tuple[Commit, ...] = ()
    date: int | None = None
    is_uncommitted: bool = False
    existed: bool = True


UNCOMMITTED = DriftSince(is_uncommitted=True)


def find_drift(
    drifted: Mapping[BaselineRequest, Baseline],
    court: StalenessContext,
    origins: Origins,
) -> dict[BaselineRequest, DriftSince]:
    """Ask history about every reference that is not at its baseline."""
    history, head = court.history, court.view.snapshot.commit
    if head is None:
        return dict.fromkeys(drifted, UNCOMMITTED)
    left = _left_by_commits(drifted, court)
    searches = {
        subject: BaselineQuery(
            baseline.source.path, baseline.source.pattern, baseline.id, baseline.commit
        )
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


def _left_by_commits(
    drifted: Mapping[BaselineRequest, Baseline], court: StalenessContext
) -> set[BaselineRequest]:
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
    searches: Mapping[BaselineRequest, BaselineQuery],
    answers: Mapping[BaselineRequest, Drift],
    history: History,
    head: ObjectId,
    origins: Origins,
) -> dict[BaselineRequest, Drift]:
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
    bounded: dict[BaselineRequest, tuple[BaselineQuery, ObjectId]] = {}
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
) -> DriftSince:
    if is_at_baseline or drift is None:
        return UNCOMMITTED
    found = tuple(commits[commit] for commit in drift.commits if commit in commits)
    if not found:
        # A complete search without commits: HEAD stands at the baseline, the rest is not committed.
        return DriftSince(is_uncommitted=drift.is_complete, existed=drift.existed)
    if not drift.is_complete:
        return DriftSince(found, None, existed=drift.existed)
    return DriftSince(found, min(commit.date for commit in found), existed=drift.existed)


# A source may be moved again and again; nobody follows it further than this.
MAX_MOVES = 16


class Moves:
    """Follows files that were removed to where their content stands in the snapshot."""

    def __init__(self, court: StalenessContext) -> None:
        self._repository = court.repository
        self._view = court.view
        self._history = court.history
        self._is_hidden = court.rules.is_hidden

    def follow(self, path: FilePath, since: DriftSince) -> FilePath | None:
        """The path at which the removed file's content, the same or similar, stands now.

        Looked for among what the removing commit (or the change that is not committed) added: a
        copy that stood there before is no move.
        """
        seen = {path}
        removed_by = since.commits[0].id if since.commits else None
        for _ in range(MAX_MOVES):
            found = self._step(path, removed_by)
            if found is None or found in seen:
                return None
            if self._view.entry(found) is not None:
                return found
            seen.add(found)
            path, removed_by = found, self._removal(found)
        return None

    def _step(self, path: FilePath, removed_by: ObjectId | None) -> FilePath | None:
        if removed_by is None or self._is_removed_here(path):
            return self._step_here(path)
        moves = self._history.moves  # many pages name the same file
        if (path, removed_by) not in moves:
            moves[path, removed_by] = self._step_in(path, removed_by)
        return moves[path, removed_by]

    def _step_here(self, path: FilePath) -> FilePath | None:
        """Where the change that is not committed put it."""
        changes = self._view.snapshot.changes
        old = self._view.base_entries([path])[path]
        before = self._view.base_entries(list(changes))
        now = self._view.entries([p for p, e in changes.items() if e and before[p] is None])
        return self._best(path, old, {p: entry for p, entry in now.items() if entry})

    def _step_in(self, path: FilePath, removed_by: ObjectId) -> FilePath | None:
        """Where a commit put it."""
        parent = self._parent(removed_by)
        if parent is None:
            return None
        old = self._history.entries_at({parent: [path]})[parent, path]
        changed = diff_trees(self._repository, parent, removed_by)
        fresh = [p for p, entry in changed.items() if entry]
        there = self._history.entries_at({parent: fresh})
        added = {p: entry for p, entry in changed.items() if entry and there[parent, p] is None}
        return self._best(path, old, added)

    def _best(
        self, path: FilePath, old: Entry | None, found: dict[FilePath, Entry]
    ) -> FilePath | None:
        if old is None:
            return None
        added = {p: entry for p, entry in found.items() if not self._is_hidden(p)}
        equal = [p for p, entry in added.items() if entry.id == old.id]
        if equal:
            return closest_path(path, equal)
        if old.is_directory:
            return None
        return similar_file(
            self._repository, old.id, {p: entry.id for p, entry in added.items() if entry.is_file}
        )

    def _is_removed_here(self, path: FilePath) -> bool:
        below = path + "/"
        return any(
            entry is None and (gone == path or gone.startswith(below))
            for gone, entry in self._view.snapshot.changes.items()
        )

    def _removal(self, path: FilePath) -> ObjectId | None:
        """The commit that removed a path which HEAD no longer has."""
        head = self._view.snapshot.commit
        if head is None or self._is_removed_here(path):
            return None
        search = BaselineQuery(path, None, "0" * 40, None)
        commits: Sequence[ObjectId] = self._history.drifts(head, [search])[search].commits
        return commits[0] if commits else None

    def _parent(self, commit: ObjectId) -> ObjectId | None:
        out = self._repository.run("rev-parse", "--verify", "--quiet", f"{commit}^", ok=(0, 1))
        return ObjectId(out.decode().strip()) or None

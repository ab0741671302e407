"""Find the commits that took a source from its baseline, and the path that it moved to."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from ubp.core.model import BaselineQuery, Commit, Drift, Entry, FilePath, ObjectId
from ubp.core.paths import closest_path
from ubp.core.source import GlobSource
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees, first_parents, similar_file
from ubp.index.history import History
from ubp.staleness.baseline import Baseline, BaselineRequest, Origins
from ubp.staleness.model import SECONDS_PER_DAY, StalenessContext, compare


class DriftSince(NamedTuple):
    """The drift of a source since its baseline.

    `date` is the committer date of the first drifting commit in seconds; None: the drift is not
    committed (`is_uncommitted`), history ends before that commit, or the commits claim a date in
    the future. `existed` is False where no commit that was read has the source.
    """

    commits: tuple[Commit, ...] = ()
    date: int | None = None
    is_uncommitted: bool = False
    existed: bool = True


UNCOMMITTED = DriftSince(is_uncommitted=True)

# Whoever commits chooses the date, and one that is further ahead than a wrong clock would keep the
# drift young forever.
MAX_CLOCK_ERROR = SECONDS_PER_DAY
MAX_MOVES = 16  # moves of the same source that are followed


def find_drift(
    drifted: Mapping[BaselineRequest, Baseline],
    context: StalenessContext,
    origins: Origins,
) -> dict[BaselineRequest, DriftSince]:
    """Return the drift of every reference that is not at its baseline."""
    history, head = context.history, context.view.snapshot.commit
    if head is None:
        return dict.fromkeys(drifted, UNCOMMITTED)
    committed = _drifted_in_commits(drifted, context)
    queries = {
        request: BaselineQuery(*baseline.source.watched, baseline.id, baseline.commit)
        for request, baseline in drifted.items()
        if baseline.kind != "snapshot" and request in committed
    }
    by_query = history.drifts(head, set(queries.values()))
    drifts = {request: by_query[query] for request, query in queries.items()}
    if context.open_collection:
        lost = {
            request: query
            for request, query in queries.items()
            if query.commit is None and not drifts[request].is_complete and drifts[request].commits
        }
        read_changes = cache(partial(_read_changes, context.repository))
        for request, query in list(lost.items()):
            if moved := _before_move(query, drifts[request], context, read_changes):
                drifts[request] = moved
                del lost[request]
        drifts |= _bound_lost_pins(lost, drifts, history, head, origins)
    commits = history.commits({commit for drift in drifts.values() for commit in drift.commits})
    latest = context.rules.now + MAX_CLOCK_ERROR
    return {
        request: _since(drifts.get(request), commits, latest, is_at_baseline=request not in queries)
        for request in drifted
    }


def _drifted_in_commits(
    drifted: Mapping[BaselineRequest, Baseline], context: StalenessContext
) -> set[BaselineRequest]:
    """Return the requests whose source is not at its baseline in the snapshot's commit either.

    The others drifted in the change that is not committed yet, so their history need not be read:
    that is the case of a hook. Globs are always included, because the files that match one in the
    commit are not known here.
    """
    sources = [baseline.source for baseline in drifted.values()]
    paths = {source.path for source in sources if not isinstance(source, GlobSource)}
    entries = context.view.base_entries(paths)
    return {
        request
        for request, baseline in drifted.items()
        if isinstance(baseline.source, GlobSource)
        or compare(baseline.id, entry.id if (entry := entries[baseline.source.path]) else None)
        not in {"fresh", "not_found"}
    }


def _read_changes(
    repository: Repository, commit: ObjectId
) -> tuple[ObjectId | None, Mapping[FilePath, Entry | None]]:
    """Return the first parent of a commit, and what the commit changed."""
    parent = first_parents(repository, [commit]).get(commit)
    return parent, diff_trees(repository, parent, commit) if parent else {}


def _before_move(
    query: BaselineQuery,
    drift: Drift,
    context: StalenessContext,
    read_changes: Callable[[ObjectId], tuple[ObjectId | None, Mapping[FilePath, Entry | None]]],
    moves: int = MAX_MOVES,
) -> Drift | None:
    """Return the drift since the pin of a file that was moved; None: it was at none of its paths.

    The commit that moved the file removed one with the pinned id, or with the id of the added one.
    """
    if drift.is_complete or moves == 0:
        return drift if drift.is_complete else None
    from ubp.git.history import find_drifts

    entries_at = context.history.entries_at
    parent, changes = read_changes(drift.commits[-1])
    added = changes.get(query.path)
    if parent is None or added is None:
        return None
    removed = [path for path, entry in changes.items() if entry is None]
    entries = entries_at({parent: [query.path, *removed]})
    ids = {path: entry.id for (_, path), entry in entries.items() if entry and entry.is_file}
    if query.path in ids:
        return None
    if any(object_id.startswith(query.baseline or " ") for object_id in ids.values()):
        return drift._replace(is_complete=True)
    old_path = closest_path(query.path, [path for path in ids if ids[path] == added.id])
    if old_path is None:
        return None
    query = query._replace(path=old_path)
    older = find_drifts(context.repository, parent, [query], {})[query]
    # The commit itself only moved the file.
    older = older._replace(commits=drift.commits[:-1] + older.commits)
    return _before_move(query, older, context, read_changes, moves - 1) if older.commits else None


def _bound_lost_pins(
    lost: Mapping[BaselineRequest, BaselineQuery],
    drifts: Mapping[BaselineRequest, Drift],
    history: History,
    head: ObjectId,
    origins: Origins,
) -> dict[BaselineRequest, Drift]:
    """Bound the drift from pins that are not in this history (squashed, amended, mistyped).

    Nothing older than the commit that last changed the page is drift from what it describes.
    """
    pages: dict[FilePath, FilePath] = {}
    for request in lost:
        path = request.page.filepath
        if origin := origins.of(path):
            pages[path] = origin
    changes = history.last_changes(head, set(pages.values())) if pages else {}
    bounded: dict[BaselineRequest, tuple[BaselineQuery, ObjectId]] = {}
    for request, query in lost.items():
        origin = pages.get(request.page.filepath)
        change = changes.get(origin) if origin else None
        if change and not change.is_boundary:
            bounded[request] = query._replace(commit=change.commit), change.commit
    bounded_drifts = history.drifts(head, {query for query, _ in bounded.values()})
    return {
        request: Drift(
            bounded_drifts[query].commits or (commit,),
            is_complete=True,
            existed=drifts[request].existed,
        )
        for request, (query, commit) in bounded.items()
    }


def _since(
    drift: Drift | None, commits: Mapping[ObjectId, Commit], latest: float, *, is_at_baseline: bool
) -> DriftSince:
    if is_at_baseline or drift is None:
        return UNCOMMITTED
    drifting = tuple(commits[commit] for commit in drift.commits if commit in commits)
    if not drifting:
        # If the drift is complete, HEAD is at the baseline, and the drift is not committed.
        return DriftSince(is_uncommitted=drift.is_complete, existed=drift.existed)
    date = min(commit.date for commit in drifting)
    is_known = drift.is_complete and date <= latest
    return DriftSince(drifting, date if is_known else None, existed=drift.existed)


class Moves:
    """A search for the new paths of removed files."""

    def __init__(self, context: StalenessContext) -> None:
        self._repository = context.repository
        self._view = context.view
        self._history = context.history
        self._is_hidden = context.rules.is_hidden

    def follow(self, path: FilePath, since: DriftSince) -> FilePath | None:
        """Return the path in the snapshot with the same or similar content as a removed file.

        Only files that the removing commit (or the uncommitted change) added are candidates: a copy
        that existed before is not a move.
        """
        seen = {path}
        removed_by = since.commits[0].id if since.commits else None
        for _ in range(MAX_MOVES):
            moved_to = self._next_path(path, removed_by)
            if moved_to is None or moved_to in seen:
                return None
            if self._view.entry(moved_to) is not None:
                return moved_to
            seen.add(moved_to)
            path, removed_by = moved_to, self._removing_commit(moved_to)
        return None

    def _next_path(self, path: FilePath, removed_by: ObjectId | None) -> FilePath | None:
        if removed_by is None or self._is_removed_uncommitted(path):
            return self._moved_uncommitted(path)
        moves = self._history.moves  # cached, because many pages may name the same file
        if (path, removed_by) not in moves:
            moves[path, removed_by] = self._moved_by_commit(path, removed_by)
        return moves[path, removed_by]

    def _moved_uncommitted(self, path: FilePath) -> FilePath | None:
        changes = self._view.snapshot.changes
        removed = self._view.base_entries([path])[path]
        before = self._view.base_entries(list(changes))
        added = self._view.entries(
            [name for name, entry in changes.items() if entry and before[name] is None]
        )
        return self._best_match(path, removed, {n: entry for n, entry in added.items() if entry})

    def _moved_by_commit(self, path: FilePath, commit: ObjectId) -> FilePath | None:
        parent = first_parents(self._repository, [commit]).get(commit)
        if parent is None:
            return None
        removed = self._history.entries_at({parent: [path]})[parent, path]
        present = {
            name: entry
            for name, entry in diff_trees(self._repository, parent, commit).items()
            if entry
        }
        before = self._history.entries_at({parent: list(present)})
        added = {name: entry for name, entry in present.items() if before[parent, name] is None}
        return self._best_match(path, removed, added)

    def _best_match(
        self, path: FilePath, removed: Entry | None, added: dict[FilePath, Entry]
    ) -> FilePath | None:
        if removed is None:
            return None
        candidates = {name: entry for name, entry in added.items() if not self._is_hidden(name)}
        equal = [name for name, entry in candidates.items() if entry.id == removed.id]
        if equal:
            return closest_path(path, equal)
        if removed.is_directory:
            return None
        return similar_file(
            self._repository,
            removed.id,
            {name: entry.id for name, entry in candidates.items() if entry.is_file},
        )

    def _is_removed_uncommitted(self, path: FilePath) -> bool:
        below = path + "/"
        return any(
            entry is None and (removed == path or removed.startswith(below))
            for removed, entry in self._view.snapshot.changes.items()
        )

    def _removing_commit(self, path: FilePath) -> ObjectId | None:
        """Return the commit that removed a path; None: the removal is not committed."""
        head = self._view.snapshot.commit
        if head is None or self._is_removed_uncommitted(path):
            return None
        # No blob has this id, so the drift goes back to the creation of the file.
        query = BaselineQuery(path, None, "0" * 40, None)
        commits: Sequence[ObjectId] = self._history.drifts(head, [query])[query].commits
        return commits[0] if commits else None

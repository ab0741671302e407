"""Facts about commits: from the store where they were computed before, else from Git."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from ubp.core.interruption import with_checkpoints
from ubp.core.model import (
    MODE_TREE,
    BaselineQuery,
    Commit,
    Drift,
    Entry,
    FilePath,
    LastChange,
    ObjectId,
    Progress,
    ignore_progress,
)
from ubp.core.paths import Glob, compile_glob
from ubp.core.source import GlobSource, Source
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, glob_tree_id, list_tree
from ubp.index.store.store import Store

if TYPE_CHECKING:  # `ubp stale` does not need it
    from ubp.git.change_log import LoggedChange

# 112 queries take 6 ms of CPU where one commit is new; few repositories have as many drifts.
MAX_CARRIED_QUERIES = 1_000
COMMITS_PER_BATCH = 4_000  # in memory: 30 MB where each of them touches a hundred files
# No path begins with a slash, so that a glob's tree can be stored among the entries at a commit.
GLOB_MARK = "//"


class HeadCache(Protocol):
    """A cache of the facts that depend on the head commit; it may drop them at any time."""

    def heads(self) -> tuple[ObjectId, ...]:
        """Return the heads with cached facts, the latest first."""

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """Return the cached last changes for a head."""

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add last changes for a head."""

    def drifts(self, head: ObjectId) -> dict[BaselineQuery, Drift]:
        """Return the cached drifts for a head."""

    def save_drifts(self, head: ObjectId, drifts: Mapping[BaselineQuery, Drift]) -> None:
        """Add drifts for a head."""


class History:
    """Facts about commits; each is computed once and stored, per head or for ever.

    `head_cache` replaces the store for facts that depend on the head: queries about many old
    commits in turn must not evict the current ones.
    """

    def __init__(
        self,
        repository: Repository,
        store: Store,
        head_cache: HeadCache | None = None,
        progress: Progress = ignore_progress,
    ) -> None:
        self._repository = repository
        self._progress = progress
        self._store = store
        self._head_cache: HeadCache = head_cache or store.history
        self._last: tuple[ObjectId | None, dict[FilePath, LastChange]] = None, {}
        self._first: tuple[ObjectId | None, dict[FilePath, LastChange]] = None, {}
        self._drifts: tuple[ObjectId | None, dict[BaselineQuery, Drift]] = None, {}
        self.moves: dict[tuple[FilePath, ObjectId], FilePath | None] = {}
        """Where a file went that a commit removed, by path and commit; None: nowhere."""

    def last_changes(
        self,
        head: ObjectId,
        paths: Collection[FilePath],
        others: Callable[[], Collection[FilePath]] = tuple,
    ) -> dict[FilePath, LastChange]:
        """Return the commit that last changed the bytes of each of these files of `head`'s tree.

        If history must be walked, that is done for the `others`, too, so that it need not be again.
        """
        # A server needs one head again and again; another process may have stored more about it.
        if self._last[0] != head or any(path not in self._last[1] for path in paths):
            self._last = head, self._head_cache.last_changes(head)
        stored = self._last[1]
        missing = [path for path in paths if path not in stored]
        if not missing:
            return _only(stored, paths)
        from ubp.git.history import last_changes

        missing += {*others()} - {*missing} - stored.keys()
        known = {
            other: self._head_cache.last_changes(other)
            for other in self._head_cache.heads()
            if other != head
        }
        changes = last_changes(self._repository, head, missing, known, self._progress)
        final = {
            path: change
            for path, change in with_checkpoints(changes.items())
            if not change.is_boundary
        }
        self._head_cache.save_last_changes(head, final)
        stored.update(final)
        return _only({**stored, **changes}, paths)

    def first_changes(
        self, head: ObjectId, paths: Collection[FilePath]
    ) -> dict[FilePath, LastChange]:
        """Return the commit that added each of these files of `head`'s tree.

        Of several, the one with the earliest date; but one at which a shallow clone ends comes
        first, as what lies behind it is unknown.
        """
        if self._first[0] != head or any(path not in self._first[1] for path in paths):
            self._first = head, self._store.history.first_changes(head)
        stored = self._first[1]
        missing = [path for path in paths if path not in stored]
        if not missing:
            return _only(stored, paths)
        from ubp.git.history import first_changes

        heads = [other for other in self._store.history.heads() if other != head]
        known = {other: self._store.history.first_changes(other) for other in heads}
        candidates = first_changes(self._repository, head, missing, known, self._progress)
        commits = self.commits(
            {c.commit for changes in with_checkpoints(candidates.values()) for c in changes}
        )

        def rank(change: LastChange) -> tuple[bool, int, ObjectId]:
            return not change.is_boundary, commits[change.commit].date, change.commit

        first = {
            path: min(changes, key=rank) for path, changes in with_checkpoints(candidates.items())
        }
        if not self._repository.is_shallow:
            self._store.history.save_first_changes(head, first)
            stored.update(first)
        return _only({**stored, **first}, paths)

    def drifts(
        self, head: ObjectId, queries: Collection[BaselineQuery]
    ) -> dict[BaselineQuery, Drift]:
        """Return the commits that changed each path since its baseline."""
        if not queries:
            return {}
        # The states before and after a change that is not committed have one head.
        if self._drifts[0] != head or any(query not in self._drifts[1] for query in queries):
            self._drifts = head, self._head_cache.drifts(head)
        stored = self._drifts[1]
        missing = [query for query in queries if query not in stored]
        if not missing:
            return stored
        from ubp.git.history import find_drifts

        known = {
            other: self._head_cache.drifts(other)
            for other in self._head_cache.heads()
            if other != head
        }
        missing += self._carried(head, known, stored.keys() | set(missing))
        drifts = find_drifts(self._repository, head, missing, known)
        # A shallow clone may be deepened, so that incomplete drifts are computed again.
        has_history = not self._repository.is_shallow
        final = {
            query: drift for query, drift in drifts.items() if has_history or drift.is_complete
        }
        self._head_cache.save_drifts(head, final)
        stored.update(final)
        return {**stored, **drifts}

    def _carried(
        self,
        head: ObjectId,
        known: Mapping[ObjectId, Mapping[BaselineQuery, Drift]],
        known_queries: Collection[BaselineQuery],
    ) -> list[BaselineQuery]:
        """Return the queries of the latest other head that are worth answering for this one, too.

        A hook queries only what a commit touches; without the rest, the next run would have to walk
        the whole history again. Pages that have changed since have another baseline commit.
        """
        latest = next((other for other in self._head_cache.heads() if other in known), None)
        if latest is None:
            return []
        baselines = {change.commit for change in self._head_cache.last_changes(head).values()}
        queries = [
            query
            for query in known[latest]
            if query not in known_queries and (query.commit is None or query.commit in baselines)
        ]
        return queries[:MAX_CARRIED_QUERIES]

    def change_log(
        self, limit: int | None = None, *, head: ObjectId | None = None, since: int | None = None
    ) -> "list[LoggedChange]":
        """Return the commits reachable from HEAD (or `head`) and their files, newest first.

        Without merges; at most `limit` of them, and none before `since` (seconds). Each is read
        from Git only once (see `LoggedChange` for what is left out).
        """
        from ubp.git.change_log import LoggedChange, list_commits, read_changes
        from ubp.index.store.history import ChangeLog

        start = head or self._repository.rev_parse("HEAD")
        if start is None:  # no commits yet
            return []
        steps = list_commits(self._repository, start, limit, since)
        log = ChangeLog(self._store.database)
        known = log.read([step.commit for step in steps])
        missing = [step.commit for step in steps if step.commit not in known]
        for first in range(0, len(missing), COMMITS_PER_BATCH):
            changes = read_changes(self._repository, missing[first : first + COMMITS_PER_BATCH])
            log.save(changes)
            known |= changes
        return [LoggedChange(step.commit, step.date, known[step.commit]) for step in steps]

    def forget_unreachable(self) -> None:
        """Delete the stored changes of commits that no branch, tag or work tree reaches."""
        from ubp.git.change_log import reachable_commits
        from ubp.index.store.history import ChangeLog

        log = ChangeLog(self._store.database)
        if not log.is_empty():
            log.prune(reachable_commits(self._repository))

    def commits(self, ids: Collection[ObjectId]) -> dict[ObjectId, Commit]:
        """Return the author, date and message of each of these commits that exists."""
        stored = self._store.history.commits(ids)
        missing = [commit for commit in ids if commit not in stored]
        if not missing:
            return stored
        commits = self._repository.commits(missing)
        self._store.history.save_commits(commits)
        return {**stored, **commits}

    def entries_at(
        self, paths: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """Return the entry at each path in each commit's tree, or None."""
        stored = self._store.history.entries_at(paths)
        missing = _missing(paths, stored)
        if not missing:
            return stored
        entries = entries_at(self._repository, missing)
        self._store.history.save_entries_at(entries)
        return {**stored, **entries}

    def ids_at(
        self, sources_at: Mapping[ObjectId, Collection[Source]]
    ) -> dict[tuple[ObjectId, Source], ObjectId | None]:
        """Return the id of each source in each commit; None: it does not exist there."""
        globs: dict[ObjectId, list[GlobSource]] = {}
        others: dict[ObjectId, list[Source]] = {}
        for commit, sources in sources_at.items():
            for source in sources:
                if isinstance(source, GlobSource):
                    globs.setdefault(commit, []).append(source)
                else:
                    others.setdefault(commit, []).append(source)
        entries = self.entries_at(
            {commit: {source.path for source in sources} for commit, sources in others.items()}
        )
        ids: dict[tuple[ObjectId, Source], ObjectId | None] = {
            (commit, source): entry.id if (entry := entries[commit, source.path]) else None
            for commit, sources in others.items()
            for source in sources
        }
        if globs:
            ids.update(self._globs_at(globs))
        return ids

    def _globs_at(
        self, globs_at: Mapping[ObjectId, Collection[GlobSource]]
    ) -> dict[tuple[ObjectId, Source], ObjectId | None]:
        keys = {
            commit: {FilePath(GLOB_MARK + source.pattern): source for source in sources}
            for commit, sources in globs_at.items()
        }
        stored = self._store.history.entries_at(keys)
        missing = _missing(keys, stored)
        if missing:
            matched = self._match_trees(missing)
            self._store.history.save_entries_at(matched)
            stored = {**stored, **matched}
        return {
            (commit, keys[commit][key]): entry.id if entry else None
            for (commit, key), entry in stored.items()
        }

    def _match_trees(
        self, keys_at: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """Match each glob once for each state of the directory that it searches."""
        globs = {
            key: compile_glob(key[len(GLOB_MARK) :]) for keys in keys_at.values() for key in keys
        }
        folders = self.entries_at(
            {commit: {globs[key].prefix for key in keys} for commit, keys in keys_at.items()}
        )
        keys_in: dict[tuple[ObjectId, FilePath], dict[FilePath, Glob]] = {}
        trees: dict[tuple[ObjectId, FilePath], tuple[ObjectId, FilePath]] = {}
        for commit, keys in keys_at.items():
            for key in keys:
                prefix = globs[key].prefix
                folder = folders[commit, prefix]
                if folder and folder.is_directory:
                    keys_in.setdefault((folder.id, prefix), {})[key] = globs[key]
                    trees[commit, key] = folder.id, key
        matched: dict[tuple[ObjectId, FilePath], Entry | None] = {}
        for (tree, prefix), of_tree in keys_in.items():
            files = self._files_of_tree(tree, prefix)
            for key, glob in of_tree.items():
                found = glob_tree_id(files, glob)
                matched[tree, key] = Entry(MODE_TREE, found) if found else None
        return {
            (commit, key): matched[trees[commit, key]] if (commit, key) in trees else None
            for commit, keys in keys_at.items()
            for key in keys
        }

    def _files_of_tree(self, tree: ObjectId, folder: FilePath) -> list[tuple[FilePath, Entry]]:
        prefix = f"{folder}/" if folder else ""
        return [
            (FilePath(prefix + name), entry)
            for name, entry in list_tree(self._repository, tree).items()
            if not entry.is_directory
        ]


def _missing(
    paths_at: Mapping[ObjectId, Iterable[FilePath]],
    stored: Mapping[tuple[ObjectId, FilePath], Entry | None],
) -> dict[ObjectId, list[FilePath]]:
    missing = {
        commit: [path for path in paths if (commit, path) not in stored]
        for commit, paths in paths_at.items()
    }
    return {commit: paths for commit, paths in missing.items() if paths}


def _only(
    changes: Mapping[FilePath, LastChange], paths: Collection[FilePath]
) -> dict[FilePath, LastChange]:
    return {path: changes[path] for path in paths if path in changes}

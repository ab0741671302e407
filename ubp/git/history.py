"""Answers from history: the last and first changes of files, and their drift from a baseline.

There are two ways to the same answers. Where few commits are new since a head whose answers are
known, git lists what they changed: that is the case of a hook. Otherwise libgit2 walks the history.
"""

from collections.abc import Collection

from ubp.core.interruption import batches
from ubp.core.model import (
    BaselineQuery,
    Drift,
    FilePath,
    LastChange,
    ObjectId,
    Progress,
    ignore_progress,
)
from ubp.core.paths import compile_glob
from ubp.git.commits_cli import NewCommits, read_new_commits
from ubp.git.drift import DriftTask, KnownDrifts, map_reachable_baselines
from ubp.git.file_commits import FirstCommits, FirstCommitTask, KnownChanges, LastCommitTask
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, files_below, glob_tree_id

# A set of requests is a number of as many bits, and each path has one: 100,000 paths in one walk
# took 2.1 s and 800 MB of memory, in several 1.4 s and 110 MB.
PATHS_PER_WALK = 8192


def last_changes(
    repository: Repository,
    start: ObjectId,
    paths: Collection[FilePath],
    known_changes: KnownChanges,
    progress: Progress = ignore_progress,
) -> dict[FilePath, LastChange]:
    """Return the commit that last changed each file's bytes, seen from `start`, where it exists.

    It is the commit that `git log -1 START -- PATH` finds under default history simplification,
    with two exceptions: a change of mode alone does not count, and neither does a pure rename (the
    path is absent in the parent, where a path that this commit removed has the same blob; of
    several the one with the same file name, then the longest common prefix, then the first by name;
    a copy is a new document). `known_changes` has the answers for earlier heads.

    Raises:
        RepositoryError: commits or trees are missing.
    """
    changes: dict[FilePath, LastChange] = {}
    new_commits = _read_new_commits(repository, start, known_changes)
    if new_commits is not None:
        for batch in batches(dict.fromkeys(paths), PATHS_PER_WALK):
            task = LastCommitTask(batch, new_commits, known_changes)
            changes |= task.run(new_commits.start)
    unanswered = [path for path in dict.fromkeys(paths) if path not in changes]
    entries = entries_at(repository, {start: unanswered}) if unanswered else {}
    unanswered = [path for path in unanswered if entries[start, path] is not None]
    if unanswered:
        from ubp.git.commits_libgit2 import read_all_commits

        with read_all_commits(repository, progress) as commits:
            first = commits.start(start)
            for batch in batches(unanswered, PATHS_PER_WALK):
                changes |= LastCommitTask(batch, commits, known_changes).run(first)
    return changes


def first_changes(
    repository: Repository,
    start: ObjectId,
    paths: Collection[FilePath],
    known_changes: KnownChanges,
    progress: Progress = ignore_progress,
) -> FirstCommits:
    """Return the commits that created each file, seen from `start`, where it must exist.

    They are those of `git log START -- PATH`, under default history simplification, none of whose
    parents has the file; where such a commit purely renamed it (see `last_changes`), those of the
    old path. `known_changes` has answers for earlier heads: of several commits the first.

    Raises:
        RepositoryError: commits or trees are missing.
    """
    creations: dict[FilePath, Collection[LastChange]] = {}
    entries = entries_at(repository, {start: paths})
    existing = [path for path in dict.fromkeys(paths) if entries[start, path] is not None]
    new_commits = _read_new_commits(repository, start, known_changes)
    if new_commits is not None:
        for batch in batches(existing, PATHS_PER_WALK):
            task = FirstCommitTask(batch, new_commits, known_changes)
            creations.update(task.run(new_commits.start))
    unanswered = [path for path in existing if path not in creations]
    if unanswered:
        from ubp.git.commits_libgit2 import read_all_commits

        with read_all_commits(repository, progress) as commits:
            first = commits.start(start)
            for batch in batches(unanswered, PATHS_PER_WALK):
                creations.update(FirstCommitTask(batch, commits, known_changes).run(first))
    return creations


def find_drifts(
    repository: Repository,
    start: ObjectId,
    queries: Collection[BaselineQuery],
    known_drifts: KnownDrifts,
) -> dict[BaselineQuery, Drift]:
    """Return the commits that took each path away from its baseline, newest first, from `start`.

    They are those that `git log` lists for the path (a commit where it equals some parent does not
    count, and only the first such parent is followed), down to where the path's id equals the
    baseline on each line; the baseline's commit and its ancestors do not count. A merge that
    dropped the baseline's state for another one counts too (see `ubp.git.drift`). Changes of mode
    alone count for directories and globs, whose ids they change. `known_drifts` has the answers for
    earlier heads.

    Raises:
        RepositoryError: commits or trees are missing.
    """
    ids = _ids_at(repository, start, queries)
    drifts = {
        query: Drift((), is_complete=True, existed=ids[query] is not None)
        for query in queries
        if _is_at_baseline(query, ids[query])
    }
    unanswered = {query: ids[query] is not None for query in queries if query not in drifts}
    new_commits = _read_new_commits(repository, start, known_drifts) if unanswered else None
    if new_commits is not None:
        drifts |= DriftTask(unanswered, new_commits, known_drifts).run(new_commits.start)
        unanswered = {query: exists for query, exists in unanswered.items() if query not in drifts}
    if unanswered:
        from ubp.git.commits_libgit2 import read_all_commits

        with read_all_commits(repository) as commits:
            first = commits.start(start)
            drifts |= DriftTask(unanswered, commits, known_drifts).run(first)
            dropped = {query: exists for query, exists in unanswered.items() if query not in drifts}
            if dropped:
                reachable = map_reachable_baselines(commits, first, dropped)
                drifts |= DriftTask(dropped, commits, {}, reachable).run(first)
    return drifts


def _read_new_commits(
    repository: Repository, start: ObjectId, heads: Collection[ObjectId]
) -> NewCommits | None:
    return read_new_commits(repository, start, frozenset(heads)) if heads else None


def _ids_at(
    repository: Repository, commit: ObjectId, queries: Collection[BaselineQuery]
) -> dict[BaselineQuery, ObjectId | None]:
    paths = {query.path for query in queries if query.pattern is None}
    globs = {query.pattern: compile_glob(query.pattern) for query in queries if query.pattern}
    folders = {glob.prefix for glob in globs.values()}
    entries = entries_at(repository, {commit: paths}) if paths else {}
    files = {folder: files_below(repository, commit, folder) for folder in folders}
    glob_ids = {
        pattern: glob_tree_id(files[glob.prefix].items(), glob) for pattern, glob in globs.items()
    }
    ids: dict[BaselineQuery, ObjectId | None] = {}
    for query in queries:
        if query.pattern is not None:
            ids[query] = glob_ids[query.pattern]
        else:
            entry = entries[commit, query.path]
            ids[query] = entry.id if entry else None
    return ids


def _is_at_baseline(query: BaselineQuery, current: ObjectId | None) -> bool:
    if current is None or query.baseline is None:
        return current is query.baseline
    return current.startswith(query.baseline)

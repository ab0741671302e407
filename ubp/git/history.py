"""What history says of paths: their last change, and the commits that took them off a baseline.

Two ways lead to the same answers. Where few commits are new since a head whose answers are known,
git itself tells what they changed: that is what a hook meets. Else libgit2 walks the history.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ubp.core.model import (
    BaselineQuery,
    Drift,
    FilePath,
    LastChange,
    ObjectId,
    Progress,
    ignore_progress,
)
from ubp.core.paths import Glob
from ubp.git.commits_cli import NewCommits, read_new_commits
from ubp.git.drift import DriftTask, removed_baselines
from ubp.git.file_commits import LastCommitTask
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, files_below, glob_tree_id

if TYPE_CHECKING:
    from ubp.git.file_commits import FirstCommits


def last_changes(
    repository: Repository,
    start: ObjectId,
    paths: Collection[FilePath],
    known: Mapping[ObjectId, Mapping[FilePath, LastChange]],
    progress: Progress = ignore_progress,
) -> dict[FilePath, LastChange]:
    """The commit that last changed each file's bytes, seen from `start`; absent files are left out.

    It is the commit that `git log -1 START -- PATH` finds under default history simplification,
    two things apart: a change of mode alone is no change, and neither is a pure rename (the path is
    absent in the parent, where an equal blob stands under a path that this commit removed; of
    several the same file name, then the longest common prefix, then the alphabet decides; a copy is
    a new page). `known` has the answers for earlier heads.
    """
    found: dict[FilePath, LastChange] = {}
    new_commits = _read_new_commits(repository, start, known)
    if new_commits is not None:
        quick = LastCommitTask(tuple(dict.fromkeys(paths)), new_commits, known)
        found = quick.run(new_commits.start)
    left = [path for path in dict.fromkeys(paths) if path not in found]
    entries = entries_at(repository, {start: left}) if left else {}
    left = [path for path in left if entries[start, path] is not None]
    if left:
        from ubp.git.commits_libgit2 import read_all_commits

        with read_all_commits(repository, progress) as commits:
            found |= LastCommitTask(left, commits, known).run(commits.start(start))
    return found


def first_changes(
    repository: Repository,
    start: ObjectId,
    paths: Collection[FilePath],
    known: Mapping[ObjectId, Mapping[FilePath, LastChange]],
    progress: Progress = ignore_progress,
) -> "FirstCommits":
    """The commits that brought each file into being, seen from `start`; absent files are left out.

    They are those of `git log START -- PATH`, under default history simplification, none of whose
    parents has the file; where that commit purely renamed it (see `last_changes`), those of the old
    name. `known` has answers for earlier heads: of several births the first.
    """
    from ubp.git.file_commits import FirstCommitTask

    found: dict[FilePath, Collection[LastChange]] = {}
    there = entries_at(repository, {start: paths})
    asked = [path for path in dict.fromkeys(paths) if there[start, path] is not None]
    new_commits = _read_new_commits(repository, start, known)
    if new_commits is not None:
        found.update(FirstCommitTask(asked, new_commits, known).run(new_commits.start))
    left = [path for path in asked if path not in found]
    if left:
        from ubp.git.commits_libgit2 import read_all_commits

        with read_all_commits(repository, progress) as commits:
            found.update(FirstCommitTask(left, commits, known).run(commits.start(start)))
    return found


def find_drifts(
    repository: Repository,
    start: ObjectId,
    searches: Collection[BaselineQuery],
    known: Mapping[ObjectId, Mapping[BaselineQuery, Drift]],
) -> dict[BaselineQuery, Drift]:
    """The commits that took each path away from its baseline, newest first, seen from `start`.

    They are those that `git log` lists for the path (a commit where it equals some parent counts
    for nothing, and only the first such parent is followed), down to where the path's id equals the
    baseline on each line; the baseline's commit and its ancestors do not count. A merge that
    dropped the baseline's state for another one counts too (see `dropped.py`). Changes of mode
    alone count for directories and globs, whose ids they change. `known` has the answers for
    earlier heads.
    """
    at_start = _ids_at(repository, start, searches)
    found = {
        search: Drift((), is_complete=True, existed=at_start[search] is not None)
        for search in searches
        if _is_at_baseline(search, at_start[search])
    }
    left = {search: at_start[search] is not None for search in searches if search not in found}
    new_commits = _read_new_commits(repository, start, known) if left else None
    if new_commits is not None:
        quick = DriftTask(left, new_commits, known)
        found |= quick.run(new_commits.start)
        left = {search: exists for search, exists in left.items() if search not in found}
    return found | _find_in_all_commits(repository, start, left, known) if left else found


def _find_in_all_commits(
    repository: Repository,
    start: ObjectId,
    searches: Mapping[BaselineQuery, bool],
    known: Mapping[ObjectId, Mapping[BaselineQuery, Drift]],
) -> dict[BaselineQuery, Drift]:
    from ubp.git.commits_libgit2 import read_all_commits

    with read_all_commits(repository) as commits:
        first = commits.start(start)
        found = DriftTask(searches, commits, known).run(first)
        left = {search: exists for search, exists in searches.items() if search not in found}
        if left:
            behind = removed_baselines(commits, first, left)
            found |= DriftTask(left, commits, {}, behind).run(first)
    return found


def _read_new_commits(
    repository: Repository, start: ObjectId, heads: Collection[ObjectId]
) -> NewCommits | None:
    return read_new_commits(repository, start, frozenset(heads)) if heads else None


def _ids_at(
    repository: Repository, commit: ObjectId, searches: Collection[BaselineQuery]
) -> dict[BaselineQuery, ObjectId | None]:
    paths = {search.path for search in searches if search.pattern is None}
    globs = {search.pattern: Glob(search.pattern) for search in searches if search.pattern}
    folders = {glob.prefix for glob in globs.values()}
    entries = entries_at(repository, {commit: paths}) if paths else {}
    files = {folder: files_below(repository, commit, folder) for folder in folders}
    matched = {name: glob_tree_id(files[glob.prefix], glob) for name, glob in globs.items()}
    ids: dict[BaselineQuery, ObjectId | None] = {}
    for search in searches:
        if search.pattern is not None:
            ids[search] = matched[search.pattern]
        else:
            entry = entries[commit, search.path]
            ids[search] = entry.id if entry else None
    return ids


def _is_at_baseline(search: BaselineQuery, found: ObjectId | None) -> bool:
    if found is None or search.baseline is None:
        return found is search.baseline
    return found.startswith(search.baseline)

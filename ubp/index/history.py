"""Use case: what history says, from the store where it was asked before, from Git for the rest."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

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
from ubp.core.paths import Glob
from ubp.git.repository import Repository
from ubp.git.trees import entries_at, list_tree, tree_id
from ubp.index.store.store import Store

if TYPE_CHECKING:
    from ubp.git.change_log import LoggedChange

# 112 searches take 6 ms of CPU where one commit is new; a repository with more debts than these has
# other cares.
MAX_CARRIED_COMMITS = 1_000
COMMITS_A_PIECE = 4_000  # read and kept at once: 30 MB where each of them touches a hundred files


class Heads(Protocol):
    """Keeps what was found out per head, the latest first, for as long as it likes."""

    def heads(self) -> tuple[ObjectId, ...]:
        """The heads that something is known of."""

    def last_changes(self, head: ObjectId) -> dict[FilePath, LastChange]:
        """All that is known of a head."""

    def save_last_changes(self, head: ObjectId, changes: Mapping[FilePath, LastChange]) -> None:
        """Add to what is known of a head."""

    def drifts(self, head: ObjectId) -> dict[BaselineQuery, Drift]:
        """All that is known of a head."""

    def save_drifts(self, head: ObjectId, drifts: Mapping[BaselineQuery, Drift]) -> None:
        """Add to what is known of a head."""


class History:
    """Answers about commits; each is computed once and kept, per head or for ever.

    The store keeps what is found out per head, unless `heads` does: whoever asks about many old
    commits in turn must not push the current ones out.
    """

    def __init__(
        self,
        repository: Repository,
        store: Store,
        heads: Heads | None = None,
        progress: Progress = ignore_progress,
    ) -> None:
        self._repository = repository
        self._progress = progress
        self._store = store
        self._heads: Heads = heads or store.history
        self._last: tuple[ObjectId | None, dict[FilePath, LastChange]] = None, {}
        self._first: tuple[ObjectId | None, dict[FilePath, LastChange]] = None, {}
        self.moves: dict[tuple[FilePath, ObjectId], FilePath | None] = {}
        """Where a file went that a commit removed, as far as somebody looked."""

    def last_changes(
        self, head: ObjectId, paths: Collection[FilePath]
    ) -> dict[FilePath, LastChange]:
        """For files of `head`'s tree, the commit that last changed their bytes."""
        # A server is asked about one head again and again; another process may know more of it.
        if self._last[0] != head or any(path not in self._last[1] for path in paths):
            self._last = head, self._heads.last_changes(head)
        stored = self._last[1]
        missing = [path for path in paths if path not in stored]
        if not missing:
            return stored
        from ubp.git.history import last_changes

        known = {
            other: self._heads.last_changes(other) for other in self._heads.heads() if other != head
        }
        found = last_changes(self._repository, head, missing, known, self._progress)
        lasting = {path: change for path, change in found.items() if not change.is_boundary}
        self._heads.save_last_changes(head, lasting)
        stored.update(lasting)
        return {**stored, **found}

    def first_changes(
        self, head: ObjectId, paths: Collection[FilePath]
    ) -> dict[FilePath, LastChange]:
        """For files of `head`'s tree, the commit that brought them into being.

        Of several the one with the earliest date; one at which a shallow clone ends wins over all,
        for nobody knows what lies behind it.
        """
        if self._first[0] != head or any(path not in self._first[1] for path in paths):
            self._first = head, self._store.history.first_changes(head)
        stored = self._first[1]
        missing = [path for path in paths if path not in stored]
        if not missing:
            return stored
        from ubp.git.history import first_changes

        heads = [other for other in self._store.history.heads() if other != head]
        known = {other: self._store.history.first_changes(other) for other in heads}
        births = first_changes(self._repository, head, missing, known, self._progress)
        commits = self.commits({birth.commit for found in births.values() for birth in found})

        def rank(birth: LastChange) -> tuple[bool, int, ObjectId]:
            return not birth.is_boundary, commits[birth.commit].date, birth.commit

        found = {path: min(several, key=rank) for path, several in births.items()}
        if not self._repository.is_shallow:
            self._store.history.save_first_changes(head, found)
            stored.update(found)
        return {**stored, **found}

    def drifts(
        self, head: ObjectId, searches: Collection[BaselineQuery]
    ) -> dict[BaselineQuery, Drift]:
        """Which commits took each path away from its baseline."""
        if not searches:
            return {}
        stored = self._heads.drifts(head)
        missing = [search for search in searches if search not in stored]
        if not missing:
            return stored
        from ubp.git.history import find_drifts

        known = {other: self._heads.drifts(other) for other in self._heads.heads() if other != head}
        missing += self._carried(head, known, stored.keys() | set(missing))
        found = find_drifts(self._repository, head, missing, known)
        # A shallow clone may be deepened: what it could not tell is asked again.
        is_whole = not self._repository.is_shallow
        lasting = {
            search: drift for search, drift in found.items() if is_whole or drift.is_complete
        }
        self._heads.save_drifts(head, lasting)
        return {**stored, **found}

    def _carried(
        self,
        head: ObjectId,
        known: Mapping[ObjectId, Mapping[BaselineQuery, Drift]],
        asked: Collection[BaselineQuery],
    ) -> list[BaselineQuery]:
        """What the last head was asked, brought along to this one.

        A hook asks about what a commit touches; whoever asks next must find the rest where it
        was left, or walk the whole history again. A page that has changed since asks anew.
        """
        latest = next((other for other in self._heads.heads() if other in known), None)
        if latest is None:
            return []
        bases = {change.commit for change in self._heads.last_changes(head).values()}
        left = [
            search
            for search in known[latest]
            if search not in asked and (search.commit is None or search.commit in bases)
        ]
        return left[:MAX_CARRIED_COMMITS]

    def change_log(
        self, limit: int | None = None, *, head: ObjectId | None = None, since: int | None = None
    ) -> "list[LoggedChange]":
        """The commits behind HEAD (or `head`) that are no merges, newest first, and their files.

        At most `limit` of them, and none before `since` (seconds). Each is read once (see
        `LoggedChange` for what is left out).
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
        for first in range(0, len(missing), COMMITS_A_PIECE):
            found = read_changes(self._repository, missing[first : first + COMMITS_A_PIECE])
            log.save(found)
            known |= found
        return [LoggedChange(step.commit, step.date, known[step.commit]) for step in steps]

    def forget_unreachable(self) -> None:
        """Forget what commits touched that no branch, tag or work tree leads to any more."""
        from ubp.git.change_log import reachable_commits
        from ubp.index.store.history import ChangeLog

        log = ChangeLog(self._store.database)
        if not log.is_empty():
            log.prune(reachable_commits(self._repository))

    def commits(self, ids: Collection[ObjectId]) -> dict[ObjectId, Commit]:
        """Who, when and what, for each commit that is there."""
        stored = self._store.history.commits(ids)
        missing = [commit for commit in ids if commit not in stored]
        if not missing:
            return stored
        found = self._repository.commits(missing)
        self._store.history.save_commits(found)
        return {**stored, **found}

    def entries_at(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """What stood at each path in each commit's tree; None: nothing."""
        stored = self._store.history.entries_at(wanted)
        missing = _missing(wanted, stored)
        if not missing:
            return stored
        found = entries_at(self._repository, missing)
        self._store.history.save_entries_at(found)
        return {**stored, **found}

    def globs_at(
        self, wanted: Mapping[ObjectId, Collection[str]]
    ) -> dict[tuple[ObjectId, str], ObjectId | None]:
        """The tree id that each glob's files had in each commit; None: no file matched."""
        keyed = {commit: [_glob_key(glob) for glob in globs] for commit, globs in wanted.items()}
        stored = self._store.history.entries_at(keyed)
        missing = _missing(keyed, stored)
        if missing:
            found = self._match_trees(missing)
            self._store.history.save_entries_at(found)
            stored = {**stored, **found}
        return {
            (commit, key[len(GLOB_MARK) :]): entry.id if entry else None
            for (commit, key), entry in stored.items()
        }

    def _match_trees(
        self, wanted: Mapping[ObjectId, Collection[FilePath]]
    ) -> dict[tuple[ObjectId, FilePath], Entry | None]:
        """Match each glob once for each state of the directory that it looks into."""
        globs = {key: Glob(key[len(GLOB_MARK) :]) for keys in wanted.values() for key in keys}
        folders = self.entries_at(
            {
                commit: {FilePath(globs[key].prefix) for key in keys}
                for commit, keys in wanted.items()
            }
        )
        matched: dict[tuple[ObjectId, FilePath], Entry | None] = {}
        found: dict[tuple[ObjectId, FilePath], Entry | None] = {}
        for commit, keys in wanted.items():
            for key in keys:
                folder = folders[commit, FilePath(globs[key].prefix)]
                if folder is None or not folder.is_directory:
                    found[commit, key] = None
                    continue
                if (folder.id, key) not in matched:
                    matched[folder.id, key] = self._match_tree(folder.id, globs[key])
                found[commit, key] = matched[folder.id, key]
        return found

    def _match_tree(self, folder: ObjectId, glob: Glob) -> Entry | None:
        above = f"{glob.prefix}/" if glob.prefix else ""
        tree = list_tree(self._repository, folder)
        matched = [
            (path, entry)
            for name, entry in tree.items()
            if not entry.is_directory and glob.matches(path := FilePath(above + name))
        ]
        return Entry(MODE_TREE, tree_id(matched)) if matched else None


# No path begins with a slash, so that a glob's tree can be kept among the entries at a commit.
GLOB_MARK = "//"


def _glob_key(pattern: str) -> FilePath:
    return FilePath(GLOB_MARK + pattern)


def _missing(
    wanted: Mapping[ObjectId, Iterable[FilePath]],
    stored: Mapping[tuple[ObjectId, FilePath], Entry | None],
) -> dict[ObjectId, list[FilePath]]:
    missing = {
        commit: [path for path in paths if (commit, path) not in stored]
        for commit, paths in wanted.items()
    }
    return {commit: paths for commit, paths in missing.items() if paths}

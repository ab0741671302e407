"""Where a source went that is gone from its path."""

from collections.abc import Sequence

from ubp.git.trees import diff_trees, similar_file
from ubp.model import Entry, FilePath, ObjectId, Search
from ubp.paths import closest
from ubp.staleness.court import Court
from ubp.staleness.drift import Since

# A source may be moved again and again; nobody follows it further than this.
MOST_MOVES = 16


class Moves:
    """Follows files that were removed to where their content stands in the snapshot."""

    def __init__(self, court: Court) -> None:
        self._repository = court.repository
        self._view = court.view
        self._history = court.history
        self._is_hidden = court.rules.is_hidden

    def follow(self, path: FilePath, since: Since) -> FilePath | None:
        """The path at which the removed file's content, the same or similar, stands now.

        Looked for among what the removing commit (or the change that is not committed) added: a
        copy that stood there before is no move.
        """
        seen = {path}
        removed_by = since.commits[0].id if since.commits else None
        for _ in range(MOST_MOVES):
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
            return closest(path, equal)
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
        search = Search(path, None, "0" * 40, None)
        commits: Sequence[ObjectId] = self._history.drifts(head, [search])[search].commits
        return commits[0] if commits else None

    def _parent(self, commit: ObjectId) -> ObjectId | None:
        out = self._repository.run("rev-parse", "--verify", "--quiet", f"{commit}^", ok=(0, 1))
        return ObjectId(out.decode().strip()) or None

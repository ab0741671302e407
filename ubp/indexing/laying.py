"""The stored links of a commit made ready to stand on: made, moved, and what differs from them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ubp.errors import RepositoryError, StoreError
from ubp.git.repository import Repository
from ubp.git.trees import diff_trees
from ubp.indexing.knowledge import Knowledge
from ubp.indexing.relink import link_all, relink
from ubp.model import Entry, FilePath, ObjectId
from ubp.store.edges import GraphMovedError, StoredEdges, StoredGraph
from ubp.store.patches import Patch

# Other processes may move the graph to their commit as often as this one moves it to its own.
ATTEMPTS = 8


class Standing(NamedTuple):
    """What the links of a snapshot are asked about.

    `commit` and `changes` are the snapshot's (hashed); `all_files` tells what stands in the commit;
    `is_current`: the commit is the work tree's HEAD, so that the stored graph moves to it.
    """

    git_dir: str
    scope: str
    commit: ObjectId | None
    changes: Mapping[FilePath, Entry | None]
    all_files: Callable[[], Mapping[FilePath, Entry]]
    is_page: Callable[[FilePath, Entry], bool]
    is_current: bool
    roots: Sequence[FilePath]


class Laying:
    """Lays the links of one snapshot, as often as other processes pull the ground away."""

    def __init__(
        self,
        repository: Repository,
        stored: StoredEdges,
        knowledge: Knowledge,
        standing: Standing,
    ) -> None:
        self._repository = repository
        self._stored = stored
        self._knowledge = knowledge
        self._standing = standing

    def lay(self) -> tuple[StoredGraph | None, Patch]:
        """The stored graph to stand on, and what differs from it."""
        standing = self._standing
        if standing.commit is None:
            there = {path: entry for path, entry in standing.changes.items() if entry}
            files = self._files(there)
            self._knowledge.learn(files)
            return None, link_all(files, self._knowledge, self._standing.roots)
        for _ in range(ATTEMPTS):
            with suppress(GraphMovedError):
                graph = self._bring(standing.commit)
                if graph is not None:
                    return graph, self._difference(graph, standing.commit)
        raise StoreError("Other processes keep changing the index.", hint="Ask again.")

    def _bring(self, commit: ObjectId) -> StoredGraph | None:
        """The stored graph, made or moved where it must be; None: look again."""
        graph = self._stored.find(self._standing.git_dir)
        if graph is None or graph.scope != self._standing.scope:
            self._make(commit)
            return None
        if not graph.is_learned:
            self._knowledge.learn(self._stored.forgotten(graph))
            self._stored.mark_learned(graph)
        is_behind = graph.commit != commit or not graph.is_complete
        if self._standing.is_current and is_behind and self._move(graph, commit):
            return None
        return graph

    def _make(self, commit: ObjectId) -> None:
        files = self._files(self._standing.all_files())
        self._knowledge.learn(files)
        whole = link_all(files, self._knowledge, self._standing.roots)
        self._stored.save(self._standing.git_dir, commit, self._standing.scope, whole)

    def _move(self, graph: StoredGraph, commit: ObjectId) -> bool:
        """Move the graph; False: it stands where it should already, as far as can be known."""
        try:
            changes = diff_trees(self._repository, graph.commit, commit)
        except RepositoryError:  # its commit is gone: collected, or the repository made anew
            self._make(commit)
            return True
        changed = self._changed(changes)
        unread = {} if graph.is_complete else self._stored.unread(graph)
        self._knowledge.learn(unread)
        for path, blob in unread.items():
            if blob and self._knowledge.is_known(blob):
                changed.setdefault(path, (blob,))
        if graph.commit == commit and not changed:
            return False
        self._knowledge.learn({path: there[0] for path, there in changed.items() if there})
        patch = relink(self._stored, graph, changed, self._knowledge, self._standing.roots)
        self._stored.move(graph, commit, patch)
        return True

    def _difference(self, graph: StoredGraph, commit: ObjectId) -> Patch:
        changes: dict[FilePath, Entry | None] = {}
        if graph.commit != commit:
            try:
                changes |= diff_trees(self._repository, graph.commit, commit)
            except RepositoryError as error:
                self._make(commit)
                raise GraphMovedError from error
        changed = self._changed(changes | dict(self._standing.changes))
        if not changed:
            return Patch({}, {})
        self._knowledge.learn({path: there[0] for path, there in changed.items() if there})
        return relink(self._stored, graph, changed, self._knowledge, self._standing.roots)

    def _changed(
        self, changes: Mapping[FilePath, Entry | None]
    ) -> dict[FilePath, tuple[ObjectId | None] | None]:
        files = self._files({path: entry for path, entry in changes.items() if entry})
        return {path: (files[path],) if path in files else None for path, entry in changes.items()}

    def _files(self, entries: Mapping[FilePath, Entry]) -> dict[FilePath, ObjectId | None]:
        return {
            path: entry.id if self._standing.is_page(path, entry) else None
            for path, entry in entries.items()
            if not entry.is_directory
        }

"""The one place that builds the rooms and joins them; it delegates and never decides.

This is the Python API: open a workspace, ask, close it.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

from ubp.config import Config, is_excluded, load_config
from ubp.errors import UsageError
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import read_commit, read_index, read_worktree
from ubp.git.trees import diff_trees
from ubp.history import History
from ubp.index import View, build_view
from ubp.model import Assessment, FilePath, Page, Snapshot
from ubp.seams import Progress, Warn, be_silent
from ubp.selection import path_from_root, select_pages
from ubp.staleness.affected import Affected, find_affected
from ubp.staleness.assess import assess, hide
from ubp.staleness.change import Change, assess_change, touched_pages
from ubp.staleness.court import Court, Rules
from ubp.staleness.report import StaleReport, summarise, worst_first
from ubp.store.store import Store, open_store


class Question(NamedTuple):
    """Which state or change is asked about; at most one of the three is given.

    `ref`: the state at a revision. `staged`: the commit in the making. `base`: everything since
    the merge base with this revision. None of them: the state of the work tree. `base` and `ref`
    together judge the change from `base` to `ref`.
    """

    ref: str | None = None
    staged: bool = False
    base: str | None = None


class Workspace:
    """A repository with its index. Not safe for use by several threads at once."""

    def __init__(
        self,
        repository: Repository,
        store: Store,
        config: Config,
        progress: Progress,
        clock: Callable[[], float],
    ) -> None:
        """Use `Workspace.open`."""
        self.repository = repository
        self.store = store
        self.config = config
        self.history = History(repository, store)
        self._progress = progress
        self._clock = clock

    @classmethod
    def open(
        cls,
        directory: str = ".",
        *,
        environment: Mapping[str, str] | None = None,
        keys: Sequence[str] = (),
        days: float | None = None,
        warn: Warn = be_silent,
        progress: Progress = be_silent,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the repository around a directory.

        `keys` and `days` stand in for the configuration's `staleness.keys` and `threshold_days`.

        Raises:
            RepositoryError: no repository that can be read.
            ConfigError: `.ubp/config.json` cannot be used.
        """
        repository = open_repository(directory, os.environ if environment is None else environment)
        config = load_config(repository.data_dir)
        for warning in config.warnings:
            warn(warning)
        if keys:
            config = config._replace(keys=tuple(keys))
        if days is not None:
            config = config._replace(threshold_days=days)
        return cls(repository, open_store(repository.data_dir, warn), config, progress, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the database and the repository."""
        self.store.close()
        self.repository.close()

    def stale(
        self,
        paths: Sequence[str] = (),
        *,
        ref: str | None = None,
        staged: bool = False,
        base: str | None = None,
        every: bool = False,
    ) -> StaleReport:
        """Which pages no longer describe their sources; `Question` tells what the arguments ask.

        `paths` (relative to the directory that was opened) narrow the answer; `every` makes a
        change tell the old debts of other pages too.
        """
        question = Question(ref, staged, base)
        if not (staged or base is not None):
            court = self._court(self.snapshot(question))
            return self._report(court, assess(self._pages(court, paths), court))
        change = self._change(question)
        pages = self._pages(change.after, paths)
        if not every:
            touched = {page.filepath for page in touched_pages(change)}
            pages = [page for page in pages if page.filepath in touched]
        report = self._report(change.after, assess_change(pages, change))
        return report._replace(is_change=True)

    def affected(self, paths: Sequence[str], *, ref: str | None = None) -> tuple[Affected, ...]:
        """Which pages describe these files, folders or globs."""
        view = self.view(Question(ref))
        return find_affected(view, [path_from_root(path, self.repository) for path in paths])

    def snapshot(self, question: Question) -> Snapshot:
        """The snapshot that a question is about.

        Raises:
            UsageError: the question contradicts itself.
        """
        if question.staged and (question.ref or question.base):
            raise UsageError(
                "--staged cannot be combined with --ref or --base.",
                hint="Ask about the index, or about commits.",
            )
        if question.staged:
            return read_index(self.repository)
        if question.ref is not None:
            return read_commit(self.repository, question.ref)
        if question.base is not None or self.repository.root is None:
            return read_commit(self.repository, "HEAD")
        return read_worktree(self.repository)

    def view(self, question: Question = Question()) -> View:  # noqa: B008  # an immutable tuple
        """The snapshot with its index brought up to date."""
        return self._view(self.snapshot(question))

    def is_hidden(self, path: FilePath) -> bool:
        """Whether the configuration keeps this file from being served, as a source too."""
        return is_excluded(self.config, path)

    def _view(self, snapshot: Snapshot) -> View:
        return build_view(self.repository, self.store, self.config, snapshot, self._progress)

    def _court(self, snapshot: Snapshot) -> Court:
        rules = Rules(self._clock(), self.config.threshold_days)
        return Court(self._view(snapshot), self.repository, self.history, rules)

    def _pages(self, court: Court, paths: Sequence[str]) -> list[Page]:
        pages = court.view.bound_pages()
        if not paths:
            return pages
        selected = select_pages(paths, court.view, self.repository)
        return [page for page in pages if page.filepath in selected]

    def _change(self, question: Question) -> Change:
        after = self._court(self.snapshot(question))
        head = after.view.snapshot.commit
        if question.base is None:
            parents = [head, *self.repository.merge_heads()] if head else []
            changes = after.view.snapshot.changes
        else:
            start = self.repository.merge_base(question.base, head or "HEAD")
            parents = [start]
            changes = diff_trees(self.repository, start, head or start)
        before = tuple(self._court(read_commit(self.repository, parent)) for parent in parents)
        return Change(before, after, changes)

    def _report(self, court: Court, assessed: Sequence[Assessment]) -> StaleReport:
        view = court.view
        pages = worst_first(hide(assessed, self.is_hidden))
        summary = summarise(pages, len(view.document_paths()))
        return StaleReport(
            snapshot=view.snapshot,
            pages=pages,
            summary=summary,
            threshold_days=court.rules.threshold_days,
            is_shallow=self.repository.is_shallow,
        )

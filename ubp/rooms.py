"""The opened rooms: a repository, its store, configuration and history, and the views of it."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

from ubp.config import Config, has_config, is_excluded
from ubp.errors import UsageError
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import read_commit, read_index, read_worktree
from ubp.history import History
from ubp.index import View, build_view
from ubp.model import FilePath, Snapshot
from ubp.seams import Progress, Warn, be_silent
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


class Rooms:
    """A repository with its index. Not safe for use by several threads at once."""

    def __init__(
        self,
        repository: Repository,
        store: Store,
        config: Config,
        progress: Progress,
        clock: Callable[[], float],
    ) -> None:
        """Use `open`."""
        self.repository = repository
        self.store = store
        self.config = config
        self.history = History(repository, store)
        self.progress = progress
        self.clock = clock

    @classmethod
    def open(  # noqa: PLR0913  # the API's options, all of them named
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
        config = _load_config(repository.data_dir)
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
        return build_view(self.repository, self.store, self.config, snapshot, self.progress)


def _load_config(data_dir: str) -> Config:
    if not has_config(data_dir):
        return Config()
    from ubp.config_file import load_config

    return load_config(data_dir)

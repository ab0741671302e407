"""The opened rooms: a repository, its store, configuration and history, and the views of it."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from ubp.core.config import NO_MODEL, Config, has_config, is_excluded
from ubp.core.errors import ModelNeededError, UsageError
from ubp.core.model import FilePath, Progress, Snapshot, Warn, ignore_progress
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import read_commit, read_index, read_worktree
from ubp.index.history import History
from ubp.index.store.file import FILE_NAME
from ubp.index.store.store import Store, open_store
from ubp.index.tree import SessionCache
from ubp.index.view import View, build_view

if TYPE_CHECKING:
    from ubp.index.embed.locate import ModelLocation
    from ubp.index.embed.model import Model


class Target(NamedTuple):
    """Which state or change is asked about; at most one of the three is given.

    `ref`: the state at a revision. `staged`: the commit in the making. `base`: everything since
    the merge base with this revision. None of them: the state of the work tree. `base` and `ref`
    together judge the change from `base` to `ref`.
    """

    ref: str | None = None
    staged: bool = False
    base: str | None = None


class Session:
    """A repository with its index. Not safe for use by several threads at once."""

    def __init__(  # noqa: PLR0913  # only `open` calls it
        self,
        repository: Repository,
        store: Store,
        config: Config,
        *,
        environment: Mapping[str, str],
        progress: Progress,
        clock: Callable[[], float],
    ) -> None:
        """Use `open`."""
        self.repository = repository
        self.store = store
        self.config = config
        self.history = History(repository, store, progress=progress)
        self.progress = progress
        self.clock = clock
        self.environment = environment
        self.kept = SessionCache()
        self.latest: View | None = None
        """The work tree as it was seen last."""
        self._model: Model | None = None
        self._marks = _marks_of(repository)

    @classmethod
    def open(  # noqa: PLR0913  # the API's options, all of them named
        cls,
        directory: str = ".",
        *,
        environment: Mapping[str, str] | None = None,
        keys: Sequence[str] = (),
        days: float | None = None,
        model: str | None = None,
        warn: Warn = ignore_progress,
        progress: Progress = ignore_progress,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the repository around a directory.

        `keys`, `days` and `model` stand in for the configuration's `staleness.keys`,
        `staleness.threshold_days` and `search.model`.

        Raises:
            RepositoryError: no repository that can be read.
            ConfigError: `.ubp/config.json` cannot be used.
        """
        environment = os.environ if environment is None else environment
        repository = open_repository(directory, environment)
        config = _load_config(repository.config_dir)
        for warning in config.warnings:
            warn(warning)
        if keys:
            config = config._replace(keys=tuple(keys))
        if days is not None:
            config = config._replace(threshold_days=days)
        if model is not None:
            config = config._replace(model=model)
        return cls(
            repository,
            open_store(repository.data_dir, warn),
            config,
            environment=environment,
            progress=progress,
            clock=clock,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the database and the repository."""
        self.store.close()
        self.repository.close()

    def snapshot(self, question: Target) -> Snapshot:
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

    def view(self, question: Target = Target()) -> View:  # noqa: B008  # an immutable tuple
        """The snapshot with its index brought up to date."""
        return self.view_of(self.snapshot(question))

    def model_place(self) -> "ModelLocation | None":
        """Where the model in use lies; None: there is none, by configuration or installation.

        Raises:
            ModelError: the configured model is not there.
        """
        from ubp.index.embed.locate import find_model, has_extra

        if self.config.model == NO_MODEL or not has_extra():
            return None
        root = self.repository.root or self.repository.git_dir
        return find_model(self.config.model, self.environment, root)

    def model(self) -> "Model | None":
        """The model in use, loaded when it is first asked for; None: see `model_place`.

        Raises:
            ModelError: the configured model is not there, or cannot be used.
        """
        if (self._model is None or not self._model.is_current()) and (place := self.model_place()):
            from ubp.index.embed.model import load_model
            from ubp.index.embedded import fingerprint_of

            self._model = load_model(place, fingerprint_of(self.store.database, place))
        return self._model

    def required_model(self) -> "Model":
        """The model in use, for what cannot do without.

        Raises:
            ModelNeededError: there is none.
            ModelError: the configured model is not there, or cannot be used.
        """
        from ubp.index.embed.locate import require_extra

        model = self.model()
        if model is not None:
            return model
        require_extra()
        raise ModelNeededError(
            "This needs an embedding model.",
            cause='search.model in .ubp/config.json is "none".',
            hint="Take it out, and the model that comes with UBP is used.",
        )

    def is_hidden(self, path: FilePath) -> bool:
        """Whether the configuration keeps this file from being served, as a source too."""
        return is_excluded(self.config, path)

    def is_outdated(self) -> bool:
        """Whether what is read once, when rooms are opened, has changed: open others then.

        That is the configuration, where a shallow clone ends, which file the index is, and in a
        bare repository HEAD.
        """
        return self.repository.root is None or _marks_of(self.repository) != self._marks

    def view_of(self, snapshot: Snapshot) -> View:
        """Return the snapshot with its index brought up to date."""
        if self.latest is not None and self.latest.is_current(snapshot):
            return self.latest
        view = build_view(
            self.repository, self.store, self.config, snapshot, self.progress, cache=self.kept
        )
        if snapshot.kind == "worktree":
            if self.latest is not None:
                self.latest.forget()
            self.latest = view
        return view


def _load_config(config_dir: str) -> Config:
    if not has_config(config_dir):
        return Config()
    from ubp.core.config_file import load_config

    return load_config(config_dir)


def _marks_of(repository: Repository) -> tuple[tuple[int, ...] | None, ...]:
    config = _stat(os.path.join(repository.config_dir, "config.json"))
    shallow = _stat(os.path.join(repository.common_dir, "shallow"))
    index = _stat(os.path.join(repository.data_dir, FILE_NAME))
    written = ((f.st_mtime_ns, f.st_size, f.st_ino) if f else None for f in (config, shallow))
    return *written, (index.st_dev, index.st_ino) if index else None


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None

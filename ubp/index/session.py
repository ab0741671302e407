"""An opened repository with its store, configuration, history and model; views of its snapshots."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Self

from ubp.core.config import NO_MODEL, CollectionSetting, Config, has_config, is_excluded
from ubp.core.errors import ModelError, ModelNeededError, UsageError
from ubp.core.model import Alarms, Assessment, FilePath, Progress, Snapshot, Warn, ignore_progress
from ubp.git.command import USER_SCOPES
from ubp.git.repository import Repository, open_repository
from ubp.git.snapshot import read_commit, read_index, read_worktree
from ubp.index.history import History
from ubp.index.store.file import FILE_NAME
from ubp.index.store.store import Store, open_store
from ubp.index.tree import SessionCache, SharedCache
from ubp.index.view import View, build_view

if TYPE_CHECKING:
    from ubp.index.collections import Collection
    from ubp.index.embed.locate import EndpointPlace, Place
    from ubp.index.embed.protocol import EmbeddingModel


class Target(NamedTuple):
    """Which state or change a question is about.

    `ref`: the state at a revision. `staged`: the commit in the making, with `amend` as the
    replacement of HEAD. `base`: everything since the merge base with this revision, up to `ref` if
    that is given too. None of them: the state of the work tree.
    """

    ref: str | None = None
    staged: bool = False
    base: str | None = None
    amend: bool = False

    @property
    def is_change(self) -> bool:
        """Whether a change is asked about, not a state."""
        return self.staged or self.base is not None


# What became of the sources of a view's pages: `staleness` knows, and `search` reports it.
AssessPaths = Callable[[View, Sequence[FilePath]], Mapping[FilePath, Assessment]]


class SessionOptions(NamedTuple):
    """How a repository is opened.

    `keys`, `days`, `model` and `alarms` replace the configuration's `staleness.keys`,
    `staleness.threshold_days`, `search.model` and `staleness.alarms`, unless they are empty or
    None. `warn` receives what the user should know, `progress` the steps of long work. `revision`
    is the state that questions are about unless they say otherwise; None: the work tree.
    `collection` is the name of the collection that the repository is, which its documents' ids
    contain. `expires`: revisions are read without the documents that have expired.
    """

    environment: Mapping[str, str] = os.environ
    keys: Sequence[str] = ()
    days: float | None = None
    model: str | None = None
    warn: Warn = ignore_progress
    progress: Progress = ignore_progress
    clock: Callable[[], float] = time.time
    revision: str | None = None
    collection: str = ""
    expires: bool = False
    alarms: Alarms | None = None


class Session:
    """A repository with its index. Not safe for use by several threads at once.

    `read_worktree` may be replaced: an editor has files that it has not saved.
    """

    def __init__(
        self, repository: Repository, store: Store, config: Config, options: SessionOptions
    ) -> None:
        """Use `open`."""
        self.repository = repository
        self.store = store
        self.config = _override(config, options)
        self.history = History(repository, store, progress=options.progress)
        self.read_worktree: Callable[[Repository], Snapshot] = read_worktree
        self.environment = options.environment
        self.progress = options.progress
        self.clock = options.clock
        self.warn = options.warn
        self.collection: Collection | None = None  # the one that this repository is
        self._options = options
        self._cache = SessionCache()
        self._latest: View | None = None  # the last one of the work tree, or of the only revision
        self._whole: View | None = None  # the last revision with what has expired
        self._model: EmbeddingModel | None = None
        self._model_owner: Session | None = None
        self._collections: dict[CollectionSetting, Session] = {}
        self._kept: dict[tuple[str, str], tuple[object, Session]] = {}
        self._file_stamps = _file_stamps(repository)

    @classmethod
    def open(
        cls,
        directory: str = ".",
        options: SessionOptions = SessionOptions(),  # noqa: B008  # an immutable tuple
    ) -> Self:
        """Open the repository around a directory.

        Raises:
            RepositoryError: no repository that can be read.
            ConfigError: `.ubp/config.json` cannot be used.
        """
        repository = open_repository(directory, options.environment)
        config = _load_config(repository.config_dir)
        for warning in config.warnings:
            options.warn(warning)
        return cls(repository, open_store(repository.data_dir, options.warn), config, options)

    def with_config(self, config: Config) -> "Session":
        """Return a session with another configuration; it shares the repository and the index.

        The settings that were given to `open` replace those of the configuration. Close only this
        session, not the other one.
        """
        session = Session(self.repository, self.store, config, self._options)
        session._collections = self._collections  # its own class
        return session

    @property
    def directory(self) -> str:
        """The directory that was opened."""
        root = self.repository.root
        return (
            self.repository.git_dir if root is None else os.path.join(root, self.repository.prefix)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the repository, and the collections that were opened."""
        for collection in (*self._collections.values(), *(kept for _, kept in self._kept.values())):
            collection.close()
        self._collections.clear()
        self._kept.clear()
        self.store.close()
        self.repository.close()

    def snapshot(self, target: Target) -> Snapshot:
        """Return the snapshot that a target means; of a change the state that it leaves.

        Raises:
            UsageError: the target contradicts itself.
        """
        if target.staged and (target.ref or target.base):
            other = "--base" if target.base else "--ref"
            raise UsageError(
                f"--staged cannot be combined with {other}.", hint="Remove one of the two."
            )
        if target.amend and not target.staged:
            raise UsageError("--amend requires --staged.", hint="Use both: --staged --amend")
        if target.staged:
            return read_index(self.repository, amend=target.amend)
        if target.ref is not None:
            return read_commit(self.repository, target.ref)
        if self._options.revision is not None and target.base is None:
            return read_commit(self.repository, self._options.revision)
        if target.base is not None or self.repository.root is None:
            return read_commit(self.repository, "HEAD")
        return self.read_worktree(self.repository)

    def view(self, target: Target = Target()) -> View:  # noqa: B008  # an immutable tuple
        """Return the target's snapshot with its index brought up to date."""
        return self.view_of(self.snapshot(target))

    def view_of(self, snapshot: Snapshot) -> View:
        """Return a snapshot with its index brought up to date."""
        if self._options.expires and snapshot.kind == "commit":
            snapshot = self._without_expired(snapshot)
        if self._latest is not None and self._latest.is_current(snapshot):
            return self._latest
        if self._whole is not None and self._whole.is_current(snapshot):
            view = self._whole
        else:
            view = self.try_view(snapshot)
        if snapshot.kind == "worktree" or self._options.revision is not None:
            if self._latest is not None:
                self._latest.forget()
            self._latest = view
        return view

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Read the work tree once at most: all that the body asks is about one state of it."""
        reader = self.read_worktree
        self.read_worktree = cache(reader)
        try:
            yield
        finally:
            self.read_worktree = reader

    def try_view(self, snapshot: Snapshot) -> View:
        """Return a snapshot of what might be; the last view stays."""
        return build_view(
            self.repository,
            self.store,
            self.config,
            snapshot,
            self.progress,
            cache=self._cache,
            collection=self._options.collection,
        )

    def _without_expired(self, snapshot: Snapshot) -> Snapshot:
        from ubp.index.expiry import find_expired

        whole = self._whole
        if whole is None or whole.snapshot.commit != snapshot.commit:
            whole = self._whole = self.try_view(snapshot._replace(changes={}))
        expired = find_expired(whole, self.clock())
        return snapshot._replace(changes=dict.fromkeys(expired))

    def forget(self) -> None:
        """Drop the last view and what it read, so that files are read again."""
        self._latest, self._whole, self._cache = None, None, SessionCache()

    def model_place(self) -> "Place | None":
        """Return where the model in use is; None: none is configured or installed.

        A server that the user names has priority over the repository's choice.

        Raises:
            ModelError: the configured model does not exist, or may not be used.
        """
        from ubp.index.embed.locate import (
            USER_SETTING,
            find_endpoint_model,
            find_model,
            find_repository_model,
            has_extra,
        )

        if not has_extra():
            return None
        settings = self._user_settings()
        chosen = self._options.model
        if not chosen and (endpoint := find_endpoint_model(self.environment, settings)):
            return endpoint
        chosen = chosen or settings.get(USER_SETTING.lower(), "")
        name = chosen or self.config.model
        root = self.repository.root or self.repository.git_dir
        if name == NO_MODEL:
            return None
        find = find_model if chosen else find_repository_model
        return find(name, self.environment, root)

    def _user_settings(self) -> Mapping[str, str]:
        """Return what the user's Git configuration says of models; no commit can change it.

        An address is read only from what is outside the repository: its own configuration comes
        with a copy of its folder.
        """
        pattern = r"^ubp\.(searchmodel|embed[a-z]+)$"
        listing = self.repository.run(
            "config", "--show-scope", "-z", "--get-regexp", pattern, ok=(0, 1)
        )
        fields = os.fsdecode(listing).split("\0")
        settings: dict[str, str] = {}
        for scope, setting in zip(fields[0::2], fields[1::2], strict=False):
            name, _, value = setting.partition("\n")
            if scope in USER_SCOPES or not name.startswith("ubp.embed"):
                settings[name] = value
        return settings

    def model(self) -> "EmbeddingModel | None":
        """Return the model in use, loaded at the first call; None: see `model_place`.

        Raises:
            ModelError: the configured model does not exist, or cannot be used.
        """
        place = self.model_place() if self._model is None or not self._model.is_current() else None
        if place is None:
            return self._model
        from ubp.index.embed.locate import ModelLocation

        if not isinstance(place, ModelLocation):
            self._model = self._load_endpoint_model(place)
        elif self._model_owner and place == self._model_owner.model_place():
            self._model = self._model_owner.model()
        else:
            from ubp.index.embed.model import load_model
            from ubp.index.embedded import fingerprint_of

            self._model = load_model(place, fingerprint_of(self.store.database, place))
        return self._model

    def _load_endpoint_model(self, place: "EndpointPlace") -> "EmbeddingModel":
        from ubp.core.shell import ubp_command
        from ubp.index.embed.endpoint import load_endpoint_model

        model = load_endpoint_model(place, self.repository.data_dir)
        if model is None:
            raise ModelError(
                "The embedding model is not ready.",
                cause=f"No section has a vector of {place.name} yet.",
                hint=f"To see what that costs, run: {ubp_command('model', 'embed')}",
            )
        return model

    def open_collection(self, setting: CollectionSetting) -> "Session":
        """Return a collection that the configuration names; it is closed with this session.

        Raises:
            CollectionError: it is not on this machine.
            RepositoryError: it cannot be read.
        """
        from ubp.index.collections import (
            collection_environment,
            collections_dir,
            existing_path,
            find_collection,
        )

        folder = collections_dir(self.environment)
        collection = find_collection(folder, setting.name, [setting])
        path = existing_path(folder, collection)
        opened = self._collections.get(setting)
        if opened is not None and not opened.store.database.is_known():
            opened.close()
            opened = None
        if opened is None:
            environment = collection_environment(path, collection, self.environment)
            opened = self._collections[setting] = Session.open(
                path,
                SessionOptions(environment, progress=self.progress, clock=self.clock),
            )
        return opened

    def in_collection(self, name: str, version: str = "") -> "Session":
        """Open a collection as this repository knows it, with the model that is loaded here.

        Raises:
            CollectionError: there is no such collection or version on this machine.
            RepositoryError: it cannot be read.
        """
        from ubp.index.open_collection import locate_version

        directory = self.repository.root or self.repository.git_dir
        place = locate_version(name, version, directory, self.environment)
        options = SessionOptions(
            place.environment,
            progress=self.progress,
            clock=self.clock,
            revision=place.revision,
            collection=name,
            expires=place.collection.is_stored,
        )
        opened = Session.open(place.directory, options)
        opened.collection = place.collection
        opened.share_model(self)
        return opened

    def kept_collection(self, name: str, version: str = "") -> "Session":
        """Return a collection that stays open until it changes, or this session is closed.

        To open one of 5,000 sections for each search takes five times as long as the search.

        Raises:
            CollectionError: there is no such collection or version on this machine.
            RepositoryError: it cannot be read.
        """
        from ubp.index.open_collection import version_stamp

        stamp = version_stamp(name, self.environment)
        kept = self._kept.get((name, version))
        if kept is not None:
            if kept[0] == stamp and not kept[1].is_outdated():
                return kept[1]
            kept[1].close()
            del self._kept[name, version]
        opened = self.in_collection(name, version)
        self._kept[name, version] = stamp, opened
        return opened

    def share_cache(self, shared: SharedCache) -> None:
        """Share what is read with the other sessions of this index and this configuration.

        They may be in other threads. An index in memory is shared with none.
        """
        if self.store.path is not None:
            common = shared.of((self.store.path, self.config, self._file_stamps))
            self._cache = SessionCache(common)

    def share_model(self, other: "Session") -> None:
        """Use the model of another session where both would load the same one."""
        self._model_owner = other

    def required_model(self) -> "EmbeddingModel":
        """Return the model in use.

        Raises:
            ModelNeededError: there is none.
            ModelError: the configured model does not exist, or cannot be used.
        """
        from ubp.index.embed.locate import require_extra

        model = self.model()
        if model is not None:
            return model
        require_extra()
        raise ModelNeededError(
            "This needs an embedding model.",
            cause='search.model in .ubp/config.json, or ubp.searchModel of Git, is "none".',
            hint="Remove the setting to use the bundled model.",
        )

    def is_hidden(self, path: FilePath) -> bool:
        """Return whether the configuration hides this file, as a page and as a source."""
        return is_excluded(self.config, path)

    def is_outdated(self) -> bool:
        """Return whether what is read once has changed, so that a new session must be opened.

        That is the configuration, where a shallow clone ends, which file the index is and whether
        only UBP has written to it, and in a bare repository HEAD; of a collection that UBP
        writes, the file alone.
        """
        if self.collection is not None and self.collection.kind != "local":
            return not self.store.database.is_known()
        return (
            self.repository.root is None
            or _file_stamps(self.repository) != self._file_stamps
            or not self.store.database.is_known()
        )


def _load_config(config_dir: str) -> Config:
    if not has_config(config_dir):
        return Config()
    from ubp.core.config_file import load_config

    return load_config(config_dir)


def _override(config: Config, options: SessionOptions) -> Config:
    """Return the configuration with what the options replace of it."""
    if options.keys:
        config = config._replace(keys=tuple(options.keys))
    if options.days is not None:
        config = config._replace(threshold_days=options.days)
    if options.alarms is not None:
        config = config._replace(alarms=options.alarms)
    return config


def _file_stamps(repository: Repository) -> tuple[tuple[int, ...] | None, ...]:
    config = _stat(os.path.join(repository.config_dir, "config.json"))
    shallow = _stat(os.path.join(repository.common_dir, "shallow"))
    index = _stat(os.path.join(repository.data_dir, FILE_NAME))
    contents = ((f.st_mtime_ns, f.st_size, f.st_ino) if f else None for f in (config, shallow))
    return *contents, (index.st_dev, index.st_ino) if index else None


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None

"""The Python API: open a workspace, ask it, close it.

What answers a request is imported where it is asked: `ubp stale` and the hook need little of it.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from ubp.core.model import Alarms, Progress, Warn, ignore_progress
from ubp.index.session import Session, SessionOptions

if TYPE_CHECKING:
    from ubp.edits.model import Agent
    from ubp.frame.answer import Request
    from ubp.index.collections import Collection as DocumentCollection

RecordT = TypeVar("RecordT")


class Workspace:
    """A repository with its index. Not safe for use by several threads at once."""

    def __init__(self, session: Session, collection: "DocumentCollection | None" = None) -> None:
        self.session = session
        self.collection = session.collection = collection
        self.agent: Agent | None = None  # who calls, through the server

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
        alarms: Alarms | None = None,
    ) -> Self:
        """Open the repository around a directory; `SessionOptions` says what the options mean.

        Raises:
            RepositoryError: no repository that can be read.
            ConfigError: `.ubp/config.json` cannot be used.
        """
        environment = os.environ if environment is None else environment
        options = SessionOptions(
            environment, keys, days, model, warn, progress, clock, alarms=alarms
        )
        return cls(Session.open(directory, options))

    @classmethod
    def open_collection(  # noqa: PLR0913  # the API's options, all of them named
        cls,
        name: str,
        version: str = "",
        *,
        directory: str = ".",
        environment: Mapping[str, str] | None = None,
        warn: Warn = ignore_progress,
        progress: Progress = ignore_progress,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open a collection, as the project around a directory knows it.

        Without a version it is the one that the project pins, else the newest that was fetched.

        Raises:
            CollectionError: there is no such collection or version on this machine.
            RepositoryError: it cannot be read.
        """
        from ubp.index.open_collection import locate_version

        environment = os.environ if environment is None else environment
        place = locate_version(name, version, directory, environment)
        options = SessionOptions(
            place.environment,
            warn=warn,
            progress=progress,
            clock=clock,
            revision=place.revision,
            collection=name,
            expires=place.collection.is_stored,
        )
        return cls(Session.open(place.directory, options), place.collection)

    def in_collection(self, name: str, version: str = "") -> "Workspace":
        """Open a collection as this repository knows it, with the model that is loaded here.

        Raises:
            CollectionError: there is no such collection or version on this machine.
            RepositoryError: it cannot be read.
        """
        opened = self.session.in_collection(name, version)
        return Workspace(opened, opened.collection)

    def kept_collection(self, name: str, version: str = "") -> "Workspace":
        """Return a collection that stays open until it changes, or this workspace is closed.

        Raises:
            CollectionError: there is no such collection or version on this machine.
            RepositoryError: it cannot be read.
        """
        opened = self.session.kept_collection(name, version)
        return Workspace(opened, opened.collection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the repository, and the collections that were kept open."""
        self.session.close()

    def ask(self, request: "Request[RecordT]") -> RecordT:
        """Return the answer to a request; its module says what errors it raises."""
        from ubp.table import answer_of

        record: RecordT = answer_of(request).run(self.session, request)
        return record

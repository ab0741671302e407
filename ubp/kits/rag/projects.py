"""Projects: the repository that is served, and collections of documents, each by its name."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ubp.core.errors import CollectionError, ConfigError, RepositoryError
from ubp.core.files import read_regular_file
from ubp.core.text import closest_name
from ubp.index.collections import Collection, collections_dir, purge_stamp, read_collections
from ubp.index.session import Session
from ubp.markdown.yaml_nodes import BadYamlError, Node, read_yaml

PROJECT_VARIABLE, CONFIG_VARIABLE = "RAG_PROJECT", "RAG_CONFIG_PATH"
T = TypeVar("T")
MAX_ATTEMPTS, PAUSE_SECONDS = 8, 0.1  # a purge takes some tenths of a second
MAX_CONFIG_BYTES = 100_000


class Settings(NamedTuple):
    """What the environment and the configuration file say.

    `project` is the default one. `roots` are folders that documents may be imported from, beside
    the repository that is served. `projects` are those that may be used; None: all of them.
    """

    project: str = ""
    roots: tuple[str, ...] = ()
    projects: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project that is open; the repository that is served has no collection."""

    name: str
    session: Session
    collection: Collection | None

    @property
    def collection_name(self) -> str:
        """The name that is part of its documents' ids."""
        return self.collection.name if self.collection else ""

    @property
    def is_written(self) -> bool:
        """Whether agents add documents to it."""
        return self.collection is not None and self.collection.kind == "written"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the environment and of the file that it names.

    Raises:
        ConfigError: the file cannot be read, or has something else in it.
    """
    project = environment.get(PROJECT_VARIABLE, "").strip()
    path = environment.get(CONFIG_VARIABLE, "").strip()
    if not path:
        return Settings(project)
    path = os.path.expanduser(path)
    try:
        text = read_regular_file(path, MAX_CONFIG_BYTES).decode()
        root = read_yaml(text)
    except (OSError, UnicodeDecodeError, BadYamlError) as error:
        raise ConfigError(f"Cannot read {path}.", cause=str(error)) from error
    settings: dict[str, tuple[str, ...] | None] = {"roots": (), "projects": None}
    pairs = root.pairs if root and root.kind == "mapping" else ()
    for key, value in pairs:
        if key.value not in settings:
            raise ConfigError(
                f"Unknown key {key.value} in {path}.", hint="The keys are roots and projects."
            )
        settings[key.value] = _texts(path, key.value, value)
    folder = os.path.dirname(os.path.abspath(path))
    roots = tuple(
        os.path.realpath(os.path.join(folder, os.path.expanduser(written)))
        for written in settings["roots"] or ()
    )
    return Settings(project, roots, settings["projects"])


def _texts(path: str, name: str, node: Node) -> tuple[str, ...]:
    texts = [item.text for item in node.items]
    if node.kind != "sequence" or not all(texts):
        raise ConfigError(f"{name} in {path} must be a list of texts.")
    return tuple(text for text in texts if text)


def served_name(session: Session) -> str:
    """Return the name of the project that is the repository itself: its folder's."""
    repository = session.repository
    return os.path.basename(os.path.realpath(repository.root or repository.git_dir))


def default_project(session: Session, settings: Settings) -> str:
    """Return the project that is meant where none is named."""
    return settings.project or served_name(session)


def project_names(session: Session, settings: Settings) -> tuple[str, ...]:
    """Return the projects: the repository and its collections, and some of this machine.

    Those are the ones that agents write, and repositories in configured folders.
    """
    names = [served_name(session), *(setting.name for setting in session.config.collections)]
    folder = collections_dir(session.environment)
    names += [
        collection.name
        for collection in read_collections(folder)
        if collection.kind == "written"
        or collection.name == settings.project
        or (collection.kind == "local" and is_below(collection.address, settings.roots))
    ]
    return tuple(name for name in dict.fromkeys(names) if is_allowed(session, settings, name))


def is_allowed(session: Session, settings: Settings, name: str) -> bool:
    """Return whether a project may be used."""
    return (
        settings.projects is None
        or name in settings.projects
        or name in {settings.project, served_name(session)}
    )


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path is one of these folders, or in one; all are absolute and real."""
    return any(
        path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders
    )


@contextmanager
def open_project(session: Session, name: str | None) -> Iterator[Project]:
    """Open a project; None: the default one.

    Raises:
        CollectionError: there is none of this name, or it cannot be read.
        ConfigError: the configuration file cannot be used.
    """
    settings = read_settings(session.environment)
    name = name or default_project(session, settings)
    if name == served_name(session):
        yield Project(name, session, None)
        return
    names = project_names(session, settings)
    if name not in names:
        closest = closest_name(name, names)
        raise CollectionError(
            f"There is no project {name}.",
            cause=f"The projects are: {', '.join(names)}.",
            hint=f"Did you mean {closest}?" if closest else "",
        )
    opened = session.kept_collection(name)
    yield Project(name, opened, opened.collection)


def ask(session: Session, name: str | None, question: Callable[[Project], T]) -> T:
    """Return the answer of a project (None: the default one).

    The question is asked again where a purge has taken away what was read meanwhile.

    Raises:
        CollectionError: there is no such project, or it cannot be read.
        ConfigError: the configuration file cannot be used.
    """

    def answer() -> T:
        with open_project(session, name) as project:
            return question(project)

    return unless_purged(session, answer)


def unless_purged(session: Session, read: Callable[[], T]) -> T:
    """Return what `read` returns; read again where a purge began or ended meanwhile."""
    folder = collections_dir(session.environment)
    for attempt in range(MAX_ATTEMPTS):
        before = purge_stamp(folder)
        try:
            result = read()
        except RepositoryError:
            if purge_stamp(folder) == before or attempt == MAX_ATTEMPTS - 1:
                raise
        else:
            if purge_stamp(folder) == before:
                break
        time.sleep(PAUSE_SECONDS * attempt)
    return result

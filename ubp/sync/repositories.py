"""The repositories of collections that UBP keeps: created, and written by one process at a time."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ubp.core.errors import CollectionError
from ubp.core.files import write_atomically
from ubp.core.model import Progress
from ubp.core.running import lock_file
from ubp.git.command import OPTIONS, run_git
from ubp.git.repository import Repository
from ubp.index.collections import CURRENT, Collection, collection_environment, config_text

POLL_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Context:
    """Where collections are, and how the process reports and reads the time."""

    folder: str
    environment: Mapping[str, str]
    progress: Progress
    clock: Callable[[], float]


@contextmanager
def locked(folder: str, name: str, seconds: float = 0.0) -> Iterator[None]:
    """Keep other processes from writing to a collection; wait for so many seconds if one does.

    Raises:
        CollectionError: another process is still writing.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    deadline = time.monotonic() + seconds
    while True:
        with lock_file(os.path.join(folder, f"{name}.lock")) as is_locked:
            if is_locked:
                yield
                return
        if time.monotonic() >= deadline:
            raise CollectionError(
                f"The collection {name} is being changed by another process.",
                hint="Wait until it ends, and try again.",
            )
        time.sleep(POLL_SECONDS)


def create_repository(path: str, collection: Collection, env: Mapping[str, str]) -> None:
    """Create an empty bare repository; it appears at `path` complete or not at all."""
    temporary = f"{path}.new-{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    environment = collection_environment(temporary, collection, env)
    run_git(
        ["init", "--quiet", "--bare", "--template=", "--object-format=sha1"],
        cwd=temporary,
        environment=environment,
    )
    run_git(["symbolic-ref", "HEAD", CURRENT], cwd=temporary, environment=environment)
    write_config(temporary, collection)
    os.rename(temporary, path)


def write_config(path: str, collection: Collection) -> None:
    """Write the configuration that decides which files are documents."""
    os.makedirs(os.path.join(path, "ubp"), exist_ok=True)
    write_atomically(os.path.join(path, "ubp", "config.json"), config_text(collection).encode())


def remove_stale_locks(path: str) -> None:
    """Remove the lock files of a killed git.

    Its children inherit the lock of the collection, so that none of them is running any more.
    """
    for folder, folders, names in os.walk(path):
        if folder == path:
            folders[:] = [name for name in folders if name == "refs"]
        for name in names:
            if name.endswith(".lock"):
                os.unlink(os.path.join(folder, name))


def collect_garbage(repository: Repository) -> None:
    """Pack loose objects where they are many."""
    # A detached process would keep the inherited lock of the collection.
    run_git(
        ["gc", "--auto", "--quiet"],
        cwd=repository.git_dir,
        environment=repository.environment,
        options=(*OPTIONS, "-c", "gc.autoDetach=false"),
    )

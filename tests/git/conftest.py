"""Repositories that are closed after the test, and names that not every file system holds."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from ubp.git.repository import Repository, open_repository

Open = Callable[..., Repository]


@pytest.fixture
def write_named() -> Callable[..., None]:
    """Write a file of this very name, or skip the test where the file system cannot hold it."""

    def write(repository, name: str, content: str) -> None:
        try:
            repository.write(name, content)
        except OSError as error:
            pytest.skip(f"the file system refuses the name: {error.strerror}")
        listed = repository.git("ls-files", "-z", "-t", "--others", "--cached").split("\0")
        if f"? {name}" not in listed:
            pytest.skip("the file system, or git on it, writes the name in another way")

    return write


@pytest.fixture
def open_at() -> Iterator[Open]:
    """`open_at(folder, **environment)`: an open repository, closed after the test."""
    with ExitStack() as stack:

        def enter(folder: Path | str, **environment: str) -> Repository:
            repository = open_repository(str(folder), {**os.environ, **environment})
            return stack.enter_context(repository)

        yield enter


@pytest.fixture
def forbid_git(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """`forbid_git()`: from then on, a call to git fails the test."""

    def refuse(_: Mapping[str, str]) -> str:
        raise AssertionError("git was called")

    return lambda: monkeypatch.setattr("ubp.git.command.find_git", refuse)

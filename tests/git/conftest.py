"""Repositories opened both ways: by the git command, and without one."""

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
def without_git(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An environment whose PATH leads to no git."""
    return {**os.environ, "PATH": str(tmp_path_factory.mktemp("empty"))}


@pytest.fixture
def opened() -> Iterator[Open]:
    """`opened(folder, **environment)`: an open repository, closed after the test."""
    with ExitStack() as stack:

        def open_at(folder: Path | str, **environment: str) -> Repository:
            repository = open_repository(str(folder), {**os.environ, **environment})
            return stack.enter_context(repository)

        yield open_at


@pytest.fixture
def opened_without_git(opened: Open, without_git: Mapping[str, str]) -> Open:
    """The same, answered by libgit2."""

    def open_at(folder: Path | str, **environment: str) -> Repository:
        return opened(folder, **{"PATH": without_git["PATH"], **environment})

    return open_at


@pytest.fixture(params=["git", "libgit2"])
def opened_either_way(
    request: pytest.FixtureRequest, opened: Open, opened_without_git: Open
) -> Open:
    """Each test with this runs twice, once for each engine."""
    return opened if request.param == "git" else opened_without_git

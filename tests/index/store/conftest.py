"""A store in a temporary folder, and values to save in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ubp.index.store.store import Store, open_store


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "ubp"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def open_here(data_dir: Path, warnings: list[str]) -> Iterator[Callable[[], Store]]:
    """Open the store as often as needed; all are closed in the end."""
    opened: list[Store] = []

    def open_one() -> Store:
        opened.append(open_store(str(data_dir), warnings.append))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_here: Callable[[], Store]) -> Store:
    return open_here()

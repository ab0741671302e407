"""Workspaces to search in, and a snapshot's sections as the workspace finds them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ubp.embed.model import Model, load_model
from ubp.embed.place import find_model
from ubp.index import View
from ubp.search.answers import SectionAnswer, find_sections
from ubp.search.file_names import FileNames
from ubp.workspace import Workspace


@pytest.fixture(scope="session")
def bundled() -> Model:
    """The model that comes with UBP, loaded once: it takes half a second."""
    return load_model(find_model(None, {}))


@pytest.fixture
def opened(bundled: Model) -> Iterator[Callable[..., Workspace]]:
    """`opened(root, **options)`: a workspace with the bundled model; `model="none"`: without."""
    with ExitStack() as stack:

        def open_one(root: Path, **options: Any) -> Workspace:
            workspace = stack.enter_context(Workspace.open(str(root), **options))
            if "model" not in options:
                workspace._model = bundled
            return workspace

        yield open_one


@pytest.fixture
def sections() -> Callable[[View, str, int], SectionAnswer]:
    """The best sections for a query: `sections(view, "token", 3)`."""
    return lambda view, query, limit: find_sections(
        view, query, limit, FileNames(view.document_paths())
    )

"""Ask a snapshot for sections, as the workspace does."""

from collections.abc import Callable

import pytest

from ubp.index import View
from ubp.search.answers import SectionAnswer, find_sections
from ubp.search.file_names import FileNames


@pytest.fixture
def sections() -> Callable[[View, str, int], SectionAnswer]:
    """The best sections for a query: `sections(view, "token", 3)`."""
    return lambda view, query, limit: find_sections(
        view, query, limit, FileNames(view.document_paths())
    )

"""Short ways to ask a workspace and to read its answers."""

from collections.abc import Callable
from typing import Any

import pytest

from ubp.answers.staleness.stale import report_stale
from ubp.index.session import Target
from ubp.staleness.model import StaleReport
from ubp.workspace import Workspace

Ask = Callable[..., StaleReport]
DAY = 86_400


@pytest.fixture
def ask() -> Ask:
    """Ask `ubp stale` of a repository: `ask(repository, paths..., staged=True)`."""

    def stale(
        repository: Any,
        *paths: str,
        age: float = 0,
        every: bool = False,
        opening: dict[str, Any] | None = None,
        **question: Any,
    ) -> StaleReport:
        now = repository.clock + age * DAY
        with Workspace.open(
            str(repository.root), clock=lambda: now, **(opening or {})
        ) as workspace:
            return report_stale(workspace.session, Target(**question), paths, every=every)

    return stale


@pytest.fixture
def verdicts() -> Callable[[StaleReport], dict[str, tuple[str, dict[str, str]]]]:
    """Return the level of each page of a report, and the verdict on each source."""

    def read(report: StaleReport) -> dict[str, tuple[str, dict[str, str]]]:
        return {
            page.page.filepath: (page.level, {a.source_path: a.verdict for a in page.references})
            for page in report.pages
        }

    return read

"""A repository of notes: bookmarks with dates, and one without front matter."""

import pytest

from tests.sync.conftest import folder, run, site, stored  # noqa: F401  # fixtures of reports
from ubp.workspace import Workspace

DAY = 86_400
NOW = 1_736_985_600  # 2025-01-16


def note(title, body="", **fields):
    lines = [f"{name}: {value}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", "", f"# {title}", "", body, ""])


NOTES = {
    "1.md": note(
        "Patterns of RAG",
        "Retrieval with vectors: LangChain and CrewAI are compared. "
        "See https://github.com/acme/vectordb for a small vector database.",
        id="'1'",
        url="https://x.com/ai/status/1",
        author="'@ai'",
        date="'2025-01-15T10:00:00Z'",
        tags="[rag, llm]",
        category="AI-Tools",
        sentiment="positive",
        action="try_tool",
        summary="Five patterns.",
    ),
    "2.md": note(
        "Agents with CrewAI",
        "CrewAI runs several agents. Its memory is a vector database.",
        id="'2'",
        date="2025-01-14",
        tags="[agents, llm]",
        category="AI-Tools",
    ),
    "3.md": note(
        "LangChain in production",
        "What LangChain costs.",
        id="'3'",
        date="2025-01-05",
        tags="[llm]",
        category="AI-Tools",
    ),
    "4.md": note(
        "Sourdough", "Flour and water, 500 g each.", id="'4'", date="2025-01-04", category="Food"
    ),
    "garden/tomatoes.md": "# Tomatoes\n\nThey need six hours of sun.\n",
}


@pytest.fixture
def notes(repository):
    """A repository of these notes, committed on 2023-11-15."""
    for path, text in NOTES.items():
        repository.write(path, text)
    repository.commit()
    return repository


@pytest.fixture
def session(notes):
    """A session at these notes, on 2025-01-16."""
    with Workspace.open(str(notes.root), clock=lambda: NOW) as workspace:
        yield workspace.session

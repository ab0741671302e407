"""A repository with a stale page, and agents that propose edits of it."""

import pytest

from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest
from ubp.edits.propose import propose as propose_edit
from ubp.workspace import Workspace

PAGE = "docs/auth.md"


@pytest.fixture
def project(repository):
    """`docs/auth.md` describes `src/auth.py`, which has changed since; another page links to it."""
    repository.write("src/auth.py", "def login():\n    pass\n")
    repository.page(PAGE, "src/auth.py", body="\n# Auth\n\n## Login\n\nOld.\n\n## Logout\n\nBye.\n")
    repository.write("docs/other.md", "# Other\n\n[Login](auth.md#login)\n")
    repository.commit()
    repository.write("src/auth.py", "def login(user):\n    pass\n")
    repository.commit()
    return repository


@pytest.fixture
def workspace(project):
    with Workspace.open(str(project.root)) as opened:
        yield opened


@pytest.fixture
def propose(workspace):
    """Propose an edit: `propose(change, page, session="b")`."""
    agents = {}

    def run(change, page=PAGE, action="update", session="a", reason="It changed.", **options):
        agent = agents.setdefault(session, Agent(f"client-{session} 1.0", session))
        return propose_edit(
            workspace.session, EditRequest(agent, action, page, change, reason, **options)
        )

    return run

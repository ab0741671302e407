"""Short ways to check a repository and to read what was found."""

import pytest

from ubp.checks.evidence import Evidence
from ubp.checks.fix import fix_findings
from ubp.checks.run import check_target
from ubp.index.session import Target
from ubp.workspace import Workspace


@pytest.fixture(autouse=True)
def _every_link_is_confirmed(request, monkeypatch):
    """Most tests are about what the rules find; `test_evidence_of_links` is about the evidence."""
    if request.module.__name__.rpartition(".")[2] != "test_evidence_of_links":
        monkeypatch.setattr(Evidence, "of", lambda *_: "")


@pytest.fixture
def check():
    """Check a repository; the report."""

    def ask(repository, *paths, **question):
        days = question.pop("days", 0)
        now = repository.clock + days * 86_400
        with Workspace.open(str(repository.root), clock=lambda: now) as workspace:
            rules = question.pop("rules", ())
            lists = question.pop("lists_unconfirmed", False)
            return check_target(
                workspace.session, Target(**question), paths, rules, lists_unconfirmed=lists
            )

    return ask


@pytest.fixture
def found(check):
    """Check a repository; each finding as "severity rule page:line subject"."""

    def ask(repository, *paths, **question):
        return [
            f"{found.severity} {found.rule} {found.filepath}:{found.line} {found.subject}".strip()
            for found in check(repository, *paths, **question).findings
        ]

    return ask


@pytest.fixture
def fix():
    """Put right what can be; the report."""

    def ask(repository, *paths, **options):
        with Workspace.open(str(repository.root), clock=lambda: repository.clock) as workspace:
            return fix_findings(workspace.session, paths, **options)

    return ask

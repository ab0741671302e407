"""Reports on repositories: the facts, the score with its evidence, and the document."""

import pytest

from ubp.core.errors import UsageError
from ubp.kits.notes.reports import parse_report, parse_repository, write_report
from ubp.kits.notes.score import Check, ForgeFacts, verify
from ubp.workspace import Workspace

DAY = 86_400
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a\ncopy"
WORKFLOW = """jobs:
  test:
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v5
      - uses: 'actions/setup-python@v5'
      - uses: ./local
"""


@pytest.fixture
def project(repository):
    """A project with everything that a report looks for; two commits, one tag."""
    repository.write("LICENSE", MIT)
    repository.write("SECURITY.md", "# Security\n")
    repository.write(".github/workflows/ci.yml", WORKFLOW)
    repository.write(".github/dependabot.yml", "version: 2\n")
    repository.write("tests/test_app.py", "def test(): ...\n")
    repository.write("src/app.py", "app = 1\n")
    repository.page("docs/app.md", "src/app.py")
    repository.commit()
    repository.git("tag", "v1.0")
    repository.write("src/app.py", "app = 2\n")
    repository.commit("change", "--author=Bob <bob@example.com>")
    return repository


def report_on(project, checks=None, days=30):
    address = parse_repository("https://github.com/acme/app")
    now = project.clock + days * DAY
    with Workspace.open(str(project.root), clock=lambda: now) as workspace:
        forge = ForgeFacts(7, checks)
        return verify(workspace.session, address, project.head(), forge, now)


def test_report_has_a_score_and_the_evidence_of_each_point(project):
    checks = (
        Check("build", "success"),
        Check("pytest (3.12)", "success"),
        Check("skip", "skipped"),
    )
    report = report_on(project, checks)
    assert {point.name: (point.points, point.most, point.evidence) for point in report.points} == {
        "licence": (10, 10, "MIT"),
        "security policy": (10, 10, "SECURITY.md"),
        "activity": (15, 15, "last commit 30 days before, 2 in a year"),
        "releases": (10, 10, "v1.0 31 days before, 1 tags"),
        "authors": (10, 10, "2 in a year, 50% of the commits by one"),
        "CI": (5, 5, ".github/workflows/ci.yml"),
        "tests": (10, 10, "tests"),
        "CI status": (10, 10, "0 of 2 checks failed"),
        "pinned actions": (5, 10, "1 of 2 by commit"),
        "updates": (5, 5, ".github/dependabot.yml"),
        "documentation": (0, 5, "1 of 1 pages with sources are stale"),
    }
    assert sum(point.most for point in report.points) == 100
    assert (report.score, report.verdict, report.language) == (90, "LOW_RISK", "Python")
    assert (report.build_result, report.test_result) == ("BUILD_SUCCESS", "TEST_PASS")


def test_unknown_facts_give_no_points_and_are_marked_as_not_run(project):
    report = report_on(project, None, days=400)
    points = {point.name: point.points for point in report.points}
    assert points["activity"] == points["authors"] == 0
    assert points["releases"] == 4
    assert report.points[7] == ("CI status", 0, 0, "unknown: no public API says")
    assert report.score == round(100 * sum(points.values()) / 90)
    assert (report.build_result, report.test_result) == ("NOT_RUN", "NOT_RUN")
    failed = report_on(project, (Check("test", "failure"), Check("build", "success")))
    assert (failed.build_result, failed.test_result) == ("BUILD_SUCCESS", "TEST_FAILURE")
    assert failed.score == 80


def test_empty_repository_is_a_high_risk(repository):
    repository.write("main.c", "int main;\n")
    repository.commit()
    report = report_on(repository, (), days=1000)
    assert (report.score, report.verdict, report.language) == (0, "HIGH_RISK", "C")
    assert report.usage_notes.startswith("Check first: activity (last commit 1000 days before")


def test_report_is_a_document_that_can_be_read_back(project):
    report = report_on(project, (Check("build", "success"),))
    document = write_report(report)
    assert parse_report(document) == report
    assert b"| licence | 10 | 10 | MIT |" in document
    assert parse_report(b"# No report\n") is None
    assert parse_report(document.replace(b"BUILD_SUCCESS", b"BUILD_PERFECT")) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("https://github.com/acme/app", "oss/acme/app.md"),
        ("https://www.github.com/acme/app.git/", "oss/acme/app.md"),
        ("https://github.com/acme/app/tree/main", "oss/acme/app.md"),
        ("acme/app", "oss/acme/app.md"),
        ("https://codeberg.org/acme/app", "oss/codeberg.org/acme/app.md"),
    ],
)
def test_repository_is_recognized_by_its_address(text, path):
    assert parse_repository(text).path == path


@pytest.mark.parametrize(
    "text",
    [
        *("http://github.com/acme/app", "https://192.168.1.1/acme/app", "https://github.com/acme"),
        *("https://github.com/../app", "https://github.com/acme/..", "file:///etc/passwd"),
        *("https://user@github.com/acme/app", "https://github.com:8443/acme/app", "https://[", ""),
        "https://github.com.evil.example/acme/app",
    ],
)
def test_other_addresses_are_refused(text):
    with pytest.raises(UsageError):
        parse_repository(text)

"""The results of `ubp stale` as findings."""

import pytest

from ubp.answers.staleness.stale import report_stale
from ubp.checks.from_staleness import stale_findings
from ubp.index.session import Target
from ubp.workspace import Workspace

DAY = 86_400
ABSOLUTE = '"/x" is an absolute path; use a path relative to the repository root.'
LOST = "a.py could not be verified: the history of this clone starts after the page was written."


@pytest.fixture
def findings_of_stale():
    """Ask what is stale; the report as findings."""

    def ask(repository, *, days=0, every=False, **question):
        now = repository.clock + days * DAY
        with Workspace.open(str(repository.root), clock=lambda: now) as workspace:
            return stale_findings(
                report_stale(workspace.session, Target(**question), every=every), every=every
            )

    return ask


def lines(findings):
    return [f"{f.severity} {f.rule} {f.filepath}:{f.line} {f.message}" for f in findings]


@pytest.fixture
def varied(repository):
    """Pages with every verdict."""
    for name in ("kept", "changed", "deleted", "moved"):
        repository.write(f"src/{name}.py", "".join(f"{name} {n}\n" for n in range(9)))
    repository.page("a.md", "src/kept.py", "src/changed.py", "src/deleted.py", "src/moved.py")
    repository.page("b.md", "src/later.py", "src/never.py")
    repository.write("c.md", "---\nsource_refs:\n  - /x\n---\n")
    repository.write("fine.md", "# Fine\n")
    repository.commit("Begin")
    repository.write("src/changed.py", "other\n")
    repository.remove("src/deleted.py")
    repository.git("mv", "src/moved.py", "src/new.py")
    repository.write("src/later.py", "later\n")
    repository.commit("Change much")
    return repository


def test_findings_of_a_state_are_errors_where_their_source_makes_the_page_stale(
    varied, findings_of_stale
):
    report = findings_of_stale(varied, days=3)
    assert lines(report.findings) == [
        "warning stale-doc a.md:4 src/changed.py was modified 3 days ago.",
        "error missing-source a.md:5 src/deleted.py was deleted.",
        "warning missing-source a.md:6 src/moved.py was moved.",
        "warning stale-doc b.md:3 src/later.py was created 3 days ago, after the page.",
        "error missing-source b.md:4 src/never.py never existed.",
        f"warning bad-front-matter c.md:3 {ABSOLUTE}",
    ]
    assert {finding.severity for finding in findings_of_stale(varied, days=9).findings[:4]} == {
        "error"
    }
    (commit,) = report.findings[0].drift.commits
    assert (commit.subject, report.findings[0].drift.level) == ("Change much", "possibly_stale")
    assert (report.documents, report.ignored, report.debts, report.unknown) == (4, (), (), ())
    assert report.rules == (
        "stale-doc",
        "missing-source",
        "bad-front-matter",
        "obsolete-debt",
        "relaxed-check",
        "stale-translation",
    )


def test_findings_of_a_change_are_errors_and_its_debts_are_notes(varied, findings_of_stale):
    varied.write("src/kept.py", "another\n")
    varied.git("add", "--all")
    change = ["error stale-doc a.md:3 src/kept.py was modified by this change."]
    assert lines(findings_of_stale(varied, staged=True).findings) == change
    assert findings_of_stale(varied, staged=True).debts == ()
    report = findings_of_stale(varied, staged=True, every=True)
    assert lines(report.findings) == change
    assert lines(report.debts)[:2] == [
        "note stale-doc a.md:4 src/changed.py was modified today.",
        "note missing-source a.md:5 src/deleted.py was deleted.",
    ]


def test_unverifiable_source_in_a_shallow_clone_is_not_a_finding(shallow, findings_of_stale):
    report = findings_of_stale(shallow)
    assert (report.findings, report.debts, report.unverified) == ((), (), 1)
    assert lines(report.unknown) == [f"note stale-doc a.md:3 {LOST}"]

"""Branches of proposals and logs that were fetched: whoever wrote them may write anything."""

import json

import pytest

from ubp.core.errors import UsageError
from ubp.edits.changes import append
from ubp.edits.proposals import list_proposals, read_log
from ubp.edits.review import accept, reject, review
from ubp.workspace import Workspace

from .conftest import PAGE

REASON = "Because."


@pytest.fixture
def fetched(project):
    """Make a branch with one commit: `fetched(5, {"docs/auth.md": "text"}, Page='"x"')`."""

    def make(number, files, mode="100644", **trailers):
        head = project.git("rev-parse", "HEAD")
        values = {
            "Proposal": str(number),
            "Base": head,
            "Action": "update",
            "Page": json.dumps(PAGE),
            "Client": "agent 1.0",
            "Session": "s",
        } | trailers
        lines = "".join(f"UBP-{name}: {value}\n" for name, value in values.items())
        project.git("read-tree", "HEAD")
        for path, text in files.items():
            project.write("new", text)
            blob = project.git("hash-object", "-w", "new")
            project.git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        message = f"Update\n\n{REASON}\n\n{lines}"
        tree = project.git("write-tree")
        commit = project.git("commit-tree", tree, "-p", "HEAD", "-m", message)
        project.git("update-ref", f"refs/heads/ubp/proposals/{number}", commit)
        project.git("read-tree", "HEAD")
        (project.root / "new").unlink(missing_ok=True)

    return make


def test_foreign_trailers_give_no_page_and_no_base(project, fetched):
    text = {PAGE: "# New\n"}
    for number, page in enumerate(('"docs/auth.md', "17", "[" * 9999, "9" * 5000, '"../x.md"'), 1):
        fetched(number, text, Page=page)
    for number, base in enumerate(("--output=pwned", "HEAD", "1" * 40, ""), 11):
        fetched(number, text, Base=base)
    fetched(20, text, Action="execute")
    for name in ("0", "01", "\u0663", "9" * 200):
        project.git("update-ref", f"refs/heads/ubp/proposals/{name}", "HEAD")
    with Workspace.open(str(project.root)) as workspace:
        found = {
            proposal.id: proposal.edits[0]
            for proposal in list_proposals(workspace.session.repository)
        }
    assert {number: (edit.action, edit.page) for number, edit in found.items()} == dict.fromkeys(
        (1, 2, 3, 4, 5, 20), ("revise", PAGE)
    )
    assert not (project.root / "pwned").exists()


@pytest.mark.parametrize(
    ("files", "mode", "cause"),
    [
        ({PAGE: "x", "docs/other.md": "y"}, "100644", "None of its edits names it."),
        ({PAGE: "x", ".github/a.md": "y"}, "100644", "Agents may not write files that configure"),
        ({PAGE: "x", "src/auth.py": "y"}, "100644", "The configuration includes no page there"),
        ({PAGE: "/etc/passwd"}, "120000", "It is not a regular file."),
        ({PAGE: "x"}, "100755", "It changes what kind of file this is."),
    ],
)
def test_files_outside_the_edits_and_the_allowed_paths_are_shown_and_not_accepted(
    project, fetched, files, mode, cause
):
    fetched(5, files, mode)
    head = project.git("rev-parse", "HEAD")
    with Workspace.open(str(project.root)) as workspace:
        assert {change.page for change in review(workspace.session, 5).changes} == files.keys()
        with pytest.raises(UsageError, match="and is not accepted") as caught:
            accept(workspace.session, 5)
    assert caught.value.cause.startswith(cause)
    assert project.git("rev-parse", "HEAD") == head
    assert project.git("status", "--porcelain") == ""


def test_log_with_invalid_records_is_read_and_continued(project, fetched):
    fetched(5, {PAGE: "# New\n"})
    tree, parents = project.git("rev-parse", "HEAD^{tree}"), []
    for lines in (
        "UBP-Event: executed\nUBP-Proposal: 1\n",
        "UBP-Event: accepted\nUBP-Proposal: x\n",
        'UBP-Event: accepted\nUBP-Proposal: 2\nUBP-Page: "a.md"\nUBP-Page: [1]\n',
        f"UBP-Event: rejected\nUBP-Proposal: 3\nUBP-Last: {'9' * 5000}\n",
    ):
        commit = project.git("commit-tree", tree, *parents, "-m", f"x\n\nWhy.\n\n{lines}")
        parents = ["-p", commit]
    project.git("update-ref", "refs/ubp/log", commit)
    with Workspace.open(str(project.root)) as workspace:
        reject(workspace.session, 5, "wrong")
        log = [
            (entry.event, entry.proposal, entry.pages)
            for entry in read_log(workspace.session.repository)
        ]
    assert log == [("rejected", 5, (PAGE,)), ("rejected", 3, ()), ("accepted", 2, ("a.md",))]


def test_numbers_in_use_are_skipped(project, propose):
    for number in (1, 2):
        project.git("update-ref", f"refs/heads/ubp/proposals/{number}", "HEAD")
    assert propose(append("More.")).proposal.id == 3


def test_commit_dated_in_the_future_locks_no_page(fetched, propose, monkeypatch):
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@4102444800 +0000")
    fetched(5, {PAGE: "# New\n"})
    assert propose(append("More.")).proposal.pages == (PAGE,)


def test_proposal_after_a_log_with_the_greatest_number_is_listed(project, propose):
    tree = project.git("rev-parse", "HEAD^{tree}")
    text = "x\n\nUBP-Event: accepted\nUBP-Proposal: 5\nUBP-Last: 999999999\n"
    project.git("update-ref", "refs/ubp/log", project.git("commit-tree", tree, "-m", text))
    proposal = propose(append("More.")).proposal.id
    with Workspace.open(str(project.root)) as workspace:
        (listed,) = list_proposals(workspace.session.repository)
    assert listed.id == proposal

"""`ubp proposals`: agents' edits, reviewed by a person."""

import sys

import pytest

from ubp.core.errors import UsageError
from ubp.core.model import FilePath
from ubp.edits import changes
from ubp.edits.model import Agent
from ubp.edits.propose import EditRequest, propose
from ubp.edits.review import PageChange, review, revise
from ubp.output.records import RECORDS
from ubp.workspace import Workspace

PAGE = "docs/a.md"
SCHEMAS = {row.name: row.schema for row in RECORDS}


@pytest.fixture
def valid_record(valid):
    """Hold what a command printed against the schema of its record."""
    return lambda name, answer: valid(SCHEMAS[name], answer.record)


@pytest.fixture
def project(repository):
    """Two pages, and a proposal for each by another session."""
    repository.write(PAGE, "# A\n\nOld.\n")
    repository.write("docs/b.md", "# B\n")
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        for number, page in enumerate((PAGE, "docs/b.md"), 1):
            change = changes.append(f"Text {number}.")
            agent = Agent("claude-code 2.1", f"s{number}")
            propose(
                workspace.session, EditRequest(agent, "update", page, change, f"Reason {number}.")
            )
    return repository


def test_proposals_are_listed_shown_and_decided(project, ubp, valid_record):
    listed = ubp(project, "proposals")
    assert "1  update docs/a.md  claude-code 2.1, " in listed.out
    assert listed.out.endswith("2 open proposals.\nNext: ubp proposals show 1\n")
    record = valid_record("proposals", ubp(project, "proposals", "--json"))
    assert [proposal["id"] for proposal in record["proposals"]] == [1, 2]
    shown = ubp(project, "proposals", "show", "1").out
    assert "update docs/a.md: Reason 1." in shown
    assert "\ndocs/a.md: lists no sources before, lists no sources after\n" in shown
    assert "+Text 1." in shown
    assert valid_record("proposals-show", ubp(project, "proposals", "show", "1", "--json"))
    next_steps = shown.splitlines()[-1]
    at = project.git("rev-parse", "ubp/proposals/1")[:10]
    assert next_steps.startswith(f"Next: ubp proposals accept 1 --at {at}, or ")
    later = ubp(project, "proposals", "accept", "1", "--at", "a" * 10)
    assert later.err.startswith(f"Error: The last edit of proposal 1 is not {'a' * 10}.")
    both = ubp(project, "proposals", "accept", "1", "2", "--at", at)
    assert both.err.startswith("Error: --at requires a single proposal.")
    accepted = ubp(project, "proposals", "accept", "1", "--at", at)
    assert accepted.out == f"Accepted proposal 1 as {project.git('rev-parse', 'HEAD')[:10]}.\n"
    assert (project.root / PAGE).read_text() == "# A\n\nOld.\n\nText 1.\n"
    rejected = ubp(project, "proposals", "reject", "--all", "--reason", "no", "--json")
    assert valid_record("proposals-decisions", rejected)["decisions"][0]["id"] == 2
    assert ubp(project, "proposals").out == "No open proposals.\n"
    log = valid_record("proposals-log", ubp(project, "proposals", "log", "--page", PAGE, "--json"))
    assert [entry["event"] for entry in log["entries"]] == ["accepted", "proposed"]
    assert "rejected 2 by Ann Author: docs/b.md" in ubp(project, "proposals", "log").out
    assert ubp(project, "proposals", "log", "--since", "2999-01-01").out.startswith("Nothing")


def test_reviewer_edits_in_the_configured_editor(project, ubp, monkeypatch):
    program = "import sys; open(sys.argv[1], 'a').write('Mine.')"
    monkeypatch.setenv("GIT_EDITOR", f'{sys.executable} -c "{program}"')
    assert "+Mine." in ubp(project, "proposals", "edit", "1").out
    assert project.git("show", f"ubp/proposals/1:{PAGE}").endswith("Text 1.\nMine.")
    monkeypatch.setenv("GIT_EDITOR", "false")
    assert ubp(project, "proposals", "edit", "1").err.startswith("Error: The editor failed: false.")


def test_proposal_becomes_a_pull_request(project, ubp, valid_record):
    remote = project.root.parent / "remote.git"
    project.git("init", "--quiet", "--bare", str(remote))
    project.git("remote", "add", "origin", str(remote))
    push, create = ubp(project, "proposals", "pr", "1").out.splitlines()
    project.git(*push.split()[1:])
    branch = project.git("-C", str(remote), "rev-parse", "refs/heads/ubp/proposals/1")
    assert branch == project.git("rev-parse", "ubp/proposals/1")
    title = "--title 'update docs/a.md' --body 'Reason 1.'"
    assert create == f"gh pr create --head ubp/proposals/1 {title}"
    assert valid_record("proposals-pr", ubp(project, "proposals", "pr", "1", "--json"))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("show", "9"), "No open proposal 9."),
        (("show", "01"), "'01' is not the number of a proposal."),
        (("accept", "1", "0x1"), "'0x1' is not the number of a proposal."),
        (("edit", "1_0"), "'1_0' is not the number of a proposal."),
        (("accept",), "Expected either proposals or --all."),
        (("reject", "1"), "A rejection needs a reason."),
        (("edit", "1", "docs/b.md"), "Proposal 1 does not change docs/b.md."),
        (("edit", "1", "docs/b.md"), "Cause: Its pages: docs/a.md."),
        (("log", "--since", "soon"), "Invalid --since: soon."),
        (("--interactive",), "--interactive requires a terminal."),
    ],
)
def test_impossible_request_is_explained(tokens, message, project, ubp):
    answer = ubp(project, "proposals", *tokens)
    assert answer.status == 2
    assert message in answer.err


# Decided one by one -------------------------------------------------------------------------------


@pytest.fixture
def deciding(project, dialogue):
    """Run `ubp proposals -i` for somebody who presses these keys."""

    def run(*keys, **options):
        return dialogue(project, ["proposals", "-i"], keys, **options)

    return run


def branches(project):
    return project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/ubp").split()


@pytest.mark.parametrize("key", ["enter", "space", "tab"])
def test_proposals_interactive_enter_accepts_nothing(key, deciding, project):
    head = project.git("rev-parse", "HEAD")
    printed = deciding(key, key, "tab", key, "down", key, key, "q")
    assert printed == "2 proposals left for later.\n"
    assert project.git("rev-parse", "HEAD") == head
    assert branches(project) == ["ubp/proposals/1", "ubp/proposals/2"]


def test_proposals_interactive_decisions_are_applied_when_the_view_is_left(deciding, project):
    printed = deciding("a", "r", "the old text was right", "q", "y")
    head = project.git("rev-parse", "HEAD")
    assert printed == (
        f"Accepted proposal 1 as {head[:10]}.\nRejected proposal 2; `ubp proposals log` keeps it.\n"
    )
    assert (project.root / PAGE).read_text() == "# A\n\nOld.\n\nText 1.\n"
    assert branches(project) == []
    assert "the old text was right" in project.git("log", "-1", "--format=%B", "refs/ubp/log")


@pytest.mark.parametrize(
    "keys",
    [
        ("a", "u", "q"),  # undone
        ("a", "left", "s", "q"),  # back, and left for later
        ("a", "q", "n"),  # discarded
        ("a", "q", "enter", "escape", "u", "q"),  # Enter does not confirm, Esc goes back
        ("r", "escape", "q"),  # no reason, no rejection
        ("a", "r", "escape", "u", "q"),
        ("x", "b", "m", "question_mark", "enter", "q"),  # nothing that these could decide
    ],
)
def test_proposals_interactive_nothing_is_applied(keys, deciding, project):
    assert deciding(*keys) == "2 proposals left for later.\n"
    assert branches(project) == ["ubp/proposals/1", "ubp/proposals/2"]


def test_proposals_interactive_control_c_applies_nothing(deciding, project):
    assert deciding("a", "ctrl+c", status=130) == ""
    assert branches(project) == ["ubp/proposals/1", "ubp/proposals/2"]


def test_proposals_interactive_refused_commit_does_not_keep_others_from_being_applied(
    deciding, project
):
    project.write(PAGE, "# A\n\nMine.\n")  # not committed
    printed = deciding("a", "a", "q", "y", status=2)
    assert printed.startswith("Accepted proposal 2 as ")
    assert printed.endswith("1 proposal left for later.\n")
    assert branches(project) == ["ubp/proposals/1"]


def test_revision_of_a_proposal_that_was_edited_meanwhile_is_refused(project):
    with Workspace.open(str(project.root)) as workspace:
        seen = review(workspace.session, 1).proposal.tip
        first = revise(workspace.session, 1, FilePath(PAGE), b"# Mine\n", seen)
        assert project.git("rev-parse", "ubp/proposals/1") == first
        with pytest.raises(UsageError, match=f"The last edit of proposal 1 is not {seen}"):
            revise(workspace.session, 1, FilePath(PAGE), b"# Other\n", seen)


# What a review shows ------------------------------------------------------------------------------


def test_show_new_file_has_no_old_name(project, ubp):
    with Workspace.open(str(project.root)) as workspace:
        change = changes.create(workspace.session, "# New\n", None, [])
        request = EditRequest(Agent("c", "s"), "create", "docs/new.md", change, "New.")
        result = propose(workspace.session, request)
    diff = "--- /dev/null\n+++ b/docs/new.md\n@@ -0,0 +1 @@\n+# New"
    record = ubp(project, "proposals", "show", "3", "--json").record
    assert (result.diff, record["changes"][0]["diff"]) == (diff, diff)


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        (None, b"", "--- /dev/null\n+++ b/a.md"),
        (b"", None, "--- a/a.md\n+++ /dev/null"),
        (b"a\n", None, "--- a/a.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a"),
        (b"", b"", ""),
        (b"", b"a\n", "--- a/a.md\n+++ b/a.md\n@@ -0,0 +1 @@\n+a"),
    ],
)
def test_diff_absent_file_is_not_an_empty_one(before, after, diff):
    assert PageChange(FilePath("a.md"), before, after).diff == diff


def test_show_file_that_instructs_agents_is_named_in_red(project, ubp, monkeypatch, tmp_path):
    project.write(".ubp/config.json", '{"edit": {"paths": ["AGENTS.md"]}}')
    project.commit()
    with Workspace.open(str(project.root)) as workspace:
        change = changes.create(workspace.session, "# Agents\n", None, [])
        request = EditRequest(Agent("c", "s"), "create", "AGENTS.md", change, "New.")
        propose(workspace.session, request)
    purpose = "Coding agents follow this file as their instructions."
    record = ubp(project, "proposals", "show", "3", "--json").record
    assert record["changes"][0]["purpose"] == purpose
    assert ubp(project, "proposals", "show", "1", "--json").record["changes"][0]["purpose"] is None
    file = tmp_path / "review.html"
    ubp(project, "proposals", "show", "3", "--html", str(file))
    assert f'<p class="advice danger"><b>Warning:</b> {purpose}</p>' in file.read_text()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert f"\x1b[31mAGENTS.md: {purpose}\x1b[0m" in ubp(project, "proposals", "show", "3").out


def test_review_shows_what_changed_in_the_sources_beside_the_edit(repository, ubp, tmp_path):
    repository.write("src/auth.py", "def login():\n    pass\n")
    repository.page("docs/auth.md", "src/auth.py", body="# Auth\n\nCall `login()`.\n")
    repository.commit()
    repository.write("src/auth.py", "def sign_in():\n    pass\n" + "value = 1\n" * 100)
    repository.commit()
    with Workspace.open(str(repository.root)) as workspace:
        agent = Agent("client 1.0", "s", "some-model", "Repair <the> page")
        change = changes.replace(workspace.session, "# Auth\n\nCall `sign_in()`.\n")
        request = EditRequest(agent, "update", "docs/auth.md", change, "It was renamed.")
        propose(workspace.session, request)
    shown = ubp(repository, "proposals", "show", "1").out
    source, edit = shown.split("Edit of docs/auth.md:")
    assert "\nTask: Repair <the> page\n" in source
    assert "Why: src/auth.py modified; the page names login\n" in source
    assert "\n-def login():\n" in source
    assert "more lines: ubp stale --diff docs/auth.md" in source
    assert "\n+Call `sign_in()`." in edit
    file = tmp_path / "review.html"
    ubp(repository, "proposals", "show", "1", "--html", str(file))
    html = file.read_text()
    assert "<del>-def login():</del>" in html
    assert "task: Repair &lt;the&gt; page" in html

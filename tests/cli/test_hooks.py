"""What a hook assesses: an amended commit, a range, the whole state; and its printed commands.

The hooks are shell scripts that git runs; pre-commit is represented by its variables.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

UBP = Path(sys.executable).parent / "ubp"


@pytest.fixture
def project(repository, at):
    for name in ("auth", "billing"):
        repository.write(f"src/{name}.py", f"{name}\n")
        repository.page(f"docs/{name}.md", f"src/{name}.py")
    repository.commit("Begin")
    at(repository)
    return repository


@pytest.fixture
def commit(project):
    """Commit as a user does, with `ubp stale --staged` as the hook; the status and the output."""
    hook = project.root / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec {UBP} stale --staged --alarms any\n")
    hook.chmod(0o755)

    def attempt(*args):
        done = subprocess.run(
            ["git", "commit", "--quiet", *args],
            cwd=project.root,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return attempt


def shell(project, command):
    """Run a printed command in a shell that finds this `ubp`."""
    path = f"{UBP.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=project.root, env={**os.environ, "PATH": path}, check=False
    )
    return done.returncode


def last_line(output):
    return output.rstrip().rpartition("\n")[2].strip()


def test_after_commit_all_the_printed_command_pins_what_was_to_be_committed(project, commit):
    project.write("src/auth.py", "changed\n")
    status, output = commit("-a", "-m", "Change")
    command = "git add -u && ubp ack --staged docs/auth.md"
    assert (status, last_line(output)) == (1, command)
    assert shell(project, command) == 0
    assert commit("-m", "Change")[0] == 0


def test_after_commit_path_the_printed_command_stages_that_path_alone(project, commit):
    project.write("src/auth.py", "changed\n")
    project.write("src/billing.py", "changed\n")
    status, output = commit("-m", "Change", "src/auth.py")
    command = "git add src/auth.py && ubp ack --staged docs/auth.md"
    assert (status, last_line(output)) == (1, command)
    assert shell(project, command) == 0
    assert project.git("diff", "--cached", "--name-only").split() == ["docs/auth.md", "src/auth.py"]


def test_ack_of_staged_changes_fails_where_nothing_is_staged(project, ubp):
    project.write("src/auth.py", "changed\n")
    answer = ubp(project, "ack", "--staged", "docs/auth.md")
    assert answer.status == 2
    assert "Nothing is staged." in answer.err
    assert "git add -u" in answer.err


def test_command_for_many_pages_is_complete_and_erases_no_older_staleness(project, ubp):
    for number in range(7):
        project.page(f"docs/many-{number}.md", "src/auth.py", "src/billing.py")
    project.commit("Describe")
    project.write("src/billing.py", "drifted\n")
    project.commit("Drift")
    project.write("src/auth.py", "changed\n")
    project.git("add", "--all")
    answer = ubp(project, "stale", "--staged")
    assert (answer.status, last_line(answer.out)) == (1, "ubp ack --staged --all")
    assert ubp(project, "ack", "--staged", "--all").status == 0
    assert ubp(project, "stale", "--staged").status == 0
    project.commit("Change")
    stale = {
        reference["source_path"]
        for document in ubp(project, "stale", "--json").record["documents"]
        for reference in document["references"]
        if reference["verdict"] != "fresh"
    }
    assert stale == {"src/billing.py"}


def test_ack_of_a_branch_pins_only_what_the_branch_made_stale(project, ubp):
    project.page("docs/both.md", "src/auth.py", "src/billing.py")
    project.commit("Describe")
    project.write("src/billing.py", "drifted\n")
    project.commit("Drift")
    project.git("checkout", "--quiet", "-b", "topic")
    project.write("src/auth.py", "changed\n")
    project.commit("Change")
    answer = ubp(project, "stale", "--base", "main")
    command = "ubp ack --base main docs/auth.md docs/both.md"
    assert (answer.status, last_line(answer.out)) == (1, command)
    assert ubp(project, *command.split()[1:]).status == 0
    project.commit("Acknowledge")
    assert ubp(project, "stale", "--base", "main").status == 0
    text = (project.root / "docs/both.md").read_text()
    assert project.blob("src/auth.py")[:12] in text
    assert project.blob("src/billing.py")[:12] not in text
    stale = ubp(project, "stale", "docs/both.md").out
    assert "src/auth.py" not in stale
    assert "src/billing.py  modified" in stale


def test_moved_source_is_fixed_in_its_page_with_the_printed_command(project, ubp):
    project.git("mv", "src/billing.py", "src/bills.py")
    project.commit("Move another source")
    project.git("mv", "src/auth.py", "src/login.py")
    command = "ubp check --fix docs/auth.md"
    stale = ubp(project, "stale", "--staged").out
    assert stale.endswith(
        f"To write the new paths of sources that moved: {command}\n"
        "Edit it and `git add` it: update or remove the references to missing sources.\n"
    )
    assert f"  {command}  fixes 1 of them\n" in ubp(project, "check", "--staged").out
    project.commit("Move")
    assert f"  {command}   write the new path" in ubp(project, "stale", "docs/auth.md").out
    assert ubp(project, *command.split()[1:]).out.startswith("docs/auth.md:3  src/auth.py -> ")
    assert project.git("status", "--short") == "M docs/auth.md"


def test_amended_commit_is_assessed_as_the_commit_that_it_becomes(project, commit):
    project.write("src/auth.py", "changed\n")
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    assert commit("-a", "-m", "Change both")[0] == 0
    project.write("src/auth.py", "changed a little more\n")
    project.git("add", "src/auth.py")
    assert commit("-m", "Forget the page")[0] == 1
    assert commit("--amend", "--no-edit")[0] == 0
    project.git("checkout", "--quiet", "HEAD~1", "--", "docs/auth.md")
    status, output = commit("--amend", "--no-edit")
    assert status == 1
    assert "This amended commit makes 1 page stale." in output
    assert shell(project, last_line(output)) == 0
    assert commit("--amend", "--no-edit")[0] == 0


def test_root_commit_can_be_amended(project, commit, ubp):
    project.write("src/auth.py", "changed\n")
    assert commit("-a", "--amend", "--no-edit")[0] == 0
    project.page("docs/auth.md", "src/none.py")
    assert commit("-a", "--amend", "--no-edit")[0] == 1
    assert ubp(project, "check", "--staged", "--amend").status == 0
    assert ubp(project, "check", "--amend").status == 2


def test_message_says_what_to_run_where_amending_is_unknown(project, ubp, monkeypatch):
    monkeypatch.setattr("ubp.cli.hooks._is_amending", lambda: None)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    project.write("src/auth.py", "changed\n")
    project.git("add", "--all")
    for command in ("stale", "check"):
        answer = ubp(project, command, "--staged")
        advice = "If you are amending a commit, judge it with: ubp stale --staged --amend"
        assert (answer.status, last_line(answer.out)) == (1, advice)


@pytest.mark.parametrize("command", ["stale", "check"])
def test_pre_commit_with_all_files_assesses_the_whole_state(project, ubp, monkeypatch, command):
    project.write("src/auth.py", "changed\n")
    project.commit("Drift")
    monkeypatch.setenv("UBP_NOW", str(project.clock + 30 * 86_400))
    assert ubp(project, command, "--staged").status == 0, "by hand nothing is staged"
    monkeypatch.setenv("PRE_COMMIT", "1")
    answer = ubp(project, command, "--staged")
    assert answer.status == 1
    assert "docs/auth.md" in answer.out
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.root / ".git/index"))
    assert ubp(project, command, "--staged").status == 0, "an empty commit is in the making"


@pytest.mark.parametrize("command", ["stale", "check"])
def test_pre_commit_with_two_revisions_assesses_their_range(project, ubp, monkeypatch, command):
    start = project.head()
    project.write("src/auth.py", "changed\n")
    middle = project.commit("Drift")
    project.write("other.txt", "x\n")
    project.commit("Other")
    monkeypatch.setenv("PRE_COMMIT", "1")
    for first, last, status in ((start, middle, 1), (middle, "HEAD", 0), (start, "HEAD", 1)):
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", first)
        monkeypatch.setenv("PRE_COMMIT_TO_REF", last)
        assert ubp(project, command, "--staged").status == status


@pytest.mark.parametrize("command", ["stale", "check"])
def test_past_change_is_assessed_without_checking_it_out(project, ubp, command):
    start = project.head()
    project.write("src/auth.py", "changed\n")
    project.commit("Drift")
    project.page("docs/auth.md", "src/auth.py", body="Rewritten.\n")
    project.write("src/billing.py", "changed\n")
    project.commit("Repair one and break another")
    answer = ubp(project, command, "--base", start, "--ref", "HEAD~1")
    assert answer.status == 1
    sentence = f"The change from {start[:10]} to HEAD~1 "
    assert sentence in answer.out
    assert "docs/auth.md" in answer.out
    assert "docs/billing.md" not in answer.out
    assert "ubp ack" not in answer.out, "the past cannot be acknowledged"
    assert "docs/billing.md" in ubp(project, command, "--base", "HEAD~1", "--ref", "HEAD").out


def test_unverified_source_is_a_warning_in_hooks_and_undetermined_elsewhere(
    project, new_repository, ubp, monkeypatch
):
    project.write("other.txt", "x\n")
    project.commit("Other")
    clone = new_repository("shallow")
    clone.git("fetch", "--quiet", "--depth=1", f"file://{project.root}", "main")
    clone.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    assert ubp(clone, "stale").status == 2
    monkeypatch.setenv("PRE_COMMIT", "1")
    answer = ubp(clone, "stale", "--staged")
    assert answer.status == 0
    assert "could not be verified" in answer.out

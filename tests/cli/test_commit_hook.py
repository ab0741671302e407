"""`ubp init --commit-hook`: the prepare-commit-msg hook, by git itself."""

import json
import os
import sys

import pytest

from ubp.__main__ import main

PLACE = ".git/hooks/prepare-commit-msg"


@pytest.fixture
def project(repository):
    """A page whose source has changed."""
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit("page")
    repository.write("src/a.py", "a2\n")
    repository.commit("drift")
    return repository


@pytest.fixture
def init(project, capsys):
    """Run `ubp init --commit-hook`; return what it says of the hook."""

    def run(*options):
        root = str(project.root)
        words = ["-C", root, "--json", "init", "--skip-embedding", "--commit-hook", *options]
        assert main(words) == 0
        return json.loads(capsys.readouterr().out)["commit_hook"]

    return run


def test_hook_is_shown_and_not_written_without_consent(project, init):
    hook = init()
    assert (hook["path"], hook["state"]) == (PLACE, "proposed")
    assert "ack --commit-message" in hook["text"]
    assert not (project.root / PLACE).exists()


def test_hook_that_init_writes_adds_the_reason_to_the_commit(project, init, capsys, monkeypatch):
    folder = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert init("--yes")["state"] == "written"
    assert os.access(project.root / PLACE, os.X_OK)
    assert main(["-C", str(project.root), "ack", "docs/a.md", "--reason", "a comment"]) == 0
    assert "The next commit's message will have:" in capsys.readouterr().out
    project.git("commit", "-qam", "reviewed")
    message = project.git("log", "-1", "--format=%B").strip()
    assert message == "reviewed\n\nUBP-Reviewed: docs/a.md: a comment"


def test_existing_hook_is_left_as_it_is(project, init):
    file = project.root / PLACE
    file.parent.mkdir(exist_ok=True)
    file.write_text("#!/bin/sh\n")
    assert init("--yes")["state"] == "exists"
    assert file.read_text() == "#!/bin/sh\n"


def test_dangling_link_is_an_existing_hook(project, init, tmp_path):
    file = project.root / PLACE
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(tmp_path / "target")
    assert init("--yes")["state"] == "exists"
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("inside", [True, False])
def test_nothing_is_written_where_hooks_are_elsewhere(project, init, tmp_path, inside):
    folder = project.root / ".husky" if inside else tmp_path / "hooks"
    project.git("config", "core.hooksPath", str(folder))
    assert init("--yes")["state"] == "elsewhere"
    assert not folder.exists()


def test_project_with_pre_commit_is_shown_its_hook(project, init):
    project.write(".pre-commit-config.yaml", "repos: []\n")
    hook = init("--yes")
    assert (hook["path"], hook["state"]) == (".pre-commit-config.yaml", "elsewhere")
    assert "stages: [prepare-commit-msg]" in hook["text"]
    assert not (project.root / PLACE).exists()


def test_snippet_of_a_linked_work_tree_names_the_hook_that_git_runs_there(
    project, tmp_path, capsys
):
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert main(["-C", str(tmp_path / "linked"), "init", "--skip-embedding"]) == 0
    place = os.path.realpath(project.root / PLACE)
    assert f"-- reasons in commit messages: {place}, executable" in capsys.readouterr().out


def test_hook_of_a_linked_work_tree_is_the_one_of_the_repository(project, tmp_path, capsys):
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert main(["-C", str(tmp_path / "linked"), "init", "--commit-hook", "--yes"]) == 0
    assert "(written)" in capsys.readouterr().out
    assert (project.root / PLACE).exists()

"""Accepting a proposal: files of the work tree are never lost, whatever Git says of them."""

import json
import os
import stat
import subprocess
import sys

import pytest

from ubp.core.errors import BadArgumentError, RepositoryError, UsageError
from ubp.core.model import FilePath
from ubp.edits import changes
from ubp.edits.model import Agent
from ubp.edits.proposals import list_proposals, read_log
from ubp.edits.propose import EditRequest
from ubp.edits.propose import propose as propose_edit
from ubp.edits.review import accept, reject
from ubp.edits.special_files import purpose_of
from ubp.workspace import Workspace

PAGE = "docs/auth.md"
NEW = "docs/new/n.md"


def snapshot_of(repository):
    """All that accepting could change: files, modes, folders, links, the index with its flags."""
    paths = {}
    for folder, folders, files in os.walk(repository.root):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            data = None
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    data = file.read()
            paths[path] = status.st_mode, data
    index = repository.git("ls-files", "-v", "--stage")
    return paths, index, repository.git("rev-parse", "HEAD")


@pytest.fixture
def proposed(project, propose, workspace):
    """Proposal 1 changes `docs/auth.md` and creates `docs/new/n.md`."""
    propose(changes.append("Agent."))
    change = changes.create(workspace.session, "# N\n", None, [])
    propose(change, NEW, "create", proposal=1)
    return project


def ignored(project, path):
    project.write(".gitignore", f"{path}\n")
    project.git("add", ".gitignore")
    project.git("commit", "-qm", "Ignore")


def excluded(project, path):
    project.write(".git/info/exclude", f"{path}\n")


def ignored_by_the_user(project, path):
    project.write(".git/ignored", f"{path}\n")
    project.git("config", "core.excludesFile", str(project.root / ".git/ignored"))


def unlisted(project, _path):
    project.git("config", "status.showUntrackedFiles", "no")


def untracked(_project, _path):
    pass


@pytest.mark.parametrize("prepare", [ignored, excluded, ignored_by_the_user, unlisted, untracked])
@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe", "folder is a file"])
def test_accept_what_is_in_place_of_a_new_page_is_named_and_kept(
    prepare, kind, proposed, workspace
):
    prepare(proposed, "docs/new")
    target = proposed.root / NEW
    if kind == "folder is a file":
        proposed.write("docs/new", "mine\n")
    else:
        target.parent.mkdir()
    if kind == "file":
        target.write_bytes(b"mine\n")
    elif kind == "folder":
        proposed.write(f"{NEW}/mine.md", "mine\n")
    elif kind == "link":
        target.symlink_to("../other.md")
    elif kind == "pipe":
        os.mkfifo(target)
    before = snapshot_of(proposed)
    with pytest.raises(UsageError, match="docs/new"):
        accept(workspace.session, 1)
    assert snapshot_of(proposed) == before


def test_accept_folder_that_is_a_link_is_kept(proposed, workspace, tmp_path):
    proposed.write(".git/info/exclude", "docs/new\n")
    (proposed.root / "docs/new").symlink_to(tmp_path)
    before = snapshot_of(proposed)
    with pytest.raises(UsageError, match=f"{NEW} cannot be replaced") as error:
        accept(workspace.session, 1)
    assert error.value.cause == "docs/new is not a folder in the work tree."
    assert snapshot_of(proposed) == before


@pytest.mark.parametrize("flags", [["skip-worktree"], ["assume-unchanged"]])
@pytest.mark.parametrize("size", ["same", "other"])
def test_accept_changed_file_that_git_does_not_look_at_is_named_and_kept(
    flags, size, proposed, workspace
):
    for flag in flags:
        proposed.git("update-index", f"--{flag}", PAGE)
    text = (proposed.root / PAGE).read_text()
    proposed.write(PAGE, text.replace("Old.", "Own." if size == "same" else "My own."))
    before = snapshot_of(proposed)
    with pytest.raises(UsageError, match="not committed") as error:
        accept(workspace.session, 1)
    assert error.value.message.startswith(PAGE)
    assert snapshot_of(proposed) == before


def test_accept_changed_file_with_the_old_size_and_time_is_kept(proposed, workspace):
    target = proposed.root / PAGE
    proposed.git("config", "core.checkStat", "minimal")
    proposed.git("config", "core.trustctime", "false")
    os.utime(target, (1_700_000_000, 1_700_000_000))
    proposed.git("status")
    target.write_text(target.read_text().replace("Old.", "Own."))
    os.utime(target, (1_700_000_000, 1_700_000_000))
    assert proposed.git("status", "--short") == ""
    before = snapshot_of(proposed)
    with pytest.raises(UsageError, match="not committed"):
        accept(workspace.session, 1)
    assert snapshot_of(proposed) == before


def hook_fails(project):
    script = "#!/bin/sh\necho hook >> docs/auth.md\necho x > docs/new/n.md\nexit 1\n"
    project.write(".git/hooks/pre-commit", script).chmod(0o755)


def signature_fails(project):
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "gpg.program", "false")


def nobody_commits(project):
    hook = project.write(".git/hooks/commit-msg", "#!/bin/sh\nrm -r docs/new\nexit 1\n")
    hook.chmod(0o755)


def nothing(_project):
    pass


def same_bytes_ignored(project):
    excluded(project, NEW)
    project.write(NEW, "# N\n").chmod(0o600)


def empty_folder(project):
    (project.root / "docs/new").mkdir()


def private_file(project):
    (project.root / PAGE).chmod(0o600)


def own_line_ends(project):
    project.git("config", "core.autocrlf", "input")
    target = project.root / PAGE
    target.write_bytes(target.read_bytes().replace(b"\n", b"\r\n"))
    project.git("add", PAGE)


def flagged(project):
    project.git("update-index", "--skip-worktree", PAGE)
    project.git("update-index", "--assume-unchanged", PAGE)


def not_checked_out(project):
    project.git("update-index", "--skip-worktree", PAGE)
    project.remove(PAGE)


def other_staged(project):
    project.write("src/b.py", "b = 1\n")
    project.git("add", "src/b.py")


STATES = [
    *(nothing, same_bytes_ignored, empty_folder, private_file),
    *(own_line_ends, flagged, not_checked_out, other_staged),
]


@pytest.mark.parametrize("fail", [hook_fails, signature_fails, nobody_commits])
@pytest.mark.parametrize("state", STATES)
def test_accept_failed_commit_puts_back_what_there_was(fail, state, proposed, workspace):
    state(proposed)
    fail(proposed)
    before = snapshot_of(proposed)
    with pytest.raises(RepositoryError, match="nothing has changed"):
        accept(workspace.session, 1)
    assert snapshot_of(proposed) == before
    assert [proposal.id for proposal in list_proposals(workspace.session.repository)] == [1]


def test_accept_interrupted_commit_puts_back_what_there_was(proposed, workspace, monkeypatch):
    def interrupt(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ubp.edits.review.commit_with_hooks", interrupt)
    before = snapshot_of(proposed)
    with pytest.raises(KeyboardInterrupt):
        accept(workspace.session, 1)
    assert snapshot_of(proposed) == before


def test_accept_where_a_hook_kills_git_keeps_the_files_and_says_how_to_unlock_the_index(
    proposed, workspace
):
    files, index, head = snapshot_of(proposed)
    proposed.write(".git/hooks/pre-commit", "#!/bin/sh\nkill -9 $PPID\n").chmod(0o755)
    with pytest.raises(RepositoryError, match="but it is staged") as raised:
        accept(workspace.session, 1)
    assert snapshot_of(proposed)[0] == files
    for command in raised.value.hint.partition(": ")[2].split("; then: "):
        subprocess.run(command, shell=True, check=True, cwd=proposed.root)
    assert snapshot_of(proposed) == (files, index, head)


def test_accept_and_reject_at_once_only_one_decides(proposed, workspace):
    hook = f"#!/bin/sh\n{sys.executable} -m ubp proposals reject 1 --reason no 2>.git/refused\n"
    proposed.write(".git/hooks/pre-commit", f"{hook}test $? = 2\n").chmod(0o755)
    commit = accept(workspace.session, 1)
    assert "is deciding about proposal 1" in (proposed.root / ".git/refused").read_text()
    assert [(entry.event, entry.accepted_as) for entry in read_log(workspace.session.repository)][
        :2
    ] == [("accepted", commit), ("proposed", None)]
    with pytest.raises(UsageError, match="No open proposal 1"):
        reject(workspace.session, 1, "no")


@pytest.mark.parametrize("state", STATES)
def test_accept_files_without_changes_are_replaced(state, proposed, workspace):
    state(proposed)
    flags = proposed.git("ls-files", "-v", PAGE)
    accept(workspace.session, 1)
    assert (proposed.root / PAGE).read_bytes().rstrip().endswith(b"Agent.")
    assert (proposed.root / NEW).read_text() == "# N\n"
    if state is not not_checked_out:
        assert proposed.git("ls-files", "-v", PAGE) == flags
    assert proposed.git("status", "--short", "docs") == ""


# Files that do more than inform -------------------------------------------------------------------

INSTRUCTIONS = [
    *("CLAUDE.md", "claude.md", "docs/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "Agents.MD"),
    *("AGENTS.override.md", "GEMINI.md", "SKILL.md", "skills/x/SKILL.md", "SKILL.mdx"),
    *(".claude/commands/x.md", ".claude/agents/x.md", "docs/.Claude/x.md", ".cursor/rules/x.md"),
    *(".clinerules/x.md", ".windsurf/rules/x.md", ".kiro/steering/x.md", ".future-agent/x.md"),
    *("PULL_REQUEST_TEMPLATE.md", "docs/pull_request_template.md", "ISSUE_TEMPLATE/bug.md"),
    *("docs/PULL_REQUEST_TEMPLATE/x.md", "docs/x.instructions.md", "docs/x.prompt.md", ".x.md"),
]


def allow(repository, *paths):
    repository.write(".ubp/config.json", json.dumps({"edit": {"paths": paths}}))
    repository.commit()


def create(repository, path):
    with Workspace.open(str(repository.root)) as opened:
        change = changes.create(opened.session, "# X\n", None, [])
        return propose_edit(
            opened.session, EditRequest(Agent("c", "s"), "create", path, change, "New.")
        )


@pytest.mark.parametrize("path", INSTRUCTIONS)
@pytest.mark.parametrize("paths", [[], ["**"], ["docs", "skills", "*.md"], ["**/*", ".*/**"]])
def test_propose_special_file_that_no_setting_names_is_refused(path, paths, project):
    allow(project, *paths)
    with pytest.raises(BadArgumentError, match="may not write"):
        create(project, path)


@pytest.mark.parametrize("folder", [".gitea", ".forgejo"])
def test_propose_folder_of_a_forge_is_refused_even_if_named(folder, project):
    allow(project, folder)
    with pytest.raises(BadArgumentError, match="may not write") as error:
        create(project, f"{folder}/x.md")
    assert "the forge" in error.value.cause


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("CLAUDE.md", "CLAUDE.md"),
        ("docs/AGENTS.md", "docs/AGENTS.md"),
        (".claude/commands/x.md", ".claude"),
        (".claude/commands/x.md", ".claude/commands/**"),
        ("ISSUE_TEMPLATE/bug.md", "ISSUE_TEMPLATE/bug.md"),
    ],
)
def test_propose_special_file_that_a_setting_names_is_accepted_with_a_warning(path, name, project):
    allow(project, name)
    assert create(project, path).warnings == (purpose_of(FilePath(path)),) != ("",)


@pytest.mark.parametrize(
    "path",
    ["docs/claude-setup.md", "docs/agents/index.md", "docs/skills.md", "my-agents.md", "a.b.md"],
)
def test_purpose_ordinary_page_has_none(path):
    assert purpose_of(FilePath(path)) == ""

"""The hook, by pre-commit itself, installed from a repository with the files of this checkout."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = Path(sys.executable).parent
PUBLISHED = ("ubp", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".pre-commit-hooks.yaml").exists(), reason="not a checkout"),
]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The store of a pre-commit that has installed the hook (20 s, once for all workers)."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "pre-commit"
    with FileLock(f"{shared}.lock"):
        if not (shared / "done").exists():
            publish(shared / "ubp")
            sample = shared / "sample"
            sample.mkdir()
            git(sample, "init", "--quiet")
            configure(sample, shared)
            run(sample, "pre-commit", "install-hooks", env=environment(shared))
            (shared / "done").touch()
    return shared


def publish(folder):
    """A repository of its own with one commit: the published files as they are now."""
    folder.mkdir(parents=True)
    for name in PUBLISHED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Publish")


def configure(project, shared, hook="ubp-stale"):
    revision = git(shared / "ubp", "rev-parse", "HEAD").strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {shared / 'ubp'}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n"
    )


def environment(shared):
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    quickly = {"PIP_COMPILE": "0"}  # half of the time, for modules that are hardly imported
    return {**os.environ, **quickly, "PATH": path, "PRE_COMMIT_HOME": str(shared / "store")}


def git(folder, *args):
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    return run(folder, "git", *identity, *args)


def run(folder, *command, env=None):
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(repository, installed):
    """A project with the hook, a page and its source committed."""
    configure(repository.root, installed)
    run(
        repository.root,
        *("pre-commit", "install", "--hook-type", "pre-commit", "--hook-type", "pre-merge-commit"),
        env=environment(installed),
    )
    repository.write("src/session.py", "ttl = 30\n")
    repository.write("src/other.py", "1\n")
    repository.page("docs/session.md", "src/session.py", body="A session lives 30 minutes.\n")
    repository.commit("Begin")
    return repository


@pytest.fixture
def commit(project, installed):
    """Commit as a user does, with the hook; return the exit status and the hook's output."""

    def attempt(*args, command="commit"):
        done = subprocess.run(
            ["git", command, "--quiet", *args],
            cwd=project.root,
            env=environment(installed),
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stdout + done.stderr).splitlines(keepends=True)
        # pre-commit prints where it keeps unstaged changes: a file name with a time in it.
        return done.returncode, "".join(line for line in said if not line.startswith("["))

    return attempt


STOPPED = """\
stale documentation......................................................Failed
- hook id: ubp-stale
- exit code: 1

docs/session.md:3  now stale
  src/session.py  {verdict} by this commit
    `30` (line 5) is {participle} by this commit.

This commit makes 1 page stale.
{advice}
"""
EDIT_OR_ACK = (
    "Edit it and `git add` it, or if it is still accurate:\n"
    "  {staging}ubp ack --staged docs/session.md\n"
)


def modified(staging=""):
    advice = EDIT_OR_ACK.format(staging=staging)
    return STOPPED.format(verdict="modified", participle="removed", advice=advice)


MODIFIED = modified()
DELETED = STOPPED.format(
    verdict="deleted",
    participle="removed",
    advice="Edit it and `git add` it: update or remove the references to missing sources.\n",
)


def test_source_without_its_page_is_stopped(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    assert commit("-m", "Shorten") == (1, MODIFIED)


def test_source_with_its_page_passes(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    project.page("docs/session.md", "src/session.py", body="A session lives 15 minutes.\n")
    project.git("add", "--all")
    assert commit("-m", "Shorten")[0] == 0


def test_warn_only_hook_shows_the_stale_page_and_passes(project, commit):
    # as docs/guide/ci.md recommends
    configuration = project.root / ".pre-commit-config.yaml"
    options = "        args: [--fail-on, never]\n        verbose: true\n"
    configuration.write_text(configuration.read_text() + options)
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    status, said = commit("-m", "Shorten")
    assert status == 0
    assert "docs/session.md:3  now stale\n" in said


def test_acknowledged_page_passes(project, commit, spawn):
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    assert commit("-m", "Shorten")[0] == 1
    command = MODIFIED.splitlines()[-2].split()
    assert spawn(project, *command[1:]).returncode == 0
    assert commit("-m", "Shorten")[0] == 0
    assert project.git("status", "--short") == ""


def test_commit_that_only_deletes_is_stopped(project, commit):
    project.git("rm", "--quiet", "src/session.py")
    assert commit("-m", "Delete") == (1, DELETED)


def test_page_deleted_with_its_source_passes(project, commit):
    project.git("rm", "--quiet", "src/session.py", "docs/session.md")
    assert commit("-m", "Delete")[0] == 0


def test_commit_all_is_assessed_by_what_it_commits(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    assert commit("--all", "-m", "Shorten") == (1, modified("git add -u && "))
    project.page("docs/session.md", "src/session.py", body="A session lives 15 minutes.\n")
    assert commit("--all", "-m", "Shorten")[0] == 0


def test_commit_path_is_assessed_by_what_it_commits(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    project.write("src/other.py", "2\n")
    project.page("docs/session.md", "src/session.py", body="A session lives 15 minutes.\n")
    project.git("add", "--all")
    assert commit("-m", "Shorten", "src/session.py") == (
        1,
        modified("git add src/session.py && "),
    )
    assert commit("-m", "Change other", "src/other.py")[0] == 0
    assert commit("-m", "Shorten", "src/session.py", "docs/session.md")[0] == 0


def test_merge_is_not_blamed_for_changes_of_its_parents(project, commit):
    project.git("checkout", "--quiet", "-b", "topic")
    project.write("src/session.py", "ttl = 15\n")
    project.page("docs/session.md", "src/session.py", body="A session lives 15 minutes.\n")
    project.commit("Shorten")
    project.git("checkout", "--quiet", "main")
    project.write("src/other.py", "2\n")
    project.commit("Change other")
    assert commit("--no-ff", "--no-edit", "topic", command="merge")[0] == 0


def test_merge_that_changes_a_source_itself_is_stopped(project, commit):
    project.git("checkout", "--quiet", "-b", "topic")
    project.write("src/other.py", "2\n")
    project.commit("Change other")
    project.git("checkout", "--quiet", "main")
    project.write("src/more.py", "1\n")
    project.commit("Add more")
    project.git("merge", "--quiet", "--no-commit", "--no-ff", "topic")
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    assert commit("--no-edit") == (1, MODIFIED)


CHECKED = """\
documentation............................................................Failed
- hook id: ubp-check
- exit code: 1

docs/session.md:3  error  stale-doc: src/session.py was modified by this change. \
`30` (line 5) is removed.
  Update the page, or acknowledge it as still accurate.
index.md:1:1  error  broken-link: docs/login.md does not exist.

This commit introduces 2 errors in 2 of 2 pages.
Next:
  ubp explain stale-doc             explains the rule and how to ignore it
  ubp ack --staged docs/session.md  if still accurate

"""


def test_check_hook_stops_both_broken_links_and_stale_pages(project, commit, installed):
    project.write("docs/login.md", "# Signing in\n")
    project.write("index.md", "[Signing in](docs/login.md), [old](old.md)\n")
    configure(project.root, installed, "ubp-check")
    project.commit("Link")
    project.remove("docs/login.md")
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    assert commit("-m", "Break both") == (1, CHECKED)
    project.write("index.md", "[old](old.md)\n")
    project.page("docs/session.md", "src/session.py", body="It lives 15 minutes.\n")
    project.git("add", "--all")
    assert commit("-m", "Mend both")[0] == 0


def test_first_commit_passes(new_repository, installed):
    first = new_repository("first")
    configure(first.root, installed)
    run(first.root, "pre-commit", "install", env=environment(installed))
    first.write("src/a.py", "1\n")
    first.page("docs/a.md", "src/a.py")
    first.git("add", "--all")
    run(first.root, "git", "commit", "--quiet", "-m", "Begin", env=environment(installed))


def test_unstaged_page_does_not_count_and_is_kept(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    project.git("add", "--all")
    page = project.page("docs/session.md", "src/session.py", body="It lives 15 minutes.\n")
    project.write("src/session.py", "ttl = 15\n# more to come\n")
    assert commit("-m", "Shorten") == (1, MODIFIED)
    assert page.read_text().endswith("It lives 15 minutes.\n")
    project.git("add", "docs/session.md")
    assert commit("-m", "Shorten")[0] == 0
    assert project.git("status", "--short") == "M src/session.py"


def test_unrelated_commit_passes(project, commit):
    project.write("src/other.py", "2\n")
    project.git("add", "--all")
    assert commit("-m", "Change other")[0] == 0


def test_old_debt_stops_no_other_commit(project, commit):
    project.write("src/session.py", "ttl = 15\n")
    project.commit("Shorten, past the hook")
    project.write("src/other.py", "2\n")
    project.git("add", "--all")
    assert commit("-m", "Change other")[0] == 0


def test_local_hook_that_init_prints_works(repository, spawn, installed):
    answer = spawn(repository, "init", "--yes", "--json")
    (snippet,) = (
        snippet
        for snippet in json.loads(answer.stdout)["snippets"]
        if snippet["name"] == "pre-commit-local"
    )
    repository.write(".pre-commit-config.yaml", snippet["text"])
    repository.write("src/session.py", "ttl = 30\n")
    repository.page("docs/session.md", "src/session.py", body="A session lives 30 minutes.\n")
    repository.commit("Begin")
    run(repository.root, "pre-commit", "install", env=environment(installed))
    repository.write("src/session.py", "ttl = 15\n")
    repository.git("add", "--all")
    done = subprocess.run(
        ["git", "commit", "-m", "Shorten"],
        cwd=repository.root,
        env=environment(installed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "docs/session.md:3  error  stale-doc: src/session.py was modified by this" in done.stderr
    assert "`30` (line 5) is removed." in done.stderr


@pytest.fixture
def push(repository, installed, tmp_path):
    """Push as a user does, to a remote that is a bare repository, with the hook for pushes."""
    configure(repository.root, installed, "ubp-check-push")
    remote = tmp_path / "remote.git"
    run(tmp_path, "git", "init", "--quiet", "--bare", str(remote))
    repository.git("remote", "add", "origin", str(remote))
    hook = ("pre-commit", "install", "--hook-type", "pre-push")
    run(repository.root, *hook, env=environment(installed))

    def attempt(*refs):
        done = subprocess.run(
            ["git", "push", "--quiet", "origin", *refs],
            cwd=repository.root,
            env=environment(installed),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return attempt


PUSHED = """\
documentation............................................................Failed
- hook id: ubp-check-push
- exit code: 1

docs/session.md:3  error  stale-doc: src/session.py was modified by this change. \
`30` (line 5) is removed.
  Update the page, or acknowledge it as still accurate.

This branch (since {start}) introduces 1 error in 1 of 2 pages.
Next:
  ubp explain stale-doc    explains the rule and how to ignore it
  ubp ack docs/session.md  if still accurate

"""


def test_push_is_assessed_by_its_new_commits(repository, push):
    repository.write("src/session.py", "ttl = 30\n")
    repository.page("docs/session.md", "src/session.py", body="It lives 30 minutes.\n")
    repository.write("index.md", "[gone](docs/gone.md)\n")
    start = repository.commit("Begin")
    status, output = push("main")  # from the root on: all of it
    assert (status, "index.md:1:1  error  broken-link" in output) == (1, True)
    repository.git("push", "--quiet", "--no-verify", "origin", "main")
    repository.write("src/session.py", "ttl = 15\n")
    repository.commit("Shorten")
    repository.write("src/other.py", "1\n")
    repository.commit("Add other")
    status, output = push("main")
    assert (status, output.partition("error: failed to push")[0]) == (
        1,
        PUSHED.format(start=start[:10]),
    )
    repository.page("docs/session.md", "src/session.py", body="It lives 15 minutes.\n")
    repository.commit("Say so")
    assert push("main")[0] == 0
    assert push("main:refs/heads/topic", "main:refs/tags/v1")[0] == 0  # nothing that is new there
    repository.git("rm", "--quiet", "docs/session.md", "src/session.py")
    repository.commit("Delete both")
    assert push("main")[0] == 0
    assert push("--delete", "topic")[0] == 0


def test_reasons_hook_adds_the_reason_to_the_message(repository, installed):
    repository.write("src/a.py", "a\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit("page")
    repository.write("src/a.py", "a2\n")
    repository.commit("drift")
    configure(repository.root, installed, "ubp-reasons")
    pre_commit = ("pre-commit", "install", "--hook-type", "prepare-commit-msg")
    run(repository.root, *pre_commit, env=environment(installed))
    said = run(repository.root, SCRIPTS / "ubp", "ack", "docs/a.md", "--reason", "a comment")
    assert "The next commit's message will have:" in said
    run(repository.root, "git", "commit", "-qam", "reviewed", env=environment(installed))
    message = repository.git("log", "-1", "--format=%B").strip()
    assert message == "reviewed\n\nUBP-Reviewed: docs/a.md: a comment"

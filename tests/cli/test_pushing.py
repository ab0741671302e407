"""`ubp check --pre-push`: the commits of a push, given by pre-commit or found by UBP."""

import subprocess

import pytest


@pytest.fixture(autouse=True)
def unhooked(monkeypatch):
    """No push is under way, also where a hook runs these tests."""
    for name in ("FROM_REF", "TO_REF", "REMOTE_NAME", "LOCAL_BRANCH"):
        monkeypatch.delenv(f"PRE_COMMIT_{name}", raising=False)


@pytest.fixture
def project(repository, at):
    """A broken link from the root on; then a page is left behind, and another one with it."""
    repository.write("src/a.py", "1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.write("docs/old.md", "[gone](gone.md)\n")
    repository.commit("Begin")
    repository.write("src/a.py", "2\n")
    repository.commit("Change a")
    repository.write("docs/new.md", "[gone](gone.md)\n")
    repository.commit("Add a page")
    at(repository)
    return repository


def push(project, name="origin", *, to="main"):
    """Push a state to a new bare repository."""
    remote = project.root.parent / f"{name}.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(remote)], check=True)
    project.git("remote", "add", name, str(remote))
    project.git("push", "--quiet", name, f"{to}:refs/heads/main")
    project.git("fetch", "--quiet", name)


def found(answer):
    return [(finding["filepath"], finding["rule"]) for finding in answer.record["findings"]]


STALE, NEW = ("docs/a.md", "stale-doc"), ("docs/new.md", "broken-link")
OLD = ("docs/old.md", "broken-link")


def test_both_ends_given_by_pre_commit_are_assessed(project, ubp, monkeypatch):
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", project.git("rev-parse", "HEAD~2"))
    monkeypatch.setenv("PRE_COMMIT_TO_REF", project.git("rev-parse", "HEAD~1"))
    answer = ubp(project, "check", "--pre-push", "--json")
    assert (answer.status, found(answer)) == (1, [STALE])


def test_ends_are_shown_abbreviated(project, ubp, monkeypatch):
    start = project.git("rev-parse", "HEAD~1")
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", start)
    monkeypatch.setenv("PRE_COMMIT_TO_REF", project.head())
    output = ubp(project, "check", "--pre-push").out
    assert f"This branch (since {start[:10]}) introduces 1 error in 1 of 3 pages.\n" in output


def test_push_from_the_root_assesses_everything(project, ubp, monkeypatch):
    project.git("branch", "topic", "HEAD~1")
    monkeypatch.setenv("PRE_COMMIT_REMOTE_NAME", "origin")
    monkeypatch.setenv("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/topic")
    answer = ubp(project, "check", "--pre-push", "--json")
    assert (answer.status, found(answer)) == (1, [STALE, OLD])
    assert answer.record["snapshot"]["commit"] == project.git("rev-parse", "topic")


def test_manual_run_assesses_what_the_upstream_lacks(project, ubp):
    push(project, to="HEAD~1")
    project.git("branch", "--quiet", "--set-upstream-to=origin/main")
    answer = ubp(project, "check", "--pre-push", "--json")
    assert (answer.status, found(answer)) == (1, [NEW])


def test_run_without_an_upstream_assesses_what_the_default_branch_lacks(project, ubp):
    push(project, to="HEAD~2")
    project.git("remote", "set-head", "origin", "--auto")
    project.git("checkout", "--quiet", "-b", "topic")
    answer = ubp(project, "check", "--pre-push", "--json")
    assert (answer.status, sorted(found(answer))) == (1, [STALE, NEW])


def test_run_without_a_remote_assesses_everything_committed(project, ubp):
    project.write("docs/old.md", "mended, and not committed\n")
    answer = ubp(project, "check", "--pre-push", "--json")
    assert sorted(found(answer)) == [STALE, NEW, OLD]


def test_remote_with_another_history_has_no_common_commit(project, ubp, monkeypatch):
    project.git("checkout", "--quiet", "--orphan", "other")
    other = project.commit("Begin anew")
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", other)
    monkeypatch.setenv("PRE_COMMIT_TO_REF", project.git("rev-parse", "main"))
    assert sorted(found(ubp(project, "check", "--pre-push", "--json"))) == [STALE, NEW, OLD]


def test_unknown_end_is_an_error(project, ubp, monkeypatch):
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "0" * 39 + "1")
    monkeypatch.setenv("PRE_COMMIT_TO_REF", project.head())
    answer = ubp(project, "check", "--pre-push")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("Error: Revision not found: 0000")


@pytest.mark.parametrize("other", [["--staged"], ["--base", "main"], ["--ref", "main"], ["--fix"]])
def test_other_options_that_choose_a_change_are_refused(other, project, ubp):
    answer = ubp(project, "check", "--pre-push", *other)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("Error: --pre-push cannot be combined with")

"""What counts as an alarm: pages that name what changed, or any that drifted."""

import json

import pytest

pytestmark = pytest.mark.default_alarms

NOTE = "1 more page lists changed sources and names nothing that changed: docs/a.md"
ANY = {"staleness": {"alarms": "any"}}


@pytest.fixture
def project(repository, at):
    """Two pages of a source; a branch removes from it what one of them names."""
    repository.write("src/a.py", "read_all()\n")
    repository.page("docs/a.md", "src/a.py")
    repository.page("docs/z.md", "src/a.py", body="`read_all` reads.\n")
    repository.commit("Begin")
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.write("src/a.py", "receive()\n")
    repository.commit("Change")
    at(repository, days=10)
    return repository


@pytest.mark.parametrize("command", ["stale", "check"])
@pytest.mark.parametrize("options", [[], ["--alarms", "named"], ["--fail-on", "never"]])
def test_change_fails_for_pages_with_evidence_and_mentions_the_others(
    project, ubp, command, options
):
    answer = ubp(project, command, "--base", "main", *options)
    assert answer.status == (0 if "never" in options else 1)
    assert "docs/z.md:3" in answer.out
    assert "`read_all` (line 5) is removed." in answer.out
    assert "docs/a.md:3" not in answer.out
    assert NOTE in answer.out.splitlines()
    record = ubp(project, "--json", command, "--base", "main").record
    assert record["noted"] == ["docs/a.md"]


@pytest.mark.parametrize("command", ["stale", "check"])
def test_change_without_evidence_succeeds_with_a_line(project, ubp, command):
    project.page("docs/z.md", "src/a.py", body="It reads.\n")
    project.commit("Rewrite")
    answer = ubp(project, command, "--base", "main")
    assert answer.status == 0
    assert NOTE.replace("more ", "") in answer.out.splitlines()


@pytest.mark.parametrize("command", ["stale", "check"])
def test_change_fails_for_every_page_with_alarms_any(project, ubp, command):
    project.page("docs/z.md", "src/a.py", body="It reads.\n")
    project.commit("Rewrite")
    answer = ubp(project, command, "--base", "main", "--alarms", "any")
    assert answer.status == 1
    assert "docs/a.md:3" in answer.out
    project.git("checkout", "--quiet", "main")
    project.write(".ubp/config.json", json.dumps(ANY))
    project.commit("Configure")
    project.git("checkout", "--quiet", "topic")
    project.git("rebase", "--quiet", "main")
    assert ubp(project, command, "--base", "main").status == 1


@pytest.mark.parametrize("command", ["stale", "check"])
def test_change_that_sets_weaker_alarms_is_reported(project, ubp, command):
    project.git("checkout", "--quiet", "main")
    project.write(".ubp/config.json", json.dumps(ANY))
    project.commit("Configure")
    project.git("checkout", "--quiet", "topic")
    project.git("rebase", "--quiet", "main")
    project.write(".ubp/config.json", "{}")
    project.commit("Relax")
    out = ubp(project, command, "--base", "main").out
    assert "docs/a.md:3  warning  relaxed-check: Not reported because of this change" in out


def test_formats_for_pull_requests_have_one_note(project, ubp):
    out = ubp(project, "check", "--base", "main", "--format", "github").out
    assert out.count("::error") == 1
    assert f"::notice title=stale-doc::{NOTE}" in out.splitlines()
    out = ubp(project, "check", "--base", "main", "--format", "markdown").out
    assert f"{NOTE.partition(': ')[0]}: `docs/a.md`" in out.splitlines()


def test_state_lists_what_is_named_first_and_fails_for_it_alone(project, ubp):
    out = ubp(project, "stale", "--quiet").out
    assert [line.split(":")[0] for line in out.splitlines()] == ["docs/z.md", "docs/a.md"]
    assert ubp(project, "stale").status == 0
    assert ubp(project, "stale", "--exit-code").status == 1
    assert ubp(project, "stale", "--exit-code", "docs/a.md").status == 0
    assert ubp(project, "stale", "--exit-code", "--alarms", "any", "docs/a.md").status == 1


def test_drift_without_evidence_is_a_warning_in_a_state(project, ubp):
    findings = ubp(project, "--json", "check").record["findings"]
    assert [(found["filepath"], found["severity"]) for found in findings] == [
        ("docs/z.md", "error"),
        ("docs/a.md", "warning"),
    ]
    assert ubp(project, "check", "docs/a.md").status == 0
    assert ubp(project, "check", "--alarms", "any", "docs/a.md").status == 1


def test_fail_on_named_is_refused(project, ubp):
    assert ubp(project, "stale", "--fail-on", "named").status == 2


def test_fix_reports_what_is_left_as_the_check_does(repository, ubp, at):
    repository.write("src/a.py", "one = 1\n")
    repository.page("docs/a.md", "src/a.py")
    repository.commit()
    repository.write("src/a.py", "one = 2\n")
    repository.commit()
    at(repository, days=10)
    plain = ubp(repository, "check")
    assert "warning  stale-doc" in plain.out  # the page does not name what changed
    fixed = ubp(repository, "check", "--fix")
    assert (fixed.status, plain.status) == (0, 0)
    assert plain.out in fixed.out

"""The action on pull requests, pushes and schedules: whole outputs are compared."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

LOGINS = {"token": "github-actions[bot]", "personal": "ann"}
TRANSCRIPTS = Path(__file__).parent / "transcripts"
ZERO = "0" * 40


@pytest.fixture
def upstream(runner, repository):
    """A project on the remote's main branch: two pages, one of them bound, and some history."""
    repository.git("remote", "add", "origin", str(runner.remote))
    repository.write("src/session.py", "ttl = 30\n")
    repository.write("src/old.py", "x = 1\n")
    repository.page("docs/sessions.md", "src/session.py", body="A session. See [[login]].\n")
    repository.page("docs/old.md", "src/old.py", body="Old.\n")
    repository.write("docs/login.md", "# Login\n\nSee [sessions](sessions.md).\n")
    repository.commit("Begin")
    repository.write("src/old.py", "x = 2\n")
    repository.commit("Leave a page behind")
    for number in range(3):
        repository.write("notes.txt", f"{number}\n")
        repository.commit(f"Note {number}")
    repository.git("push", "--quiet", "origin", "main")
    return repository


def pull_request(runner, repository, branch, *, merge=True, origin="example/project", **inputs):
    """Push a branch as pull request 1 of `origin` and run the action for it as GitHub does."""
    head = repository.git("rev-parse", branch)
    repository.git("checkout", "--quiet", "--detach", "main")
    base = repository.head()
    tried = repository.merge(branch) if merge else head
    repository.git("push", "--quiet", "--force", "origin", f"{tried}:refs/pull/1/merge")
    repository.git("push", "--quiet", "--force", "origin", f"{head}:refs/pull/1/head")
    repository.git("checkout", "--quiet", branch)
    source = {"sha": head, "repo": {"full_name": origin} if origin else None}
    event = {"pull_request": {"number": 1, "base": {"sha": base}, "head": source}}
    place = runner.checkout(tried, "refs/remotes/pull/1/merge")
    return runner.run(place, "pull_request", event, ref="refs/pull/1/merge", sha=tried, **inputs)


def compare(name, job):
    file = TRANSCRIPTS / f"{name}.md"
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(job.transcript(), encoding="utf-8", newline="\n")
    assert job.transcript() == file.read_text(encoding="utf-8")


def break_something(repository):
    repository.git("checkout", "--quiet", "-b", "change", "main~2")
    repository.write("src/session.py", "ttl = 15\n")
    repository.commit("Shorten sessions")
    repository.remove("docs/login.md")
    repository.commit("Drop the login")


def test_pull_request_that_breaks_something_gets_findings_with_places(runner, upstream):
    break_something(upstream)
    job = pull_request(runner, upstream, "change")
    compare("breaks", job)


def test_pull_request_that_fixes_it_gets_no_findings(runner, upstream):
    break_something(upstream)
    upstream.page("docs/sessions.md", "src/session.py", body="A short session.\n")
    upstream.commit("Describe it")
    job = pull_request(runner, upstream, "change")
    compare("mends", job)


def test_branch_may_be_checked_out_instead_of_the_merge(runner, upstream):
    break_something(upstream)
    job = pull_request(runner, upstream, "change", merge=False, command="stale")
    compare("branch", job)


def test_only_commits_folders_and_changed_files_are_fetched(runner, upstream):
    for number in range(40):
        upstream.write(f"src/many/{number}.py", f"{number}\n")
    upstream.commit("Add many")
    earlier = upstream.blob("src/many/7.py")
    upstream.write("src/many/7.py", "another\n")
    upstream.commit("Change one of them")
    upstream.git("push", "--quiet", "origin", "main")
    break_something(upstream)
    job = pull_request(runner, upstream, "change")
    place = runner.work / "checkout1"
    held = upstream.git("-C", str(place), "cat-file", "--batch-all-objects", "--batch-check")
    assert job.status == 1
    assert earlier not in held, "the earlier bytes of an unchanged file are not needed"
    assert upstream.git("rev-parse", "main:src/session.py") in held, "a changed source's are"
    assert upstream.git("rev-parse", "main:docs/login.md") in held, "a removed page's are"


def test_symbol_is_compared_with_a_version_from_history(runner, upstream):
    source = "def login():\n    return 1\n\n\ndef logout():\n    return 2\n"
    upstream.write("src/auth.py", source)
    upstream.page("docs/auth.md", "src/auth.py#login")
    upstream.commit("Describe the login")
    upstream.write("src/auth.py", source.replace("2", "3"))
    upstream.commit("Change the logout")
    upstream.git("push", "--quiet", "origin", "main")
    upstream.git("checkout", "--quiet", "-b", "harmless")
    upstream.write("src/auth.py", source.replace("2", "4"))
    upstream.commit("Change the logout again")
    assert pull_request(runner, upstream, "harmless").status == 0
    upstream.write("src/auth.py", source.replace("1", "5"))
    upstream.commit("Change the login")
    job = pull_request(runner, upstream, "harmless")
    assert job.status == 1
    assert "src/auth.py#login was modified by this change." in job.steps["Run UBP"]


def test_push_is_compared_with_the_previous_head(runner, upstream):
    before = upstream.head()
    upstream.write("src/session.py", "ttl = 5\n")
    upstream.commit("Shorten")
    after = upstream.commit("Nothing")
    upstream.git("push", "--quiet", "origin", "main")
    place = runner.checkout(after, "refs/remotes/origin/main")
    event = {"before": before, "repository": {"default_branch": "main"}}
    job = runner.run(place, "push", event, ref="refs/heads/main", sha=after)
    compare("push", job)


def test_new_branch_is_compared_with_its_origin(runner, upstream):
    break_something(upstream)
    head = upstream.head()
    upstream.git("push", "--quiet", "origin", "change")
    place = runner.checkout(head, "refs/remotes/origin/change")
    event = {"before": ZERO, "repository": {"default_branch": "main"}}
    job = runner.run(place, "push", event, ref="refs/heads/change", sha=head)
    assert (job.status, job.outputs["stale-count"], job.outputs["findings-count"]) == (1, "1", "2")


def test_fork_is_checked_without_being_checked_out(runner, upstream):
    base = upstream.head()
    break_something(upstream)
    head = upstream.head()
    upstream.git("push", "--quiet", "origin", f"{head}:refs/pull/7/head")
    place = runner.checkout(base, "refs/remotes/origin/main")
    event = {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}}
    job = runner.run(
        place, "pull_request_target", event, ref="refs/heads/main", sha=base, comment="true"
    )
    compare("fork", job)
    assert list(json.loads(runner.comments.read_text())) == ["100"]


def test_merge_queue_is_compared_with_its_base(runner, upstream):
    base = upstream.head()
    break_something(upstream)
    upstream.git("checkout", "--quiet", "--detach", "main")
    tried = upstream.merge("change")
    upstream.git("push", "--quiet", "origin", f"{tried}:refs/heads/queue")
    place = runner.checkout(tried, "refs/remotes/origin/queue")
    event = {"merge_group": {"base_sha": base}}
    job = runner.run(place, "merge_group", event, ref="refs/heads/queue", sha=tried)
    assert (job.status, job.outputs["findings-count"]) == (1, "2")


def test_schedule_checks_the_whole_state(runner, upstream):
    place = runner.checkout(upstream.head(), "refs/remotes/origin/main")
    job = runner.run(
        place,
        "schedule",
        {},
        ref="refs/heads/main",
        sha=upstream.head(),
        command="stale",
        fail_on="stale",
    )
    compare("schedule", job)


def test_repository_without_pages_passes(runner, repository):
    repository.git("remote", "add", "origin", str(runner.remote))
    repository.write("main.py", "pass\n")
    repository.commit()
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "-b", "change")
    repository.write("main.py", "pass  # yes\n")
    repository.commit()
    job = pull_request(runner, repository, "change")
    compare("without-pages", job)


def test_comment_is_updated_in_place(runner, upstream):
    break_something(upstream)
    pull_request(runner, upstream, "change", comment="true")
    first = json.loads(runner.comments.read_text())
    upstream.page("docs/sessions.md", "src/session.py", body="A short session.\n")
    upstream.commit("Describe it")
    pull_request(runner, upstream, "change", comment="true")
    second = json.loads(runner.comments.read_text())
    assert first.keys() == second.keys() == {"100"}
    assert "docs/sessions.md" in first["100"]["body"]
    assert "docs/sessions.md" not in second["100"]["body"]


@pytest.mark.parametrize("token", ["token", "personal"])
def test_comment_with_the_same_mark_by_another_author_is_not_changed(runner, upstream, token):
    break_something(upstream)
    pull_request(runner, upstream, "change", comment="true", token=token)
    own = json.loads(runner.comments.read_text())["100"]
    forged = {"author": "mallory", "body": own["body"] + "Forged."}
    runner.comments.write_text(json.dumps({"99": forged}))
    for _ in range(2):
        pull_request(runner, upstream, "change", comment="true", token=token)
    comments = json.loads(runner.comments.read_text())
    assert comments.keys() == {"99", "101"}
    assert comments["99"] == forged
    assert comments["101"]["author"] == own["author"] == LOGINS[token]


def test_comment_is_not_written_without_findings(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.write("notes.txt", "harmless\n")
    upstream.commit()
    job = pull_request(runner, upstream, "change", comment="true")
    assert (job.status, json.loads(runner.comments.read_text())) == (0, {})


@pytest.fixture
def misspelt(runner, upstream):
    """A branch with a misspelt link, and the diff that GitHub has of it."""
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.write("docs/new.md", "# New\n\nSee [it](sesions.md).\n")
    upstream.commit()
    patch = "@@ -0,0 +1,3 @@\n+# New\n+\n+See [it](sesions.md)."
    files = {"filename": "docs/new.md", "patch": patch}
    runner.work.joinpath("files").write_text(f"{json.dumps(files)}\n")
    return upstream


def test_edit_is_suggested_once_where_its_line_is_in_the_diff(runner, misspelt):
    for made in (1, 0):
        job = pull_request(runner, misspelt, "change", suggestions="true")
        assert job.steps["Suggest edits"] == f"Edits suggested: {made}\n"
        assert job.status == 1  # the link is broken all the same
    (review,) = json.loads(runner.reviews.read_text())
    (comment,) = review["comments"]
    assert review["commit_id"] == misspelt.git("rev-parse", "change")
    assert (comment["path"], comment["line"], comment["side"]) == ("docs/new.md", 3, "RIGHT")
    assert "```suggestion\nSee [it](sessions.md).\n```\n" in comment["body"]


def test_suggestions_without_rights_or_pull_request_fail_nothing(runner, misspelt):
    job = pull_request(
        runner, misspelt, "change", suggestions="true", token="read-only", fail_on="never"
    )
    assert job.status == 0
    assert job.steps["Suggest edits"].splitlines()[-1] == (
        "::notice title=UBP::Cannot suggest edits. The token may lack pull-requests: write."
    )
    head = misspelt.head()
    misspelt.git("push", "--quiet", "origin", "change")
    place = runner.checkout(head, "refs/heads/change")
    inputs = {"suggestions": "true", "fail_on": "never"}
    job = runner.run(place, "push", {}, ref="refs/heads/change", sha=head, **inputs)
    assert job.steps["Suggest edits"] == "Not a pull request: no edits were suggested.\n"
    assert not runner.reviews.exists()


def test_token_without_rights_fails_nothing(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.remove("docs/login.md")
    upstream.commit()
    job = pull_request(
        runner,
        upstream,
        "change",
        comment="true",
        token="read-only",
        fail_on="never",
    )
    assert job.status == 0
    assert job.steps["Write the pull request comment"].splitlines()[-1] == (
        "::notice title=UBP::Cannot write the comment. The token may lack pull-requests: write."
    )


def test_inputs_are_words_and_never_executed(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.commit()
    marker = runner.work / "ran"
    job = pull_request(
        runner, upstream, "change", args=f"'docs/$(touch {marker})' \"`touch {marker}`\""
    )
    assert not marker.exists()
    assert job.status == 2
    job = pull_request(runner, upstream, "change", command="check; touch x")
    assert job.steps["Run UBP"] == (
        '::error title=UBP::The input `command` must be check or stale, not "check??touch?x".\n'
    )


def test_missing_base_is_reported(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.commit()
    job = pull_request(runner, upstream, "change", base="nowhere")
    assert job.status == 2
    assert job.log.splitlines()[-1] == (
        "::error title=UBP::Cannot fetch the base nowhere. "
        "Set the input `base` to another commit or branch, or to none."
    )


def test_findings_are_written_as_sarif(runner, upstream):
    break_something(upstream)
    job = pull_request(runner, upstream, "change", sarif_file="ubp.sarif", fail_on="never")
    sarif = json.loads((runner.work / "checkout1" / "ubp.sarif").read_text())
    found = [result["ruleId"] for result in sarif["runs"][0]["results"]]
    assert (job.status, sorted(found)) == (0, ["broken-link", "stale-doc"])


def test_names_cannot_break_out_of_the_log_or_the_summary(runner, upstream):
    name = "docs/100%::warning title=x,y::`|` <b>頁.md"
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.write(name, "[gone](gone.md)\n")
    upstream.commit("x\n::error::y")
    compare("hostile", pull_request(runner, upstream, "change"))


def test_an_error_that_repeats_the_configuration_is_no_command_to_the_runner(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    setting = {"collections": {"##[stop-commands]x": {"git": "https://example.org/x.git"}}}
    upstream.write(".ubp/config.json", json.dumps(setting))
    upstream.commit("Configure")
    job = pull_request(runner, upstream, "change")
    assert job.status == 2
    assert "# #[stop-commands]x" in job.log
    assert "##[" not in job.log


MODULES = sys.stdlib_module_names | {"sitecustomize", "usercustomize", "yaml", "cyclopts"}
PACKAGES = ("ensurepip", "hatchling", "pip", "ubp", "venv")
PROGRAMS = (
    *("awk", "base64", "bash", "cat", "cut", "env", "find", "gh", "git", "mkdir", "python", "rm"),
    *("sed", "sh", "sort", "tail", "tr", "xargs"),
)
INTO_THE_CHECKOUT = {
    "PATH": ".:{checkout}/bin:bin::{PATH}",
    "PYTHONPATH": ".:{checkout}:",
    "PIP_CONFIG_FILE": "{checkout}/pip.conf",
    "PIP_CONSTRAINT": "constraints.txt",
}


def set_traps(repository, markers):
    """Commit files that write a marker when they are imported, executed or obeyed."""
    markers.mkdir()
    for path in (
        *(f"{module}.py" for module in MODULES),
        *(f"{package}/{file}.py" for package in PACKAGES for file in ("__init__", "__main__")),
        "setup.py",
    ):
        marker = markers / path.replace("/", "-")
        repository.write(path, f"open({str(marker)!r}, 'w').close()\n")
    for program in PROGRAMS:
        for path in (program, f"bin/{program}"):
            marker = markers / path.replace("/", "-")
            repository.write(path, f"#!/bin/sh\n: >'{marker}'\n").chmod(0o755)
    for path in ("pip.conf", "pip.ini", ".config/pip/pip.conf"):
        repository.write(path, f"[global]\nlog = {markers / 'pip.conf'}\n")
    for path in (".pydistutils.cfg", "setup.cfg"):
        repository.write(path, f"[install]\nprefix = {markers / path}\n")
    repository.write("constraints.txt", "pyyaml == 0\n")
    repository.write("pyproject.toml", "not TOML")
    repository.commit("Set traps")


@pytest.mark.parametrize(
    ("environment", "is_installed"),
    [
        pytest.param({}, True, id="installed"),
        pytest.param(INTO_THE_CHECKOUT, True, id="installed, environment"),
        pytest.param(INTO_THE_CHECKOUT, False, id="environment", marks=pytest.mark.slow),
    ],
)
def test_checkout_is_never_executed_by_any_step(runner, upstream, environment, is_installed):
    markers = runner.work / "markers"
    break_something(upstream)
    set_traps(upstream, markers)
    runner.work.joinpath("files").write_text("")
    job = pull_request(
        runner,
        upstream,
        "change",
        environment=environment,
        is_installed=is_installed,
        args="docs 'docs/*.md'",
        comment="true",
        suggestions="true",
        judge="true",
        alarms="",
        collections="true",
        sarif_file="ubp.sarif",
    )
    assert [marker.name for marker in markers.iterdir()] == []
    steps = [step["name"] for step in runner.action["runs"]["steps"] if "run" in step]
    assert list(job.steps) == [name for name in steps if name != "Push to the hub"]  # none is named
    if not is_installed:  # the version that the ref names was, and it runs
        assert job.steps["Install UBP"].splitlines()[-1].startswith("ubp ")
    assert (job.status, job.outputs) == (
        1,
        {"findings-count": "1", "stale-count": "0", "report": "TEMP/ubp-out/report.md"},
    )
    assert "docs/sessions.md" in json.loads(runner.comments.read_text())["100"]["body"]
    assert (runner.work / "checkout1" / "ubp.sarif").exists()


def test_token_reaches_only_git_fetch_and_gh(runner, upstream):
    log = runner.work / "programs-with-the-token"
    shims = runner.work / "shims"
    shims.mkdir()
    for program in set(PROGRAMS) - {"sh"}:
        actual = runner.find_program(program)
        shim = shims / program
        shim.write_text(
            f"""#!/bin/sh
case $({shutil.which("env")}) in *=personal*|*AUTHORIZATION*) echo {program} "$*" >>'{log}' ;; esac
exec '{actual}' "$@"
"""
        )
        shim.chmod(0o755)
    break_something(upstream)
    job = pull_request(
        runner,
        upstream,
        "change",
        environment={"PATH": f"{shims}:{{PATH}}"},
        comment="true",
        token="personal",
    )
    assert json.loads(runner.comments.read_text())["100"]["author"] == "ann"
    commands = re.findall(
        r"^(git|gh)(?: -c \S+| --\S+)* (\w+)|^(.+)", log.read_text(), re.MULTILINE
    )
    assert (job.status, set(commands)) == (1, {("git", "fetch", ""), ("gh", "api", "")})


CONFIG = """[core]
\trepositoryFormatVersion = 0
\tbare = {bare}
\tsshCommand = "{program}"
\tfsmonitor = "{program}"
\thooksPath = {hooks}
[remote "origin"]
\turl = ssh://nowhere.invalid/x
"""


class HostileDirectory:
    """Puts something that is not an ordinary directory in the place of `docs` in a checkout."""

    def __init__(self, work):
        self.marker = work / "executed"
        self.elsewhere = work / "elsewhere"
        self._program = work / "hostile"
        self._program.write_text(f"#!/bin/sh\nenv >>'{self.marker}'\nexit 1\n")
        self._program.chmod(0o755)
        hooks = work / "hooks"
        hooks.mkdir()
        for hook in ("reference-transaction", "post-checkout", "post-index-change"):
            (hooks / hook).symlink_to(self._program)
        self._hooks = hooks

    def _git_dir(self, folder, *, bare):
        """Make a Git directory with nothing but what Git asks for, and programs to run."""
        for below in ("objects", "refs/heads"):
            (folder / below).mkdir(parents=True, exist_ok=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        config = CONFIG.format(bare=bare, program=self._program, hooks=self._hooks)
        (folder / "config").write_text(config)

    def hidden_bare_repository(self, place):
        self._git_dir(place / "docs", bare="true")

    def hidden_repository_of_the_workspace(self, place):
        self._git_dir(place / "docs", bare="false")
        config = place / "docs" / "config"
        config.write_text(config.read_text().replace("[core]", f"[core]\n\tworktree = {place}"))

    def submodule(self, place):
        self._git_dir(place / ".git" / "modules" / "docs", bare="false")
        (place / "docs" / ".git").write_text("gitdir: ../.git/modules/docs\n")

    def git_file(self, place):
        self._git_dir(place / "docs" / "store", bare="false")
        (place / "docs" / ".git").write_text("gitdir: store\n")

    def link(self, place):
        self._git_dir(self.elsewhere / ".git", bare="false")
        shutil.rmtree(place / "docs")
        (place / "docs").symlink_to(self.elsewhere)

    def link_inside(self, place):
        (place / "docs").rename(place / "pages")
        (place / "docs").symlink_to("pages")


@pytest.mark.skipif(os.name == "nt", reason="the program that Git would run is a script of POSIX")
@pytest.mark.parametrize(
    "kind",
    [
        "hidden_bare_repository",
        "hidden_repository_of_the_workspace",
        "submodule",
        "git_file",
        "link",
        "link_inside",
    ],
)
def test_no_step_obeys_a_hostile_working_directory_and_the_job_fails(runner, upstream, kind):
    hostile = HostileDirectory(runner.work)
    head, base = upstream.head(), upstream.git("rev-parse", "HEAD~1")
    place = runner.checkout(head, "refs/remotes/origin/main")
    getattr(hostile, kind)(place)
    event = {"pull_request": {"number": 1, "base": {"sha": base}, "head": {"sha": head}}}
    job = runner.run(
        place,
        "pull_request",
        event,
        ref="refs/pull/1/merge",
        sha=head,
        working_directory="docs",
        directory=place / "docs",
        collections="true",
        comment="true",
        judge="true",
        alarms="",
        sarif_file="ubp.sarif",
    )
    assert not hostile.marker.exists(), hostile.marker.read_text()
    assert job.status == 2
    refusal = job.steps["Check the working directory"].splitlines()[-1]
    assert refusal.startswith("::error title=UBP::The input `working-directory` ")
    steps = {step["name"] for step in runner.action["runs"]["steps"] if "run" in step}
    # Where no report is, and where no hub is named.
    assert steps - job.steps.keys() <= {
        "Write the pull request comment",
        "Suggest edits",
        "Push to the hub",
    }


def test_a_git_file_in_place_of_the_folder_is_refused(runner, upstream):
    place = runner.checkout(upstream.head(), "refs/remotes/origin/main")
    (place / ".git").rename(place / "store")
    (place / ".git").write_text("gitdir: store\n")
    job = runner.run(place, "schedule", {}, ref="refs/heads/main", sha=upstream.head())
    assert (job.status, list(job.steps)[-1]) == (2, "Check the working directory")
    assert "GITHUB_WORKSPACE is not the root of a repository" in job.log


def test_a_folder_of_the_checkout_is_a_working_directory(runner, upstream):
    break_something(upstream)
    job = pull_request(
        runner, upstream, "change", working_directory="docs/../docs", sarif_file="ubp.sarif"
    )
    assert (job.status, job.outputs["stale-count"]) == (1, "1")
    assert (runner.work / "checkout1" / "docs" / "ubp.sarif").exists()


@pytest.mark.parametrize(
    ("inputs", "status"),
    [({}, 1), ({"relaxed_check": "warning"}, 0), ({"fail_on": "never"}, 0)],
    ids=repr,
)
def test_a_change_that_relaxes_its_own_check_fails_by_default(runner, upstream, inputs, status):
    upstream.write(".ubp/config.json", "{}")
    upstream.commit("Adopt UBP")
    upstream.git("push", "--quiet", "origin", "main")
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.write("src/session.py", "ttl = 15\n")
    upstream.write(".ubp/config.json", '{"check": {"severity": {"stale-doc": "off"}}}')
    upstream.commit("Shorten sessions")
    job = pull_request(runner, upstream, "change", **inputs)
    assert "relaxed-check" in job.log
    assert (job.status, "::error title=UBP::This change keeps" in job.log) == (status, status == 1)


@pytest.mark.parametrize(("alarms", "status"), [("", 0), ("named", 0), ("any", 1)])
def test_page_that_names_nothing_of_the_change_fails_the_job_with_alarms_any(
    runner, upstream, alarms, status
):
    upstream.write("src/quiet.py", "ttl = 7\n")
    upstream.page("docs/quiet.md", "src/quiet.py")
    upstream.commit("Describe")
    upstream.git("push", "--quiet", "origin", "main")
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.write("src/quiet.py", "ttl = 8\n")
    upstream.commit("Change")
    job = pull_request(runner, upstream, "change", alarms=alarms)
    assert (job.status, job.outputs["stale-count"]) == (status, str(status))
    assert ("::notice title=stale-doc::1 page lists" in job.log) == (not status)


def test_args_with_an_unbalanced_quote_fail_with_an_error(runner, upstream):
    break_something(upstream)
    job = pull_request(runner, upstream, "change", args="docs 'old pages")
    assert (job.status, job.log.splitlines()[-1]) == (
        2,
        "::error title=UBP::Cannot split the input `args` into words: No closing quotation.",
    )


def test_failed_fetch_is_an_error(runner, upstream):
    place = runner.checkout(upstream.head(), "refs/remotes/origin/main")
    head = "1" * 40
    event = {"pull_request": {"number": 7, "base": {"sha": upstream.head()}, "head": {"sha": head}}}
    job = runner.run(
        place, "pull_request_target", event, ref="refs/heads/main", sha=upstream.head()
    )
    error = "::error title=UBP::Cannot fetch the commits to compare. See the log of this step."
    assert job.status == 2
    assert error in job.log.splitlines()


def test_failed_installation_is_an_error(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.commit()
    python = runner.work / "bin" / "python"
    python.write_text('#!/bin/sh\n[ "$3" != venv ] && echo 3.13.0\n')
    python.chmod(0o755)
    job = pull_request(runner, upstream, "change", is_installed=False)
    assert (job.status, job.log.splitlines()[-1]) == (
        2,
        "::error title=UBP::Cannot install UBP. See the log of this step.",
    )


def test_run_without_a_report_is_an_error(runner, upstream):
    upstream.git("checkout", "--quiet", "-b", "change")
    upstream.commit()
    job = pull_request(runner, upstream, "change", args="--help")
    assert (job.status, job.log.splitlines()[-1]) == (
        2,
        "::error title=UBP::UBP did not write a report. See the log of this step.",
    )

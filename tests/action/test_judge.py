"""The action's judge is asked about changes by those who may write to the repository, no others."""

import json

import pytest

from tests.action.conftest import ACTION
from tests.action.test_action import pull_request

SENTENCE = "`start_session` begins one."
NOTICE = "::notice title=UBP::The judge is not asked about pull requests of forks"
ERROR = "::error file=docs/sessions.md,line=3"
DENIED = "docs/sessions.md:5  judged accurate: It has a default."
COST = "tiny judged 1 case (1,100 tokens)."


@pytest.fixture
def upstream(runner, repository):
    """A page that names what a branch changes, so that the change fails."""
    repository.git("remote", "add", "origin", str(runner.remote))
    repository.write("src/session.py", "def start_session(ttl_seconds):\n    return ttl_seconds\n")
    repository.page("docs/sessions.md", "src/session.py", body=f"{SENTENCE}\n")
    repository.commit("Begin")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "-b", "change")
    repository.write(
        "src/session.py", "def start_session(ttl_seconds=30):\n    return ttl_seconds\n"
    )
    repository.commit("Add a default")
    return repository


@pytest.fixture
def inputs(chat_model):
    """The inputs of a workflow that has the judge asked."""
    answers = {"affected": "no", "p": 0.1, "line": "", "why": "It has a default."}
    chat_model.replies.append(json.dumps(answers))
    given = {name.lower(): value for name, value in chat_model.environment.items()}
    return {
        "alarms": "",
        "judge": "true",
        "judge_url": given["ubp_review_url"],
        "judge_model": given["ubp_review_model"],
        "judge_key": given["ubp_review_key"],
    }


def configure(repository):
    """Have the branch's own configuration ask for the judge, too."""
    repository.write(".ubp/config.json", json.dumps({"staleness": {"alarms": "judged"}}))
    repository.commit("Configure")


@pytest.mark.parametrize("command", ["check", "stale"])
def test_judge_is_asked_once_with_the_key_and_its_verdict_is_in_the_comment(
    runner, upstream, inputs, chat_model, command
):
    job = pull_request(runner, upstream, "change", command=command, comment="true", **inputs)
    assert job.status == 0
    assert ERROR not in job.log
    assert f"::notice title=judged::{DENIED}%0A{COST}" in job.steps["Run UBP"]
    assert "judged accurate: `It has a default.`" in job.summary
    ((_, authorization, body),) = chat_model.requests
    assert authorization == "Bearer secret"
    assert SENTENCE in body["messages"][1]["content"]
    assert "secret" not in job.log


def test_page_that_is_affected_has_the_judges_words_in_annotation_and_comment(
    runner, upstream, inputs, chat_model
):
    answers = {"affected": "yes", "p": 0.9, "line": SENTENCE, "why": "It may be left out."}
    chat_model.replies[:] = [json.dumps(answers)]
    job = pull_request(runner, upstream, "change", comment="true", **inputs)
    assert job.status == 1
    words = f"\u201c{SENTENCE}\u201d It may be left out."
    assert f"Judged yes (90%25): {words}" in job.steps["Run UBP"]
    (comment,) = json.loads(runner.comments.read_text()).values()
    assert f"Judged yes (90%): {words}" in comment["body"]


def test_endpoint_may_be_in_the_environment(runner, upstream, inputs, chat_model):
    inputs = {"alarms": "", "judge": "true"}
    job = pull_request(runner, upstream, "change", environment=chat_model.environment, **inputs)
    assert job.status == 0
    assert len(chat_model.requests) == 1


@pytest.mark.parametrize("alarms", ["", "judged"])
@pytest.mark.parametrize("fork", ["stranger/project", None], ids=["fork", "deleted fork"])
def test_pull_request_of_a_fork_is_not_sent(  # noqa: PLR0917  # what is combined
    runner, upstream, inputs, chat_model, fork, alarms
):
    configure(upstream)
    inputs["alarms"] = alarms
    environment = chat_model.environment
    job = pull_request(runner, upstream, "change", environment=environment, origin=fork, **inputs)
    assert job.status == 1
    assert ERROR in job.log
    assert job.log.count("::notice title=UBP::") == job.log.count(NOTICE) == 1
    assert "No judge is configured" not in job.log
    assert chat_model.requests == []


@pytest.mark.parametrize(
    "name", ["pull_request_target", "workflow_run", "issue_comment", "pull_request_review", ""]
)
def test_events_that_run_for_forks_are_not_sent(runner, upstream, inputs, chat_model, name):
    base, head = upstream.git("rev-parse", "main"), upstream.git("rev-parse", "change")
    upstream.git("push", "--quiet", "origin", f"{head}:refs/pull/1/head")
    place = runner.checkout(base, "refs/remotes/origin/main")
    origin = {"sha": head, "repo": {"full_name": "example/project"}}
    event = {"pull_request": {"number": 1, "base": {"sha": base}, "head": origin}}
    environment = chat_model.environment
    job = runner.run(
        place, name, event, ref="refs/heads/main", sha=base, environment=environment, **inputs
    )
    assert job.log.count(NOTICE) == 1
    assert job.status == (1 if name == "pull_request_target" else 0)
    assert chat_model.requests == []


def test_configuration_of_a_pull_request_sends_nothing_where_the_workflow_does_not(
    runner, upstream, inputs, chat_model
):
    configure(upstream)
    for words in ({"alarms": ""}, {"alarms": "judged"}, {"alarms": "", "args": "--alarms judged"}):
        job = pull_request(runner, upstream, "change", environment=chat_model.environment, **words)
        assert job.status == 1
        assert "No judge is configured." in job.log
    assert inputs
    assert chat_model.requests == []


def test_push_is_judged_and_a_schedule_checks_the_state(runner, upstream, inputs, chat_model):
    before, head = upstream.git("rev-parse", "main"), upstream.git("rev-parse", "change")
    upstream.git("push", "--quiet", "origin", f"{head}:refs/heads/main")
    place = runner.checkout(head, "refs/remotes/origin/main")
    event = {"before": before, "repository": {"default_branch": "main"}}
    job = runner.run(place, "push", event, ref="refs/heads/main", sha=head, **inputs)
    assert (job.status, len(chat_model.requests)) == (0, 1)
    event = {"repository": {"default_branch": "main"}}
    job = runner.run(place, "schedule", event, ref="refs/heads/main", sha=head, **inputs)
    assert "requires a change" not in job.log
    assert len(chat_model.requests) == 1


def test_other_alarms_contradict_the_judge(runner, upstream, inputs, chat_model):
    inputs["alarms"] = "any"
    job = pull_request(runner, upstream, "change", **inputs)
    assert job.status == 2
    assert "requires that `alarms` is judged or not set" in job.log
    assert chat_model.requests == []


def test_verdicts_are_kept_only_where_the_judge_may_be_asked():
    steps = [step for step in ACTION["runs"]["steps"] if "actions/cache/" in step.get("uses", "")]
    restore, save = steps
    assert restore["uses"].replace("/restore@", "@") == save["uses"].replace("/save@", "@")
    assert restore["with"]["path"] == save["with"]["path"]
    assert restore["with"]["key"] == save["with"]["key"]
    assert all("steps.judge.outputs.allowed == 'true'" in step["if"] for step in steps)

"""The action's input `push`: a hub that is down fails no job, and pull requests push nothing."""

import pytest

from tests.action.test_action import pull_request


@pytest.fixture
def upstream(runner, repository):
    repository.git("remote", "add", "origin", str(runner.remote))
    repository.write("docs/a.md", "# A\n")
    repository.commit("Begin")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "-b", "change")
    repository.write("docs/a.md", "# A, changed\n")
    repository.commit("Change")
    return repository


def test_pull_request_pushes_nothing(runner, upstream):
    job = pull_request(runner, upstream, "change", push="http://127.0.0.1:9")
    assert job.status == 0
    assert "nothing was pushed" in job.steps["Push to the hub"]


def test_push_to_a_hub_that_is_down_fails_no_job(runner, upstream):
    upstream.git("push", "--quiet", "origin", "change:main")
    after, before = upstream.head(), upstream.git("rev-parse", "HEAD^")
    job = runner.run(
        runner.checkout(after, "refs/remotes/origin/main"),
        "push",
        {"before": before, "after": after},
        ref="refs/heads/main",
        sha=after,
        environment={"UBP_HUB_TOKEN": "a-token"},
        push="http://127.0.0.1:9",
    )
    assert job.status == 0
    assert "Nothing was pushed. Cannot reach the hub" in job.steps["Push to the hub"]


def test_job_without_the_input_has_no_such_step(runner, upstream):
    job = pull_request(runner, upstream, "change")
    assert "Push to the hub" not in job.steps

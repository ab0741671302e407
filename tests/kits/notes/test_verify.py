"""Reports on repositories over the network: what is fetched, asked, saved and refused."""

import json

import pytest

from tests.sync.conftest import ORIGIN
from ubp.core.errors import CollectionError
from ubp.kits.notes.forges import APIS
from ubp.server.tools.registry import allow_network, select_tools
from ubp.server.tools.tool import call_tool
from ubp.workspace import Workspace

URL = "https://github.com/acme/app"


@pytest.fixture
def forge(site, new_repository, monkeypatch, isolated_environment):
    """A repository that is reached as URL, and the answers of its forge's API."""
    upstream = new_repository("upstream")
    upstream.git("config", "uploadpack.allowFilter", "true")
    upstream.write("README.md", "# App\n")
    upstream.write("LICENSE", "Apache License\nVersion 2.0, January 2004\n")
    upstream.write("src/app.go", "package app\n")
    upstream.commit()
    with (isolated_environment / ".gitconfig").open("a") as config:
        config.write(f'[url "{upstream.root.as_uri()}"]\n\tinsteadOf = {URL}\n')
    monkeypatch.setattr("ubp.sync.mirror.protocols_of", lambda _: "file")
    monkeypatch.setitem(APIS, "github.com", ORIGIN)
    site.page("/repos/acme/app", json.dumps({"stargazers_count": 1250}), type="application/json")
    runs = [
        {"name": "build", "status": "completed", "conclusion": "success"},
        {"name": "unit tests", "status": "completed", "conclusion": "failure"},
        {"name": "docs", "status": "in_progress", "conclusion": None},
    ]
    site.page(
        f"/repos/acme/app/commits/{upstream.head()}/check-runs?per_page=100",
        json.dumps({"total_count": 3, "check_runs": runs}),
        type="application/json",
    )
    return upstream


@pytest.fixture
def call(repository, folder):  # noqa: ARG001  # the collections are in it
    """Call `oss_report`, of a server that may use the network or not."""
    repository.write("README.md", "# Notes\n")
    repository.commit()

    def ask(*, online, **arguments):
        tools = select_tools(["notes"])
        tools = allow_network(tools) if online else tools
        tool = next(tool for tool in tools if tool.name == "oss_report")
        with Workspace.open(str(repository.root)) as workspace:
            return call_tool(tool, workspace, {"repo_url": URL, **arguments}).record

    return ask


def test_repository_is_verified_only_where_allowed_and_the_report_is_saved(
    forge, call, run, stored
):
    with pytest.raises(CollectionError, match="There is no report"):
        call(online=False, verify_if_missing=True)
    with pytest.raises(CollectionError, match="There is no report"):
        call(online=True)
    record = call(online=True, verify_if_missing=True)
    assert (record["repoUrl"], record["repoName"], record["stars"]) == (URL, "app", 1250)
    assert (record["license"], record["language"]) == ("Apache-2.0", "Go")
    assert (record["buildResult"], record["testResult"]) == ("BUILD_SUCCESS", "TEST_FAILURE")
    assert record["points"][7] == {
        "name": "CI status",
        "points": 0,
        "most": 10,
        "evidence": "1 of 2 checks failed: unit tests",
    }
    assert record["commit"] == forge.head()
    saved = call(online=False)
    volatile = {"query_time_ms", "token_estimate"}
    assert {k: v for k, v in saved.items() if k not in volatile} == {
        k: v for k, v in record.items() if k not in volatile
    }
    assert stored("oss-reports", "ls-tree", "-r", "--name-only", "main") == "oss/acme/app.md"
    assert "app" in run("search", "--in", "oss-reports", "Apache-2.0")
    assert "oss-reports  unchanged" in run("collections", "sync")


def test_unreachable_forge_leaves_its_facts_unknown(forge, site, run):
    site.pages.clear()
    out = run("notes", "report", URL, "--verify")
    assert "unknown: spec.example: the server answered 404 Not Found" in out
    assert "build NOT_RUN, tests NOT_RUN" in out
    assert json.loads(run("notes", "report", "acme/app", "--json", cwd=forge.root))["stars"] is None


def test_only_forges_are_contacted(run):
    out = run("notes", "report", "https://internal.example/acme/app", "--verify", status=2)
    assert "Repositories are on codeberg.org, github.com, gitlab.com; of a package" in out

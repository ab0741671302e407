"""Forges and registries, as they answer: a server on this machine sends the documented shapes."""

import json

import pytest

from tests.sync.conftest import ORIGIN, Answer
from ubp.core.errors import CollectionError, UsageError
from ubp.kits.notes.forges import APIS, ask_forge, find_repository, parse_package
from ubp.kits.notes.reports import RepositoryAddress, parse_repository
from ubp.kits.notes.score import Check, ForgeFacts

COMMIT = "7d1b31e74ee336d15cbd21741bc88a537ed063a0"
GITHUB = RepositoryAddress("github.com", "acme", "app")
GITLAB = RepositoryAddress("gitlab.com", "acme/tools", "app")
CODEBERG = RepositoryAddress("codeberg.org", "acme", "app")
RUNS = f"/api.github.com/repos/acme/app/commits/{COMMIT}/check-runs?per_page=100"


@pytest.fixture
def forge(site, monkeypatch, folder):
    """Let all APIs be on the site, each below its host; set what one answers, as JSON."""
    for host, address in APIS.items():
        monkeypatch.setitem(APIS, host, address.replace("https://", f"{ORIGIN}/"))
    # Forges forbid their APIs to programs that follow links; nobody does here.
    site.page("/robots.txt", "User-agent: *\nDisallow: /\n", type="text/plain")

    def answer(path, document, *statuses, **headers):
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        body = json.dumps(document).encode()
        site.pages[path] = Answer(body, "application/json", [*statuses] or [200], names)

    answer.environment = {"UBP_COLLECTIONS": str(folder)}
    answer.requests = site.requests
    return answer


def test_github_says_stars_and_checks(forge):
    forge(
        "/api.github.com/repos/acme/app",
        {
            "id": 1296269,
            "full_name": "acme/app",
            "private": False,
            "stargazers_count": 80,
            "watchers_count": 80,
            "license": {"key": "mit", "spdx_id": "MIT"},
        },
        x_ratelimit_remaining="59",
    )
    runs = [
        {"id": 4, "name": "build", "status": "completed", "conclusion": "success"},
        {"id": 5, "name": "test", "status": "in_progress", "conclusion": None},
    ]
    forge(RUNS, {"total_count": 2, "check_runs": runs})
    checks = (Check("build", "success"), Check("test", "in_progress"))
    assert ask_forge(GITHUB, COMMIT, forge.environment) == ForgeFacts(80, checks, "")


def test_gitlab_says_stars_and_statuses_of_a_project_in_a_subgroup(forge):
    project = "/gitlab.com/api/v4/projects/acme%2Ftools%2Fapp"
    forge(
        project,
        {
            "id": 278964,
            "path_with_namespace": "acme/tools/app",
            "visibility": "public",
            "star_count": 5,
            "forks_count": 2,
        },
    )
    status = {"id": 93, "sha": COMMIT, "ref": "main", "coverage": None}
    forge(
        f"{project}/repository/commits/{COMMIT}/statuses?per_page=100",
        [
            {**status, "name": "rspec", "status": "failed", "allow_failure": False},
            {**status, "name": "flaky", "status": "failed", "allow_failure": True},
            {**status, "name": "build", "status": "success", "allow_failure": False},
        ],
    )
    checks = (Check("rspec", "failed"), Check("build", "success"))
    assert ask_forge(GITLAB, COMMIT, forge.environment) == ForgeFacts(5, checks, "")


def test_codeberg_says_stars_and_statuses(forge):
    place = "/codeberg.org/api/v1/repos/acme/app"
    forge(place, {"id": 7, "full_name": "acme/app", "stars_count": 12, "forks_count": 1})
    forge(
        f"{place}/commits/{COMMIT}/status",
        {
            "state": "failure",
            "sha": COMMIT,
            "total_count": 1,
            "statuses": [{"id": 1, "status": "failure", "context": "ci/woodpecker/push/test"}],
        },
    )
    checks = (Check("ci/woodpecker/push/test", "failure"),)
    assert ask_forge(CODEBERG, COMMIT, forge.environment) == ForgeFacts(12, checks, "")


def test_commit_without_statuses_has_no_checks_and_is_not_unknown(forge):
    place = "/codeberg.org/api/v1/repos/acme/app"
    forge(place, {"stars_count": 0})
    forge(f"{place}/commits/{COMMIT}/status", {"state": "", "total_count": 0, "statuses": None})
    assert ask_forge(CODEBERG, COMMIT, forge.environment) == ForgeFacts(0, (), "")


def test_reached_limit_is_said_with_its_end_and_not_asked_again(forge):
    forge("/api.github.com/repos/acme/app", {"stargazers_count": 80})
    forge(
        RUNS,
        {"message": "API rate limit exceeded for 192.0.2.1.", "documentation_url": "https://…"},
        403,
        x_ratelimit_limit="60",
        x_ratelimit_remaining="0",
        x_ratelimit_reset="1767225600",
    )
    found = ask_forge(GITHUB, COMMIT, forge.environment)
    assert (found.stars, found.checks) == (80, None)
    limit = "its limit of requests is reached until 2026-01-01 00:00 UTC"
    assert found.problem == f"spec.example: {limit}"
    assert forge.requests[RUNS] == 1


def test_busy_server_is_asked_again_and_one_that_wants_too_long_a_pause_is_not(forge):
    forge(
        "/api.github.com/repos/acme/app", {"stargazers_count": 80}, 429, 503, 200, retry_after="1"
    )
    forge(RUNS, {}, 429, retry_after="3600")
    found = ask_forge(GITHUB, COMMIT, forge.environment)
    assert (found.stars, found.checks) == (80, None)
    assert "asks to wait for 3600 seconds" in found.problem
    assert forge.requests["/api.github.com/repos/acme/app"] == 3


@pytest.mark.parametrize(
    "document", [[], "text", None, 7, {"check_runs": "many"}, {"check_runs": None}]
)
def test_answer_of_another_shape_leaves_checks_unknown(forge, document):
    forge("/api.github.com/repos/acme/app", {"stargazers_count": "many"})
    forge(RUNS, document)
    expected = ForgeFacts(None, None, "its answer is not understood")
    assert ask_forge(GITHUB, COMMIT, forge.environment) == expected


def test_answer_that_is_no_json_is_said(forge, site):
    site.page("/api.github.com/repos/acme/app", "<h1>Unicorn!</h1>")
    site.page(RUNS, "<h1>Unicorn!</h1>")
    found = ask_forge(GITHUB, COMMIT, forge.environment)
    assert found == ForgeFacts(None, None, "spec.example: its answer is not JSON")


@pytest.mark.parametrize(
    ("info", "repository"),
    [
        ({"project_urls": {"Homepage": "https://x.example", "Source": str(GITHUB.url)}}, GITHUB),
        ({"project_urls": {"Source Code": f"{GITLAB.url}/-/tree/main"}}, GITLAB),
        ({"project_urls": None, "home_page": f"{CODEBERG.url}.git"}, CODEBERG),
        ({"project_urls": {"Bug Tracker": f"{GITHUB.url}/issues"}, "home_page": ""}, GITHUB),
    ],
)
def test_package_on_pypi_leads_to_its_repository(forge, info, repository):
    forge("/pypi.org/pypi/app/json", {"info": {"name": "app", **info}, "releases": {}, "urls": []})
    url = "https://pypi.org/project/app/"
    assert find_repository(url, forge.environment) == repository


@pytest.mark.parametrize(
    "repository",
    [
        {"type": "git", "url": "git+https://github.com/acme/app.git", "directory": "packages/x"},
        {"type": "git", "url": "git://github.com/acme/app.git"},
        {"type": "git", "url": "git+ssh://git@github.com/acme/app.git"},
        "github:acme/app",
        "acme/app",
    ],
)
def test_package_on_npm_leads_to_its_repository(forge, repository):
    document = {"name": "@acme/app", "version": "1.0.0", "repository": repository}
    forge("/registry.npmjs.org/%40acme%2Fapp/latest", document)
    url = "https://www.npmjs.com/package/@acme/app/v/1.0.0"
    assert find_repository(url, forge.environment) == GITHUB


def test_package_whose_registry_names_another_host_is_refused(forge):
    project = {"project_urls": {"Source": "https://internal.example/acme/app"}, "home_page": None}
    forge("/pypi.org/pypi/app/json", {"info": project})
    with pytest.raises(CollectionError, match="No repository is known of the package app"):
        find_repository("https://pypi.org/project/app", forge.environment)
    with pytest.raises(CollectionError) as caught:
        find_repository("https://pypi.org/project/gone", forge.environment)
    assert caught.value.cause == "spec.example: the server answered 404 Not Found"
    with pytest.raises(UsageError, match="Not the address of a repository"):
        find_repository("https://internal.example/project/app", forge.environment)


@pytest.mark.parametrize("path", ["/srv/acme/app", "./acme/app", "../acme/app", "~/acme/app"])
def test_path_of_a_folder_is_no_address(path):
    with pytest.raises(UsageError, match="Not the address of a repository"):
        parse_repository(path)


def test_addresses_of_packages_and_subgroups_are_recognized():
    assert parse_package("pypi.org/project/app") == ("pypi.org", "app")
    assert parse_package("https://npmjs.com/package/app") == ("npmjs.com", "app")
    assert parse_package("https://npmjs.com/search") is None
    assert parse_package("acme/app") is None
    assert parse_repository("https://gitlab.com/acme/tools/app/-/issues/3") == GITLAB
    assert parse_repository("https://github.com/acme/app/tree/main/x") == GITHUB
    assert GITLAB.path == "oss/gitlab.com/acme/tools/app.md"
    assert parse_repository(GITLAB.url) == GITLAB


def test_only_these_hosts_are_asked():
    hosts = {address.split("/")[2] for address in APIS.values()}
    assert hosts == {
        *("api.github.com", "gitlab.com", "codeberg.org", "pypi.org", "registry.npmjs.org")
    }

"""The client of a hub: where it sends its token, and where not."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ubp.answers.hub.push import find_name, find_run
from ubp.core.errors import HubError, UsageError
from ubp.core.repository_names import repository_name, split_reference
from ubp.sync import hub_client
from ubp.sync.hub_client import HubClient, find_token


@pytest.mark.parametrize(
    "address",
    [
        "http://hub.example.org",
        "http://127.0.0.1.example.org",
        "http://10.0.0.1",
        "ftp://hub.example.org",
        "file:///etc/passwd",
        "hub.example.org",
        "https://user:password@hub.example.org",
        "https://hub.example.org/?x=1",
        "https://",
        "https://[::1",
        "",
    ],
)
def test_address_that_is_not_https_or_this_machine_is_refused(address):
    with pytest.raises(UsageError):
        HubClient(address, "token")


@pytest.mark.parametrize(
    "address",
    ["https://hub.example.org/", "http://127.0.0.1:8232", "http://localhost", "http://[::1]:1"],
)
def test_address_of_a_hub_is_taken(address):
    assert HubClient(address, "token").address == address.rstrip("/")


@pytest.mark.parametrize("given", ["acme/api", "https://github.com/acme/api"])
def test_name_that_was_given_is_in_the_refusal(given):
    with pytest.raises(UsageError, match=rf"^{given} is not the name of a repository") as error:
        find_name(None, given, {})
    assert "origin" not in error.value.cause


@pytest.fixture
def server():
    """A server that redirects POSTs to itself, and gives tokens like GitHub Actions."""

    class Handler(BaseHTTPRequestHandler):
        requests, url = [], ""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.requests.append(self.path)
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            self.requests.append((self.path, self.headers["Authorization"]))
            body = json.dumps({"value": "job-token"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    Handler.url = f"http://127.0.0.1:{running.server_port}"
    yield Handler
    running.shutdown()
    running.server_close()
    thread.join()


def test_redirect_is_not_followed(server, monkeypatch):
    monkeypatch.setattr(hub_client, "WAITS", ())
    with pytest.raises(HubError) as refused:
        HubClient(server.url, "token").post("/v1/push", {})
    assert "302" in refused.value.cause
    assert server.requests == ["/v1/push"]


def test_token_of_a_job_is_asked_of_github_for_this_hub(server):
    environment = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{server.url}/token?version=2",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token",
    }
    token = find_token("https://hub.example.org/", None, environment, ".")
    assert token == "job-token"
    assert server.requests == [
        ("/token?version=2&audience=https%3A%2F%2Fhub.example.org", "bearer request-token")
    ]


def test_token_of_a_file_comes_before_the_environment(tmp_path):
    (tmp_path / "token").write_text("from-file\n")
    environment = {"UBP_HUB_TOKEN": "from-environment"}
    assert find_token("https://h", "token", environment, str(tmp_path)) == "from-file"
    assert find_token("https://h", None, environment, ".") == "from-environment"
    for wrong in ("two words", "", "\u00e9"):
        (tmp_path / "token").write_text(wrong, encoding="utf-8")
        with pytest.raises(UsageError):
            find_token("https://h", "token", environment, str(tmp_path))
    with pytest.raises(UsageError):
        find_token("https://h", None, {}, ".")


def test_runs_are_those_of_the_forges_variables():
    assert find_run({"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2"}) == (7, 2)
    assert find_run({"CI_PIPELINE_ID": "8", "CI_JOB_ID": "80"}) == (8, 80)
    assert find_run({}) == (None, 0)


NAMES = {
    "https://github.com/acme/api.git": "github.com/acme/api",
    "https://user:token@GitHub.com/acme/api/": "github.com/acme/api",
    "git@github.com:acme/api.git": "github.com/acme/api",
    "ssh://git@git.example.org:2222/acme/tools/api.git": "git.example.org/acme/tools/api",
    "https://git.example.org:8443/acme/api": "git.example.org:8443/acme/api",
    "https://github.com:443/acme/api": "github.com/acme/api",
    "/srv/git/api.git": "",
    "../api": "",
    "https://github.com/../etc": "",
    "file:///srv/api": "",
    "": "",
}


@pytest.mark.parametrize("address", NAMES)
def test_name_of_a_repository_is_the_same_for_all_of_its_addresses(address):
    assert repository_name(address) == NAMES[address]


def test_reference_to_another_repository_is_split():
    assert split_reference("github.com/acme/api:src/pay.py") == (
        "github.com/acme/api",
        "src/pay.py",
    )
    for own in ("src/pay.py", "docs/a:b.md", "api:src/pay.py", "github.com/acme/api"):
        assert split_reference(own) == ("", own)

"""Grants: what a forge answers, as documented, decides who reads what."""

import hmac
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.hub.conftest import running_hub
from tests.hub.test_identity import BOARD
from ubp.__main__ import main
from ubp.core.errors import HubError
from ubp.hub.config import Forge
from ubp.hub.grants import compare_forge
from ubp.hub.repositories import identify
from ubp.hub.worker import Worker


class FakeForge:
    """A forge on loopback with the shapes that GitHub and GitLab document."""

    def __init__(self) -> None:
        self.repositories = {}
        self.status = 200
        self.requests = []
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                forge.requests.append((parts.path, self.headers["Authorization"]))
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                found = forge.answer(unquote(parts.path))
                if isinstance(found, list):
                    size, page = int(query["per_page"]), int(query["page"])
                    found = found[(page - 1) * size : page * size]
                status = forge.status if found is not None else 404
                body = json.dumps(found if status == 200 else {"message": "no"}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def add(self, key, path, *members, visibility="private", archived=False, branch="main"):
        self.repositories[key] = (path, members, visibility, archived, branch)

    def answer(self, path):
        if re.fullmatch(r"/orgs/acme/repos", path, re.IGNORECASE):
            return [self.github(key) for key in self.repositories]
        if re.fullmatch(r"/groups/acme/projects", path):
            return [self.gitlab(key) for key in self.repositories]
        if match := re.fullmatch(r"/repos/(.+)/collaborators", path):
            return [
                {"login": name, "permissions": {"pull": name != "denied", "push": False}}
                for _, (path_, members, *_) in self.repositories.items()
                if path_ == match[1]
                for name in members
            ]
        if match := re.fullmatch(r"/projects/(\d+)/members/all", path):
            _, members, *_ = self.repositories[int(match[1])]
            return [
                {
                    "username": name,
                    "state": "blocked" if name == "blocked" else "active",
                    "access_level": 10 if name == "guest" else 30,
                }
                for name in members
            ]
        if match := re.fullmatch(r"/(repos|projects)/(.+)", path):
            keys = [key for key, (path_, *_) in self.repositories.items() if path_ == match[2]]
            make = self.github if match[1] == "repos" else self.gitlab
            return make(keys[0]) if keys else None
        return None

    def github(self, key):
        path, _, visibility, archived, branch = self.repositories[key]
        return {
            "id": key,
            "full_name": path,
            "private": visibility != "public",
            "visibility": visibility,
            "archived": archived,
            "default_branch": branch,
        }

    def gitlab(self, key):
        path, _, visibility, archived, branch = self.repositories[key]
        return {
            "id": key,
            "path_with_namespace": path,
            "visibility": visibility,
            "archived": archived,
            "default_branch": branch,
        }

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def fake_forge():
    forge = FakeForge()
    try:
        yield forge
    finally:
        forge.close()


@pytest.fixture
def forge():
    with fake_forge() as running:
        yield running


@pytest.fixture
def settings(forge, tmp_path):
    (tmp_path / "token").write_text("forge-token\n")
    (tmp_path / "secret").write_text("webhook-secret\n")
    return Forge(
        "github",
        "github.com",
        forge.url,
        str(tmp_path / "token"),
        ("acme",),
        str(tmp_path / "secret"),
    )


@pytest.fixture
def granted_hub(database_address, issuers, settings):
    with running_hub(database_address, issuers, forges=(settings,)) as hub:
        yield hub


def readers(hub):
    return hub.rows(
        "select r.name, g.reader from grants g join repository r on r.id = g.repository"
        " order by 1, 2"
    )


def test_collaborators_who_may_pull_are_readers(granted_hub, forge, settings):
    forge.add(1, "acme/api", "Ann", "bob", "denied")
    forge.add(2, "acme/web", visibility="public")
    forge.add(3, "acme/old", visibility="internal", archived=True)
    assert compare_forge(granted_hub.database, settings).found == 3
    assert readers(granted_hub) == [
        ("github.com/acme/api", "github.com/ann"),
        ("github.com/acme/api", "github.com/bob"),
    ]
    rows = granted_hub.rows("select name, visibility, archived from repository order by name")
    assert rows == [
        ("github.com/acme/api", "private", False),
        ("github.com/acme/old", "internal", True),
        ("github.com/acme/web", "public", False),
    ]
    assert {token for _, token in forge.requests} == {"Bearer forge-token"}


def test_all_pages_of_a_list_are_read(granted_hub, forge, settings):
    forge.add(1, "acme/api", *(f"person-{number}" for number in range(250)))
    compare_forge(granted_hub.database, settings)
    assert len(readers(granted_hub)) == 250


def test_gitlab_members_from_reporter_on_are_readers(database, forge, settings):
    gitlab = Forge("gitlab", "gitlab.example.org", forge.url, settings.token_file, ("acme",))
    forge.add(7, "acme/tools/api", "ann", "guest", "blocked")
    compare_forge(database, gitlab)
    with database.connection() as connection:
        rows = connection.execute(
            "select r.name, g.reader from grants g join repository r on r.id = g.repository"
        ).fetchall()
    assert rows == [("gitlab.example.org/acme/tools/api", "gitlab.example.org/ann")]


def test_forge_that_fails_changes_nothing(granted_hub, forge, settings):
    forge.add(1, "acme/api", "ann")
    compare_forge(granted_hub.database, settings)
    forge.status = 500
    with pytest.raises(HubError):
        compare_forge(granted_hub.database, settings)
    assert len(readers(granted_hub)) == 1
    assert granted_hub.rows("select removed_at from repository") == [(None,)]


def test_renamed_repository_keeps_its_board_and_a_removed_one_is_not_read(
    repository, granted_hub, forge, settings
):
    hub = granted_hub
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    forge.add(1, "acme/api", "ann")
    compare_forge(hub.database, settings)
    assert hub.call(BOARD, token=hub.person())[0] == 200

    forge.add(1, "acme/payments", "ann")
    compare_forge(hub.database, settings)
    renamed = BOARD.replace("acme/api", "acme/payments")
    for board in (BOARD, renamed):
        assert hub.call(board, token=hub.person())[0] == 200

    forge.repositories.clear()
    assert compare_forge(hub.database, settings).removed == 1
    for board in (BOARD, renamed):
        assert hub.call(board, token=hub.person())[0] == 404


def test_new_repository_of_an_old_name_does_not_inherit_its_board(
    repository, granted_hub, forge, settings
):
    hub = granted_hub
    repository.write("a.md", "# Secret\n")
    repository.commit()
    hub.push(repository)
    forge.add(1, "acme/api", "ann")
    compare_forge(hub.database, settings)
    forge.repositories.clear()
    forge.add(2, "acme/api", "bob")
    compare_forge(hub.database, settings)
    assert hub.call(BOARD, token=hub.person("bob"))[0] == 404
    assert hub.call(BOARD, token=hub.person("ann"))[0] == 404


def send_webhook(hub, value, secret=b"webhook-secret"):
    body = json.dumps(value).encode()
    signature = "sha256=" + hmac.new(secret, body, sha256).hexdigest()
    headers = {"X-Hub-Signature-256": signature, "Content-Type": "application/json"}
    return hub.call("/v1/webhook/github.com", body=body, **headers)[0]


def test_withdrawn_grant_ends_after_a_webhook(repository, granted_hub, forge):
    hub = granted_hub
    worker = Worker(hub.database, hub.hub.config)
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    forge.add(1, "acme/api", "ann")
    assert worker.work()
    assert hub.call(BOARD, token=hub.person())[0] == 200

    forge.add(1, "acme/api")
    before = len(forge.requests)
    status = send_webhook(hub, {"action": "removed", "repository": {"full_name": "acme/api"}})
    assert status == 202
    assert len(forge.requests) == before  # a request never asks the forge
    assert hub.call(BOARD, token=hub.person())[0] == 200
    assert worker.work()
    assert hub.call(BOARD, token=hub.person())[0] == 404


def test_webhook_with_another_signature_is_refused(granted_hub):
    assert send_webhook(granted_hub, {"repository": {"full_name": "acme/api"}}, b"x") == 401
    assert granted_hub.call("/v1/webhook/evil.example.org", body=b"{}")[0] == 404
    assert granted_hub.rows("select count(*) from webhook") == [(0,)]


def test_secret_that_is_missing_is_found_by_the_check_and_fails_no_call_with_a_traceback(  # noqa: PLR0917  # fixtures
    granted_hub, settings, tmp_path, database_address, monkeypatch, capsys, caplog
):
    Path(settings.webhook_secret_file).unlink()
    assert send_webhook(granted_hub, {"repository": {"full_name": "acme/api"}}) == 503
    assert [message for message in caplog.messages if "A webhook of github.com cannot" in message]

    config = tmp_path / "hub.json"
    config.write_text(json.dumps({"url": granted_hub.url, "forges": [asdict(settings)]}))
    monkeypatch.setenv("UBP_HUB_DATABASE", database_address)
    assert main(["hub", "check", "--config", str(config)]) == 2
    assert f"Cannot read {settings.webhook_secret_file}." in capsys.readouterr().err
    Path(settings.webhook_secret_file).write_text("webhook-secret\n")
    assert main(["hub", "check", "--config", str(config)]) == 0


def test_clients_are_granted_what_the_configuration_names(repository, database_address, issuers):
    name = f"{issuers['provider'].url} agent-7"
    clients = {name: ("github.com/acme/api",)}
    with running_hub(database_address, issuers, clients=clients) as hub:
        repository.write("a.md", "# A\n")
        repository.commit()
        hub.push(repository)
        agent = hub.person(None, sub="agent-7", azp="agent-7")
        assert hub.call(BOARD, token=agent)[0] == 404
        Worker(hub.database, hub.hub.config).work()
        assert hub.call(BOARD, token=agent)[0] == 200
        person = hub.person(None, sub="human-1", azp="agent-7")
        assert hub.call(BOARD, token=person)[0] == 404
        assert hub.call(BOARD, token=hub.person(None, sub="agent-8", azp="agent-8"))[0] == 404


def test_client_reads_a_repository_that_appears_or_is_renamed_after_the_worker_has_started(
    repository, new_repository, database_address, issuers
):
    clients = {f"{issuers['provider'].url} agent-7": ("github.com/Acme/api",)}
    with running_hub(database_address, issuers, clients=clients) as hub:
        worker = Worker(hub.database, hub.hub.config)
        assert worker.work()
        repository.write("a.md", "# A\n")
        repository.commit()
        hub.push(repository)
        agent = hub.person(None, sub="agent-7", azp="agent-7")
        assert worker.work()
        assert hub.call(BOARD, token=agent)[0] == 200

        before = hub.rows("select at from grants")
        hub.execute("update repository set forge_id = '1'")
        with hub.database.connection() as connection:
            identify(connection, "github.com/acme/payments", "1")
        assert worker.work()
        renamed = BOARD.replace("acme/api", "acme/payments")
        assert hub.call(renamed, token=agent)[0] == 200
        assert hub.rows("select at from grants") == before  # nothing is written anew

        other = new_repository("other")
        other.write("b.md", "# B\n")
        other.commit()
        with hub.database.connection() as connection:
            identify(connection, "github.com/acme/api", "2")
        hub.push(other)
        assert worker.work()
        assert hub.call(BOARD, token=agent)[0] == 200
        assert hub.call(renamed, token=agent)[0] == 404


def test_removed_repository_is_not_read_whatever_the_case_of_its_names(
    repository, granted_hub, forge, settings
):
    hub = granted_hub
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository, "github.com/aCME/api")
    forge.add(1, "Acme/api", "ann")
    compare_forge(hub.database, settings)
    assert hub.rows("select name, forge_id from repository") == [("github.com/Acme/api", "1")]
    assert hub.call(BOARD, token=hub.person())[0] == 200

    forge.repositories.clear()
    forge.add(2, "Acme/API", "bob")
    assert compare_forge(hub.database, settings).removed == 0  # its name was taken
    assert hub.call(BOARD, token=hub.person())[0] == 404
    forge.repositories.clear()
    assert compare_forge(hub.database, settings).removed == 1
    assert hub.rows("select count(*) from repository where removed_at is null") == [(0,)]


def test_deleted_repository_is_not_read_after_a_webhook_with_another_case(
    repository, granted_hub, forge
):
    hub = granted_hub
    worker = Worker(hub.database, hub.hub.config)
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository)
    forge.add(1, "acme/api", "ann")
    assert worker.work()
    forge.repositories.clear()
    send_webhook(hub, {"action": "deleted", "repository": {"full_name": "Acme/Api"}})
    assert worker.work()
    assert hub.call(BOARD, token=hub.person())[0] == 404


def test_default_branch_is_the_tip_once_it_is_pushed(repository, granted_hub, forge):
    hub = granted_hub
    worker = Worker(hub.database, hub.hub.config)
    repository.write("a.md", "# A\n")
    repository.commit()
    hub.push(repository, GITHUB_REF="refs/heads/release")
    forge.add(1, "acme/api", "ann", branch="main")
    assert worker.work()
    tip = "select ref.name from repository join ref on ref.id = tip"
    assert hub.rows(tip) == [("refs/heads/release",)]

    repository.write("a.md", "# A, once more\n")
    repository.commit()
    hub.push(repository, texts=True, GITHUB_REF="refs/heads/main")
    assert hub.rows(tip) == [("refs/heads/main",)]
    repository.write("a.md", "# A, and again\n")
    repository.commit()
    hub.push(repository, GITHUB_REF="refs/heads/release")
    assert hub.rows(tip) == [("refs/heads/main",)]
    assert hub.rows("select count(*) from text") == [(1,)]
    forge.add(1, "acme/api", "ann", branch="release")
    send_webhook(hub, {"action": "edited", "repository": {"full_name": "acme/api"}})
    assert worker.work()
    assert hub.rows(tip) == [("refs/heads/release",)]
    assert hub.rows("select count(*) from text") == [(0,)]  # those of main

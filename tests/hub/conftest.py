"""A real PostgreSQL, a hub on loopback, an issuer of tokens, and clones that push."""

import json
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import jwt
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from ubp.answers.hub.push import PushRequest
from ubp.board.wire import compress, decompress
from ubp.hub.api import Hub
from ubp.hub.application import HubServer
from ubp.hub.config import HubConfig, Issuer
from ubp.hub.database import Database
from ubp.hub.embedded import run_postgres
from ubp.hub.models import HubModel
from ubp.hub.process import Place, listen
from ubp.sync.hub_client import HubClient
from ubp.workspace import Workspace

LOG = logging.getLogger(__name__)
NUMBERS = count()
DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = {"guide": "guide", "reference": "reference", "ja": "ja"}
# A crash of the machine is not what is tested.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Say in the summary, too, why the hub did not accept a token: the log is far above it."""
    report = yield
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and ("was refused" in report.caplog or "be read" in report.caplog):
        crash.message += f"\n{report.caplog}"
    return report


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL with an empty database of the hub, `template`."""
    folder = tempfile.mkdtemp(prefix="ubp-")
    try:
        with run_postgres(folder, settings=FAST) as address:
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("create database template")
            with Database.open(address_of(address, "template")) as database:
                database.migrate()
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def address_of(address: str, name: str) -> str:
    return address.replace("/postgres?", f"/{name}?")


@pytest.fixture
def database_address(postgres) -> Iterator[str]:
    """The address of an empty database of the hub."""
    name = f"hub_{next(NUMBERS)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"create database {name} template template")
        yield address_of(postgres, name)
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def database(database_address) -> Iterator[Database]:
    with Database.open(database_address) as opened:
        yield opened


class _LoggingServer(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_) -> None:
        LOG.error("The issuer did not answer: %r", sys.exception())


class TokenIssuer:
    """An issuer on loopback: its keys, and the tokens that it signs."""

    def __init__(self) -> None:
        self.keys = {"first": rsa.generate_private_key(public_exponent=65537, key_size=2048)}
        self.reads = self.dropped = 0
        self.answers = threading.Event()  # cleared: it does not say its keys
        self.answers.set()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/keys":
                    issuer.reads += 1
                    issuer.answers.wait()
                if issuer.dropped:  # the next connection ends without an answer
                    issuer.dropped -= 1
                    return
                keys = {"keys": [issuer.public(name) for name in issuer.keys]}
                body = json.dumps(
                    keys if self.path == "/keys" else {"jwks_uri": f"{issuer.url}/keys"}
                ).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = _LoggingServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def public(self, name: str) -> dict:
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.keys[name].public_key(), as_dict=True)
        return {**key, "kid": name, "use": "sig", "alg": "RS256"}

    def sign(self, *, key: str = "first", **claims: object) -> str:
        now = int(time.time())
        given = {"iss": self.url, "sub": "somebody", "iat": now, "exp": now + 300, **claims}
        given = {name: value for name, value in given.items() if value is not None}
        return jwt.encode(given, self.keys[key], algorithm="RS256", headers={"kid": key})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def token_issuer() -> Iterator[TokenIssuer]:
    issuer = TokenIssuer()
    try:
        yield issuer
    finally:
        issuer.close()


@pytest.fixture(scope="session")
def provider() -> Iterator[TokenIssuer]:
    """The organisation's provider of tokens for people and their agents."""
    with token_issuer() as issuer:
        yield issuer


@pytest.fixture(scope="session")
def github() -> Iterator[TokenIssuer]:
    """Issues tokens like GitHub Actions."""
    with token_issuer() as issuer:
        yield issuer


@pytest.fixture(scope="session")
def gitlab() -> Iterator[TokenIssuer]:
    """Issues tokens like GitLab."""
    with token_issuer() as issuer:
        yield issuer


class RunningHub:
    """A hub on loopback, and what its callers do."""

    def __init__(self, hub: Hub, url: str, database: Database, issuers: dict) -> None:
        self.hub, self.url, self.database = hub, url, database
        self.provider, self.github, self.gitlab = (
            issuers[name] for name in ("provider", "github", "gitlab")
        )

    def rows(self, query: str, *values: object) -> list[tuple]:
        with self.database.connection() as connection:
            return connection.execute(query, values).fetchall()

    def execute(self, query: str, *values: object) -> None:
        with self.database.connection() as connection:
            connection.execute(query, values)

    def call(self, path: str, *, token: str | None = None, value=None, body=None, **headers):
        """Return the status of a call, and the answer."""
        data = compress(value) if value is not None else body
        request = Request(f"{self.url}{path}", data, headers)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urlopen(request, timeout=30) as response:
                answer = response.read()
                is_packed = "deflate" in response.headers.get("content-type", "")
                return response.status, decompress(answer) if is_packed else answer
        except HTTPError as error:
            with error:
                return error.code, error.read()

    def person(self, login: str | None = "ann", **claims: object) -> str:
        """Return the token of a person, or of an agent without an account."""
        given = {"aud": f"{self.url}/mcp", "scope": "ubp.read", "github_login": login}
        return self.provider.sign(**{**given, **claims})

    def job(self, repository: str = "acme/api", commit: str = "", **claims: object) -> str:
        """Return the token of a job of GitHub Actions."""
        given = {
            "aud": self.url,
            "repository": repository,
            "repository_id": "1",
            "ref": "refs/heads/main",
            "ref_protected": "true",
            "sha": commit,
            "run_id": "1",
            "run_attempt": "1",
            "event_name": "push",
        }
        return self.github.sign(**{**given, **claims})

    def push(  # the options of the command
        self,
        repository,
        name: str = "github.com/acme/api",
        token: str = "",
        *,
        texts: bool = False,
        **env: str,
    ):
        """Push a clone as a program of this process does, and return the record."""
        environment = {
            **os.environ,
            "UBP_HUB_TOKEN": token or "development-token-for-tests",
            **env,
        }
        with Workspace.open(str(repository.root), environment=environment) as workspace:
            return workspace.ask(PushRequest(to=self.url, repository=name, texts=texts))

    def grant(self, reader: str, repository: str) -> None:
        self.execute(
            "insert into grants (repository, reader) select id, %s from repository where name = %s",
            reader,
            repository,
        )


@contextmanager
def running_hub(
    address: str,
    issuers: dict,
    *,
    answers: tuple | None = None,
    model: HubModel | None = None,
    replica: str = "",
    **settings: object,
) -> Iterator[RunningHub]:
    with (
        Database.open(address, replica=replica) as database,
        listen(Place("127.0.0.1", 0)) as listener,
    ):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = HubConfig(
            url=url,
            issuers=(
                Issuer("people", issuers["provider"].url, "github.com"),
                Issuer("github", issuers["github"].url, "github.com", ("acme",)),
                Issuer("gitlab", issuers["gitlab"].url, "gitlab.example.org", ("acme",)),
            ),
            development_token="development-token-for-tests",
            **settings,
        )
        hub = Hub(database, config, answers, model)
        server = HubServer(hub)
        thread = threading.Thread(target=server.serve, args=(listener,))
        thread.start()
        try:
            yield RunningHub(hub, url, database, issuers)
        finally:
            server.end()
            thread.join()


@pytest.fixture
def issuers(provider, github, gitlab) -> dict:
    return {"provider": provider, "github": github, "gitlab": gitlab}


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    """All that clients send to the hub."""
    values = []
    post = HubClient.post

    def record(self, path, value):
        values.append(repr(value))
        return post(self, path, value)

    monkeypatch.setattr(HubClient, "post", record)
    return values


@pytest.fixture
def hub(database_address, issuers) -> Iterator[RunningHub]:
    with running_hub(database_address, issuers) as running:
        yield running


@pytest.fixture
def clones(new_repository):
    """UBP's own pages, as those of three repositories; two pages are in two of them."""
    made = {}
    for name, folder in FOLDERS.items():
        repository = new_repository(name)
        shutil.copytree(DOCS / folder, repository.root / "docs")
        repository.write("CHANGELOG.md", (DOCS.parent / "CHANGELOG.md").read_text("utf-8"))
        repository.commit()
        made[f"github.com/acme/{name}"] = repository
    return made

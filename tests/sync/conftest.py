"""A web site on this machine, reached as https://spec.example, and collections in a folder."""

import gzip
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest

from ubp.__main__ import main
from ubp.index.collections import read_collection

ORIGIN = "https://spec.example"


@dataclass
class Answer:
    """What the site answers: once for each of `statuses`, the last one from then on."""

    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    statuses: list[int] = field(default_factory=lambda: [200])
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = None


class Site:
    """The pages of a web site by path, and how often each was asked for with which status."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.requests: Counter[str] = Counter()
        self.answered: Counter[int] = Counter()
        self.agents: set[str] = set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.port = self.server.server_address[1]

    def page(self, path: str, html: str | bytes, **options) -> None:
        body = html.encode() if isinstance(html, str) else html
        self.pages[path] = Answer(body, etag=f'"{hash(body)}"', **options)

    def start(self) -> None:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path
            site.requests[path] += 1
            site.agents.add(self.headers["User-Agent"])
            answer = site.pages.get(path, Answer(b"none", statuses=[404]))
            status = answer.statuses.pop(0) if len(answer.statuses) > 1 else answer.statuses[0]
            if status == 200 and answer.etag and self.headers["If-None-Match"] == answer.etag:
                status = 304
            site.answered[status] += 1
            body = b"" if status == 304 else answer.body
            self.send_response(status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.etag:
                self.send_header("ETag", answer.etag)
            if answer.headers.get("Content-Encoding") == "gzip":
                body = gzip.compress(body)
            self.send_header("Content-Type", answer.type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:  # the client had enough
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class LocalTransport(httpx2.HTTPTransport):
    """Sends what is for ORIGIN to the site on this machine; other hosts do not exist."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.host != "spec.example":
            raise httpx2.ConnectError(f"no such host: {request.url.host}")
        local = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.port)
        request = httpx2.Request(
            request.method, local, headers=request.headers, extensions=request.extensions
        )
        return super().handle_request(request)


@pytest.fixture
def site(monkeypatch):
    """A web site that imports reach, without delays between requests."""
    site = Site()
    site.start()
    monkeypatch.setattr("ubp.sync.fetch.open_transport", lambda: LocalTransport(site.port))
    monkeypatch.setattr("ubp.sync.fetch.DELAY_SECONDS", 0)
    monkeypatch.setattr("ubp.sync.fetch.Fetcher.__init__.__defaults__", (lambda _: None,))
    yield site
    site.stop()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The directory of the collections."""
    folder = tmp_path / "collections"
    monkeypatch.setenv("UBP_COLLECTIONS", str(folder))
    return folder


@pytest.fixture
def run(capsys, folder, tmp_path):
    """Run `ubp` outside of any project, or in a directory: `run("collections", cwd=…)`."""
    assert not folder.exists()

    def call(*tokens, status=0, cwd=None):
        capsys.readouterr()
        found = main(["-C", str(cwd or tmp_path), *tokens])
        out, err = capsys.readouterr()
        assert found == status, out + err
        return out + err

    return call


@pytest.fixture
def stored(folder):
    """Run git in a collection: `stored("NAME", "log", …)`."""
    import subprocess

    def git(name, *args):
        done = subprocess.run(
            ["git", "--git-dir", str(folder / f"{name}.git"), *args],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    return git


@pytest.fixture
def registered(folder):
    """The registration of a collection."""
    return lambda name: read_collection(str(folder), name)

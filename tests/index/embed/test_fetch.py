"""A model fetched from a hub: here one in a folder, served on this machine."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from ubp.core.errors import ModelError, UsageError
from ubp.index.embed.fetch import fetch
from ubp.index.embed.locate import cache_folder, find_model
from ubp.index.embed.model import load_model

NAME = "owner/small"


@pytest.fixture
def hub(tmp_path, small_folder):
    """A hub that has the small model; the folder with its files."""
    files = tmp_path / "hub"
    files.mkdir()
    for file in small_folder.iterdir():
        (files / file.name).write_bytes(file.read_bytes())
    (files / "model.bin").write_bytes(b"something else")

    def tell(file):
        return {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": "0" * 40}

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer()

        def do_GET(self):
            self.wfile.write(self.answer())

        def answer(self):
            path = self.path.partition("?")[0]
            if path.startswith(f"/api/models/{NAME}/tree/"):
                body = json.dumps([tell(file) for file in files.iterdir()]).encode()
            elif path.startswith(f"/{NAME}/resolve/"):
                body = (files / path.rpartition("/")[2]).read_bytes()
            else:
                self.send_error(404)
                return b""
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.end_headers()
            return body

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", files
        server.shutdown()


@pytest.fixture
def environment(tmp_path, hub, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": hub[0]}


def test_fetched_model_is_found_and_used(environment, small_folder):
    with pytest.raises(ModelError, match="Model not found: owner/small") as caught:
        find_model(NAME, environment)
    assert caught.value.hint == "Fetch it: ubp model fetch owner/small"
    steps = []
    place = fetch(NAME, environment, lambda *step: steps.append(step))
    assert place == find_model(NAME, environment)
    assert place.directory == cache_folder(NAME, environment)
    fetched = {file.name for file in Path(place.directory).iterdir()}
    assert fetched == {"config.json", "model.safetensors", "tokenizer.json", "README.md"}
    assert [file.name for file in Path(place.directory).parent.iterdir()] == ["owner--small"]
    own = load_model(find_model(str(small_folder), {}))
    assert load_model(place).fingerprint == own.fingerprint
    assert "Fetching model.safetensors (MB)" in {step for step, *_ in steps}


def test_second_fetch_replaces_the_first(environment, hub):
    first = load_model(fetch(NAME, environment, print)).fingerprint
    config = hub[1] / "config.json"
    config.write_text(config.read_text().replace("true", "false"))
    assert load_model(fetch(NAME, environment, print)).fingerprint != first
    assert len(list(Path(cache_folder(NAME, environment)).parent.iterdir())) == 1


def test_download_that_is_not_a_model_is_not_kept(environment, hub):
    (hub[1] / "model.safetensors").write_bytes(b"rubbish of some length")
    with pytest.raises(ModelError, match="Cannot use the model"):
        fetch(NAME, environment, print)
    (hub[1] / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match="is not a model2vec model"):
        fetch(NAME, environment, print)
    assert list(Path(cache_folder(NAME, environment)).parent.iterdir()) == []


def test_missing_model_cannot_be_fetched(environment):
    with pytest.raises(ModelError, match=r"Cannot fetch the model owner/other\."):
        fetch("owner/other", environment, print)
    with pytest.raises(UsageError, match="is not a model id"):
        fetch("../folder", environment, print)


def test_cache_is_where_the_platform_expects_it(monkeypatch):
    def folder(platform, **environment):
        monkeypatch.setattr("sys.platform", platform)
        return cache_folder("a/b", environment).replace("\\", "/")

    home = Path.home().as_posix()
    assert folder("linux") == f"{home}/.cache/ubp/models/a--b"
    assert folder("linux", XDG_CACHE_HOME="/x") == "/x/ubp/models/a--b"
    assert folder("darwin") == f"{home}/Library/Caches/ubp/models/a--b"
    assert folder("win32", LOCALAPPDATA="C:/l") == "C:/l/ubp/models/a--b"

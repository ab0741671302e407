"""Real repositories in temporary folders, cut off from the developer's git and home."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import settings

from ubp.core import config_file
from ubp.core.config import Config
from ubp.index.embed import model
from ubp.index.store.file import FILE_NAME

# How long an example takes says more of the machine than of what it tests.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")

DAY = 86_400
START = 1_700_000_000  # a test repository's first commit is a day younger
COMMITTED = re.compile(r"\[[^\n]*? ([0-9a-f]{40}|[0-9a-f]{64})\] ")  # git's "[main 1a2b…] Begin"


MEMORY = "/dev/shm"
ROOM = 4 << 30  # bytes; a run of all tests needs less than 2 GB


def pytest_configure() -> None:
    """Make temporary files in memory: on a disk, fsync and unlink take milliseconds."""
    if "TMPDIR" in os.environ or not os.path.isdir(MEMORY):
        return
    can_execute = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC  # tests write programs
    if can_execute and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = MEMORY


@pytest.fixture(scope="session")
def isolate(tmp_path_factory: pytest.TempPathFactory) -> Callable[[pytest.MonkeyPatch], Path]:
    """Cut whatever runs from here on off from the developer's home, and return another."""

    template = tmp_path_factory.mktemp("template")  # without the samples that git copies
    (template / "hooks").mkdir()
    (template / "info").mkdir()
    homes = tmp_path_factory.mktemp("homes")

    def make(monkeypatch: pytest.MonkeyPatch) -> Path:
        home = Path(tempfile.mkdtemp(dir=homes))  # pytest looks through a folder for a number
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Ann Author\n\temail = ann@example.com\n"
            "[init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n"
            '[protocol "file"]\n\tallow = always\n[commit]\n\tgpgSign = false\n'
            "[advice]\n\tdetachedHead = false\n[maintenance]\n\tauto = false\n"
            f"[core]\n\tfsync = none\n[init]\n\ttemplateDir = {template.as_posix()}\n"
        )
        for name in [n for n in os.environ if n.startswith(("GIT_", "UBP_", "PRE_COMMIT"))]:
            monkeypatch.delenv(name)
        # Where it is set, each command that a test starts compiles all its modules again.
        monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("USERPROFILE", str(home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
        monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
        monkeypatch.setenv("TZ", "UTC")
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.delenv("FORCE_COLOR", raising=False)
        return home

    return make


@pytest.fixture(autouse=True)
def isolated_environment(
    isolate: Callable[[pytest.MonkeyPatch], Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """No test sees the developer's home, git configuration, colours or running hook."""
    return isolate(monkeypatch)


@pytest.fixture(autouse=True)
def any_drift_is_an_alarm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process any drift is an alarm, except in tests that are marked `default_alarms`.

    Most tests are about what drifts, and their sources have no names that a page could mention.
    """
    if request.node.get_closest_marker("default_alarms"):
        return
    assert Config._fields[-1] == "alarms"
    defaults = (*Config.__new__.__defaults__[:-1], "any")
    monkeypatch.setattr(Config.__new__, "__defaults__", defaults)
    monkeypatch.setattr(config_file, "DEFAULT_ALARMS", "any")


class TestRepository:
    """A repository that a test commits to; every commit is a day younger than the last."""

    __test__ = False

    def __init__(self, root: Path, clock: int = START) -> None:
        self.root = root
        self.clock = clock

    @property
    def index(self) -> Path:
        """UBP's index of this repository."""
        return self.root / self.git("rev-parse", "--git-common-dir") / "ubp" / FILE_NAME

    def git(
        self,
        *args: str,
        check: bool = True,
        env: dict[str, str] | None = None,
        stdin: bytes | None = None,
    ) -> str:
        """Run git here and return its output, stripped."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            check=False,
            capture_output=True,
            input=stdin,
            env={**os.environ, **(env or {})},
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file (LF line ends where the content is text), making its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def page(
        self, path: str, *sources: str, body: str = "Text.\n", title: str | None = None
    ) -> Path:
        """Write a page whose front matter names these sources."""
        lines = [
            "---",
            *([f"title: {title}"] if title else []),
            "source_refs:",
            *(f"  - {s}" for s in sources),
            "---",
            "",
        ]
        return self.write(path, "\n".join(lines) + body)

    def remove(self, path: str) -> None:
        """Delete a file."""
        (self.root / path).unlink()

    def commit(
        self, message: str = "change", *args: str, at: int | None = None, add: bool = True
    ) -> str:
        """Commit everything (or with `add=False` what is staged) and return the commit's id."""
        if add:
            self.git("add", "--all")
        self.clock = at if at is not None else self.clock + DAY
        date = f"{self.clock} +0000"
        printed = self.git(
            *("-c", "core.abbrev=no", "commit", "--allow-empty", "--no-verify", "-m", message),
            *args,
            env={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
        )
        commit = COMMITTED.match(printed)  # one process less than to ask for HEAD
        return commit[1] if commit else self.head()

    def merge(self, *args: str, message: str = "merge") -> str:
        """Merge without fast-forward and return the merge's id."""
        self.clock += DAY
        date = f"{self.clock} +0000"
        self.git(
            "merge",
            "--quiet",
            "--no-ff",
            "-m",
            message,
            *args,
            env={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
        )
        return self.head()

    def head(self) -> str:
        """The id of HEAD."""
        return self.git("rev-parse", "HEAD")

    def blob(self, path: str) -> str:
        """The blob id that git gives to a file of the work tree, its filters applied."""
        return self.git("hash-object", "--", path)


@pytest.fixture(scope="session", autouse=True)
def loaded_models() -> Iterator[None]:
    """Keep loaded models for the whole run; UBP forgets those that nothing uses."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(model, "_LOADED", {})
        yield


@pytest.fixture(scope="session")
def repository_in(
    isolate: Callable[[pytest.MonkeyPatch], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., TestRepository]:
    """Make a repository in a folder: `repository_in(folder, *git_init_arguments)`."""
    empty = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as monkeypatch:
        isolate(monkeypatch)
        subprocess.run(["git", "init", "--quiet", empty], check=True)

    def make(root: Path, *args: str) -> TestRepository:
        if not args:  # a copy takes a quarter of the time of `git init`
            shutil.copytree(empty, root)
            return TestRepository(root)
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", *args, "."], cwd=root, check=True)
        return TestRepository(root)

    return make


@pytest.fixture
def new_repository(
    tmp_path: Path, repository_in: Callable[..., TestRepository]
) -> Callable[..., TestRepository]:
    """Make a repository: `new_repository("name", *git_init_arguments)`."""
    return lambda name="project", *args: repository_in(tmp_path / name, *args)


@pytest.fixture
def repository(new_repository: Callable[..., TestRepository]) -> TestRepository:
    """One empty repository."""
    return new_repository()


@pytest.fixture
def shallow(repository: TestRepository, new_repository: Callable[..., TestRepository]):
    """A clone without the commit that the source of its page was last changed in."""
    repository.write("a.py", "1\n")
    repository.page("a.md", "a.py")
    repository.commit()
    repository.write("b.py", "1\n")
    repository.commit()
    clone = new_repository("clone")
    clone.git("fetch", "--quiet", "--depth", "1", f"file://{repository.root}", "main")
    clone.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    return clone


@pytest.fixture(scope="session")
def valid():
    """Hold a record against a schema that has no room for keys that it does not tell."""

    def tighten(schema):
        if isinstance(schema, list):
            return [tighten(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        tight = {key: tighten(value) for key, value in schema.items()}
        return tight | ({"additionalProperties": False} if "properties" in schema else {})

    validators = {}  # by the schema's text: to check a schema takes longer than to check a record

    def check(schema, record):
        text = json.dumps(schema)
        if text not in validators:
            tight = tighten(schema)
            kind = jsonschema.validators.validator_for(tight)
            kind.check_schema(tight)
            validators[text] = kind(tight)
        validators[text].validate(record)
        return record

    return check


@pytest.fixture
def chat_model() -> Iterator[Any]:
    """A server that answers chat completions, and the `environment` that names it.

    It sends `replies`, texts or whole bodies, after `delay` seconds, with `statuses` (200 where
    there is none left) and `headers`, and keeps the `requests`.
    """

    class Handler(BaseHTTPRequestHandler):
        replies, requests, statuses, headers_sent, delay = [], [], [], {}, 0.0

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.requests.append((self.path, self.headers["Authorization"], json.loads(body)))
            reply = self.replies.pop(0)
            data = reply if isinstance(reply, bytes) else completion(reply)
            time.sleep(self.delay)
            self.send_response(self.statuses.pop(0) if self.statuses else 200)
            self.send_header("Content-Length", str(len(data)))
            for name, value in self.headers_sent.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # the client may be gone
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    def completion(text: str) -> bytes:
        message = {"message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 100}
        return json.dumps({"choices": [message], "usage": usage}).encode()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    values = {"URL": f"http://127.0.0.1:{server.server_address[1]}/v1/", "MODEL": "tiny"}
    Handler.environment = {
        f"{prefix}_{name}": value
        for prefix in ("UBP_ASK", "UBP_REVIEW")
        for name, value in {**values, "KEY": "secret"}.items()
    }
    yield Handler
    server.shutdown()
    server.server_close()

"""Kill `ubp collections sync` at random moments, and check that no collection is half a version.

Each round publishes a new version of a web site and of a Git repository, starts a process that
synchronizes both and lists their pages, and kills its process group after a random time. Whatever
is readable afterwards must be a whole version: every page of the same one. A last, undisturbed run
must find the newest. Run with `python benchmarks/robustness/kill_sync.py --rounds 100`.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGES = 12
NAMES = ("web", "code")
TEXT = "A sentence that makes the page longer. " * 40


def html(number: int, version: int) -> str:
    """Return a page of the site, with links to all others."""
    links = "".join(f'<a href="p{other}.html">{other}</a> ' for other in range(PAGES))
    return f"<title>P{number}</title><h1>Page {number}</h1><p>state{version}.</p>{links}{TEXT}"


class Site:
    """Serves the pages of the current version, with ETags."""

    def __init__(self) -> None:
        self.version = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                name = re.fullmatch(r"/s/(?:p(\d+)\.html)?", self.path)
                body = html(int(name[1] or 0), site.version).encode() if name else b""
                etag = f'"{site.version}"'
                status = 200 if name else 404
                if name and self.headers["If-None-Match"] == etag:
                    status, body = 304, b""
                self.send_response(status)
                self.send_header("ETag", etag)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def synchronize(port: int) -> int:
    """Synchronize everything and read it, in this process."""
    import httpx2

    from ubp.__main__ import main
    from ubp.sync import fetch

    class Local(httpx2.BaseTransport):
        def __init__(self) -> None:
            self.inner = httpx2.HTTPTransport()

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            local = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
            return self.inner.handle_request(
                httpx2.Request("GET", local, headers=request.headers, extensions=request.extensions)
            )

    fetch.open_transport = Local
    fetch.DELAY_SECONDS = 0.0
    known = {path.stem for path in Path(os.environ["UBP_COLLECTIONS"]).glob("*.json")}
    status = 0
    for name, source in (("web", "https://spec.example/s/"), ("code", os.environ["UPSTREAM"])):
        action = ["sync", name] if name in known else ["add", name, source, "--yes"]
        status |= main(["-C", "/", "--quiet", "collections", *action])
        status |= main(["-C", "/", "--quiet", "list-pages", "--in", name])
    return status


def read_versions(folder: Path, name: str) -> set[str]:
    """Return the versions of the pages that a reader of a collection finds."""
    git = ["git", "--git-dir", str(folder / f"{name}.git")]
    # No protocol: a mirror must not fetch what it lacks while it is examined.
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "none"}

    def ask(*args: str) -> list[str]:
        done = subprocess.run([*git, *args], check=True, capture_output=True, env=environment)
        return done.stdout.decode().split()

    pages = ask("ls-tree", "-r", "--name-only", "main")
    found = ask("grep", "-hoE", "state[0-9]+", "main")
    if len(found) != len(pages) or len(pages) < PAGES:
        raise AssertionError(f"{name}: {len(found)} states in {len(pages)} pages")
    return set(found)


class Upstream:
    """The site and the repository that are synchronized, and the processes that do it."""

    def __init__(self, root: Path) -> None:
        self.folder, self.repository, self.site = root / "collections", root / "upstream", Site()
        self.environment = {
            **os.environ,
            "UBP_COLLECTIONS": str(self.folder),
            "UPSTREAM": self.repository.as_uri(),
        }
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.repository)], check=True)
        self.git("config", "uploadpack.allowFilter", "true")

    def git(self, *args: str) -> None:
        """Run git in the upstream repository."""
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(self.repository), *identity, *args], check=True)

    def publish(self, version: int) -> None:
        """Publish a version of every page, in both places."""
        self.site.version = version
        for number in range(PAGES):
            (self.repository / f"p{number}.md").write_text(f"# P{number}\n\nstate{version}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", str(version))

    def synchronize(self, seconds: float | None) -> int:
        """Run a process that synchronizes; kill its group after some seconds."""
        child = subprocess.Popen(
            [sys.executable, __file__, "--child", str(self.site.server.server_address[1])],
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return child.wait()


def kill_often(upstream: Upstream, rounds: int, chance: random.Random) -> tuple[int, int]:
    """Return how many runs were killed, and how often a killed run had moved a collection."""
    upstream.publish(0)
    started = time.monotonic()
    if upstream.synchronize(None):
        raise AssertionError("the first run failed")
    whole = time.monotonic() - started
    killed = moved = 0
    for number in range(1, rounds + 1):
        upstream.publish(number)
        # The first part of each run only starts Python.
        status = upstream.synchronize(whole * chance.uniform(0.25, 1.0))
        killed += status < 0
        for name in NAMES:
            found = read_versions(upstream.folder, name)
            if len(found) != 1:
                raise AssertionError(f"round {number}: {name} has {sorted(found)}")
            moved += status < 0 and found == {f"state{number}"}
    upstream.publish(rounds + 1)
    if upstream.synchronize(None):
        raise AssertionError("the last run failed")
    for name in NAMES:
        git_dir = str(upstream.folder / f"{name}.git")
        command = ["git", "--git-dir", git_dir, "fsck", "--connectivity-only"]
        subprocess.run(command, check=True, capture_output=True)
        if read_versions(upstream.folder, name) != {f"state{rounds + 1}"}:
            raise AssertionError(f"{name} is not at the newest version")
    return killed, moved


def main() -> int:
    """Parse the command line, and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return synchronize(options.child)
    with tempfile.TemporaryDirectory() as root:
        upstream = Upstream(Path(root))
        killed, moved = kill_often(upstream, options.rounds, random.Random(options.seed))
    print(f"{killed} of {options.rounds} runs were killed, {moved} times after a collection moved;")
    print("every version was whole, and the last run found the newest")
    return 0


if __name__ == "__main__":
    sys.exit(main())

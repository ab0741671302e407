"""HTTP on loopback for programs that cannot use stdio: each POST is a line to `ubp serve` and back.

python benchmarks/agents/bridge.py REPOSITORY [PORT]
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

from benchmarks.common.measure import UBP

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Pipe:
    """A server's stdin and stdout, shared by the requests that come at the same time."""

    def __init__(self, root: str) -> None:
        """Start the server."""
        self._process = subprocess.Popen(
            [UBP, "--quiet", "-C", root, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._waiting: dict[Any, SimpleQueue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request; None: nothing was asked."""
        answer: SimpleQueue[dict[str, Any]] = SimpleQueue()
        name = message.get("id")
        with self._lock:
            if name is not None:
                self._waiting[name] = answer
            assert self._process.stdin
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        return answer.get() if name is not None and "method" in message else None

    def close(self) -> None:
        """Hang up."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if waiting := self._waiting.pop(message.get("id"), None):
                waiting.put(message)


@contextmanager
def bridge(root: str, port: int = 0) -> Iterator[str]:
    """The address of a server for this repository, as long as the context lasts."""
    pipe = Pipe(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the name is the library's
            host = self.headers.get("Host", "").rpartition(":")[0]
            origin = self.headers.get("Origin", "")
            if host not in LOOPBACK or (origin and not origin.startswith("http://127.0.0.1")):
                self.answer(403, b"")
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = pipe.send(json.loads(body))
            self.answer(200 if said else 202, json.dumps(said).encode() if said else b"")

        def do_GET(self) -> None:  # the name is the library's
            self.answer(405, b"")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        pipe.close()


if __name__ == "__main__":
    with bridge(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0) as address:
        print(address, flush=True)
        sys.stdin.read()

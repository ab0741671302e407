"""Attacks on `ubp serve --http`: by web pages, other users of the machine, and clients."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from attacks import many
from victim import SECONDS_TO_WAIT, SECRET

TOKEN = "a-token-of-26-characters-x"
MAX_MEGABYTES = 400
REFUSED = frozenset({400, 401, 403, 404, 405, 406, 411, 413, 415, 421, 431, 501})
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
Headers = dict[str, str]


class HttpAbuse(NamedTuple):
    """What a client sends to a server on HTTP; `judge` returns what it achieved, "" if nothing."""

    name: str
    rule: str
    judge: Callable[["HttpServer"], str]


class HttpServer:
    """A server on HTTP, with what it writes to stderr."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ubp", "serve", "--http", "--port", "0"],
            cwd=root,
            env={**os.environ, "UBP_SERVE_TOKEN": TOKEN},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.written: list[str] = []
        addresses: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, args=(addresses,), daemon=True)
        self._reader.start()
        address = addresses.get(timeout=SECONDS_TO_WAIT)
        self.port = int(address.rpartition(":")[2].partition("/")[0])

    def _read(self, addresses: "queue.Queue[str]") -> None:
        assert self.process.stderr
        with self.process.stderr as lines:
            for line in lines:
                self.written.append(line)
                if line.startswith("Serving at "):
                    addresses.put(line.split()[2])

    def connect(self) -> socket.socket:
        """Return a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS_TO_WAIT)

    def raw(self, data: bytes, *, is_all: bool = False) -> tuple[int, str]:
        """Send bytes; return the status of the answer (0: none), and the answer as text."""
        with self.connect() as connection:
            received = b""
            try:
                connection.sendall(data)
                if is_all:
                    connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(1 << 16):
                    received += piece
            except TimeoutError:
                raise
            except OSError:  # the server has closed the connection
                pass
        words = received.split(b" ", 2)
        status = int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") else 0
        return status, received.decode("utf-8", "replace")

    def request(
        self, body: object = OPENING, *, method: str = "POST", path: str = "/mcp", **headers: str
    ) -> tuple[int, str]:
        """Send a request with the token, unless `headers` say otherwise ("": leave it out)."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            "Connection": "close",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in sent.items() if value]
        return self.raw("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + data)

    def fault(self) -> str:
        """Return what an attack achieved besides its answer: a server that ended, grew or told."""
        status, text = self.request()
        if status != 200 or "serverInfo" not in text:
            return f"the server answers {status}: {text[:200]}"
        if any(TOKEN in line for line in self.written):
            return "the token is on stderr"
        status_file = Path(f"/proc/{self.process.pid}/status")
        if status_file.exists():
            most = re.search(r"VmHWM:\s+(\d+) kB", status_file.read_text())
            if most and int(most[1]) > MAX_MEGABYTES << 10:
                return f"the server took {int(most[1]) >> 10} MB"
        return ""

    def close(self) -> None:
        """End the server."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(SECONDS_TO_WAIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(SECONDS_TO_WAIT)


def refused(*requests: Callable[[HttpServer], tuple[int, str]]) -> Callable[[HttpServer], str]:
    """Judge that each request is refused, and says nothing of the repository."""

    def judge(server: HttpServer) -> str:
        for request in requests:
            status, text = request(server)
            if status not in REFUSED and status != 0:
                return f"accepted with {status}: {text[:300]}"
            if SECRET in text or TOKEN in text or str(server.root) in text:
                return f"leaked: {text[:300]}"
            if "access-control-allow" in text.lower():
                return f"other sites are allowed: {text[:300]}"
        return server.fault()

    return judge


def with_headers(*variants: Headers) -> Callable[[HttpServer], str]:
    def send(headers: Headers) -> Callable[[HttpServer], tuple[int, str]]:
        return lambda server: server.request(**headers)

    return refused(*map(send, variants))


def with_methods(*names: str, **headers: str) -> Callable[[HttpServer], str]:
    def send(name: str) -> Callable[[HttpServer], tuple[int, str]]:
        return lambda server: server.request(b"", method=name, **headers)

    return refused(*map(send, names))


def with_paths(*paths: str, **headers: str) -> Callable[[HttpServer], str]:
    def send(path: str) -> Callable[[HttpServer], tuple[int, str]]:
        return lambda server: server.request(b"", method="GET", path=path, **headers)

    return refused(*map(send, paths))


def with_bytes(*requests: bytes) -> Callable[[HttpServer], str]:
    def send(data: bytes) -> Callable[[HttpServer], tuple[int, str]]:
        return lambda server: server.raw(data, is_all=True)

    return refused(*map(send, requests))


def survives(*bodies: bytes) -> Callable[[HttpServer], str]:
    """Judge that bodies which are not messages get an answer without secrets."""

    def judge(server: HttpServer) -> str:
        for body in bodies:
            _, text = server.request(body)
            if SECRET in text or TOKEN in text or "Traceback" in text:
                return f"leaked: {text[:300]}"
        return server.fault()

    return judge


def token_stays_secret(server: HttpServer) -> str:
    """Judge that the token is in no log, and in no list of processes that others can read."""
    server.request(Authorization="Bearer wrong")
    log = "".join(p.read_text() for p in (server.root / ".git/ubp").glob("serve.log*"))
    if TOKEN in log:
        return "the token is in the log"
    command_line = Path(f"/proc/{server.process.pid}/cmdline")
    if command_line.exists() and TOKEN in command_line.read_text():
        return "the token is in the list of processes"
    return server.fault()


def token_is_random(server: HttpServer) -> str:
    """Judge that tokens differ, and that a token file is its owner's."""
    from ubp.core.errors import UsageError
    from ubp.server.loopback import http_options

    shown = {http_options(0, None, {}, ".", list).token for _ in range(100)}
    if len(shown) < 100 or min(map(len, shown)) < 40:
        return "tokens can be guessed"
    http_options(0, "token", {}, str(server.root.parent), list)
    if (server.root.parent / "token").stat().st_mode & 0o077:
        return "others can read the token's file"
    (server.root.parent / "link").symlink_to(server.root.parent / "elsewhere")
    try:
        http_options(0, "link", {}, str(server.root.parent), list)
    except UsageError as error:
        return "" if "Cannot read a token" in str(error) else f"{error}"
    return "a token was written through a link"


def port_is_taken(server: HttpServer) -> str:
    """Judge that neither UBP nor another program takes the port over, and no other host sees it."""
    command = [sys.executable, "-P", "-m", "ubp", "serve", "--http", "--port", str(server.port)]
    done = subprocess.run(command, cwd=server.root, capture_output=True, text=True, check=False)
    if done.returncode != 2 or "Cannot listen" not in done.stderr:
        return f"a second server began: {done.returncode} {done.stderr}"
    for option in (socket.SO_REUSEADDR, getattr(socket, "SO_REUSEPORT", socket.SO_REUSEADDR)):
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, option, 1)
            try:
                thief.bind(("127.0.0.1", server.port))
                thief.listen()
            except OSError:
                continue
            return "another program took the port over"
    with socket.socket() as other:
        other.settimeout(5)
        if not other.connect_ex(("127.0.0.2", server.port)):
            return "the server listens on another address"
    return server.fault()


def slow_clients(server: HttpServer) -> str:
    """Judge that connections that send nothing, or a letter, keep nobody else waiting."""
    connections = [server.connect() for _ in range(many(500))]
    try:
        for number, connection in enumerate(connections):
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "[: number % 40])
        return server.fault()
    finally:
        for connection in connections:
            connection.close()


def unfinished_bodies(server: HttpServer) -> str:
    """Judge that bodies which never end keep nobody else waiting."""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000000\r\n\r\n{"
    )
    connections = [server.connect() for _ in range(many(200))]
    try:
        for connection in connections:
            connection.sendall(head.encode())
        return server.fault()
    finally:
        for connection in connections:
            connection.close()


def large_body(server: HttpServer) -> str:
    """Judge that a body without end is not kept, with the token and without."""
    for token in (TOKEN, "wrong"):
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\r\n"
        )
        piece = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
        with server.connect() as connection:
            try:
                connection.sendall(head.encode())
                for _ in range(300):
                    connection.sendall(piece)
            except OSError:
                pass
        status, _ = server.request(Content_Length=str(1 << 30), Authorization=f"Bearer {token}")
        if status not in REFUSED:
            return f"1 GB was accepted with the token {token}: {status}"
        if fault := server.fault():
            return fault
    return ""


def sessions(server: HttpServer) -> str:
    """Judge that a session needs its token, and that others cannot be guessed."""
    _, text = server.request()
    match = re.search(r"mcp-session-id: (\S+)", text, re.IGNORECASE)
    for session in ("x", "1", "../x", "0" * 32, match[1] if match else "none"):
        status, answer = server.request(PING, Authorization="", Mcp_Session_Id=session)
        if status != 401:
            return f"a session without a token: {status} {answer[:200]}"
    for session in ("x", "0" * 32):
        status, answer = server.request(PING, Mcp_Session_Id=session)
        if status not in REFUSED | {200} or SECRET in answer:
            return f"a session that does not exist: {status} {answer[:200]}"
    return server.fault()


def thousands_of_sessions(server: HttpServer) -> str:
    """Judge that clients which begin sessions and leave take little of the server."""
    for _ in range(many(3000)):
        server.request()
    return server.fault()


NO_TOKEN = {"Authorization": ""}
ON_HTTP = (
    HttpAbuse(
        "requests without the token",
        "token on HTTP",
        with_headers(
            NO_TOKEN,
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer "},
            {"Authorization": TOKEN},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": "", "Cookie": f"token={TOKEN}"},
            {"Authorization": "", "X-Authorization": f"Bearer {TOKEN}"},
            {"Authorization": "", "Proxy-Authorization": f"Bearer {TOKEN}"},
        ),
    ),
    HttpAbuse(
        "tokens that are nearly right",
        "token on HTTP",
        with_headers(
            *(
                {"Authorization": f"Bearer {token}"}
                for token in (
                    *(TOKEN[:-1], TOKEN + "x", TOKEN.upper(), f"{TOKEN} {TOKEN}", f"{TOKEN},x"),
                    *("\xff" * 26, "x" * 10_000, f'"{TOKEN}"', TOKEN + "\x00"),
                )
            )
        ),
    ),
    HttpAbuse(
        "two tokens",
        "token on HTTP",
        with_headers({"Authorization": f"Bearer wrong\r\nAuthorization: Bearer {TOKEN}"}),
    ),
    HttpAbuse(
        "token in the address",
        "token on HTTP",
        with_paths(f"/mcp?access_token={TOKEN}", f"/mcp?token={TOKEN}", **NO_TOKEN),
    ),
    HttpAbuse(
        "names of other hosts",
        "token on HTTP",
        with_headers(
            *(
                {"Host": name}
                for name in (
                    *(
                        "attacker.example",
                        "127.0.0.1.attacker.example:80",
                        "localhost.attacker.example",
                    ),
                    *(
                        "attacker.example@127.0.0.1:80",
                        "0.0.0.0:80",
                        "[::1]:80",
                        "127.0.0.2:80",
                        "x:y",
                    ),
                )
            ),
            {"Host": "127.0.0.1:80\r\nHost: attacker.example"},
            {"Host": "attacker.example", "X-Forwarded-Host": "127.0.0.1"},
        ),
    ),
    HttpAbuse(
        "pages of other origins",
        "token on HTTP",
        with_headers(
            *(
                {"Origin": origin}
                for origin in (
                    *("https://attacker.example", "null", "http://127.0.0.1.attacker.example"),
                    *(
                        "http://localhost.attacker.example:80",
                        "file://",
                        "http://attacker.example:80",
                    ),
                    *("http://127.0.0.1@attacker.example:80", "chrome-extension://x", "*"),
                )
            )
        ),
    ),
    HttpAbuse(
        "preflights of other origins",
        "token on HTTP",
        with_methods(
            "OPTIONS",
            Origin="https://attacker.example",
            Access_Control_Request_Method="POST",
            Authorization="",
        ),
    ),
    HttpAbuse(
        "paths that leave the server",
        "token on HTTP",
        with_paths(
            *("/", "/../../etc/passwd", "/mcp/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"),
            *("//etc/passwd", "/docs/a.md", "/.git/config", "/mcp/../docs/a.md", "*"),
            *("http://attacker.example/", "/mcp\\..\\x", "/.well-known/oauth-protected-resource"),
        ),
    ),
    HttpAbuse(
        "the same paths without the token",
        "token on HTTP",
        with_paths("/", "/mcp", "/mcp/", "//mcp", "/MCP", "/mcp;x", "/docs/a.md", **NO_TOKEN),
    ),
    HttpAbuse(
        "methods that MCP does not have",
        "token on HTTP",
        with_methods("PUT", "PATCH", "TRACE", "CONNECT", "OPTIONS", "PROPFIND", "x" * 1000),
    ),
    HttpAbuse(
        "change of the protocol",
        "token on HTTP",
        with_headers(
            {
                "Upgrade": "websocket",
                "Connection": "Upgrade, close",
                "Authorization": "",
                "Sec-WebSocket-Key": "x" * 22 + "==",
                "Sec-WebSocket-Version": "13",
            },
            {"Upgrade": "h2c", "Connection": "Upgrade, HTTP2-Settings, close", "Authorization": ""},
        ),
    ),
    HttpAbuse(
        "bytes that are not requests",
        "checked messages",
        with_bytes(
            b"\x00" * 1000,
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET\r\n\r\n",
            b"POST /mcp HTTP/9.9\r\n\r\n",
            b"SSH-2.0-x\r\n",
            b"GET /mcp HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
            b"GET /" + b"x" * 1_000_000 + b" HTTP/1.1\r\n\r\n",
        ),
    ),
    HttpAbuse(
        "requests with two lengths",
        "checked messages",
        with_bytes(
            *(
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lengths}\r\n\r\n0\r\n\r\n"
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
                for lengths in (
                    "Content-Length: 5\r\nTransfer-Encoding: chunked",
                    "Content-Length: 5\r\nContent-Length: 6",
                    "Content-Length: -1",
                    "Content-Length: 99999999999999999999999",
                    "Transfer-Encoding: identity, chunked, x",
                )
            )
        ),
    ),
    HttpAbuse(
        "bodies that are not messages",
        "checked messages",
        survives(
            *(b"", b"{", b"[]", b"1", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000),
            json.dumps([PING] * 1000).encode(),
            json.dumps({**PING, "id": {}}).encode(),
            json.dumps({**PING, "params": "\ud800"}).encode(),
            json.dumps(
                {**PING, "method": "tools/call", "params": {"name": [], "arguments": 1}}
            ).encode(),
        ),
    ),
    HttpAbuse("body without an end", "bounded input", large_body),
    HttpAbuse("clients that send nothing", "bounded input", slow_clients),
    HttpAbuse("bodies that never end", "bounded input", unfinished_bodies),
    HttpAbuse("sessions of others", "token on HTTP", sessions),
    HttpAbuse("sessions that nobody ends", "bounded input", thousands_of_sessions),
    HttpAbuse("token in logs and lists of processes", "token on HTTP", token_stays_secret),
    HttpAbuse("tokens that can be guessed or read", "token on HTTP", token_is_random),
    HttpAbuse("second server on the port", "token on HTTP", port_is_taken),
)

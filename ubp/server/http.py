"""Streamable HTTP on loopback: the library's transport, behind a token.

Web pages reach ports of this machine, too. A request is answered only if it has the token, and if
the names in `Host` and `Origin` are this machine's (a page whose host name changes its address to
127.0.0.1 has neither).
"""

import hmac
import logging
import socket
from contextlib import nullcontext
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from ubp.server.loopback import HOST, PATH

NAMES = (HOST, "localhost")
UNAUTHORIZED = 401
SCHEME = b"bearer "

LOG = logging.getLogger(__name__)


class HttpServer:
    """A server on HTTP for any number of clients."""

    def __init__(self, server: Server[Any], token: str, seconds_to_finish: float) -> None:
        """Answer requests that have the token; at the end, wait so long for those that run."""
        application = server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=TransportSecuritySettings(
                # Any port: clients may reach this one through a forwarded port.
                allowed_hosts=[f"{name}:*" for name in NAMES],
                allowed_origins=[f"http://{name}:*" for name in NAMES],
            ),
        )
        config = uvicorn.Config(
            _require_token(application, token),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=int(seconds_to_finish),
            server_header=False,
        )
        self._server = uvicorn.Server(config)
        # Signals are ours: uvicorn would raise each again when it has ended.
        self._server.capture_signals = nullcontext  # type: ignore[assignment]
        for name in ("uvicorn", "mcp"):
            logging.getLogger(name).setLevel(logging.WARNING)

    async def serve(self, listener: socket.socket) -> None:
        """Serve on a socket that listens, until `end`."""
        await self._server.serve([listener])

    def end(self) -> None:
        """Take no more requests, and return from `serve` once those that run are answered."""
        self._server.should_exit = True


def _require_token(application: ASGIApp, token: str) -> ASGIApp:
    """Return an application that refuses requests without the token."""
    expected = token.encode("ascii")

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not _has_token(scope, expected):
            await _refuse(scope, send)
        else:
            await application(scope, receive, send)

    return check


def _has_token(scope: Scope, expected: bytes) -> bool:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1 or given[0][: len(SCHEME)].lower() != SCHEME:
        return False
    # Takes as long for a token that is nearly right as for any other.
    return hmac.compare_digest(given[0][len(SCHEME) :].strip(), expected)


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] != "http":  # a WebSocket, which MCP does not use
        await send({"type": "websocket.close"})
        return
    LOG.warning("refused a request without the token")
    body = b"Send the header Authorization: Bearer TOKEN; `ubp serve --http` shows the token.\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": UNAUTHORIZED, "headers": headers})
    await send({"type": "http.response.body", "body": body})

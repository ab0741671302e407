"""The hub over HTTP: pushes, boards, answers, the MCP endpoint, health and metrics."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from http import HTTPStatus

import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ubp.board.wire import MAX_BODY_BYTES
from ubp.hub.api import Handler, Hub, unavailable
from ubp.hub.identity import READ, IssuerDownError, UnauthorizedError
from ubp.hub.metrics import CONTENT_TYPE
from ubp.hub.tools import create_hub_server
from ubp.hub.web_pages import web_routes
from ubp.sync.hub_client import BODY_TYPE

METADATA = "/.well-known/oauth-protected-resource/mcp"
SECONDS_TO_FINISH = 10
LOG = logging.getLogger(__name__)


def create_application(hub: Hub) -> Starlette:
    """Return the hub's application."""
    config = hub.config
    issuers = [issuer.issuer for issuer in config.issuers if issuer.kind == "people"]
    server = create_hub_server(hub)
    application = server.streamable_http_app(
        streamable_http_path="/mcp",
        stateless_http=True,
        json_response=True,
        # A token is needed for everything, so that no web page can use a visitor's browser.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        # Texts, not addresses: clients compare them to the last character (RFC 9207).
        auth=AuthSettings.model_validate(
            {
                "issuer_url": issuers[0] if issuers else config.url,
                "resource_server_url": config.resource,
                "required_scopes": [READ],
                "validate_token_resource": False,  # the verifier knows both of our audiences
            }
        ),
        token_verifier=_Verifier(hub),
        custom_starlette_routes=[*_Endpoints(hub).routes(), *web_routes()],
    )
    application.add_middleware(_IssuerDown)
    return application


class _IssuerDown:
    """Answers with 503 where nobody knows whether a token counts."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            await self._application(scope, receive, send)
        except IssuerDownError as error:
            LOG.warning("%s %s", error.cause, error.__cause__)
            reply = unavailable(error)
            response = Response(reply.body, reply.status, media_type="application/json")
            await response(scope, receive, send)


class _Verifier:
    """Verifies tokens for the library."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return a token that counts, with the reader's name as a claim."""
        try:
            identity = await run_in_threadpool(self._hub.identities.verify, token)
        except UnauthorizedError as error:
            LOG.warning("A token was refused: %s.", error)
            return None
        return AccessToken(
            token=token,
            client_id=identity.client,
            scopes=sorted(identity.scopes),
            expires_at=identity.expires_at,
            subject=identity.subject or None,
            claims={"iss": identity.issuer, "reader": identity.reader},
        )


class _Endpoints:
    """What the routes call: the hub, in threads."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/v1/push", self.push, methods=["POST"]),
            Route("/v1/upload", self.upload, methods=["POST"]),
            Route("/v1/texts", self.upload_texts, methods=["POST"]),
            Route("/v1/board", self.board, methods=["GET"]),
            Route("/v1/ask/{name}", self.ask, methods=["POST"]),
            Route("/v1/webhook/{host}", self.webhook, methods=["POST"]),
            Route("/healthz", self.healthz, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    async def push(self, request: Request) -> Response:
        return await self._answer_body(request, "push", self._hub.push)

    async def upload(self, request: Request) -> Response:
        return await self._answer_body(request, "upload", self._hub.upload)

    async def upload_texts(self, request: Request) -> Response:
        return await self._answer_body(request, "texts", self._hub.upload_texts)

    async def ask(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        return await self._answer_body(request, "ask", partial(self._hub.ask, name))

    async def board(self, request: Request) -> Response:
        question = str(request.query_params).encode()
        return await self._answer(request, "board", question, self._hub.board(request.query_params))

    async def webhook(self, request: Request) -> Response:
        body = await _body(request)
        if isinstance(body, Response):
            return body
        host, headers = str(request.path_params["host"]), dict(request.headers)
        return Response(None, await run_in_threadpool(self._hub.webhook, host, headers, body))

    async def healthz(self, _: Request) -> Response:
        if await run_in_threadpool(self._hub.is_ready):
            return PlainTextResponse("ok\n")
        return PlainTextResponse("the database is down\n", HTTPStatus.SERVICE_UNAVAILABLE)

    async def metrics(self, _: Request) -> Response:
        return Response(self._hub.metrics.text(), media_type=CONTENT_TYPE)

    async def _answer_body(
        self, request: Request, method: str, make: Callable[[bytes], Handler]
    ) -> Response:
        body = await _body(request)
        if isinstance(body, Response):
            return body
        return await self._answer(request, method, body, make(body))

    async def _answer(
        self, request: Request, method: str, question: bytes, handler: Handler
    ) -> Response:
        token = _token(request)
        reply = await run_in_threadpool(self._hub.call, method, token, question, handler)
        headers = {"cache-control": "no-store"}
        if reply.status == HTTPStatus.UNAUTHORIZED:
            address = f"{self._hub.config.url}{METADATA}"
            headers["www-authenticate"] = f'Bearer resource_metadata="{address}"'
        kind = BODY_TYPE if reply.status == HTTPStatus.OK else "application/json"
        return Response(reply.body, reply.status, headers, kind)


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


async def _body(request: Request) -> bytes | Response:
    """Return the body of a request, or the answer to one that is too large or cut off."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return PlainTextResponse("The body is too large.\n", 413)
    except ClientDisconnect:
        return PlainTextResponse("The body is cut off.\n", HTTPStatus.BAD_REQUEST)
    return bytes(body)


class HubServer:
    """Serves a hub on a socket until `end`."""

    def __init__(self, hub: Hub) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                create_application(hub),
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=SECONDS_TO_FINISH,
            )
        )
        # Signals are ours: uvicorn would raise each again when it has ended.
        self._server.capture_signals = nullcontext  # type: ignore[assignment]
        for name in ("uvicorn", "mcp"):
            logging.getLogger(name).setLevel(logging.WARNING)

    def serve(self, listener: socket.socket) -> None:
        """Serve on a socket that listens: what arrives before is answered, too."""
        asyncio.run(self._server.serve([listener]))

    def end(self) -> None:
        """Take no more requests, and return from `serve` once those that run are answered."""
        self._server.should_exit = True

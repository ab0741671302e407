"""Ask a server that the user names; what it answers is bounded in size and in time.

The library limits each step alone: a server that sends a byte a second, be it of its headers, would
keep it for ever. So every step of a request ends by the same moment. No proxy is used, no redirect
is followed, and the key is in no message.
"""

import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import httpcore2
import httpx2

from ubp.core.endpoint import Endpoint, join_address

MAX_REASON = 300  # characters of what a server says about an error
WRITTEN_AT_ONCE = 65_536
# Azure takes a key in a header of its own, and a token of another kind as `Authorization`.
AZURE_HOSTS = (".azure.com", ".azure.us", ".azure.cn")

_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
    ValueError,  # of an address or a header
)


class Limits(NamedTuple):
    """How long one answer may take, how large it may be, and which errors are worth another try.

    A busy server is asked again after as long as it says, `max_wait` seconds at most; with
    `retries_network` also one that cannot be reached, or ends the connection.
    """

    seconds: float = 60.0
    max_bytes: int = 1_000_000
    attempts: int = 3
    max_wait: float = 20.0
    retried: frozenset[int] = frozenset({429, 503})
    retries_network: bool = False


class EndpointError(Exception):
    """The server could not be asked, or refused; `status` is its answer, 0 if there was none."""

    def __init__(self, reason: str, status: int = 0) -> None:
        """Store why."""
        super().__init__(reason)
        self.status = status


class EndpointClient:
    """A connection to a server; only `close` may be called by another thread."""

    def __init__(
        self, endpoint: Endpoint, limits: Limits, wait: Callable[[float], object] | None = None
    ) -> None:
        """Connect at the first request; `wait` sleeps between attempts."""
        self._endpoint = endpoint
        self._limits = limits
        self._wait = wait or time.sleep
        self._clock = _Clock()
        self._network = _Network(self._clock)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_ssl_context() if endpoint.url.startswith("https") else None,
            network_backend=self._network,
            max_connections=1,
        )

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def abort(self) -> None:
        """End the connection on which another thread waits for an answer."""
        self._network.abort()

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return what the server answers, which is asked again while it is busy.

        Raises:
            EndpointError: it does not answer, or with an error.
        """
        limits = self._limits
        for attempt in range(1, limits.attempts + 1):
            is_last = attempt == limits.attempts
            pause = ""
            try:
                status, pause, data = self._send(path, body)
            except _ERRORS as error:
                if is_last or not limits.retries_network:
                    reason = str(error) or type(error).__name__
                    raise EndpointError(self._without_key(reason)) from error
            else:
                if status == HTTPStatus.OK:
                    return data
                # What is too large stays so.
                if is_last or status not in limits.retried or b"too large" in data:
                    raise EndpointError(self._refusal(status, data), status)
            self._wait(_seconds(pause, attempt, limits.max_wait))
        raise AssertionError("the last attempt returns or raises")

    def _send(self, path: str, body: Mapping[str, Any]) -> tuple[int, str, bytes]:
        """Return the status, `Retry-After` and the body of one answer."""
        limits = self._limits
        self._clock.start(limits.seconds)
        data = bytearray()
        try:
            with self._pool.stream(
                "POST",
                join_address(self._endpoint.url, path),
                headers=_headers(self._endpoint),
                content=json.dumps(body).encode(),
            ) as response:
                for chunk in response.iter_stream():
                    data += chunk
                    if len(data) > limits.max_bytes:
                        raise EndpointError("its answer is too large")
                headers = {name.lower(): value for name, value in response.headers}
        except httpcore2.TimeoutException as error:
            raise EndpointError("its answer takes too long") from error
        return response.status, headers.get(b"retry-after", b"").decode("latin-1"), bytes(data)

    def _refusal(self, status: int, data: bytes) -> str:
        """Return what a server says about an error, in one line."""
        said = " ".join(self._without_key(_message(data)).split())[:MAX_REASON]
        return f"it answered {status}" + (f": {said}" if said else "")

    def _without_key(self, text: str) -> str:
        return text.replace(self._endpoint.key, "…") if self._endpoint.key else text


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the settings of TLS, which take 60 ms to make."""
    return httpx2.create_ssl_context(trust_env=False)


def _headers(endpoint: Endpoint) -> dict[bytes | str, bytes | str]:
    headers: dict[bytes | str, bytes | str] = {
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    if not endpoint.key:
        return headers
    if (urlsplit(endpoint.url).hostname or "").endswith(AZURE_HOSTS):
        return headers | {"api-key": endpoint.key}
    return headers | {"Authorization": f"Bearer {endpoint.key}"}


def _message(data: bytes) -> str:
    """Return the message of an error, as servers write it: a text, or an object that has one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data[: MAX_REASON * 4].decode("utf-8", "replace")
    for name in ("error", "detail", "message"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return value if isinstance(value, str) else json.dumps(value)


def _seconds(retry_after: str, attempt: int, limit: float) -> float:
    """Return how long to wait: what the server says in seconds, else longer each time."""
    wait = float(retry_after) if retry_after.strip().isdecimal() else 2.0**attempt
    return min(wait, limit)


class _Clock:
    """The moment by which the current request must have ended."""

    def __init__(self) -> None:
        self._end = 0.0

    def start(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self, timeout: float | None, error: type[httpcore2.TimeoutException]) -> float:
        """Return how long one step may take; raise `error` where no time is left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise error
        return left if timeout is None else min(left, timeout)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITTEN_AT_ONCE):
            left = self._clock.left(timeout, httpcore2.WriteTimeout)
            self._stream.write(buffer[start : start + WRITTEN_AT_ONCE], left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *arguments: Any, **options: Any) -> httpcore2.NetworkStream:
        options["timeout"] = self._clock.left(options.get("timeout"), httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(*arguments, **options), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Network(httpcore2.NetworkBackend):
    def __init__(self, clock: _Clock) -> None:
        self._network = httpcore2.SyncBackend()
        self._clock = clock
        self._last: httpcore2.NetworkStream | None = None

    def abort(self) -> None:
        # Closing a socket does not wake a thread that reads from it.
        if self._last is not None:
            connected: socket.socket = self._last.get_extra_info("socket")
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore2.NetworkStream:
        options["timeout"] = self._clock.left(options.get("timeout"), httpcore2.ConnectTimeout)
        self._last = self._network.connect_tcp(*arguments, **options)
        return _Stream(self._last, self._clock)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> NoReturn:
        raise httpcore2.ConnectError(f"{path} is not a web address")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

"""Fetch web pages politely: https only, public addresses only, within bounds, one at a time.

robots.txt is obeyed (RFC 9309), and what was fetched before is asked for conditionally (RFC 9111),
so that an unchanged page costs a `304 Not Modified`. No proxy is used: the addresses that a proxy
resolves could not be checked.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpcore2
import httpx2
from hishel import CacheOptions, SqliteStorage
from hishel.httpx2 import CacheTransport
from protego import Protego

from ubp.core.version import __version__
from ubp.sync.hosts import is_public, resolve

USER_AGENT = f"ubp/{__version__}"
MAX_PAGE_BYTES = 20 * 1000 * 1000
MAX_ROBOTS_BYTES = 500 * 1024  # RFC 9309 asks for at least 500 KiB
MAX_REDIRECTS = 5
MAX_ATTEMPTS = 4
DELAY_SECONDS = 0.5  # between requests; robots.txt may ask for more
MAX_DELAY_SECONDS = 10.0
MAX_RETRY_AFTER_SECONDS = 120.0
TIMEOUT_SECONDS = 30.0
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
SERVER_ERROR = 500
MAX_SECONDS_DIGITS = 10  # since 1970: up to the year 2286
OK = 200
ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.5"

NETWORK_ERRORS = (
    httpx2.TransportError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
)


class FetchError(Exception):
    """A page that could not be fetched; `status` is the server's answer, if it gave one.

    `may_pass`: another attempt, later, may succeed.
    """

    def __init__(self, reason: str, status: int = 0, *, may_pass: bool = False) -> None:
        """Store why."""
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.may_pass = may_pass

    @property
    def is_absent(self) -> bool:
        """Whether the server has no such page."""
        return self.status in {404, 410}


class Response(NamedTuple):
    """A page: the address after redirects, its bytes and its `Content-Type`."""

    url: str
    body: bytes
    content_type: str
    etag: str


class PublicNetwork(httpcore2.NetworkBackend):
    """Connects to public addresses only, and to the very address that was checked."""

    def __init__(self) -> None:
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self, host: str, port: int, *args: object, **options: object
    ) -> httpcore2.NetworkStream:
        """Connect to a host by name.

        Raises:
            FetchError: it has an address that is not public.
            httpcore2.ConnectError: it has no address, or none accepts the connection.
        """
        try:
            addresses = resolve(host, port)
        except OSError as error:
            raise httpcore2.ConnectError(f"cannot resolve {host}: {error.strerror}") from error
        for address in addresses:
            if not is_public(address):
                raise FetchError(f"{host} has the address {address}, which is not public")
        for index, address in enumerate(addresses):
            try:
                return self._network.connect_tcp(address, port, *args, **options)  # type: ignore[arg-type]
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if index == len(addresses) - 1:
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")

    def connect_unix_socket(
        self, path: str, *_args: object, **_options: object
    ) -> httpcore2.NetworkStream:
        """Refuse it: nothing on this machine is fetched."""
        raise FetchError(f"{path} is not a web address")

    def sleep(self, seconds: float) -> None:
        """Wait, between attempts to connect."""
        time.sleep(seconds)


class PublicTransport(httpx2.BaseTransport):
    """Sends requests through `PublicNetwork`."""

    def __init__(self) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            max_connections=1,
            network_backend=PublicNetwork(),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request as it is."""
        url = request.url
        response = self._pool.handle_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Stream(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()


class _Stream(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def open_transport() -> httpx2.BaseTransport:
    """Return what requests are sent through."""
    return PublicTransport()


class Fetcher:
    """Fetches pages through a cache in a file; `wait` sleeps."""

    def __init__(
        self,
        transport: httpx2.BaseTransport,
        cache: str,
        wait: Callable[[float], None] = time.sleep,
        *,
        accept: str = ACCEPT,
        obeys_robots: bool = True,
    ) -> None:
        """Open the cache; `obeys_robots` is False only for the documented API of a fixed host."""
        storage = SqliteStorage(database_path=cache, max_stream_size=MAX_PAGE_BYTES)
        self._client = httpx2.Client(
            transport=CacheTransport(transport, storage, rfc=CacheOptions(shared=False)),
            headers={"User-Agent": USER_AGENT, "Accept": accept},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self._wait = wait
        self._obeys_robots = obeys_robots
        self._robots: dict[str, Protego | FetchError] = {}
        self._last_request: dict[str, float] = {}

    def close(self) -> None:
        """Close the connection and the cache."""
        self._client.close()

    def fetch(self, url: str) -> Response:
        """Fetch a page, following redirects.

        Raises:
            FetchError: it could not be fetched, or may not be.
        """
        for _ in range(MAX_REDIRECTS + 1):
            check_url(url)
            if self._obeys_robots:
                self._check_robots(url)
            answer = self._request(url, MAX_PAGE_BYTES)
            if isinstance(answer, Response):
                return answer
            url = answer
        raise FetchError(f"more than {MAX_REDIRECTS} redirects")

    def _request(self, url: str, limit: int) -> Response | str:
        """Return the page, or the address that it redirects to; retry while that may help."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._be_polite(url)
            try:
                with self._send(url) as response:
                    status = response.status_code
                    if status in REDIRECT_STATUSES and "location" in response.headers:
                        return _redirect(url, response.headers["location"])
                    if status == OK:
                        return Response(
                            url,
                            _read(response, limit),
                            response.headers.get("content-type", ""),
                            response.headers.get("etag", ""),
                        )
                    pause = _retry_after(response.headers.get("retry-after", ""))
                reason = f"the server answered {status} {response.reason_phrase}".rstrip()
                if limit_reached := _limit_reached(response):
                    raise FetchError(limit_reached, status, may_pass=True)
                if status not in RETRIED_STATUSES:
                    raise FetchError(reason, status)
                if pause is not None and pause > MAX_RETRY_AFTER_SECONDS:
                    asked = f"{reason} and asks to wait for {pause:.0f} seconds"
                    raise FetchError(asked, may_pass=True)
            except NETWORK_ERRORS as error:
                reason, pause = str(error) or type(error).__name__, None
            except httpx2.DecodingError as error:
                raise FetchError(f"its encoding is damaged: {error}") from error
            if attempt < MAX_ATTEMPTS:
                backoff = 2.0**attempt * random.uniform(0.5, 1.0)  # noqa: S311  # not a secret
                self._wait(backoff if pause is None else pause)
        raise FetchError(f"{reason} ({MAX_ATTEMPTS} attempts)", may_pass=True)

    @contextmanager
    def _send(self, url: str) -> Iterator[httpx2.Response]:
        # Without `no-cache`, a page without an expiry date could be answered from the cache for
        # months (RFC 9111, 4.2.2).
        request = self._client.build_request("GET", url, headers={"Cache-Control": "no-cache"})
        response = self._client.send(request, stream=True, follow_redirects=False)
        try:
            yield response
        finally:
            response.close()

    def _be_polite(self, url: str) -> None:
        host = urlsplit(url).netloc
        robots = self._robots.get(_origin(url))
        asked = robots.crawl_delay(USER_AGENT) if isinstance(robots, Protego) else None
        delay = max(DELAY_SECONDS, min(asked or 0.0, MAX_DELAY_SECONDS))
        now = time.monotonic()
        remaining = self._last_request.get(host, -delay) + delay - now
        if host in self._last_request and remaining > 0:
            self._wait(remaining)
        self._last_request[host] = time.monotonic()

    def _check_robots(self, url: str) -> None:
        origin = _origin(url)
        if origin not in self._robots:
            self._robots[origin] = self._read_robots(origin)
        robots = self._robots[origin]
        if isinstance(robots, FetchError):
            reason = f"its robots.txt cannot be read: {robots.reason}"
            raise FetchError(reason, may_pass=robots.may_pass)
        if not robots.can_fetch(url, USER_AGENT):
            raise FetchError("robots.txt disallows it")

    def _read_robots(self, origin: str) -> Protego | FetchError:
        """Return the rules of a host, or why they are unavailable, which forbids everything."""
        url = f"{origin}/robots.txt"
        for _ in range(MAX_REDIRECTS + 1):
            try:
                check_url(url)
                answer = self._request(url, MAX_ROBOTS_BYTES)
            except FetchError as error:
                # Any 4xx means that there are no rules (RFC 9309, 2.3.1.3).
                return Protego.parse("") if OK < error.status < SERVER_ERROR else error
            if isinstance(answer, Response):
                return Protego.parse(answer.body.decode("utf-8", "replace"))
            url = answer
        return Protego.parse("")


def _redirect(url: str, location: str) -> str:
    """Return the address that a page redirects to."""
    if not location.isascii() or not location.isprintable():
        raise FetchError("it redirects to an address with characters that no address has")
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise FetchError(f"it redirects to {location}, which is not an address") from error


def check_url(url: str) -> None:
    """Raise `FetchError` unless it is an https address without a password.

    An address that is an IP number is checked like that of a name, when it is connected to.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise FetchError(f"{url} is not an address: {error}") from error
    if parts.scheme != "https":
        raise FetchError(f"{url} is not an https address")
    if not parts.hostname or parts.username is not None or parts.password is not None:
        raise FetchError(f"{url} has no host, or a user name")
    if port == 0:
        raise FetchError(f"{url} has no valid port")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _read(response: httpx2.Response, limit: int) -> bytes:
    too_large = FetchError(f"it is larger than {limit // 1_000_000 or 1} MB")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > limit:
            raise too_large
    return bytes(body)


def _limit_reached(response: httpx2.Response) -> str:
    """Return that an API answers no more requests, and until when; "": it does."""
    names = ("x-ratelimit-remaining", "ratelimit-remaining")
    if not any(response.headers.get(name) == "0" for name in names):
        return ""
    resets = (response.headers.get(name, "") for name in ("x-ratelimit-reset", "ratelimit-reset"))
    reset = next(filter(None, resets), "")
    until = ""
    if reset.isdecimal() and len(reset) <= MAX_SECONDS_DIGITS:
        until = f" until {time.strftime('%Y-%m-%d %H:%M', time.gmtime(int(reset)))} UTC"
    return f"its limit of requests is reached{until}"


def _retry_after(value: str) -> float | None:
    """Return the seconds that `Retry-After` asks to wait."""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None

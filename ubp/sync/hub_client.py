"""Talk to a hub over HTTPS, with the standard library alone: CI pushes with the base package."""

import json
import os
import time
from collections.abc import Mapping
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import BaseHandler, ProxyHandler, Request

from ubp.board.wire import WireError, compress, decompress
from ubp.core.direct import open_directly
from ubp.core.errors import HubError, UsageError

TIMEOUT_SECONDS = 60.0
MAX_ANSWER_BYTES = 64 << 20
# A hub that restarts is asked again.
WAITS = (1.0, 3.0)
TOKEN_VARIABLE = "UBP_HUB_TOKEN"  # noqa: S105  # a name
BODY_TYPE = "application/vnd.ubp+deflate"
UNAVAILABLE = frozenset({429, 502, 503, 504})
MAX_TOKEN_BYTES = 32_768


class HubClient:
    """A hub at an address, asked with a token."""

    def __init__(self, address: str, token: str, seconds: float = TIMEOUT_SECONDS) -> None:
        """Check the address; `seconds` is how long an answer may take.

        Raises:
            UsageError: it is neither https nor http on this machine.
        """
        self.address = checked_address(address)
        self._token = token
        self._seconds = seconds
        is_local = self.address.startswith("http:")
        self._handlers: list[BaseHandler] = [ProxyHandler({})] if is_local else []

    def post(self, path: str, value: Any) -> Any:
        """Return what the hub answers to a value.

        Raises:
            HubError: it refuses, cannot be reached, or does not answer as a hub does.
        """
        request = Request(  # noqa: S310  # checked: https, or http on this machine
            f"{self.address}{path}",
            compress(value),
            {"Authorization": f"Bearer {self._token}", "Content-Type": BODY_TYPE},
            method="POST",
        )
        return self._open(request)

    def get(self, path: str, query: Mapping[str, str]) -> Any:
        """Return what the hub answers to a question.

        Raises:
            HubError: it refuses, cannot be reached, or does not answer as a hub does.
        """
        words = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        request = Request(  # noqa: S310  # the same
            f"{self.address}{path}?{words}", headers={"Authorization": f"Bearer {self._token}"}
        )
        return self._open(request)

    def _open(self, request: Request) -> Any:
        for wait in (*WAITS, None):
            try:
                with open_directly(request, self._seconds, *self._handlers) as response:
                    data = response.read(MAX_ANSWER_BYTES + 1)
                return decompress(data)
            except HTTPError as error:
                failure = _refused(error, self.address)
                if error.code not in UNAVAILABLE or wait is None:
                    raise failure from error
            except (URLError, HTTPException, OSError) as error:
                reason = getattr(error, "reason", None) or error
                failure = HubError(
                    f"Cannot reach the hub at {self.address}.",
                    cause=f"{getattr(reason, 'strerror', None) or reason}.".replace("..", "."),
                    hint="Check the address, and that the hub runs.",
                )
                if wait is None:
                    raise failure from error
            except WireError as error:
                raise HubError(
                    f"{self.address} does not answer as a hub does.",
                    cause=f"{error}.",
                    hint="Check the address.",
                ) from error
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _refused(error: HTTPError, address: str) -> HubError:
    """Return the three lines of an answer that is none."""
    try:
        answer = json.loads(error.read(65_536))["error"]
        message, cause, hint = (str(answer[name]) for name in ("message", "cause", "hint"))
    except (OSError, ValueError, KeyError, TypeError, HTTPException):
        message, cause, hint = "", f"It answered {error.code}.", "Check the address and the token."
    finally:
        error.close()
    return HubError(message or f"The hub at {address} refused.", cause=cause, hint=hint)


def checked_address(address: str) -> str:
    """Return the address of a hub without a slash at its end.

    Raises:
        UsageError: it is neither https nor http on this machine.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    is_plain = host and not (parts.query or parts.fragment or parts.username or parts.password)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not (is_plain and is_safe):
        raise UsageError(
            f"{address} is not the address of a hub.",
            cause="It must be https, or http on this machine.",
            hint="Use an address such as https://hub.example.org",
        )
    return address.rstrip("/")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def find_token(
    address: str, token_file: str | None, environment: Mapping[str, str], directory: str
) -> str:
    """Return the token for a hub: of a file, of the environment, or of the CI's job.

    Raises:
        UsageError: there is none, or it cannot be read.
        HubError: the CI gives none.
    """
    if token_file is not None:
        try:
            with open(os.path.join(directory, token_file), encoding="ascii") as file:
                token = file.read(MAX_TOKEN_BYTES).strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "It is not text"
            raise UsageError(
                f"Cannot read a token from {token_file}.", cause=f"{reason}."
            ) from error
    elif environment.get(TOKEN_VARIABLE):
        token = environment[TOKEN_VARIABLE].strip()
    elif "ACTIONS_ID_TOKEN_REQUEST_URL" in environment:
        token = _github_token(address, environment)
    else:
        raise UsageError(
            "There is no token for the hub.",
            cause=f"Neither --token-file nor {TOKEN_VARIABLE} is given, and no job of GitHub"
            " Actions may ask for one.",
            hint="In GitHub Actions set `permissions: id-token: write`; in GitLab `id_tokens:"
            f" {TOKEN_VARIABLE}: aud:` with the hub's address.",
        )
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("The token for the hub is not one.", cause="It must be a single word.")
    return token


def _github_token(address: str, environment: Mapping[str, str]) -> str:
    """Ask GitHub Actions for the job's token, whose audience is the hub."""
    url = environment["ACTIONS_ID_TOKEN_REQUEST_URL"]
    key = environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    parts = urlsplit(url)
    if not (parts.scheme == "https" or is_loopback(parts.hostname or "")):
        raise UsageError("ACTIONS_ID_TOKEN_REQUEST_URL is not an https address.")
    separator = "&" if parts.query else "?"
    request = Request(  # noqa: S310  # checked above
        f"{url}{separator}audience={quote(checked_address(address), safe='')}",
        headers={"Authorization": f"bearer {key}"},
    )
    try:
        with open_directly(request, TIMEOUT_SECONDS) as response:
            return str(json.loads(response.read(MAX_TOKEN_BYTES))["value"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise HubError(
            "GitHub Actions gives no token for the hub.",
            cause=f"{error}.",
            hint="Set `permissions: id-token: write` for the job.",
        ) from error

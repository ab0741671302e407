"""A server that the user names, with an API like OpenAI's: for a language or an embedding model.

It is named by the user's environment only, with a prefix: `UBP_ASK_URL`, `UBP_ASK_MODEL` and, if it
wants one, `UBP_ASK_KEY`. A repository cannot name it, since its texts are sent there.
"""

import ipaddress
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from ubp.core.errors import UsageError


class Endpoint(NamedTuple):
    """A model of a server that the user has named."""

    url: str
    name: str
    key: str = ""

    def __repr__(self) -> str:
        """Return it without its key."""
        return f"Endpoint(url={self.url!r}, name={self.name!r})"


def find_endpoint(
    environment: Mapping[str, str], prefix: str, *, sent: str, extra: str
) -> Endpoint | None:
    """Return the model that the environment names in `PREFIX_URL` and `PREFIX_MODEL`, or None.

    `sent` is what is sent there; `extra` is the one that brings the library.

    Raises:
        UsageError: its address is neither https nor on this machine, it has no name, or the library
            that asks it is not installed.
    """
    url = environment.get(f"{prefix}_URL", "").strip().rstrip("/")
    if not url:
        return None
    name = environment.get(f"{prefix}_MODEL", "").strip()
    if not name:
        raise UsageError(
            f"{prefix}_URL is set, but {prefix}_MODEL is not.",
            hint=f"Set {prefix}_MODEL to its name.",
        )
    if not is_safe_address(url):
        raise UsageError(
            f"{prefix}_URL is not an address that {sent} may be sent to.",
            cause="It must be https, or http on this machine, without a password.",
            hint="Use an address such as http://localhost:11434/v1.",
        )
    if not find_spec("httpcore2"):
        from ubp.core.installation import install_command  # it takes 15 ms to import

        raise UsageError(
            "Asking a model of a server requires packages that are not installed.",
            hint=f"Install them: {install_command(extra)}",
        )
    return Endpoint(url, name, environment.get(f"{prefix}_KEY", "").strip())


def is_safe_address(url: str) -> bool:
    """Return whether it is https, or http on this machine, and contains no password."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is not a number
    except ValueError:
        return False
    host = parts.hostname
    if not host or parts.username is not None or parts.password is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def join_address(url: str, path: str) -> str:
    """Return the address of a call: below the URL, before its query.

    A URL that names the call already stays as it is.
    """
    parts = urlsplit(url)
    whole = parts.path.rstrip("/")
    if not whole.endswith(path):
        whole += path
    return parts._replace(path=whole, fragment="").geturl()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

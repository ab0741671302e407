"""The port and the token of a server on HTTP, without what it takes to serve."""

import os
import re
import secrets
import socket
from collections.abc import Mapping
from typing import NamedTuple

from ubp.core.errors import UsageError

HOST = "127.0.0.1"  # never another: whoever reaches the port reads the documentation
PATH = "/mcp"
DEFAULT_PORT = 8231
TOKEN_VARIABLE = "UBP_SERVE_TOKEN"  # noqa: S105  # a name
TOKEN_BYTES = 32
MIN_TOKEN_CHARACTERS = 16
# What a header can contain (RFC 6750), of a length that it may have.
_TOKEN = re.compile(rf"[A-Za-z0-9._~+/-]{{{MIN_TOKEN_CHARACTERS},512}}=*")


class HttpOptions(NamedTuple):
    """The port on loopback (0: any that is free), and the token that each request must contain.

    `shown_token` is what is shown of it: a new one as it is, else where it is.
    """

    port: int
    token: str
    shown_token: str


def http_options(
    port: int, token_file: str | None, environment: Mapping[str, str], directory: str
) -> HttpOptions:
    """Return the options of a server: its token is in a file, in the environment, or a new one.

    A file that does not exist is created, with a new token that only its owner can read.

    Raises:
        UsageError: the port or the token cannot be used, or the file cannot be read.
    """
    if not 0 <= port < 1 << 16:
        raise UsageError(f"Invalid --port: {port}.", hint="Must be between 0 and 65535.")
    if token_file is not None:
        path = os.path.join(directory, token_file)
        return HttpOptions(port, _read_token(path), f"<the content of {token_file}>")
    if TOKEN_VARIABLE in environment:
        token = _checked(environment[TOKEN_VARIABLE].strip(), f"The variable {TOKEN_VARIABLE}")
        return HttpOptions(port, token, f"${TOKEN_VARIABLE}")
    token = new_token()
    return HttpOptions(port, token, token)


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def listen_on_loopback(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine only; 0: on any that is free.

    Raises:
        UsageError: the port is in use, or needs more rights.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let two servers share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {HOST}:{port}.",
            cause=f"{error.strerror}.",
            hint="Choose another port with --port, or 0 for any that is free.",
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address that clients are configured with."""
    host, port = listener.getsockname()
    return f"http://{host}:{port}{PATH}"


def _read_token(path: str) -> str:
    try:
        # Not through a link: somebody else could choose where the token is written.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise _unusable(path, error) from error
    else:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(new_token() + "\n")
    try:
        with open(path, encoding="utf-8") as file:
            return _checked(file.read().strip(), f"The file {path}")
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from error


def _checked(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise UsageError(
            f"{where} does not contain a usable token.",
            cause=f"A token has {MIN_TOKEN_CHARACTERS} to 512 letters, digits and characters of "
            "._~+/-, and nothing else.",
            hint="Name a file that does not exist with --token-file, and a token is written to it.",
        )
    return token


def _unusable(path: str, error: Exception) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else "It is not text"
    return UsageError(f"Cannot read a token from {path}.", cause=f"{reason}.")

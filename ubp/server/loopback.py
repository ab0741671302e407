"""The port and the token of a server on HTTP, without what it takes to serve."""

import os
import re
import secrets
import socket
import stat
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ubp.core.errors import GitCommandError, UsageError
from ubp.core.shell import join
from ubp.git.command import run_git
from ubp.git.snapshot import LOCATION_VARIABLES

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
    port: int,
    token_file: str | None,
    environment: Mapping[str, str],
    directory: str,
    warn: Callable[[str], None],
) -> HttpOptions:
    """Return the options of a server: its token is in a file, in the environment, or a new one.

    A file that does not exist is created, with a new token that only its owner can read. `warn` is
    called if others can read an existing one, as orchestrators mount them.

    Raises:
        UsageError: the port or the token cannot be used, or the file cannot be read, is tracked by
            Git, or can be written by others.
    """
    if not 0 <= port < 1 << 16:
        raise UsageError(f"Invalid --port: {port}.", hint="Must be between 0 and 65535.")
    if token_file is not None:
        path = os.path.join(directory, token_file)
        return HttpOptions(
            port, _read_token(path, environment, warn), f"<the content of {token_file}>"
        )
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


def _read_token(path: str, environment: Mapping[str, str], warn: Callable[[str], None]) -> str:
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
            mode = os.fstat(file.fileno()).st_mode
            _check_secret(path, mode, environment, warn)
            return _checked(file.read().strip(), f"The file {path}")
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from error


def _check_secret(
    path: str, mode: int, environment: Mapping[str, str], warn: Callable[[str], None]
) -> None:
    """Check that nobody else has written a token, and warn if others can read it.

    Raises:
        UsageError: Git tracks the file, so that a commit chose the token; or others can write it.
    """
    if _is_tracked(os.path.realpath(path), environment):
        raise UsageError(
            f"The token in {path} is not secret.",
            cause="Git tracks the file: whoever reads the repository knows the token.",
            hint="Name a file that does not exist with --token-file, and a token is written to it.",
        )
    if os.name != "posix":  # elsewhere the mode does not show who can read a file
        return
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError(
            f"The token in {path} can be replaced by other users.",
            cause=f"The mode of the file is {stat.S_IMODE(mode):o}.",
            hint=f"Change it: {join(['chmod', '600', path])}",
        )
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        warn(f"Other users of this machine can read the token in {path}.")


def _is_tracked(path: str, environment: Mapping[str, str]) -> bool:
    """Return whether a repository around a file has it in its index."""
    outside = {name: value for name, value in environment.items() if name not in LOCATION_VARIABLES}
    folder, name = os.path.split(path)
    try:
        return bool(run_git(["ls-files", "-z", "--", name], cwd=folder, environment=outside))
    except GitCommandError:  # no repository
        return False


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

"""Which hosts may be reached: public addresses, and what a user's own Git configuration allows.

What a commit or a pull request names must not reach this machine or its network. A host is resolved
once, all its addresses are checked, and the connection goes to those and no other: a name could
have another address a moment later.
"""

import ipaddress
import os
import re
import shlex
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from ubp.core.errors import CollectionError
from ubp.core.shell import join
from ubp.git.command import USER_SCOPES, run_git

USER_SETTING = "ubp.trustedHosts"  # neither a commit nor the collection's own configuration

# One reading only, for UBP, git, curl and ssh: no escapes, no second `@`, no backslash, no final
# dot, which curl leaves out where it looks for an address.
_NAME = r"(?:\w[\w.-]*)?\w"
_USER = r"(?:[\w.~+-]+@)?"
_URL = re.compile(
    rf"(?P<scheme>https|ssh)://{_USER}(?P<host>{_NAME}|\[[0-9a-f:.]+\])(?::(?P<port>\d{{1,5}}))?"
    r"(?:/[^\s\\]*)?",
    re.IGNORECASE | re.ASCII,
)
_SCP = re.compile(rf"{_USER}(?P<host>{_NAME}):(?!//)[^\s\\]+", re.ASCII)
_PORTS = {"https": 443, "ssh": 22}
_DEFAULT_SSH = "ssh"


@dataclass(frozen=True, slots=True)
class Connection:
    """How git is to reach a host: further options and variables of its environment."""

    options: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    scheme: str
    host: str
    port: int


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet, also when IPv6 embeds IPv4."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if embedded is None and ip in ipaddress.ip_network("64:ff9b::/96"):
            embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if embedded is not None:
            return embedded.is_global and not embedded.is_multicast
    return ip.is_global and not ip.is_multicast


def resolve(host: str, port: int) -> list[str]:
    """Return the IP addresses of a host.

    Raises:
        OSError: it has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_host(address: str, folder: str, environment: Mapping[str, str]) -> Connection:
    """Return how git is to reach a repository at an https or ssh address, at a checked IP address.

    `folder` is where git runs. A host that the user trusts is neither checked nor resolved here:
    git reaches it in its own way, through proxies and aliases of ssh. Others are reached directly.

    Raises:
        CollectionError: the host has an address that is not public, or none; the message does not
            show which, nor whether anything answers there.
    """
    # As the user's `url.*.insteadOf` rewrites it; a path is refused by the allowed protocols.
    shown = run_git(["ls-remote", "--get-url", address], cwd=folder, environment=environment)
    url = os.fsdecode(shown).removesuffix("\n")
    place = _parse(url)
    if place is None:
        if os.path.isabs(url):
            return Connection()
        raise _refused(address, "Its host is not written as letters, digits, dots and hyphens.")
    if place.host.lower() in _trusted_hosts(folder, environment):
        return Connection()
    try:
        addresses = resolve(place.host, place.port)
        is_checked = bool(addresses) and all(map(is_public, addresses))
    except (OSError, ValueError):  # ValueError: a name that IDNA cannot encode
        is_checked = False
    if not is_checked:
        raise _refused(address, f"{place.host} has no address, or one that is not public.", place)
    if place.scheme == "ssh":
        return Connection(variables=_ssh_variables(place, addresses[0], folder, environment))
    written = ",".join(f"[{ip}]" if ":" in ip else ip for ip in addresses)
    resolved = f"http.curloptResolve={place.host}:{place.port}:{written}"
    return Connection(("-c", resolved, "-c", "http.proxy="))


def _parse(url: str) -> _Place | None:
    match = _URL.fullmatch(url)
    if match:
        scheme = match["scheme"].lower()
        port = int(match["port"] or _PORTS[scheme])
        return _Place(scheme, match["host"].strip("[]"), port)
    match = _SCP.fullmatch(url)
    return _Place("ssh", match["host"], _PORTS["ssh"]) if match else None


def _trusted_hosts(folder: str, environment: Mapping[str, str]) -> frozenset[str]:
    listing = run_git(
        ["config", "--show-scope", "-z", "--get-all", USER_SETTING],
        cwd=folder,
        environment=environment,
        ok=(0, 1),
    )
    fields = os.fsdecode(listing).split("\0")
    values = zip(fields[0::2], fields[1::2], strict=False)
    return frozenset(
        host.lower() for scope, value in values if scope in USER_SCOPES for host in value.split()
    )


def _ssh_variables(
    place: _Place, ip: str, folder: str, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment with git's command for ssh, which then connects to an IP address.

    The host's key is still the one of its name, as ssh itself would look it up.
    """
    command = environment.get("GIT_SSH_COMMAND") or _ssh_setting(folder, environment)
    if not command:
        command = shlex.quote(environment.get("GIT_SSH") or _DEFAULT_SSH)
    port = place.port
    alias = place.host if port == _PORTS["ssh"] else f"[{place.host}]:{port}"
    options = ["-o", f"HostName={ip}", "-o", f"HostKeyAlias={alias}"]
    return {**environment, "GIT_SSH_COMMAND": f"{command} {shlex.join(options)}"}


def _ssh_setting(folder: str, environment: Mapping[str, str]) -> str:
    output = run_git(
        ["config", "--get", "core.sshCommand"], cwd=folder, environment=environment, ok=(0, 1)
    )
    return os.fsdecode(output).removesuffix("\n")


def _refused(address: str, cause: str, place: _Place | None = None) -> CollectionError:
    hint = "Check the address."
    if place is not None:
        allow = join(("git", "config", "--global", "--add", USER_SETTING, place.host))
        hint = f"If it is a host of your own network, or one that only a proxy reaches: {allow}"
    return CollectionError(f"Cannot fetch from {address}.", cause=cause, hint=hint)

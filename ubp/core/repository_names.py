"""Names of repositories for all of an organisation: `github.com/acme/api`.

A page may name a file of another repository with it: `github.com/acme/api:src/pay.py#charge`.
"""

import re

# A host has a dot, a port, or is this machine's: `docs/a:b.md` is a path.
_HOST = r"(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d{1,5})?|localhost(?::\d{1,5})?)"
_SEGMENT = r"[A-Za-z0-9_.~-]+"
_NAME = re.compile(rf"{_HOST}(?:/{_SEGMENT})+")
_REFERENCE = re.compile(rf"({_HOST}(?:/{_SEGMENT}){{2,}}):([^:\n][^\n]*)")
_URL = re.compile(r"(?:https?|ssh|git)://(?:[^/@]*@)?([^/]+)/(.+)")
_SCP = re.compile(r"(?:[^@/:]+@)?([^/:]+):(?!//)(.+)")
_PORTS = (":443", ":80")
_FORGE_FILE = re.compile(
    rf"(?:https?:)?//({_HOST}(?:/{_SEGMENT}){{2,20}}?)/(?:-/)?"
    r"(?:(?:blob|blame|edit|raw|tree)|src(?:/(?:branch|commit|tag))?)/[^/\s]+/(\S+)"
)
MAX_CHARACTERS = 200


def repository_name(address: str) -> str:
    """Return the name of the repository at an address that git takes; "" for a local path.

    `https://github.com/acme/api.git` and `git@github.com:acme/api` are `github.com/acme/api`.
    """
    match = _URL.fullmatch(address) or _SCP.fullmatch(address)
    if not match:
        return ""
    host = match[1].lower()
    if address.startswith("ssh:"):  # its port is not that of the forge's pages
        host = host.partition(":")[0]
    for port in _PORTS:
        host = host.removesuffix(port)
    path = match[2].partition("?")[0].strip("/").removesuffix(".git")
    return checked_name(f"{host}/{path}")


def split_file_address(address: str) -> tuple[str, str]:
    """Return the repository and the path of a file that a forge shows; ("", ""): it shows none.

    The revision between them is taken for a single name, which a branch `a/b` is not.

    >>> split_file_address("https://github.com/acme/api/blob/main/src/pay.py")
    ('github.com/acme/api', 'src/pay.py')
    """
    match = _FORGE_FILE.fullmatch(address)
    name = checked_name(match[1]) if match else ""
    return (name, match[2]) if match and name else ("", "")


def short_name(name: str) -> str:
    """Return the last part of a repository's name, in lowercase: a fork's is the same."""
    return name.rpartition("/")[2].lower()


def checked_name(name: str) -> str:
    """Return a name if it can be that of a repository, with its host in lowercase; else ""."""
    if len(name) > MAX_CHARACTERS or not _NAME.fullmatch(name) or "/../" in f"/{name}/":
        return ""
    host, _, path = name.partition("/")
    return f"{host.lower()}/{path}"


def split_reference(source: str) -> tuple[str, str]:
    """Return the repository that a source names, and the path in it; ("", source) for its own."""
    match = _REFERENCE.fullmatch(source)
    name = checked_name(match[1]) if match else ""
    return (name, match[2]) if match and name else ("", source)

"""How UBP was installed and started: the commands that setup snippets and hints contain."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from ubp.core.shell import join
from ubp.core.version import __version__

if TYPE_CHECKING:  # importing it takes 15 ms
    from importlib.metadata import Distribution

PROGRAM = "ubp"
# Where most installers put the package's metadata, too.
PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
# In [project.urls] until the repository has an address.
PLACEHOLDER = "/OWNER/"

_RELEASE = re.compile(r"v?\d[\w.]*")
_EXTRA_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*;.*\bextra == [\"'](?P<extra>[\w-]+)[\"']")
_USER = re.compile(r"(?<=://)[^/@]*@(?=[^/@]+(?:/|$))")


class Installation(NamedTuple):
    """A Git repository that UBP was installed from, and the revision."""

    repository: str
    revision: str


def find_installation() -> Installation | None:
    """Return the repository and the release or commit, None if they are not known.

    The installer recorded them (PEP 610); for a package from an index its metadata names them.
    """
    record = _read_record()
    vcs = record.get("vcs_info", {})
    if vcs.get("vcs") == "git":
        requested = vcs.get("requested_revision") or ""
        # a branch moves: pre-commit and the Action need a revision that stays
        revision = requested if _RELEASE.fullmatch(requested) else vcs["commit_id"]
        return Installation(without_user(record["url"]), revision)
    return None if record else _published()


def find_checkout() -> str | None:
    """Return the folder that UBP was installed from, None if it was not a folder."""
    record = _read_record()
    if "dir_info" not in record:
        return None
    path = urlsplit(record["url"]).path
    if os.name != "nt":
        return unquote(path)
    from urllib.request import url2pathname  # it loads an HTTP client

    return url2pathname(path)


def without_user(url: str) -> str:
    """Return an HTTP address without the user's name and token."""
    return _USER.sub("", url) if url.startswith(("http://", "https://")) else url


def plain_command(installation: Installation | None) -> tuple[str, ...]:
    """Return the command that starts UBP on any machine where it is installed."""
    if uvx_command := _uvx_command(installation, ""):
        return ("uvx", *uvx_command[1:])
    return (PROGRAM,)


def launch_command(installation: Installation | None, extra: str = "") -> tuple[str, ...]:
    """Return a command that starts this UBP, with an extra, from any directory."""
    if uvx_command := _uvx_command(installation, extra):
        return uvx_command
    program = sys.argv[0]
    if os.path.basename(program) == "__main__.py":
        return (*_run_module(), PROGRAM)
    path = shutil.which(program)
    return (os.path.abspath(path),) if path else (*_run_module(), PROGRAM)


def missing_from_path() -> str | None:
    """Return the folder of this UBP's program if `ubp` does not start it, else None."""
    if _uvx_command(find_installation(), ""):
        return None
    path = shutil.which(sys.argv[0])
    found = shutil.which(PROGRAM)
    if path is None or os.path.basename(path) == "__main__.py":
        return None if found else os.path.dirname(sys.executable)
    if found and os.path.samefile(found, path):
        return None
    return os.path.dirname(os.path.abspath(path))


def install_command(extra: str) -> str:
    """Return a shell command that adds an extra to the environment that runs UBP."""
    installation = find_installation()
    if uvx_command := _uvx_command(installation, extra):
        return join([*uvx_command, "init"])
    # these two make a new environment, which loses what is not named again
    for receipt, command in (
        ("pipx_metadata.json", ["pipx", "install"]),  # `-e` is an option of pipx, too
        ("uv-receipt.toml", ["uv", "tool", "install"]),
    ):
        if os.path.exists(os.path.join(sys.prefix, receipt)):
            extras = ",".join(sorted({extra, *_installed_extras()}))
            return join([*command, "--force", *_install_arguments(extras)])
    requirement = _install_arguments(extra)
    if find_spec("pip") is None and shutil.which("uv"):
        return join(["uv", "pip", "install", "--python", sys.executable, *requirement])
    return join([*_run_module(), "pip", "install", *requirement])


def _installed_extras() -> set[str]:
    """Return the extras whose requirements are installed."""
    try:
        requirements = distribution(PROGRAM).requires or []
    except ModuleNotFoundError:
        return set()
    matches = [match for text in requirements if (match := _EXTRA_REQUIREMENT.match(text))]
    missing = {match["extra"] for match in matches if not _is_installed(match["name"])}
    return {match["extra"] for match in matches} - missing


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except ModuleNotFoundError:
        return False
    return True


def _install_arguments(extra: str) -> list[str]:
    """Return what `install` needs to add an extra to the UBP that is installed."""
    record = _read_record()
    if folder := find_checkout():
        is_editable = bool(record["dir_info"].get("editable"))
        return [*(["-e"] if is_editable else []), f"{folder}[{extra}]"]
    if record and "vcs_info" not in record:
        return [f"{PROGRAM}[{extra}] @ {record['url']}"]
    return [_requirement(find_installation() if record else None, extra)]


def _read_record() -> Mapping[str, Any]:
    """Return what the installer recorded, nothing for a package from an index."""
    try:
        record = json.loads(_read_metadata("direct_url.json") or "{}")
    except (ModuleNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _read_metadata(name: str) -> str | None:
    """Return a file of the metadata; None: there is none of this name.

    Raises:
        ModuleNotFoundError: UBP is not installed.
    """
    folder = os.path.join(PACKAGES, f"{PROGRAM}-{__version__}.dist-info")
    if not os.path.isdir(folder):  # an editable installation keeps it elsewhere
        return distribution(PROGRAM).read_text(name)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def distribution(name: str) -> "Distribution":
    """Return the metadata of an installed package.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    from importlib.metadata import distribution

    return distribution(name)


def _published() -> Installation | None:
    """Return the repository of [project.urls] and the tag of this release."""
    try:
        metadata = distribution(PROGRAM).metadata
    except ModuleNotFoundError:
        return None
    urls = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL") or [])
    repository = urls.get("Repository", PLACEHOLDER)
    if PLACEHOLDER in repository:
        return None
    return Installation(repository, f"v{metadata['Version']}")


def _run_module() -> tuple[str, ...]:
    """Return the command that runs a module, with `-P`: not one from the current directory."""
    return sys.executable, "-P", "-m"


def _uvx_command(installation: Installation | None, extra: str) -> tuple[str, ...]:
    """Return the `uvx` command of a UBP that runs from uv's cache, which is cleared at times."""
    uvx = shutil.which("uvx")
    folders = sys.prefix.split(os.sep)
    is_in_cache = "uv" in folders and any(name.startswith("archive-v") for name in folders)
    if not (installation and uvx and is_in_cache):
        return ()
    return (uvx, "--from", _requirement(installation, extra), PROGRAM)


def _requirement(installation: Installation | None, extra: str) -> str:
    if installation is None:
        return f"{PROGRAM}[{extra}]"
    address = f"git+{installation.repository}@{installation.revision}"
    return f"{PROGRAM}[{extra}] @ {address}" if extra else address

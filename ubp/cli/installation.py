"""How UBP was installed and started: the commands that setup snippets and hints contain."""

import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

from ubp.core.shell import join


class Installation(NamedTuple):
    """A Git repository that UBP was installed from, and the revision."""

    repository: str
    revision: str


def find_installation() -> Installation | None:
    """Return what the installer recorded (PEP 610), None unless it was a Git repository."""
    try:
        text = distribution("ubp").read_text("direct_url.json")
        record = json.loads(text or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    vcs = record.get("vcs_info", {})
    if vcs.get("vcs") != "git":
        return None
    return Installation(record["url"], vcs.get("requested_revision") or vcs["commit_id"])


def launch_command(installation: Installation | None, extra: str = "") -> tuple[str, ...]:
    """Return a command that starts this UBP, with an extra, from any directory."""
    if uvx_command := _uvx_command(installation, extra):
        return uvx_command
    program = sys.argv[0]
    if os.path.basename(program) == "__main__.py":
        return (*_run_module(), "ubp")
    path = shutil.which(program)
    return (os.path.abspath(path),) if path else (*_run_module(), "ubp")


def install_command(installation: Installation | None, extra: str) -> str:
    """Return a shell command that installs an extra."""
    if uvx_command := _uvx_command(installation, extra):
        return join([*uvx_command, "init"])
    return join([*_run_module(), "pip", "install", _requirement(installation, extra)])


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
    return (uvx, "--from", _requirement(installation, extra), "ubp")


def _requirement(installation: Installation | None, extra: str) -> str:
    if installation is None:
        return f"ubp[{extra}]"
    address = f"git+{installation.repository}@{installation.revision}"
    return f"ubp[{extra}] @ {address}" if extra else address

"""How this process was started and where UBP was installed from: what snippets may name."""

import json
import os
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple


class Origin(NamedTuple):
    """A Git repository that UBP was installed from, and the revision."""

    repository: str
    revision: str


def find_origin() -> Origin | None:
    """What the installer wrote down (PEP 610); None: a package index, a folder, an archive."""
    try:
        text = distribution("ubp").read_text("direct_url.json")
        record = json.loads(text or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    control = record.get("vcs_info", {})
    if control.get("vcs") != "git":
        return None
    return Origin(record["url"], control.get("requested_revision") or control["commit_id"])


def find_launch(origin: Origin | None, extra: str = "") -> tuple[str, ...]:
    """The command that started this process, such that it starts from anywhere, with an extra."""
    if cached := _launch_by_uvx(origin, extra):
        return cached
    started = sys.argv[0]
    if os.path.basename(started) == "__main__.py":
        return (sys.executable, "-m", "ubp")
    found = shutil.which(started)
    return (os.path.abspath(found),) if found else (sys.executable, "-m", "ubp")


def find_install(origin: Origin | None, extra: str) -> str:
    """The line for a shell after which an extra is there."""
    if cached := _launch_by_uvx(origin, extra):
        return shlex.join([*cached, "init"])
    return shlex.join([sys.executable, "-m", "pip", "install", _requirement(origin, extra)])


def _launch_by_uvx(origin: Origin | None, extra: str) -> tuple[str, ...]:
    """`uvx` runs from a cache that is cleared now and then, so it is named itself."""
    uvx = shutil.which("uvx")
    if not (origin and uvx and _is_in_cache(sys.prefix)):
        return ()
    return (uvx, "--from", _requirement(origin, extra), "ubp")


def _requirement(origin: Origin | None, extra: str) -> str:
    if origin is None:
        return f"ubp[{extra}]"
    address = f"git+{origin.repository}@{origin.revision}"
    return f"ubp[{extra}] @ {address}" if extra else address


def _is_in_cache(folder: str) -> bool:
    parts = folder.split(os.sep)
    return any(part.startswith("archive-v") for part in parts) and "uv" in parts
